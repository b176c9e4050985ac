"""What tools/checks/registrations.py makes of small trees."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/registrations.py"))
STAR = "const Registration kStar(Topologies(), {});\n"


class RegistrationsTest(unittest.TestCase):

    def check(self, source, attribute, rule="cc_library"):
        """(exit status, lines) of the check over a tree of one target."""
        with tempfile.TemporaryDirectory() as root:
            folder = pathlib.Path(root) / "graphs"
            folder.mkdir()
            (folder / "star.cc").write_text(source)
            (folder / "BUILD.bazel").write_text(
                f'{rule}(\n    name = "star",\n    srcs = ["star.cc"],\n{attribute})\n')
            subprocess.run(["git", "init", "-q", root], check=True)
            subprocess.run(["git", "add", "-A"], cwd=root, check=True)
            done = subprocess.run([sys.executable, SCRIPT], cwd=root, capture_output=True,
                                  text=True, check=False)
            return done.returncode, done.stdout.splitlines()

    def test_a_registration_is_linked(self):
        self.assertEqual(self.check(STAR, "    alwayslink = True,\n"),
                         (0, ["1 files register what they define"]))

    def test_a_registration_that_the_linker_would_drop(self):
        self.assertEqual(
            self.check(STAR, ""),
            (1, ["graphs/star.cc registers itself, but its library is not alwayslink"]))

    def test_binaries_and_registries_of_their_own_are_linked_anyway(self):
        self.assertEqual(self.check(STAR, "", rule="cc_binary")[0], 0)
        self.assertEqual(self.check("Registry<Kind>& Topologies() {\n}\n" + STAR, "")[0], 0)


if __name__ == "__main__":
    unittest.main()
