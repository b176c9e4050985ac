"""What of a Markdown page others can refer to, and what it refers to itself.

Markdown as GitHub reads it: the anchors are those that it gives to headings.
"""
import collections
import re

# `target` is page.md#anchor as it is written, between the offsets `begin` and `end` of the text.
Link = collections.namedtuple("Link", "line begin end target")
# In [text][name] that no line "[name]: target" defines.
Dangling = collections.namedtuple("Dangling", "line name")

FENCE = re.compile(r"^ {0,3}(?:> ?)?(`{3,}|~{3,})(.*)$")
# Within a paragraph.
CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.M)
# [text](target "title"), also of a picture; brackets in the text and in the target come in pairs.
INLINE = re.compile(r"\]\(\s*(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:[^\s()]|\([^\s()]*\))*))"
                    r"(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
DEFINITION = re.compile(r"^ {0,3}\[([^\]\n]+)\]:[ \t]+<?([^\s>]+)>?", re.M)
REFERENCE = re.compile(r"\[([^\[\]\n]+)\]\[([^\[\]\n]*)\]")
AUTOLINK = re.compile(r"<((?:https?|mailto):[^\s<>]*)>")
ANCHOR = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
MARKUP_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


def blank(text):
    """As long, and on as many lines."""
    return re.sub(r"[^\n]", " ", text)


def without_fences(text):
    """The text with its fenced blocks blanked."""
    lines, fence = [], None
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line.rstrip("\n"))
        if fence is None and found and not (found[1][0] == "`" and "`" in found[2]):
            fence = found[1]
            lines.append(blank(line))
        elif fence is not None:
            if found and found[1].startswith(fence) and not found[2].strip():
                fence = None
            lines.append(blank(line))
        else:
            lines.append(line)
    return "".join(lines)


def prose(text):
    """The text with code and comments blanked: what is left may be a link."""
    text = COMMENT.sub(lambda found: blank(found[0]), without_fences(text))
    return CODE.sub(lambda found: blank(found[0]), text)


def slug(title):
    """The anchor of a heading, from its text without markup."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")


def slugify(title, _):
    """slug(), as Python's Markdown asks for it."""
    return slug(title)


def plain(markup):
    """A heading's text without its markup."""
    text = MARKUP_LINK.sub(r"\1", markup)
    return re.sub(r"[`*]", "", text)


def anchors(text):
    """What may follow the # in a link to this page."""
    seen = collections.Counter()
    found = []
    page = COMMENT.sub(lambda comment: blank(comment[0]), without_fences(text))
    for heading in HEADING.finditer(page):
        name = slug(plain(heading[2]))
        found.append(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found + ANCHOR.findall(page)


def links(text):
    """Every Link of a page, in its order, then every Dangling."""
    page = prose(text)
    found = []

    def add(begin, end):
        found.append(Link(page.count("\n", 0, begin) + 1, begin, end, text[begin:end]))

    for inline in INLINE.finditer(page):
        add(*inline.span("plain" if inline["angled"] is None else "angled"))
    for definition in DEFINITION.finditer(page):
        add(*definition.span(2))
    for autolink in AUTOLINK.finditer(page):
        add(*autolink.span(1))
    defined = {name.lower() for name, _ in DEFINITION.findall(page)}
    dangling = [Dangling(page.count("\n", 0, reference.start()) + 1, reference[2] or reference[1])
                for reference in REFERENCE.finditer(page)
                if (reference[2] or reference[1]).lower() not in defined]
    return sorted(found, key=lambda link: link.begin), dangling
