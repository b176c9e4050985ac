#!/usr/bin/env python3
"""Counts single test cases of a `bazel test` run: count_tests.py EVENTS.json

Reads the build events (one JSON object a line) that --build_event_json_file
wrote and the test.xml of every test in them. The last line is
"N passed, N failed", with ", N skipped" where some were. Exit status 1 when
something failed, or when there is nothing to count.
"""
import json
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree


def cases_of(uri):
    """(passed, failed, skipped) of one test.xml; None when it has no cases."""
    tree = ElementTree.parse(urllib.parse.unquote(urllib.parse.urlparse(uri).path))
    passed = failed = skipped = 0
    for case in tree.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            skipped += 1
        elif case.get("status") != "notrun":
            passed += 1
    return (passed, failed, skipped) if passed + failed + skipped else None


def main(path):
    totals = [0, 0, 0]
    built = True
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        if "testResult" in event:
            result = event["testResult"]
            files = {f["name"]: f.get("uri", "") for f in result.get("testActionOutput", [])}
            ok = result.get("status") == "PASSED"
            counts = None
            if "test.xml" in files:
                try:
                    counts = cases_of(files["test.xml"])
                except (OSError, ElementTree.ParseError):
                    pass  # a test that was killed leaves half a file
            # A test that crashed or ran out of time failed, whatever it wrote.
            counts = counts or ((1, 0, 0) if ok else (0, 1, 0))
            if not ok and counts[1] == 0:
                counts = (counts[0], 1, counts[2])
            totals = [a + b for a, b in zip(totals, counts)]
        elif "finished" in event:
            built = event["finished"].get("exitCode", {}).get("name") in ("SUCCESS", "TESTS_FAILED")
    if not built:
        print("the build failed: see above")
        totals[1] += 1
    print("%d passed, %d failed" % (totals[0], totals[1]) + (", %d skipped" % totals[2] if totals[2] else ""))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
