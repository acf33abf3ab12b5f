#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Count test cases in Meson's testlog.json: prints "PASSED FAILED SKIPPED".

A program that uses Check (or prints its summary line) counts its cases, any other counts as one. A CUDA
program that was skipped counts as many as the same program ran on the CPU.
"""
import json
import re
import sys

sys.dont_write_bytecode = True
import tool  # noqa: E402: beside this file

SUMMARY = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)", re.M)


def cases(test):
    """(cases run, cases failed) by the summary lines of one program."""
    ran = failed = 0
    for checks, failures, errors in SUMMARY.findall(test.get("stdout", "")):
        ran += int(checks)
        failed += int(failures) + int(errors)
    return ran, failed


def base_name(name):
    name = name.split(" / ")[-1]
    return re.sub(r"^gp:", "", name)


def main():
    parser = tool.parser(__doc__)
    parser.add_argument("log", metavar="TESTLOG.json")
    path = parser.parse_args().log
    try:
        tests = [json.loads(line) for line in tool.lines(path) if line.strip()]
    except json.JSONDecodeError as error:
        sys.exit(f"count_tests.py: {path}: {error}")
    ran_by_name = {base_name(test["name"]): cases(test)[0] for test in tests}
    passed = failed = skipped = 0
    for test in tests:
        ran, bad = cases(test)
        if test["result"] == "SKIP":
            twin = re.sub(r"_cuda$", "", base_name(test["name"]))
            skipped += max(ran_by_name.get(twin, 1), 1)
        elif test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += max(ran, 1)
        else:
            bad = max(bad, 1)
            failed += bad
            passed += max(ran - bad, 0)
    print(passed, failed, skipped)


if __name__ == "__main__":
    tool.run(main)
