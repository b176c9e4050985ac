"""The outer folders and their arrows as SVG: who uses others stands above them."""
import collections
import math

WIDTH, BOX, LANE, LINE, GAP, MARGIN = 960, 152, 20, 17, 70, 24
GREY = "#57606a"
HEAD = f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} %d" role="img"
     font-family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif" font-size="13">
  <title>The folders, and which uses which</title>
  <defs>
    <marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
      <path d="M0 0L10 5L0 10z" fill="{GREY}"/>
    </marker>
  </defs>
  <rect x="1" y="1" width="{WIDTH - 2}" height="%d" rx="10" fill="#ffffff" stroke="#d0d7de"/>
"""


def reach(arrows, folder):
    """All that a folder uses, also through others."""
    return set().union(*({used} | reach(arrows, used) for used in arrows[folder]))


def levels(arrows):
    """folder -> how many stand below it, one above the other."""
    def level(folder):
        return max((level(used) + 1 for used in arrows[folder]), default=0)

    return {folder: level(folder) for folder in arrows}


def chains(arrows):
    """Each arrow that does not follow from others, with a lane in every row between its ends."""
    level = levels(arrows)
    for user in sorted(arrows):
        for used in sorted(arrows[user]):
            if not any(used in reach(arrows, between) for between in arrows[user]):
                lanes = [(user, used, i) for i in range(level[user] - 1, level[used], -1)]
                yield [user, *lanes, used]


def ordered_rows(arrows, links):
    """Rows from the top, of folders and lanes, each near what it is linked with."""
    rows = collections.defaultdict(list)
    for folder, level in sorted(levels(arrows).items()):
        rows[level].append(folder)
    for lane in sorted({item for link in links for item in link[1:-1]}):
        rows[lane[2]].append(lane)
    rows = [rows[level] for level in sorted(rows, reverse=True)]
    linked = collections.defaultdict(set)
    for link in links:
        for above, below in zip(link, link[1:]):
            linked[above].add(below)
            linked[below].add(above)

    def place():
        return {item: (i + 0.5) / len(row) for row in rows for i, item in enumerate(row)}

    for _ in range(12):
        for row in rows + rows[::-1]:
            at = place()
            row.sort(key=lambda item: (math.fsum(at[other] for other in linked[item]) / max(1, len(linked[item])),
                                       str(item)))
    return rows


def inner_lines(folder, folders):
    """The inner folders of one, in lines that a box has room for."""
    lines = [""]
    for inner in sorted({f.split("/")[1] for f in folders if f.startswith(folder + "/")}):
        if len(lines[-1]) + len(inner) > 20:
            lines.append("")
        lines[-1] += inner + " "
    return [line.strip() for line in lines if line]


def boxes_of(rows, folders):
    """item -> (x, top, bottom), and the height of the picture."""
    boxes, y = {}, MARGIN
    for row in rows:
        lines = {item: inner_lines(item, folders) for item in row if isinstance(item, str)}
        tallest = max(34 + LINE * len(text) for text in lines.values())
        widths = [BOX if item in lines else LANE for item in row]
        space, x = (WIDTH - sum(widths)) / (len(row) + 1), 0
        for item, width in zip(row, widths):
            x += space + width
            height = 34 + LINE * len(lines[item]) if item in lines else tallest
            boxes[item] = (round(x - width / 2), y, y + height)
        y += tallest + GAP
    return boxes, y - GAP + MARGIN


def arrow(link, boxes):
    x, _, y = boxes[link[0]]
    path = f"M{x} {y}"
    for item in link[1:]:
        to, top, bottom = boxes[item]
        bend = (y + top) // 2
        path += f"C{x} {bend} {to} {bend} {to} {top}"
        if item is not link[-1]:
            path += f"V{bottom}"
        x, y = to, bottom
    return f'  <path d="{path}" fill="none" stroke="{GREY}" marker-end="url(#tip)"/>'


def box(folder, place, folders):
    x, top, bottom = place
    yield (f'  <rect x="{x - BOX // 2}" y="{top}" width="{BOX}" height="{bottom - top}" rx="8" '
           f'fill="#f6f8fa" stroke="{GREY}"/>')
    yield f'  <text x="{x}" y="{top + 22}" text-anchor="middle" font-weight="bold">{folder}/</text>'
    for i, line in enumerate(inner_lines(folder, folders)):
        yield (f'  <text x="{x}" y="{top + 22 + LINE * (i + 1)}" text-anchor="middle" font-size="12" '
               f'fill="{GREY}">{line}</text>')


def picture(arrows, folders):
    """Of arrows between outer folders, and of all folders with sources. Pure; no circle is in it."""
    links = list(chains(arrows))
    boxes, height = boxes_of(ordered_rows(arrows, links), folders)
    shapes = [arrow(link, boxes) for link in links]
    for folder in sorted(arrows):
        shapes += box(folder, boxes[folder], folders)
    return HEAD % (height, height - 2) + "\n".join(shapes) + "\n</svg>\n"
