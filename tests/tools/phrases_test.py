"""What tools/checks/phrases.py makes of comments."""

import importlib.util
import os
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/phrases.py"))
spec = importlib.util.spec_from_file_location("phrases", SCRIPT)
phrases = importlib.util.module_from_spec(spec)
spec.loader.exec_module(phrases)


class PhrasesTest(unittest.TestCase):

    def findings(self, *lines):
        return list(phrases.findings("node/a.h", "\n".join(lines)))

    def test_a_comment_that_stands_alone(self):
        self.assertEqual(self.findings("// Returns the rank of the neighbour that is waited for.",
                                       "int rank();  // of this node, the same for a whole run"), [])

    def test_beginnings_that_lean_on_the_line_above(self):
        for text in ("Of which there are two.", "Likewise, then: nothing.", "And then it is free.",
                     "The same for a server.", "As Algorithm::VisitState.", "As Start's."):
            self.assertEqual(len(self.findings("  // " + text)), 1, text)

    def test_the_second_line_of_a_comment_is_no_beginning(self):
        self.assertEqual(self.findings("// Returns the longest of the waits, those", "// of servers",
                                       "// As Start's. Included."), [])

    def test_a_comment_behind_code_is_one_of_its_own(self):
        self.assertEqual(self.findings("int a;  // the first", "int b;  // likewise"),
                         ['node/a.h:2: "likewise" leans on another line'])

    def test_quantities_without_a_name(self):
        self.assertEqual(self.findings("// Bytes that are sent when so many are there."),
                         ['node/a.h:1: "so many are" leans on another line'])

    def test_text_in_quotes_of_code_is_no_comment(self):
        self.assertEqual(self.findings('const char* kUrl = "http://likewise";'), [])


if __name__ == "__main__":
    unittest.main()
