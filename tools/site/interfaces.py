"""The pages of the interfaces: Doxygen over the headers that docs/interfaces.md names.

House-style comments are made documentation on the way (doxygen_comments.py). A warning is an error.
"""
import os
import pathlib
import subprocess
import xml.etree.ElementTree

import markdown_text
from stage import StageError

PAGE = "docs/interfaces.md"
FOLDER = "api"  # on the site
# The whole of it; the C interface, where there is one.
FOLDERS = ("experiment/", "capi/")
HERE = pathlib.Path(os.path.abspath(__file__)).parent
MAIN_PAGE = """/** \\mainpage
The headers of Grapevine for programs of your own.
<a href="../docs/interfaces.html">Interfaces for programs</a> says what each is for.
*/
"""


def headers(tree, files):
    """Paths of those that have pages."""
    page = (pathlib.Path(tree) / PAGE).read_text()
    named = {os.path.normpath(os.path.join("docs", link.target)) for link in markdown_text.links(page)[0]}
    return sorted(path for path in files
                  if path.endswith(".h") and (path in named or path.startswith(FOLDERS)))


def configuration(tree, files, scratch, out):
    main_page = scratch / "main_page.dox"
    main_page.write_text(MAIN_PAGE)
    settings = {
        "INPUT": [str(main_page), *headers(tree, files)],
        "FILTER_PATTERNS": [f"*.h={HERE / 'doxygen_comments.py'}"],
        "STRIP_FROM_PATH": [str(tree)],
        "OUTPUT_DIRECTORY": [str(out)],
        "GENERATE_TAGFILE": [str(scratch / "tags.xml")],
    }
    # Quotes: a path may have blanks.
    return (HERE / "Doxyfile").read_text() + "".join(
        f"{key} = " + " ".join(f'"{value}"' for value in values) + "\n"
        for key, values in settings.items())


def page_of_each(tags):
    """{header: its page on the site} from Doxygen's file of tags."""
    found = {}
    for compound in xml.etree.ElementTree.parse(tags).getroot().iter("compound"):
        if compound.get("kind") == "file":
            page = compound.findtext("filename")
            page += "" if page.endswith(".html") else ".html"
            found[(compound.findtext("path") or "") + compound.findtext("name")] = f"{FOLDER}/{page}"
    return found


def make(tree, files, scratch, stage):
    """Writes the pages into the staged folder; returns {header: its page}."""
    out = pathlib.Path(stage) / FOLDER
    out.mkdir(parents=True)
    ended = subprocess.run(["doxygen", "-"], input=configuration(tree, files, scratch, out), cwd=tree,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if ended.returncode != 0:
        raise StageError(f"doxygen has warnings:\n{ended.stderr.rstrip()}")
    return page_of_each(scratch / "tags.xml")
