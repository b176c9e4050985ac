"""What tools/checks/links.py makes of small trees of pages."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/links.py"))


class LinksTest(unittest.TestCase):

    def check(self, files):
        """(exit status, lines) of the check over a tree of files."""
        with tempfile.TemporaryDirectory() as root:
            for name, text in files.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            subprocess.run(["git", "init", "-q", root], check=True)
            done = subprocess.run([sys.executable, SCRIPT], cwd=root, capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout.splitlines()

    def check_page(self, text):
        """Of a page docs/a.md beside others."""
        return self.check({"docs/a.md": text, "docs/b.md": "# One\n\n## Two (of 2)\n\n## Two (of 2)\n",
                           "README.md": "", "run/main.cc": "", "docs/an image.png": ""})

    def assert_flaw(self, text, flaw):
        self.assertEqual(self.check_page(text), (1, [f"docs/a.md:{flaw}"]))

    def assert_good(self, text, count):
        self.assertEqual(self.check_page(text), (0, [f"{count} links, 3 pages"]))

    def test_files_folders_and_anchors_that_are_there(self):
        self.assert_good("[b](b.md), [there](../README.md) and [`code`](../run/main.cc) in\n"
                         "[a folder](../run) or [two](../run/); ![image](an%20image.png 'title')\n"
                         "[of b](b.md#two-of-2), [again](b.md#two-of-2-1), [here](#own)\n\n## Own\n", 9)

    def test_a_file_that_is_not_there(self):
        self.assert_flaw("\n[c](c.md#one)", "2: there is no docs/c.md")
        self.assert_flaw("![picture](images/c.png)", "1: there is no docs/images/c.png")

    def test_names_are_compared_by_case_too(self):
        self.assert_flaw("[b](B.md)", "1: there is no docs/B.md")

    def test_what_lies_outside_of_the_tree(self):
        self.assert_flaw("[out](../../README.md)", "1: there is no ../README.md")
        self.assert_flaw("[root](/docs/b.md)",
                         "1: /docs/b.md: a path from the root leads elsewhere on each machine")

    def test_what_git_ignores_is_not_there(self):
        self.assertEqual(self.check({".gitignore": "made.md\n", "made.md": "[x](y)", "a.md": "[m](made.md)"}),
                         (1, ["a.md:1: there is no made.md"]))

    def test_a_heading_that_is_not_there(self):
        self.assert_flaw("[b](b.md#two-of-3)",
                         "1: docs/b.md has no #two-of-3; did you mean #two-of-2?")
        self.assert_flaw("[b](b.md#two-of-2-2)",
                         "1: docs/b.md has no #two-of-2-2; did you mean #two-of-2-1?")
        self.assert_flaw("[here](#else)", "1: docs/a.md has no #else")
        self.assert_flaw("[code](../run/main.cc#L3)", "1: run/main.cc has no headings, so no #L3")
        self.assert_flaw("[b](b.md#)", "1: #: an empty anchor")

    def test_headings_are_named_as_on_github(self):
        headings = {"## The living go on: `--on-failure=shrink`": "the-living-go-on---on-failureshrink",
                    "# [Linked](b.md) *and* so_on": "linked-and-so_on",
                    "### Größe, 2–3 × ###": "größe-23-"}
        for heading, anchor in headings.items():
            with self.subTest(heading=heading):
                self.assertEqual(self.check_page(f"{heading}\n\n[x](#{anchor})")[0], 0)

    def test_a_heading_in_a_block_of_code_is_none(self):
        self.assert_flaw("```sh\n# one\n```\n[x](#one)", "4: docs/a.md has no #one")
        self.assert_flaw("~~~~\n~~~\n# one\n~~~~\n[x](#one)", "5: docs/a.md has no #one")

    def test_anchors_of_html(self):
        self.assert_good('<a id="place"></a>\n[x](#place)', 1)

    def test_code_and_comments_have_no_links(self):
        self.assert_good("`[](int)` ``[`](x)`` <!-- [x](y) -->\n\n```cpp\n[](int)\n```\n", 0)

    def test_a_lone_backtick_hides_nothing(self):
        self.assert_flaw("a ` alone\n\n[c](c.md) and ` alone", "3: there is no docs/c.md")

    def test_links_by_name(self):
        self.assert_good("[text][page], [page][]\n\n[page]: b.md\n", 1)
        self.assert_flaw("[text][page]\n\n[page]: c.md\n", "3: there is no docs/c.md")
        self.assert_flaw("[text][pgae]\n\n[page]: b.md\n", "1: [pgae] is not defined")

    def test_other_machines_are_read_and_not_asked(self):
        self.assert_good("[x](https://no-such-host.invalid/a_(b)#c) <http://a.example:80/>\n"
                         "<mailto:a@b.example>", 3)
        self.assert_flaw("[x](https:/a.example)", "1: https:/a.example: no host")
        self.assert_flaw("[x](https://localhost/)", "1: https://localhost/: no host")
        self.assert_flaw("[x](ftp://a.example)",
                         "1: ftp://a.example: links begin with https:, not with ftp:")
        self.assert_flaw("[x](https://a.example:port/)",
                         "1: https://a.example:port/: Port could not be cast to integer value as 'port'")

    def test_an_empty_link(self):
        self.assert_flaw("[x]()", "1: an empty link")


if __name__ == "__main__":
    unittest.main()
