#!/usr/bin/env python3
"""No comment leans on the line above it.

A comment that begins with "Of which", "Likewise" or "And then" cannot be read
by itself. This finds the beginnings and words that make such riddles, in the
sources of the product: rewrite the comment with its subject first.
"""
import re
import subprocess
import sys

# What a comment must not begin with.
BEGINNINGS = re.compile(
    r"(Of|Likewise|And|Whose|For whom|Which (is|are|has|have|may|can)|Then|The same|With which)\b[^.]*|"
    r"As [\w:]+('s)?[.:;].*", re.S)
# What it must not contain.
WORDS = re.compile(r"\blikewise\b|\bso (many|much) (is|are|of it|of them|there)\b|"
                   r"\bas (many|much) as there (is|are)\b", re.I)
COMMENT = re.compile(r"(?:^|(?<=[;{},()\w>]) +)//(?!/) ?(.*)$")


def comments(text):
    """(line, text) of each comment; lines of comments alone that follow each other are one."""
    begun = None
    for number, line in enumerate(text.splitlines(), 1):
        found = COMMENT.search(line.strip())
        alone = found is not None and line.strip().startswith("//")
        if begun and not alone:
            yield begun
            begun = None
        if found is None:
            continue
        if begun:
            begun = begun[0], begun[1] + " " + found[1]
        elif alone:
            begun = number, found[1]
        else:
            yield number, found[1]
    if begun:
        yield begun


def findings(path, text):
    for line, comment in comments(text):
        begins = BEGINNINGS.match(comment)
        word = WORDS.search(comment)
        if begins:
            yield '%s:%d: begins with "%s": its subject comes first' % (
                path, line, " ".join(comment.split()[:3]))
        elif word:
            yield '%s:%d: "%s" leans on another line' % (path, line, word[0])


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--", "*.h", "*.cc", "*.cu", "*.proto", ":!tests/", ":!bench/"],
        check=True, text=True, stdout=subprocess.PIPE)
    found = []
    for path in listed.stdout.split():
        with open(path, encoding="utf-8") as file:
            found += findings(path, file.read())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
