"""The folder that mkdocs reads: the pages of the tree, and what they refer to.

Pages keep their paths, so that links among them hold. A link to a folder becomes one to its README,
a link to a source one to a page with its text; pictures are copied.
"""
import os
import pathlib
import re

import markdown_text

PICTURES = {".png", ".svg", ".jpg"}
LANGUAGES = {".cc": "cpp", ".h": "cpp", ".py": "python", ".sh": "sh", ".yaml": "yaml", ".yml": "yaml",
             ".json": "json", ".bazel": "python", ".js": "javascript", ".mjs": "javascript"}
NAVIGATION = "docs/README.md"
OWN = ("site.css", "search.js")


class StageError(Exception):
    """Its text names the culprit and the remedy."""


def language(path, text):
    if text.startswith("#!"):
        return "python" if "python" in text.split("\n")[0] else "sh"
    return LANGUAGES.get(pathlib.PurePosixPath(path).suffix, "text")


def source_page(path, text):
    """A page that shows a file."""
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return f"# {path}\n\n{fence}{language(path, text)}\n{text.rstrip()}\n{fence}\n"


def folder_page(path, files):
    inside = sorted({file[len(path) + 1:].split("/")[0] for file in files
                     if file.startswith(path + "/")})
    if not inside:
        raise StageError(f"there is no {path} to link to; see tools/check links")
    return f"# {path}/\n\n" + "".join(f"- `{name}`\n" for name in inside)


def folder_pages(files):
    """What each folder says of itself."""
    return sorted(path for path in files if path.endswith("/README.md") and path != NAVIGATION)


class Stage:
    """The pages that are to be made, in a folder; `files` are those of the tree, by their paths."""

    def __init__(self, tree, files, folder, pages=None):
        """`pages` are those of the site, made elsewhere, that show some of the files."""
        self.tree, self.files, self.folder = pathlib.Path(tree), files, pathlib.Path(folder)
        self.pages = pages or {}

    def write(self, path, text):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def copy(self, path):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes((self.tree / path).read_bytes())

    def goal(self, path):
        """The path on the site of what is at this path in the tree, which is put there."""
        if path in self.pages:
            return self.pages[path]
        if path.endswith(".md") or path in self.files and os.path.splitext(path)[1] in PICTURES:
            if not path.endswith(".md"):
                self.copy(path)
            return path
        readme = os.path.normpath(f"{path}/README.md")
        if readme in self.files:
            return readme
        page = f"{path}.md"
        if not (self.folder / page).exists():
            self.write(page, source_page(path, (self.tree / path).read_text()) if path in self.files
                       else folder_page(path, self.files))
        return page

    def rewritten(self, page, text):
        """The text of a page, its links as they are on the site."""
        parts, end = [], 0
        for link in markdown_text.links(text)[0]:
            path, mark, anchor = link.target.partition("#")
            if not path or ":" in path.split("/")[0]:
                continue
            goal = self.goal(os.path.normpath(os.path.join(os.path.dirname(page), path)))
            parts += [text[end:link.begin], os.path.relpath(goal, os.path.dirname(page) or "."), mark + anchor]
            end = link.end
        return "".join(parts) + text[end:]

    def add_pages(self):
        for page in sorted(path for path in self.files if path.endswith(".md")):
            self.write(page, self.rewritten(page, (self.tree / page).read_text()))
        for path in OWN:
            self.write(path, (self.tree / "tools/site" / path).read_text())


def navigation(text, files):
    """[{group: [page, ...]}, ...] from the page that lists the others, by its headings.

    Every page of docs/ must be in it, for else nobody would find it.
    """
    groups = []
    for section in re.split(r"^## +", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        pages = [os.path.normpath(os.path.join("docs", link.target.partition("#")[0]))
                 for link in markdown_text.links(body)[0] if link.target.partition("#")[0].endswith(".md")]
        groups.append({title.strip(): list(dict.fromkeys(pages))})
    listed = {page for group in groups for pages in group.values() for page in pages}
    missing = sorted(path for path in files if path.startswith("docs/") and path.endswith(".md")
                     and path not in listed and path != NAVIGATION)
    if missing:
        raise StageError(f"{NAVIGATION} does not list {', '.join(missing)}")
    return groups
