# SPDX-License-Identifier: MIT
"""What the Python programs of tools/ share: --help and --version, files of a size that can be read, and an exit code
of 1 with a reason for files that cannot be read and for output that could not be written."""
import argparse
import io
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = os.path.basename(sys.argv[0])
FILE_BYTES = 64 << 20  # no source, log or table is longer


def version():
    with open(os.path.join(TOP, "meson.build"), encoding="utf-8") as f:
        return re.search(r"^  version: '([^']+)'", f.read(), re.M)[1]


class Parser(argparse.ArgumentParser):
    def _print_message(self, message, file=None):  # argparse's own passes over what could not be written
        if message:
            (file or sys.stderr).write(message)


def parser(description):
    made = Parser(prog=NAME, description=description, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("--version", action="version", version=f"{NAME} (gp) {version()}")
    return made


def read(path):
    """The text of a file or a pipe; the program ends if it is longer than FILE_BYTES."""
    with open(path, "rb") as f:
        data = f.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        sys.exit(f"{NAME}: {path}: more than {FILE_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        sys.exit(f"{NAME}: {path}: byte {error.start} is not UTF-8")


def lines(path):
    return io.StringIO(read(path), newline="")


def run(main):
    """End the program with main's result, as sys.exit() takes it."""
    try:
        try:
            code = main()
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter tries to write once more
        what = f"{error.filename}: " if error.filename else "cannot write the output: "
        sys.exit(f"{NAME}: {what}{error.strerror}")
    sys.exit(code)
