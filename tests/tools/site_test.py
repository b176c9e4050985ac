"""What tools/site makes of a small tree, and of the program's description of itself."""

import os
import pathlib
import sys
import tempfile
import unittest

ROOT = os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."))
sys.path[:0] = [os.path.join(ROOT, "tools", folder) for folder in ("site", "checks")]
import built_site
import doxygen_comments
import reference
import stage


def fill(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class InFolder(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class StageTest(InFolder):

    def staged(self, page, **more):
        """(the text of docs/a.md on the site, the folder of the site)."""
        files = {"docs/a.md": page, "docs/images/a.png": "picture", "run/main.cc": "int main() {}\n",
                 "run/inner/own.h": "", "base/README.md": "# base", "tools/site/site.css": "",
                 "tools/site/search.js": "", **more}
        fill(self.folder / "tree", files)
        site = self.folder / "stage"
        stage.Stage(self.folder / "tree", set(files), site).add_pages()
        return (site / "docs/a.md").read_text(), site

    def test_links_among_pages_stay(self):
        page = "[b](../base/README.md#x), [here](#own), [far](https://a.example/b.cc) `[](int)`\n"
        self.assertEqual(self.staged(page)[0], page)

    def test_a_folder_leads_to_its_readme_or_to_what_is_in_it(self):
        page, site = self.staged("[base](../base/), [run](../run)")
        self.assertEqual(page, "[base](../base/README.md), [run](../run.md)")
        self.assertEqual((site / "run.md").read_text(), "# run/\n\n- `inner`\n- `main.cc`\n")

    def test_a_source_has_a_page(self):
        page, site = self.staged("[main](../run/main.cc)")
        self.assertEqual(page, "[main](../run/main.cc.md)")
        self.assertEqual((site / "run/main.cc.md").read_text(),
                         "# run/main.cc\n\n```cpp\nint main() {}\n```\n")

    def test_a_source_with_fences_stays_whole(self):
        _, site = self.staged("[x](../x.py)", **{"x.py": "a = '''\n````\n'''\n"})
        self.assertIn("\n`````python\n", (site / "x.py.md").read_text())

    def test_what_is_not_in_the_tree_is_no_empty_page(self):
        with self.assertRaisesRegex(stage.StageError, "there is no run/lost.cc to link to"):
            self.staged("[lost](../run/lost.cc)")

    def test_a_header_with_a_page_of_its_own_leads_there(self):
        fill(self.folder / "tree", {"docs/a.md": "[x](../x.h)", "x.h": ""})
        site = stage.Stage(self.folder / "tree", {"docs/a.md", "x.h"}, self.folder / "stage",
                           {"x.h": "api/x_8h.html"})
        self.assertEqual(site.rewritten("docs/a.md", "[x](../x.h#y)"), "[x](../api/x_8h.html#y)")

    def test_pictures_come_along(self):
        page, site = self.staged("![a](images/a.png)")
        self.assertEqual(page, "![a](images/a.png)")
        self.assertEqual((site / "docs/images/a.png").read_text(), "picture")


class NavigationTest(unittest.TestCase):
    PAGE = ("# Pages\n\n## Running\n\n- [a](a.md): with [more](b.md#x)\n- [../C.md](../C.md)\n\n"
            "## Other\n\n- [b](b.md), [code](../x.cc)\n")

    def test_groups_are_those_of_the_page(self):
        self.assertEqual(stage.navigation(self.PAGE, {"docs/a.md", "docs/b.md", "docs/README.md"}),
                         [{"Running": ["docs/a.md", "docs/b.md", "C.md"]}, {"Other": ["docs/b.md"]}])

    def test_a_page_that_nobody_would_find(self):
        with self.assertRaisesRegex(stage.StageError, "docs/README.md does not list docs/lost.md$"):
            stage.navigation(self.PAGE, {"docs/a.md", "docs/lost.md"})


class BuiltSiteTest(InFolder):

    def flaws(self, page, foreign=()):
        fill(self.folder, {"docs/a.html": page, "b.html": '<h1 id="one">1</h1>', "x.css": ""})
        return built_site.flaws(self.folder, foreign)

    def test_what_holds_together(self):
        self.assertEqual(self.flaws('<a href="../b.html#one"></a><a href="https://a.example"></a>'
                                    '<p id="p"><a href="#p"></a><link href="../x.css">'
                                    '<img src="data:x">'), [])

    def test_what_is_not_there(self):
        self.assertEqual(self.flaws('<a href="c.html"></a><script src="../x.js"></script>'),
                         ["docs/a.html refers to c.html, which is not there",
                          "docs/a.html refers to ../x.js, which is not there"])
        self.assertEqual(self.flaws('<a href="../b.html#two"></a><a href="#p"></a>'),
                         ["docs/a.html refers to ../b.html#two, which has no such place",
                          "docs/a.html refers to #p, which has no such place"])

    def test_of_foreign_pages_the_files_alone_count(self):
        self.assertEqual(self.flaws('<a href="../b.html#two"></a><a href="c.html">', ["docs/"]),
                         ["docs/a.html refers to c.html, which is not there"])

    def test_what_is_fetched_from_elsewhere(self):
        self.assertEqual(self.flaws('<script src="https://a.example/x.js"></script>'
                                    '<link href="//a.example/x.css">'),
                         ["docs/a.html fetches https://a.example/x.js",
                          "docs/a.html fetches //a.example/x.css"])


class DoxygenCommentsTest(unittest.TestCase):

    def assert_becomes(self, plain, documented):
        self.assertEqual(doxygen_comments.converted(plain), documented)

    def test_the_first_comment_is_about_the_file(self):
        self.assert_becomes("// What it is.\n//\n// How.\n#ifndef X\n",
                            "/// What it is.\n///\n/// How. \\file\n#ifndef X\n")

    def test_comments_above_and_behind(self):
        self.assert_becomes("\n  // Above.\n  int x;  // behind\n          // and on\n  int y = 0; // too\n",
                            "\n  /// Above.\n  int x;  ///< behind\n          ///< and on\n  int y = 0; ///< too\n")

    def test_what_is_about_nothing_stays(self):
        for text in ("\n// Alone.\n\nint x;\n", "\n}  // namespace grapevine\n", "\n#endif  // X\n",
                     "\n/// Done.\nint x;\n", '\nauto x = "http://a";\n'):
            with self.subTest(text=text):
                self.assert_becomes(text, text)

    def test_text_is_no_markup_and_code_is_code(self):
        self.assert_becomes("\n// A <b>, #c, ::d, e::f and --g, but `<h>` and\n// `--i\n// j`.\nint x;\n",
                            "\n/// A \\<b\\>, \\#c, \\::d, e::f and \\--g, but `<h>` and\n/// `--i\n/// j`.\nint x;\n")

    def test_an_example_is_code(self):
        self.assert_becomes("\n// So:\n//\n//   a<b>();\n//\n//   c();\n//\n// Then <d>.\n//\n//   e();\nint x;\n",
                            "\n/// So:\n/// \\code{.cpp}\n///    a<b>();\n///\n///    c();\n/// \\endcode\n"
                            "/// Then \\<d\\>.\n/// \\code{.cpp}\n///    e(); \\endcode\nint x;\n")

    def test_headers_of_c(self):
        self.assert_becomes("/* What.\n *\n * How. */\nenum {\n  A, /* one */\n  B  /* two\n     * more */\n};\n/* f. */\nint f();\n",
                            "/// What.\n///\n/// How. \\file\nenum {\n  A, ///< one \n  B  ///< two\n     ///< more \n};\n/// f.\nint f();\n")


class ReferenceTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.pages, cls.navigation = reference.pages(os.path.join(ROOT, "grapevine"))

    def test_every_command_and_every_kind_has_a_page(self):
        self.assertEqual({path for group in self.navigation for pages in group.values() for path in pages},
                         set(self.pages))
        for path in ("reference/grapevine.md", "reference/commands/train.md",
                     "reference/names/topology.md"):
            self.assertIn(path, self.pages)

    def test_flags_can_be_linked_to(self):
        page = self.pages["reference/commands/train.md"]
        self.assertIn('<dt id="peer-timeout"><code>--peer-timeout=TIME</code>', page)
        self.assertIn('<dt id="nodes"><code>-n, --nodes=N</code>', page)
        self.assertIn('<a href="../names/topology.html">Topologies, one by one</a>', page)

    def test_names_have_their_options_and_help(self):
        page = self.pages["reference/names/topology.md"]
        self.assertIn('<dt id="torus"><code>torus[:4x8]</code>', page)
        self.assertIn("<dd>two neighbours each</dd>", page)

    def test_help_is_text_and_no_markup(self):
        self.assertEqual(reference.prose("of `a <b>` & <i>"),
                         "of <code>a &lt;b&gt;</code> &amp; &lt;i&gt;")


if __name__ == "__main__":
    unittest.main()
