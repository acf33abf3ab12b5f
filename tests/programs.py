#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every program that users run, where its input or its output is not what it should be.

    programs.py BUILD SOURCE

Programs are the executables of the build folder and of tools/; one without a row in the table below is a failure. Each
runs with --help, with --version, with its output on a full disk, without input, with endless input and with a file that
shrinks while it is read, and may take MEMORY bytes. It has to end by itself, with a reason on stderr where it fails.
The last line counts as Check's does.
"""
import fnmatch
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

MEMORY, SECONDS = 3 << 30, 120
HEADER = "%%MatrixMarket matrix coordinate real general\n"


class Row:
    """run: arguments of a short run. reads: argument lists with FILE, which it reads. stdin: arguments with which it
    reads its standard input. writes: argument lists that write to a full disk. endless: pairs of a text and of one that is
    repeated behind it for ever."""

    def __init__(self, run=None, reads=(), stdin=None, writes=(), endless=(("", "y\n"),), options=True):
        self.run, self.reads, self.stdin, self.writes = run, reads, stdin, writes
        self.endless, self.options = endless, options


ALONE = Row(run=[])
BENCH = ["--backend", "cpu", "--n", "8", "--runs", "1"]
ROWS = {
    "gp-bench": Row(run=["memcpy", *BENCH], reads=[["--compare", "FILE", "FILE"]],
                    writes=[["memcpy", *BENCH, "--csv", "/dev/full"], ["ladder", *BENCH, "--svg", "/dev/full"]]),
    "gp-dist-bench": Row(run=["--log-items", "10", "--runs", "1"]),
    "sparse_pipeline": Row(run=["--backend", "cpu", "--rmat", "4"], reads=[["--backend", "cpu", "FILE"], ["--backend", "cpu", "--load", "FILE"]],
                           writes=[["--backend", "cpu", "--rmat", "4", "--picture", "/dev/full"]],
                           stdin=["--backend", "cpu", "--max-memory", "64M", "-"],
                           endless=(("", "y\n"), (HEADER, "% comment\n"), (HEADER + "9 9 999999999\n", "1 1 1\n"))),
    "equalise": Row(run=[], reads=[["FILE", "/dev/null"]], stdin=["/dev/stdin", "/dev/null"],
                    writes=[["IMAGE", "/dev/full"]], endless=(("", "y\n"), ("P5\n#", "y"), ("P5\n1 ", " "))),
    "words": Row(reads=[["FILE"]], stdin=["-"]),
    "scan_sort": Row(run=[], options=False),  # the program of the README stands by itself
    **{name: ALONE for name in ("compact", "coo_to_csr", "group_by", "polynomial", "scan_compact", "scan_split_sort", "tridiagonal",
                                "compact_sort", "count_words", "drop_small", "sort_records", "top_k_rows", "unique_edges", "visit_edges",
                                "async_pipeline", "conjugate_gradients", "particles", "dist_sort", "dist_pagerank")},
    **{name: Row() for name in ("frontier_edges", "graph_capture", "own_kernel")},  # need a GPU
    "test_core": Row(run=["cpu"]),
    "test_mmio": None, "test_pipeline_oracle": None, "unload": None, "cub_loader": None, "fuzz*": None,  # run by tests alone
    "test_*": Row(),  # as test_core, but longer
    "tools/broken_comments.py": Row(reads=[["FILE"]]),
    "tools/count_tests.py": Row(reads=[["FILE"]]),
    "tools/machine_code": Row(reads=[["--compare", "FILE", "FILE"]]),
    **{"tools/" + name: Row(run=[]) for name in ("layers", "figures", "man")},
    **{"tools/" + name: Row() for name in ("aarch64", "abi", "architectures", "check", "debian", "docs", "emulate", "fetch-matrices",
                                           "model-check", "quickstart", "sizes", "terms")},
}

checks = failures = 0


def expect(good, program, what, result):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print(f"FAILED {program}: {what}: exit code {result.returncode}\n{result.stderr[-1000:]}", flush=True)


def call(path, arguments, feed=subprocess.DEVNULL, out=subprocess.PIPE):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with open("/dev/full", "w") as full:
        return subprocess.run([path, *arguments], stdin=feed, stdout=full if out == "full" else out,
                              stderr=subprocess.PIPE, timeout=SECONDS, preexec_fn=limit, text=True, errors="replace")


def refused(result):
    """It ended by itself, with an error and a reason that is not a stack of calls."""
    return result.returncode > 0 and result.stderr.strip() and "Traceback" not in result.stderr


def check_options(name, path):
    result = call(path, ["--help"])
    expect(result.returncode == 0 and len(result.stdout) > 20 and not result.stderr, name, "--help", result)
    result = call(path, ["--version"])
    expect(re.fullmatch(re.escape(os.path.basename(name)) + r" \(gp\) \d+\.\d+\.\d+\n", result.stdout) is not None, name,
           "--version", result)
    for option in "--help", "--version":
        result = call(path, [option], out="full")
        expect(lost(result), name, option + " on a full disk", result)
    if name != "tools/quickstart":  # which passes it on, behind a build
        result = call(path, ["--no-such-option"])
        expect(result.returncode == 2 and result.stderr.strip(), name, "an unknown option", result)


def lost(result):
    return refused(result) and re.search("write|No space", result.stderr) is not None


def endless(once, ever):
    """A process that writes to a pipe."""
    script = f"import os\nos.write(1, {once.encode()!r})\nwhile True: os.write(1, {ever.encode() * 500!r})"
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def call_endless(path, arguments, once, ever):
    writer = endless(once, ever)
    try:
        return call(path, arguments, feed=writer.stdout)
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()


def check_stdin(name, path, row):
    result = call(path, row.stdin)
    expect(refused(result), name, "an empty standard input", result)
    for once, ever in row.endless:
        result = call_endless(path, row.stdin, once, ever)
        expect(refused(result), name, f"endless input: {once!r}, {ever!r}", result)


def shrinking(name, path, arguments, good, delay):
    """The file loses its end while it is read; reading all of it before is no mistake."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(good)
        file.flush()
        process = subprocess.Popen([path, *filled(arguments, file.name)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        os.truncate(file.name, len(good) // 3)
        _, stderr = process.communicate(timeout=SECONDS)
        result = subprocess.CompletedProcess(path, process.returncode, "", stderr)
        expect(result.returncode == 0 or refused(result), name, f"a file that shrinks after {delay} s", result)


def filled(arguments, path):
    return [path if word == "FILE" else word for word in arguments]


def check_files(name, path, row, goods):
    for arguments in row.reads:
        for bad in "/dev/zero", "/nonexistent", "/":
            result = call(path, filled(arguments, bad))
            expect(refused(result), name, bad, result)
        result = call(path, filled(arguments, "/dev/null"))
        expect(result.returncode == 0 or refused(result), name, "/dev/null", result)
        result = call_endless(path, filled(arguments, "/dev/stdin"), "", "y\n")
        expect(refused(result), name, "an endless pipe", result)
        for delay in 0, 0.02, 0.1:
            shrinking(name, path, arguments, goods.get(name, "text\n" * 100000), delay)


def check_program(name, path, row, goods):
    if row.options:
        check_options(name, path)
    if row.run is not None:
        result = call(path, row.run)
        expect(result.returncode == 0, name, "a short run without input", result)
        result = call(path, row.run, out="full")
        expect(lost(result), name, "a full disk", result)
    if row.stdin:
        check_stdin(name, path, row)
    check_files(name, path, row, goods)
    for arguments in row.writes:
        result = call(path, [goods["image"] if word == "IMAGE" else word for word in arguments])
        expect(lost(result), name, "a full disk for " + arguments[-2], result)


def programs(build, source):
    with open(os.path.join(build, "meson-info", "intro-targets.json"), encoding="utf-8") as f:
        targets = json.load(f)
    for target in targets:
        if target["type"] == "executable":
            yield target["name"], target["filename"][0]
    for name in sorted(os.listdir(os.path.join(source, "tools"))):
        path = os.path.join(source, "tools", name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            yield "tools/" + name, path


def row_of(name):
    """(whether there is one, the row): the first whose name matches."""
    for pattern, row in ROWS.items():
        if fnmatch.fnmatchcase(name, pattern):
            return True, row
    return False, None


def good_files(folder):
    """What the programs that read files would take, long enough to be cut while they read."""
    entries = 300000
    image = os.path.join(folder, "image.pgm")
    with open(image, "wb") as f:
        f.write(b"P5\n4 1\n255\n\1\2\3\4")
    row = "m,d,c,scan,case,gp,i32,{},0.000001,0.000001,1,8,1,,\n"
    return {"image": image,
            "sparse_pipeline": HEADER + f"999 999 {entries}\n" + "5 7 1.25\n" * entries,
            "gp-bench": "".join(row.format(i) for i in range(3000)),
            "equalise": "P5\n4000 4000\n255\n" + "a" * 16000000}


def main(build, source):
    if not os.path.exists("/dev/full"):
        print("there is no /dev/full")
        sys.exit(77)
    os.environ.update(GP_BACKEND="cpu", MALLOC_ARENA_MAX="1", LC_ALL="C")
    os.environ.pop("PYTHONUNBUFFERED", None)
    nothing = subprocess.CompletedProcess("", 0, "", "")
    with tempfile.TemporaryDirectory() as folder:
        goods = good_files(folder)
        for name, path in programs(build, source):
            known, row = row_of(name)
            expect(known, name, "no row in tests/programs.py", nothing)
            if row:
                check_program(name, path, row, goods)
    print(f"{100 * (checks - failures) // checks}%: Checks: {checks}, Failures: {failures}, Errors: 0")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
