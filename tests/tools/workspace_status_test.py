"""Which revisions tools/workspace_status names, of small trees."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/workspace_status"))
SOURCE = {"cli/main.cc": "", "WORKSPACE": ""}
MINE = {"WORKSPACE": "", "mine.cc": ""}
NAMED = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a",
         "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_COMMITTER_DATE": "2024-02-29T23:00:00Z",
         "GIT_CONFIG_NOSYSTEM": "1"}


class WorkspaceStatusTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.environment = {**os.environ, **NAMED, "HOME": folder.name,
                            "GIT_CEILING_DIRECTORIES": folder.name}

    def tree(self, name, files):
        for path, text in files.items():
            file = self.root / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return self.root / name

    def grapevine(self, name="grapevine"):
        source = self.tree(name, SOURCE)
        (source / "tools").mkdir()
        shutil.copy(SCRIPT, source / "tools/workspace_status")
        return source

    def git(self, folder, *arguments):
        return subprocess.run(["git", *arguments], cwd=folder, env=self.environment, check=True,
                              capture_output=True, text=True).stdout.strip()

    def commit(self, folder):
        """The revision that `folder` then has."""
        self.git(folder, "init", "-q")
        self.git(folder, "add", "-A")
        self.git(folder, "commit", "-q", "-m", folder.name)
        return self.git(folder, "rev-parse", "--short=12", "HEAD")

    def status(self, script, workspace):
        """(revision, date) that Bazel hears when it builds the workspace."""
        done = subprocess.run([script], cwd=workspace, env=self.environment, check=True,
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        found = re.fullmatch(r"STABLE_GRAPEVINE_REVISION (\S+)\nSTABLE_GRAPEVINE_DATE (\S*)\n",
                             done.stdout)
        self.assertTrue(found, done.stdout)
        return found.groups()

    def test_a_clone(self):
        source = self.grapevine()
        revision = self.commit(source)
        self.assertEqual(self.status("tools/workspace_status", source), (revision, "2024-02-29"))
        (source / "cli/main.cc").write_text("changed")
        self.assertEqual(self.status("tools/workspace_status", source)[0], f"{revision}-dirty")

    def test_an_archive(self):
        self.assertEqual(self.status("tools/workspace_status", self.grapevine()), ("unknown", ""))

    def test_an_archive_within_a_checkout_that_does_not_know_it(self):
        self.commit(self.tree("home", {"letter": ""}))
        archive = self.grapevine("home/grapevine")
        self.assertEqual(self.status("tools/workspace_status", archive), ("unknown", ""))

    def test_a_workspace_of_ones_own_beside_a_clone(self):
        source, mine = self.grapevine(), self.tree("mine", MINE)
        (mine / "grapevine").symlink_to(source)
        script = "grapevine/tools/workspace_status"
        of_source = self.commit(source)
        self.assertEqual(self.status(script, mine), (f"{of_source}+unknown", "2024-02-29"))
        of_mine = self.commit(mine)
        self.assertEqual(self.status(script, mine)[0], f"{of_source}+{of_mine}")
        (mine / "mine.cc").write_text("changed")
        self.assertEqual(self.status(script, mine)[0], f"{of_source}+{of_mine}-dirty")

    def test_a_workspace_of_ones_own_beside_an_archive(self):
        source, mine = self.grapevine(), self.tree("mine", MINE)
        of_mine = self.commit(mine)
        self.assertEqual(self.status(source / "tools/workspace_status", mine),
                         (f"unknown+{of_mine}", ""))

    def test_a_workspace_that_has_the_source_in_its_own_checkout(self):
        mine = self.tree("mine", MINE)
        self.grapevine("mine/grapevine")
        revision = self.commit(mine)
        self.assertEqual(self.status("grapevine/tools/workspace_status", mine)[0], revision)

    def test_a_copy_of_the_script_knows_nothing_of_the_source(self):
        mine = self.tree("mine", MINE)
        (mine / "tools").mkdir()
        shutil.copy(SCRIPT, mine / "tools/workspace_status")
        of_mine = self.commit(mine)
        self.assertEqual(self.status("tools/workspace_status", mine), (f"unknown+{of_mine}", ""))


if __name__ == "__main__":
    unittest.main()
