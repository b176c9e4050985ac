#!/usr/bin/env python3
"""Counts single test cases of a `bazel test` run: count_tests.py EVENTS.json

Reads the build events (one JSON object a line) that --build_event_json_file
wrote and the test.xml of every test in them. The last line is
"N passed, N failed", with ", N skipped" where some were. A program without a
case failed, and so did a run that did not come to its end. Where
TEST_WITHOUT is set, so did a case that was skipped because a program
is missing which it does not name ("slurm gpu"). Exit status 1 when something
failed, or when there is nothing to count.
"""
import json
import os
import re
import sys
import urllib.parse
import xml.etree.ElementTree as ElementTree

MISSING = re.compile(r"\b(is|are) (missing|not installed)\b")


def unexpected(skipped):
    """Why a case was skipped, if for want of a program that nobody has named."""
    without = os.environ.get("TEST_WITHOUT")
    why = "" if skipped is None else (skipped.get("message") or "") + (skipped.text or "")
    if without is None or not MISSING.search(why):
        return None
    if any(name in why.lower() for name in without.lower().split()):
        return None
    return " ".join(why.split())


def cases_of(result):
    """(passed, failed, skipped) in the test.xml of a testResult."""
    passed = failed = skipped = 0
    for output in result.get("testActionOutput", []):
        if output["name"] != "test.xml":
            continue
        try:
            path = urllib.parse.unquote(urllib.parse.urlparse(output.get("uri", "")).path)
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError):
            continue  # a test that was killed leaves half a file
        for case in cases:
            if case.find("failure") is not None or case.find("error") is not None:
                failed += 1
            elif case.find("skipped") is not None or case.get("result") == "skipped":
                why = unexpected(case.find("skipped"))
                if why:
                    print("%s: %s (TEST_WITHOUT does not name it)" % (case.get("name"), why))
                    failed += 1
                else:
                    skipped += 1
            elif case.get("status") != "notrun":
                passed += 1
    return passed, failed, skipped


def count(event):
    """cases_of, where a program that says nothing, or ends badly, failed once."""
    result = event["testResult"]
    passed, failed, skipped = cases_of(result)
    if result.get("status") != "PASSED":
        failed = max(failed, 1)
    elif passed + failed + skipped == 0:
        print("%s has no test case" % event["id"]["testResult"]["label"])
        failed = 1
    return passed, failed, skipped


def events_of(path):
    """The events up to where the file ends or breaks off."""
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
    except (OSError, ValueError):
        return


def main(path):
    totals = [0, 0, 0]
    end = None
    for event in events_of(path):
        if "testResult" in event:
            totals = [a + b for a, b in zip(totals, count(event))]
        elif "finished" in event:
            end = event["finished"].get("exitCode", {}).get("name", "an error")
    if end not in ("SUCCESS", "TESTS_FAILED"):
        print("bazel %s: see above" % ("ended with " + end if end else "did not come to its end"))
        totals[1] += 1
    print("%d passed, %d failed" % (totals[0], totals[1]) + (", %d skipped" % totals[2] if totals[2] else ""))
    return 1 if totals[1] or not totals[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
