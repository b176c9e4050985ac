"""What tools/count_tests.py makes of runs that went well, badly, or nowhere."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."),
                      "tools/count_tests.py")
SUCCESS = {"id": {"buildFinished": {}}, "finished": {"exitCode": {"name": "SUCCESS"}}}
CASES = '<testsuites><testsuite>%s</testsuite></testsuites>'
PASSED = '<testcase name="a" status="run"/>'
FAILED = '<testcase name="b" status="run"><failure/></testcase>'
SKIPPED = '<testcase name="c" result="skipped"/>'


class CountTestsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def result(self, label, cases, status="PASSED"):
        """The event of one test; without a test.xml where `cases` is None."""
        outputs = []
        if cases is not None:
            xml = self.write("%s.xml" % label, CASES % cases)
            outputs = [{"name": "test.xml", "uri": "file://" + xml}]
        return {"id": {"testResult": {"label": "//x:" + label}},
                "testResult": {"status": status, "testActionOutput": outputs}}

    def count(self, events, tail=""):
        """(exit status, all lines) of a run that left these events."""
        path = self.write("events.json", "".join(json.dumps(e) + "\n" for e in events) + tail)
        done = subprocess.run([sys.executable, SCRIPT, path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        return done.returncode, done.stdout.splitlines()

    def test_counts_cases(self):
        code, lines = self.count([self.result("t", PASSED + PASSED + SKIPPED), SUCCESS])
        self.assertEqual((code, lines), (0, ["2 passed, 0 failed, 1 skipped"]))

    def test_a_program_that_is_missing_is_to_be_named(self):
        missing = ('<testcase name="d" result="skipped"><skipped message="x.cc:7&#x0A;etcd is not installed"/>'
                   '</testcase>')
        other = '<testcase name="e" result="skipped"><skipped message="x.cc:7&#x0A;there is a GPU"/></testcase>'
        events = [self.result("t", PASSED + missing + other), SUCCESS]
        for without, expected in ((None, (0, ["1 passed, 0 failed, 2 skipped"])),
                                  ("slurm etcd", (0, ["1 passed, 0 failed, 2 skipped"])),
                                  ("", (1, ["d: x.cc:7 etcd is not installed (TEST_WITHOUT does not"
                                            " name it)", "1 passed, 1 failed, 1 skipped"]))):
            os.environ.pop("TEST_WITHOUT", None)
            if without is not None:
                os.environ["TEST_WITHOUT"] = without
            self.assertEqual(self.count(events), expected)
        os.environ.pop("TEST_WITHOUT")

    def test_a_failed_case_fails(self):
        events = [self.result("t", PASSED + FAILED, "FAILED"), {"finished": {"exitCode": {"name": "TESTS_FAILED"}}}]
        self.assertEqual(self.count(events), (1, ["1 passed, 1 failed"]))

    def test_a_program_without_a_case_failed(self):
        for cases in ("", None):
            code, lines = self.count([self.result("empty", cases), self.result("t", PASSED), SUCCESS])
            self.assertEqual(code, 1)
            self.assertEqual(lines, ["//x:empty has no test case", "1 passed, 1 failed"])

    def test_all_skipped_is_not_without_a_case(self):
        events = [self.result("s", SKIPPED), self.result("t", PASSED), SUCCESS]
        self.assertEqual(self.count(events), (0, ["1 passed, 0 failed, 1 skipped"]))

    def test_a_program_that_crashed_failed(self):
        events = [self.result("t", PASSED, "FAILED"), {"finished": {"exitCode": {"name": "TESTS_FAILED"}}}]
        self.assertEqual(self.count(events), (1, ["1 passed, 1 failed"]))

    def test_a_build_that_failed(self):
        events = [{"finished": {"exitCode": {"name": "BUILD_FAILURE"}}}]
        self.assertEqual(self.count(events), (1, ["bazel ended with BUILD_FAILURE: see above", "0 passed, 1 failed"]))

    def test_the_death_of_bazel_is_a_failure(self):
        dead = ["bazel did not come to its end: see above", "1 passed, 1 failed"]
        self.assertEqual(self.count([self.result("t", PASSED)]), (1, dead))
        # In the middle of a line.
        self.assertEqual(self.count([self.result("t", PASSED)], '{"finished": {"exitC'), (1, dead))

    def test_no_events_at_all(self):
        dead = ["bazel did not come to its end: see above", "0 passed, 1 failed"]
        self.assertEqual(self.count([]), (1, dead))
        done = subprocess.run([sys.executable, SCRIPT, "/nonexistent"], stdout=subprocess.PIPE,
                              encoding="utf-8", check=False)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (1, dead))


if __name__ == "__main__":
    unittest.main()
