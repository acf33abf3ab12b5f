#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sorts of u32 keys on the CPU beside NumPy's, in gp-bench's columns.

    taskset -c 0,1 numpy_sort.py libgp.so --threads 2 --csv rows.csv

Implementations run in turn, every one from the same unsorted keys; results are compared first. As in
gp-bench, ratios are those of the best runs. Several libraries may be named, to compare two builds.
"""
import argparse
import ctypes
import datetime
import os
import sys
import time

import numpy as np

from rounds import cpu_name

COLUMNS = ("machine,date,commit,suite,case,impl,dtype,n,median_s,min_s,runs,bytes,memcpy_ratio,"
           "best_peer,peer_ratio")
GP_BACKEND_CPU = 1


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("device", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p),
                ("allocator", ctypes.c_void_p * 3), ("workspace_bytes", ctypes.c_size_t),
                ("multiprocessors", ctypes.c_int)]


class Library:
    def __init__(self, path, threads):
        self.gp = ctypes.CDLL(os.path.abspath(path))
        self.gp.gp_last_error.restype = ctypes.c_char_p
        self.gp.gp_last_error.argtypes = [ctypes.c_void_p]
        self.ctx = ctypes.c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), backend=GP_BACKEND_CPU,
                                 device=-1, threads=threads)
        self.check(self.gp.gp_context_create(ctypes.byref(self.ctx), ctypes.byref(options)))
        self.u32 = next(d for d in range(1, 16) if self.dtype_name(d) == b"u32")

    def dtype_name(self, dtype):
        self.gp.gp_dtype_string.restype = ctypes.c_char_p
        return self.gp.gp_dtype_string(dtype)

    def check(self, status):
        if status != 0:
            raise SystemExit(self.gp.gp_last_error(self.ctx))

    def keys(self, keys, out):
        self.check(self.gp.gp_radix_sort(self.ctx, self.u32, ctypes.c_void_p(keys.ctypes.data),
                                         ctypes.c_size_t(keys.size),
                                         ctypes.c_void_p(out.ctypes.data), None))

    def argsort(self, keys, out):
        self.check(self.gp.gp_argsort(self.ctx, self.u32, ctypes.c_void_p(keys.ctypes.data),
                                      ctypes.c_size_t(keys.size), self.u32,
                                      ctypes.c_void_p(out.ctypes.data), None))

    def pairs(self, keys, values, out, values_out):
        self.check(self.gp.gp_radix_sort_pairs(
            self.ctx, self.u32, ctypes.c_void_p(keys.ctypes.data), ctypes.c_size_t(4),
            ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(keys.size),
            ctypes.c_void_p(out.ctypes.data), ctypes.c_void_p(values_out.ctypes.data), None))


def numpy_keys(keys, out):
    """The copy is part of the work, as it is of ours."""
    np.copyto(out, keys)
    out.sort()


def numpy_argsort(keys, out):
    np.copyto(out, np.argsort(keys, kind="stable"), casting="unsafe")


def measure(impls, rounds, slow_rounds):
    """{name: seconds}, after an untimed round; the slow ones, named by '*', run less often."""
    seconds = {name: [] for name in impls}
    for r in range(rounds + 1):
        for name, call in impls.items():
            if name.startswith("*") and r > slow_rounds:
                continue
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: s[1:] for name, s in seconds.items()}


def write(out, head, case, n, seconds):
    peer = next(name for name in seconds if "numpy" in name)
    for name, s in seconds.items():
        ratio = [peer.strip("*"), f"{min(seconds[peer]) / min(s):.4f}"]
        print(*head, "sort", case, name.strip("*"), "u32", n, f"{np.median(s):.9f}",
              f"{min(s):.9f}", len(s), n * (8 if case == "keys" else 16), "",
              *(ratio if name != peer else ["", ""]), sep=",", file=out, flush=True)


class Data:
    """Keys, and an output for each implementation."""
    def __init__(self, n, names):
        self.keys = np.random.default_rng(1).integers(0, 1 << 32, n, dtype=np.uint32)
        self.values = np.arange(n, dtype=np.uint32)
        self.keys_out = np.empty(n, np.uint32)
        self.out = {name: np.zeros(n, np.uint32) for name in names}

    def impls(self, case, gps, peer):
        """What a case runs. NumPy has no sort of pairs: its argsort is the work most like it."""
        d, calls = self, {}
        for name, gp in gps.items():
            if case == "keys":
                calls[name] = lambda gp=gp, out=d.out[name]: gp.keys(d.keys, out)
            elif case == "argsort":
                calls[name] = lambda gp=gp, out=d.out[name]: gp.argsort(d.keys, out)
            else:
                calls[name] = lambda gp=gp, out=d.out[name]: gp.pairs(d.keys, d.values, d.keys_out,
                                                                      out)
            d.out[name].fill(0)
        if case == "keys":
            calls[peer] = lambda: numpy_keys(d.keys, d.out[peer])
        else:
            calls["*" + peer] = lambda: numpy_argsort(d.keys, d.out[peer])
        return calls


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("library", nargs="+")
    p.add_argument("--n", type=int, default=26, help="2^N keys")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--slow-rounds", type=int, default=3, help="of NumPy's argsort")
    p.add_argument("--cases", default="keys,pairs_u32,argsort")
    p.add_argument("--csv")
    a = p.parse_args()
    gps = {("gp" if i == 0 else f"gp-{i}"): Library(l, a.threads) for i, l in enumerate(a.library)}
    peer = "numpy-" + np.__version__
    head = [f"{cpu_name()} ({a.threads} threads)", datetime.date.today().isoformat(),
            os.environ.get("GP_COMMIT", "unknown")]
    data = Data(1 << a.n, [*gps, peer])
    with open(a.csv, "w") if a.csv else sys.stdout as out:
        print(COLUMNS, file=out)
        for case in a.cases.split(","):
            seconds = measure(data.impls(case, gps, peer), a.rounds, a.slow_rounds)
            for name in gps:
                if not np.array_equal(data.out[name], data.out[peer]):
                    raise SystemExit(f"{case}: {name} and {peer} differ")
            write(out, head, case, 1 << a.n, seconds)


main()
