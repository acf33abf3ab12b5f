#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Inputs for the fuzzers to begin with.

    seeds.py calls|mm FOLDER                      write them
    seeds.py calls|mm --run PROGRAM ARGUMENT..    write them to a folder that goes again, and run the program on it

calls: each call of the tables with a few kinds of contents, and with each of its arguments wrong. mm: the files of
tests/data, parts of them, with a smaller number, and the same compressed.
"""
import gzip
import os
import random
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data")
CALLS, FAULTS, ROUNDS = 68, 20, 6


def calls():
    """A context, then a call: its number, which argument is wrong, and what it decodes."""
    rng = random.Random(1)
    for call in range(CALLS):
        for fault in [0] * ROUNDS + list(range(1, FAULTS)) + [255]:
            head = bytes([rng.randrange(8), rng.randrange(256), 0, call, fault])
            yield head + rng.randbytes(24) + bytes(rng.randrange(48))


def matrices():
    for name in sorted(os.listdir(DATA)):
        with open(os.path.join(DATA, name), "rb") as file:
            text = file.read()
        packed = gzip.compress(text, mtime=0)
        yield from (text, text[:len(text) // 2], text.replace(b"\n", b"\r\n"), text.replace(b"4", b"3", 1), packed,
                    packed[:len(packed) // 2], packed + packed)


def write(kind, folder):
    for i, seed in enumerate(calls() if kind == "calls" else matrices()):
        with open(os.path.join(folder, f"{kind}{i:04}"), "wb") as file:
            file.write(seed)


def main(arguments):
    if len(arguments) == 2 and arguments[0] in ("calls", "mm"):
        os.makedirs(arguments[1], exist_ok=True)
        write(*arguments)
        return 0
    if len(arguments) < 3 or arguments[0] not in ("calls", "mm") or arguments[1] != "--run":
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        write(arguments[0], folder)
        return subprocess.run(arguments[2:] + [folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
