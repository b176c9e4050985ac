"""Whether a site that was made holds together: every link leads somewhere, nothing is fetched."""
import html.parser
import os
import pathlib
import urllib.parse

# What a browser gets to show a page, as opposed to what a reader may follow.
FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src")}


class Page(html.parser.HTMLParser):
    """Its anchors, and (tag, attribute, address) of all that it refers to."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.references = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value is not None:
                self.references.append((tag, name, value))


def flaws(folder, foreign=()):
    """["page: what is wrong", ...].

    Pages in the folders `foreign` (with a slash) were made by a program that has its own idea of
    places: of their links only the files must be there.
    """
    folder = pathlib.Path(folder)
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text(errors="replace"))
             for path in folder.rglob("*.html")}
    found = []
    for name, page in sorted(pages.items()):
        for tag, attribute, address in page.references:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                if (tag, attribute) in FETCHED and parts.scheme in ("", "http", "https"):
                    found.append(f"{name} fetches {address}")
                continue
            path = urllib.parse.unquote(parts.path)
            goal = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not (folder / goal).exists():
                found.append(f"{name} refers to {address}, which is not there")
            elif parts.fragment and goal in pages and not name.startswith(tuple(foreign)) and \
                    urllib.parse.unquote(parts.fragment) not in pages[goal].anchors:
                found.append(f"{name} refers to {address}, which has no such place")
    return found
