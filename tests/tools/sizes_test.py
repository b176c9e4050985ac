"""What tools/checks/sizes.py makes of what ctags says."""

import importlib.util
import os
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/sizes.py"))
spec = importlib.util.spec_from_file_location("sizes", SCRIPT)
sizes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sizes)


def tag(kind, name, line, end=None, scope=None, path="node/a.h"):
    found = {"kind": kind, "name": name, "path": path, "line": line}
    if end is not None:
        found["end"] = end
    if scope is not None:
        found["scope"] = scope
    return found


def class_of(methods, members, name="Big"):
    """A class of one line each."""
    inside = [tag("prototype", f"M{i}", 2 + i, scope=f"grapevine::{name}") for i in range(methods)]
    inside += [tag("member", f"m{i}_", 2 + methods + i, scope=f"grapevine::{name}")
               for i in range(members)]
    return [tag("class", name, 1, 3 + methods + members, scope="grapevine")] + inside


class SizesTest(unittest.TestCase):

    def findings(self, tags, grown=None):
        return list(sizes.findings(tags, grown or {}))

    def test_a_class_may_have_so_much(self):
        self.assertEqual(self.findings(class_of(45, 25)), [])

    def test_a_class_that_has_more_is_named_with_both_numbers(self):
        self.assertEqual(self.findings(class_of(46, 3)),
                         ["node/a.h:1: Big has 46 methods and 3 members, and may have 45 and 25"])
        self.assertEqual(self.findings(class_of(4, 26)),
                         ["node/a.h:1: Big has 4 methods and 26 members, and may have 45 and 25"])

    def test_an_exception_may_shrink_and_not_grow(self):
        self.assertEqual(self.findings(class_of(50, 3), {"Big": (50, 3)}), [])
        self.assertEqual(self.findings(class_of(49, 3), {"Big": (50, 3)}), [])
        self.assertEqual(self.findings(class_of(51, 3), {"Big": (50, 3)}),
                         ["node/a.h:1: Big has 51 methods and 3 members, and may have 50 and 25"])

    def test_an_exception_that_nobody_needs_is_one_too_many(self):
        self.assertEqual(self.findings(class_of(45, 3), {"Big": (50, 3)}),
                         ["tools/checks/sizes.py: Big needs no exception any more"])

    def test_a_definition_further_down_is_no_second_method(self):
        again = [tag("function", f"M{i}", 200 + i, 201 + i, scope="grapevine::Big")
                 for i in range(45)]
        self.assertEqual(self.findings(class_of(45, 3) + again), [])

    def test_a_function_has_so_many_lines(self):
        self.assertEqual(self.findings([tag("function", "F", 11, 80)]), [])
        self.assertEqual(self.findings([tag("function", "F", 11, 81)]),
                         ["node/a.h:11: F has 71 lines, and may have 70"])


if __name__ == "__main__":
    unittest.main()
