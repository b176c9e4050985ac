"""The plot of the comparison: error against step time, as SVG."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 46, 56
# Colours that differ for colour-blind readers, and shapes that differ in print.
SERIES = [
    ("D-PSGD, ring", "#0072b2", "circle", lambda c: (c.kind, c.topology) == ("dpsgd", "ring")),
    ("D-PSGD, torus", "#d55e00", "square",
     lambda c: (c.kind, c.topology) == ("dpsgd", "torus")),
    ("D-PSGD, one peer", "#009e73", "triangle",
     lambda c: (c.kind, c.topology) == ("dpsgd", "one-peer-exponential")),
    ("allreduces", "#cc79a7", "diamond", lambda c: c.kind == "allreduce"),
    ("AD-PSGD", "#56b4e9", "circle", lambda c: c.kind == "adpsgd"),
    ("servers", "#e69f00", "square",
     lambda c: c.kind not in ("dpsgd", "allreduce", "adpsgd")),
]


def marker(shape, x, y, colour, filled):
    fill = colour if filled else "none"
    style = 'fill="%s" stroke="%s" stroke-width="1.5"' % (fill, colour)
    if shape == "circle":
        return '<circle cx="%.1f" cy="%.1f" r="4.5" %s/>' % (x, y, style)
    offsets = {"square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
               "triangle": [(0, -5.5), (5, 4), (-5, 4)],
               "diamond": [(0, -6), (5, 0), (0, 6), (-5, 0)]}[shape]
    points = " ".join("%.1f,%.1f" % (x + dx, y + dy) for dx, dy in offsets)
    return '<polygon points="%s" %s/>' % (points, style)


def text(x, y, words, anchor="start", size=13, extra=""):
    return '<text x="%.1f" y="%.1f" text-anchor="%s" font-size="%d" %s>%s</text>' % (
        x, y, anchor, size, extra, escape(words))


class Axes:
    """Milliseconds, logarithmic, against percent."""

    def __init__(self, rows, most):
        steps = [row.measured_s * 1e3 for row in rows] or [10, 1000]
        self.low, self.high = min(steps) / 1.15, max(steps) * 1.15
        self.most = most

    def x(self, ms):
        share = math.log(ms / self.low) / math.log(self.high / self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, error):
        share = (self.most - max(-self.most, min(self.most, error))) / (2 * self.most)
        return TOP + share * (HEIGHT - TOP - BOTTOM)

    def ticks(self):
        return [m * 10**e for e in range(0, 5) for m in (1, 2, 5)
                if self.low <= m * 10**e <= self.high]


def frame(axes, gate, goal):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for bound, colour, name in ((gate[1], "#f4f4f4", "worst, gate"), (gate[0], "#e4e4e4",
                                                                      "median, gate")):
        parts.append('<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"/>' % (
            LEFT, axes.y(bound), right - LEFT, axes.y(-bound) - axes.y(bound), colour))
        parts.append(text(right - 6, axes.y(bound) + 14, "±%.0f %%: %s" % (bound * 100, name),
                          "end", 11, 'fill="#777"'))
    for error in (-0.2, -0.1, 0, 0.1, 0.2):
        if abs(error) > axes.most:
            continue
        parts.append('<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="%s"/>' % (
            LEFT, right, axes.y(error), axes.y(error), "#333" if error == 0 else "#ccc"))
        parts.append(text(LEFT - 8, axes.y(error) + 4, "%+.0f %%" % (error * 100) if error else "0",
                          "end"))
    for ms in axes.ticks():
        parts.append('<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#333"/>' % (
            axes.x(ms), axes.x(ms), bottom, bottom + 5))
        parts.append(text(axes.x(ms), bottom + 20, "%g" % ms, "middle"))
    parts.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#333"/>' % (
        LEFT, TOP, right - LEFT, bottom - TOP))
    parts.append(text((LEFT + right) / 2, HEIGHT - 14, "measured time of a round, ms", "middle"))
    parts.append(text(LEFT, TOP - 16, "Predicted time of a round, above or below the measured one",
                      size=15))
    return parts


def scatter_plot(rows, gate, goal):
    """SVG of comparison.Rows; those that do not count are hollow."""
    axes = Axes(rows, max([gate[1] * 1.2] + [abs(row.error()) * 1.1 for row in rows if row.valid]))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
             'font-family="sans-serif">' % (WIDTH, HEIGHT, WIDTH, HEIGHT),
             '<rect width="100%" height="100%" fill="white"/>'] + frame(axes, gate, goal)
    for number, (name, colour, shape, belongs) in enumerate(SERIES):
        for row in rows:
            if belongs(row.cell):
                parts.append(marker(shape, axes.x(row.measured_s * 1e3), axes.y(row.error()), colour,
                                    row.valid))
        y = TOP + 14 + 24 * number
        parts.append(marker(shape, WIDTH - RIGHT + 22, y - 4, colour, True))
        parts.append(text(WIDTH - RIGHT + 36, y, name))
    if any(not row.valid for row in rows):
        parts.append(text(WIDTH - RIGHT + 16, TOP + 24 * len(SERIES) + 20,
                          "hollow: does not count", size=11))
    return "\n".join(parts + ["</svg>", ""])
