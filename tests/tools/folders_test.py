"""What tools/checks/folders.py makes of small trees."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/folders.py"))
ROWS = {"base": "–", "node": "node/runner", "node/runner": "base"}
FILES = {"base/spec.h": "", "node/session.h": '#include "node/runner/runner.h"\n',
         "node/runner/runner.h": '#include "base/spec.h"\n'}


class FoldersTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        subprocess.run(["git", "init", "-q", self.root], check=True)

    def check(self, files, rows, *arguments, hash_seed=0):
        """(exit status, lines) of the check over a tree."""
        table = "".join(f"| `{folder}/` | it | {uses} |\n" for folder, uses in rows.items())
        for path, text in {**files, "docs/architecture.md": table, "docs/images/x": ""}.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        subprocess.run(["git", "add", "-A"], cwd=self.root, check=True)
        done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=self.root,
                              env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def drawn(self, files, rows):
        self.check(files, rows, "--draw")
        return self.check(files, rows)

    def test_a_tree_is_as_its_page_says(self):
        self.assertEqual(self.drawn(FILES, ROWS), (0, ["3 folders, 2 arrows"]))

    def test_an_arrow_that_the_page_lacks(self):
        status, lines = self.drawn({**FILES, "node/other.h": '#include "base/spec.h"\n'}, ROWS)
        self.assertEqual((status, lines),
                         (1, ["node/other.h: node uses base, which docs/architecture.md does not say"]))

    def test_an_arrow_that_nothing_needs(self):
        status, lines = self.drawn(FILES, {**ROWS, "node": "node/runner, base"})
        self.assertEqual((status, lines), (1, ["docs/architecture.md: node does not use base"]))

    def test_a_folder_without_a_row(self):
        status, lines = self.drawn({**FILES, "node/control/line.h": ""}, ROWS)
        self.assertEqual((status, lines), (1, ["docs/architecture.md has no row for node/control/"]))

    def test_a_row_without_a_folder(self):
        status, lines = self.drawn(FILES, {**ROWS, "sim": "–"})
        self.assertEqual((status, lines),
                         (1, ["docs/architecture.md has a row for sim/, where nothing is"]))

    def test_a_circle_of_inner_folders(self):
        back = {**FILES, "node/runner/runner.h": '#include "node/session.h"\n'}
        status, lines = self.drawn(back, {**ROWS, "node/runner": "node"})
        self.assertEqual((status, lines), (1, ["a circle: node -> node/runner -> node"]))

    def test_a_circle_that_only_outer_folders_show(self):
        files = {**FILES, "base/text/text.h": '#include "node/session.h"\n'}
        status, lines = self.drawn(files, {**ROWS, "base/text": "node"})
        self.assertEqual((status, lines), (1, ["a circle: base -> node -> base"]))

    def test_a_picture_of_other_arrows(self):
        self.drawn(FILES, ROWS)
        files = {**FILES, "sim/engine.h": '#include "node/session.h"\n'}
        status, lines = self.check(files, {**ROWS, "sim": "node"})
        self.assertEqual((status, lines), (1, ["docs/images/folders.svg shows other arrows: "
                                               "python3 tools/checks/folders.py --draw"]))

    def test_a_picture_that_depends_on_nothing_but_the_arrows(self):
        uses = {"d": "bc", "e": "d", "g": "de", "h": "abef", "i": "adgh", "j": "adef"}
        rows = {user: ", ".join(uses.get(user, "–")) for user in "abcdefghij"}
        files = {f"{user}/x.h": "".join(f'#include "{used}/x.h"\n' for used in uses.get(user, ""))
                 for user in rows}
        pictures = set()
        for hash_seed in range(12):
            self.check(files, rows, "--draw", hash_seed=hash_seed)
            pictures.add((self.root / "docs/images/folders.svg").read_text())
        self.assertEqual(len(pictures), 1)


if __name__ == "__main__":
    unittest.main()
