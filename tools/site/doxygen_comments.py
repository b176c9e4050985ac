#!/usr/bin/env python3
"""A header as Doxygen reads it: comments above and behind declarations become documentation.

    doxygen_comments.py FILE     prints it; its lines keep their numbers, which warnings name

The house style is plain comments, // in C++ and /* */ in C: those that stand right above a
declaration, or behind it, are about it, and the first of a file is about the file. A comment with a
blank line below it is about nothing in particular, and stays as it is. Text is text: only commands
(\\param) and `code` mean something to Doxygen.
"""
import pathlib
import re
import sys

LINE = re.compile(r"^(\s*)//(?!/)(.*)$")
# Behind a declaration, an enumerator or a parameter; not behind what ends a scope or includes.
BEHIND = re.compile(r"^(?P<code>\s*[^\s/#}].*?[\w;,)\]}])(?P<gap>\s+)//(?!/)(?P<text>.*)$")
C_BEHIND = re.compile(r"^(\s*[^\s/#*}](?:.*\S)?\s+)/\*(?!\*)(.*)$")
C_ABOVE = re.compile(r"^(\s*)/\*(?!\*)(.*)$")
CODE_SPAN = re.compile(r"(`[^`]*`)")
# HTML, references without a scope, and what becomes a dash.
SPECIAL = re.compile(r"[<>#]|(?<![\w>)])::(?=\w)|--")
EXAMPLE = re.compile(r"^ {3,}\S")


def escaped(text):
    """Without what Doxygen would take for HTML or for a reference; code stays."""
    parts = CODE_SPAN.split(text)
    parts[::2] = [SPECIAL.sub(lambda found: "\\" + found[0], part) for part in parts[::2]]
    return "".join(parts)


def documented(texts, mark):
    """Lines of a comment as lines of documentation. Indented lines below a blank one are code."""
    lines, run = [], []

    def flush():
        if run:
            lines.extend(f"{mark} {line.strip()}" if line.strip() else mark
                         for line in escaped("\n".join(run)).split("\n"))
            run.clear()

    example = False
    for place, text in enumerate(texts):
        above = texts[place - 1].strip() if place else ""
        if not example and EXAMPLE.match(text) and not above:
            flush()
            # On the blank line above, so that the lines are as many.
            if lines:
                lines[-1] = f"{mark} \\code{{.cpp}}"
                example = True
        elif example and not EXAMPLE.match(text):
            if not text.strip() and place + 1 < len(texts) and EXAMPLE.match(texts[place + 1]):
                lines.append(mark)
                continue
            lines.append(f"{mark} \\endcode {escaped(text.strip())}".rstrip())
            example = False
            continue
        if example:
            lines.append(f"{mark} {text}")
        else:
            run.append(text)
    flush()
    if example:
        lines[-1] += " \\endcode"
    return lines


def about_the_file(texts):
    lines = documented(texts, "///")
    lines[-1] += " \\file"
    return lines


def cpp(lines):
    """A header whose comments begin with //."""
    out, place = [], 0
    column = None  # of the comment behind the line above
    while place < len(lines):
        behind, above = BEHIND.match(lines[place]), LINE.match(lines[place])
        if above and column == len(above[1]):
            out.append(f"{above[1]}///<{escaped(above[2])}")
            place += 1
        elif above:
            end = place
            while end < len(lines) and (more := LINE.match(lines[end])) and more[1] == above[1]:
                end += 1
            texts = [LINE.match(line)[2] for line in lines[place:end]]
            if place == 0:
                out += about_the_file(texts)
            elif end < len(lines) and lines[end].strip():
                out += documented(texts, f"{above[1]}///")
            else:
                out += lines[place:end]
            place = end
            column = None
        else:
            column = None
            if behind and behind["code"].count('"') % 2 == 0:
                column = len(behind["code"] + behind["gap"])
                out.append(f"{behind['code']}{behind['gap']}///<{escaped(behind['text'])}")
            else:
                out.append(lines[place])
            place += 1
    return out


def c(lines):
    """A header whose comments are in /* */, each line of a long one with a * of its own."""
    out, place = [], 0
    while place < len(lines):
        behind, above = C_BEHIND.match(lines[place]), C_ABOVE.match(lines[place])
        if not behind and not above:
            out.append(lines[place])
            place += 1
            continue
        end = place
        while "*/" not in lines[end] and end + 1 < len(lines):
            end += 1
        comment = [(behind or above)[2]] + [re.sub(r"^\s*\* ?", " ", line) for line in lines[place + 1:end + 1]]
        comment[-1] = comment[-1].rpartition("*/")[0]
        if behind:
            out.append(f"{behind[1]}///<{escaped(comment[0])}")
            out += [f"{' ' * len(behind[1])}///<{escaped(text)}" for text in comment[1:]]
        else:
            out += about_the_file(comment) if place == 0 else documented(comment, f"{above[1]}///")
        place = end + 1
    return out


def converted(text):
    lines = text.split("\n")
    return "\n".join(c(lines) if lines[0].startswith("/*") else cpp(lines))


if __name__ == "__main__":
    sys.stdout.write(converted(pathlib.Path(sys.argv[1]).read_text()))
