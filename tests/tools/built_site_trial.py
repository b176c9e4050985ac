#!/usr/bin/env python3
"""The site that tools/docs has made, as its readers have it: in Debian's Chromium, without a network.

    python3 tests/tools/built_site_trial.py SITE [--pictures=DIR]

From a folder and from a server; on a phone, in the light and in the dark. With --pictures some pages
are left there as they look. tools/test --full runs it.
"""

import argparse
import functools
import http.server
import pathlib
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "process"))
import browser

PHONE, DESKTOP = (360, 700), (1280, 900)
ENTER = ("Enter", 13)
# One of each kind: home, prose with tables, a tutorial, a command, names, a source, the search.
KINDS = ["index.html", "docs/benchmarks.html", "docs/tutorials/first-run.html",
         "reference/commands/train.html", "reference/names/topology.html",
         "search.html?q=staleness"]
INTERFACE = "api/classgrapevine_1_1Experiment.html"
# What Doxygen's search shows in a frame.
FRAMES = "api/search/"
# Of text that everybody can read, large or not (WCAG 2.1 asks for 4.5 and 3).
LEAST_CONTRAST = 3
# Searched words, and where one of the first three results leads.
FOUND = {"requeue": "docs/cluster.html", "--topology": "reference/", "one-peer-exponential": "",
         "stalen": "docs/convergence.html#what-staleness-costs"}

LOOKED_UP = """new Promise((resolve) => {
  const results = document.getElementById('mkdocs-search-results');
  const look = () => {
    const links = [...results.querySelectorAll('h3 a')].map((link) => link.href);
    const said = results.textContent.trim();
    if (links.length || said === results.getAttribute('data-no-results-text')) resolve({links, said});
    else setTimeout(look, 20);
  };
  look();
})"""

# [text, contrast] of all that is hard to read.
FAINT = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (; element; element = element.parentElement) {
      const colour = parts(getComputedStyle(element).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.5) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')].flatMap((element) => {
    const style = getComputedStyle(element);
    const text = [...element.childNodes].filter((node) => node.nodeType === 3)
      .map((node) => node.textContent.trim()).join('');
    if (!text || !element.getClientRects().length || style.visibility === 'hidden') return [];
    const [dark, light] = [luminance(parts(style.color).slice(0, 3)), luminance(ground(element))]
      .sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    return contrast < %s ? [[text.slice(0, 40), contrast]] : [];
  });
})()""" % LEAST_CONTRAST


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class BuiltSiteTrial(unittest.TestCase):
    site = pictures = None

    @classmethod
    def setUpClass(cls):
        if browser.CHROMIUM is None:
            raise AssertionError("chromium is not installed (Debian's chromium)")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.browser = browser.Browser(folder.name)
        cls.addClassCleanup(cls.browser.close)
        server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Silent, directory=str(cls.site)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.places = [f"{cls.site.as_uri()}/", f"http://127.0.0.1:{server.server_port}/"]

    def setUp(self):
        self.browser.resize(*DESKTOP)

    def open(self, place, page):
        self.browser.complaints.clear()
        self.browser.requests.clear()
        self.browser.open(place + page)
        self.assertEqual(self.browser.value("location.protocol"), place.partition("/")[0])  # no page of errors

    def expect_content(self, place, page):
        """Nothing is wrong with what was opened last, and it is from the site itself."""
        self.assertEqual(self.browser.complaints, [], page)
        elsewhere = [url for url in self.browser.requests if not url.startswith((place, "data:"))]
        self.assertEqual(elsewhere, [], page)

    def search(self, place, page, words):
        """Where the first results lead, after one has typed the words on that page."""
        self.open(place, page)
        self.browser.type("[role=search] input", words)
        self.browser.await_page(lambda: self.browser.press(*ENTER))
        found = self.browser.value(LOOKED_UP)
        self.expect_content(place, page)
        return found

    def test_what_is_typed_is_found(self):
        for place in self.places:
            for words, goal in FOUND.items():
                found = self.search(place, "docs/transport.html", words)
                self.assertTrue(any(link.startswith(place + goal) for link in found["links"][:3]), found)

    def test_a_result_leads_to_a_place_with_the_word(self):
        for place in self.places:
            self.search(place, "index.html", "requeue")
            follow = "document.querySelector('#mkdocs-search-results h3 a').click()"
            self.browser.await_page(lambda: self.browser.value(follow))
            self.assertNotIn("search.html", self.browser.value("location.pathname"))
            self.assertIn("requeue", self.browser.value("document.body.textContent"))
            self.expect_content(place, "the first result")

    def test_it_is_said_that_nothing_is_found(self):
        for place in self.places:
            found = self.search(place, "index.html", "xylophone")
            self.assertEqual(found["links"], [])
            self.assertIn("No results", found["said"])

    def test_no_page_asks_anybody_else_or_is_wider_than_a_phone(self):
        self.browser.resize(*PHONE)
        place = self.places[0]
        wide = {}
        for page in sorted(path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html")):
            self.open(place, page)
            self.expect_content(place, page)
            width = self.browser.value("document.documentElement.scrollWidth")
            if width > PHONE[0] and not page.startswith(FRAMES):
                wide[page] = width
        self.assertEqual(wide, {})

    def test_everybody_can_read_it_in_the_light_and_in_the_dark(self):
        for page in KINDS:
            for size in (PHONE, DESKTOP):
                for dark in (False, True):
                    self.browser.resize(*size, dark)
                    self.open(self.places[0], page)
                    if page.startswith("search"):
                        self.browser.value(LOOKED_UP)
                    self.assertEqual(self.browser.value(FAINT), [], (page, size, dark))
                    self.keep(page, size, dark)

    def test_the_dark_is_dark(self):
        ground = "getComputedStyle(document.querySelector('.wy-nav-content')).backgroundColor.match(/\\d+/g)"
        for dark in (False, True):
            self.browser.resize(*DESKTOP, dark)
            self.open(self.places[0], "docs/cluster.html")
            self.assertEqual(max(map(int, self.browser.value(ground))) < 64, dark)
            # Doxygen's colours are turned into their opposites.
            self.open(self.places[0], INTERFACE)
            turned = self.browser.value("getComputedStyle(document.documentElement).filter")
            self.assertEqual("invert" in turned, dark)
            self.keep(INTERFACE, DESKTOP, dark)

    def keep(self, page, size, dark):
        if self.pictures:
            name = pathlib.PurePosixPath(page.partition("?")[0]).stem
            self.browser.screenshot(self.pictures / f"{name}-{size[0]}-{'dark' if dark else 'light'}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("site", type=pathlib.Path, help="the folder that tools/docs has written")
    parser.add_argument("--pictures", type=pathlib.Path, help="a folder for pictures of some pages")
    given, others = parser.parse_known_args()
    if not (given.site / "index.html").exists():
        parser.error(f"{given.site} has no index.html: make it with tools/docs --out={given.site}")
    BuiltSiteTrial.site, BuiltSiteTrial.pictures = given.site.resolve(), given.pictures
    unittest.main(argv=[sys.argv[0], *others])


if __name__ == "__main__":
    main()
