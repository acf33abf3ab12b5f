#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Distinct u32 keys and sums by key on the CPU beside NumPy's and pandas', in gp-bench's columns.

    taskset -c 0,1 numpy_group.py libgp.so --threads 2 --csv rows.csv
    numpy_group.py libgp.so --case group_by --rounds 1 --csv rows.csv    # a few seconds; again for more

gp_group_by() without and with a sum of f32 values runs in turn with numpy.unique() and with
groupby().sum(); results are compared first. As in gp-bench, ratios are those of the best runs.
"""
import argparse
import ctypes
import datetime
import os
import sys

import numpy as np
import pandas as pd

from rounds import cpu_name, measure

COLUMNS = ("machine,date,commit,suite,case,impl,dtype,n,median_s,min_s,runs,bytes,memcpy_ratio,"
           "best_peer,peer_ratio")
GP_BACKEND_CPU, GP_AGGREGATE_REDUCE = 1, 2


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("device", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p),
                ("allocator", ctypes.c_void_p * 3), ("workspace_bytes", ctypes.c_size_t),
                ("multiprocessors", ctypes.c_int)]


class Aggregate(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("op", ctypes.c_int),
                ("in_dtype", ctypes.c_int), ("out_dtype", ctypes.c_int),
                ("value_bytes", ctypes.c_size_t), ("values", ctypes.c_void_p),
                ("out", ctypes.c_void_p)]


class GroupBy(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("key_dtype", ctypes.c_int), ("reserved", ctypes.c_int),
                ("num_aggregates", ctypes.c_size_t), ("aggregates", ctypes.c_void_p),
                ("capacity", ctypes.c_uint64), ("device_n", ctypes.c_void_p)]


class Library:
    def __init__(self, path, threads):
        self.gp = ctypes.CDLL(os.path.abspath(path))
        self.gp.gp_last_error.restype = ctypes.c_char_p
        self.gp.gp_last_error.argtypes = [ctypes.c_void_p]
        self.gp.gp_dtype_string.restype = ctypes.c_char_p
        self.gp.gp_op_string.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), backend=GP_BACKEND_CPU,
                                 device=-1, threads=threads)
        self.check(self.gp.gp_context_create(ctypes.byref(self.ctx), ctypes.byref(options)))
        self.u32, self.f32 = self.dtype(b"u32"), self.dtype(b"f32")
        self.sum = next(o for o in range(16) if self.gp.gp_op_string(o) == b"sum")

    def dtype(self, name):
        return next(d for d in range(1, 16) if self.gp.gp_dtype_string(d) == name)

    def check(self, status):
        if status != 0:
            raise SystemExit(self.gp.gp_last_error(self.ctx))

    def group_by(self, d, values):
        count = ctypes.c_uint64()
        a = Aggregate(size=ctypes.sizeof(Aggregate), kind=GP_AGGREGATE_REDUCE, op=self.sum,
                      in_dtype=self.f32, values=d.values.ctypes.data, out=d.sums.ctypes.data)
        g = GroupBy(size=ctypes.sizeof(GroupBy), key_dtype=self.u32, num_aggregates=int(values),
                    aggregates=ctypes.addressof(a))
        self.check(self.gp.gp_group_by(self.ctx, ctypes.byref(g),
                                       ctypes.c_void_p(d.keys.ctypes.data),
                                       ctypes.c_size_t(d.keys.size),
                                       ctypes.c_void_p(d.groups.ctypes.data),
                                       ctypes.byref(count)))
        return d.groups[:count.value], d.sums[:count.value]


class Data:
    """Keys below 2^20, small values, so that sums are exact, and room for results."""
    def __init__(self, n, groups):
        draw = np.random.default_rng(1)
        self.keys = draw.integers(0, groups, n, dtype=np.uint32)
        self.values = draw.integers(-1, 2, n).astype(np.float32)
        self.frame = pd.DataFrame({"key": self.keys, "value": self.values})
        self.groups, self.sums = np.empty(n, np.uint32), np.empty(n, np.float32)


def pandas_sums(d):
    sums = d.frame.groupby("key")["value"].sum()
    return sums.index.to_numpy(), sums.to_numpy()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("library")
    p.add_argument("--n", type=int, default=26, help="2^N keys")
    p.add_argument("--groups", type=int, default=20, help="keys are below 2^N")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--case", default="unique,group_by", help="some of these, such as group_by")
    p.add_argument("--csv", help="rows to this file, behind those that it has")
    a = p.parse_args()
    gp, d = Library(a.library, a.threads), Data(1 << a.n, 1 << a.groups)
    cases = {"unique": ("numpy-" + np.__version__, lambda: (np.unique(d.keys), None), False),
             "group_by": ("pandas-" + pd.__version__, lambda: pandas_sums(d), True)}
    wanted = a.case.split(",")
    if not set(wanted) <= set(cases):
        p.error(f"--case {a.case}: known are {', '.join(cases)}")
    with open(a.csv, "a") if a.csv else sys.stdout as out:
        if not a.csv or out.tell() == 0:
            print(COLUMNS, file=out)
        for case in wanted:
            peer, theirs, values = cases[case]
            (keys, sums), (peer_keys, peer_sums) = gp.group_by(d, values), theirs()
            if not np.array_equal(keys, peer_keys) or (values and
                                                       not np.array_equal(sums, peer_sums)):
                raise SystemExit(f"{case}: gp and {peer} differ")
            seconds = measure({"gp": lambda: gp.group_by(d, values), peer: theirs}, a.rounds)
            for name, s in seconds.items():
                ratio = [peer, f"{min(seconds[peer]) / min(s):.4f}"] if name == "gp" else ["", ""]
                print(f"{cpu_name()} ({a.threads} threads)", datetime.date.today().isoformat(),
                      os.environ.get("GP_COMMIT", "unknown"), "group", f"{case}_{1 << a.groups}",
                      name, "u32", 1 << a.n, f"{np.median(s):.9f}", f"{min(s):.9f}", len(s),
                      (1 << a.n) * (8 if values else 4), "", *ratio, sep=",", file=out, flush=True)


main()
