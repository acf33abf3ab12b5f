#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Find comments in C and CUDA sources that were broken in the wrong places.

    broken_comments.py FILE..

Prints FILE:LINE: and what is wrong; the exit code is 1 if anything is. Wrong are
  - a line of more than 100 columns, and a section banner that does not end on its line;
  - a comment that begins beside its opening and has its end on a line of its own;
  - a single word on the last line of a comment or of a paragraph in it.
"""
import re
import sys

sys.dont_write_bytecode = True
import tool  # noqa: E402: beside this file

COLUMNS = 100
BANNER = re.compile(r"\s*/\* -{3,}")
STRING = re.compile(r'\s*"')  # one that is a line of output, as it is
OPENING = re.compile(r"/\*+(?!/)")
WORD = re.compile(r"\s*(\*|//) \S+( \*/)?$")
PARAGRAPH_END = re.compile(r"\s*(\*( @.*)?|\*/)$")



def comments(lines):
    """First and last line of each comment of more than one line."""
    first, i = None, 0
    while i < len(lines):
        rest = lines[i]
        if first is None:
            # An opening in a string or behind // is none.
            plain = re.sub(r'"(\\.|[^"\\])*"', '""', rest)
            plain = re.sub(r"/\*.*?\*/", "", plain).split("//")[0]
            if OPENING.search(plain):
                first = i
        elif "*/" in rest:
            yield first, i
            first = None
        i += 1


def is_text(line):
    return re.match(r"\s*(/\*+|\*|//) *[^\s*/]", line) is not None


def broken(lines):
    """(index, what) of all that is wrong in a file."""
    for i, line in enumerate(lines):
        if BANNER.match(line) and not line.endswith(" */"):
            yield i, "a banner that does not end on its line"
        if len(line) > COLUMNS and not STRING.match(line):
            yield i, f"more than {COLUMNS} columns"
        beside = line.lstrip().startswith("//")
        if beside and WORD.match(line) and i and len(lines[i - 1]) > COLUMNS * 3 // 4:
            follows = lines[i + 1].lstrip().startswith("//") if i + 1 < len(lines) else False
            if lines[i - 1].lstrip().startswith("//") and not follows:
                yield i, "a single word on the last line of a comment"
    for first, last in comments(lines):
        opening = lines[first][lines[first].rindex("/*"):]
        if lines[last].strip() == "*/" and is_text(opening) and not BANNER.match(lines[first]):
            yield last, "the end of a comment on a line of its own"
        for i in range(first + 1, last + 1):
            ends = i == last or PARAGRAPH_END.match(lines[i + 1])
            if ends and WORD.match(lines[i]) and is_text(lines[i - 1]):
                yield i, "a single word on the last line of a paragraph"


def main():
    wrong = 0
    parser = tool.parser(__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    for name in parser.parse_args().files:
        for i, what in broken(tool.read(name).splitlines()):
            print(f"{name}:{i + 1}: {what}")
            wrong += 1
    sys.exit(wrong > 0)


if __name__ == "__main__":
    tool.run(main)
