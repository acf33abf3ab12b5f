#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""COO to CSR, CSR transposes and products on the CPU beside SciPy's, in gp-bench's columns.

    taskset -c 0,1 scipy_csr.py libgp.so --threads 2 --n 20,24 --csv rows.csv

gp_csr_from_coo() with duplicates added runs in turn with coo_array.tocsr(), and
gp_csr_transpose() with the tocsr() of a transposed matrix; results are compared first. Matrices have
2^N entries of f32, 16 in a row. gp_spmv() runs in turn with a product of f64, columns anywhere or
around the diagonal. As in gp-bench, ratios are those of the best runs.
"""
import argparse
import ctypes
import datetime
import os
import sys

import numpy as np
import scipy
from scipy import sparse

from rounds import cpu_name, measure

COLUMNS = ("machine,date,commit,suite,case,impl,dtype,n,median_s,min_s,runs,bytes,memcpy_ratio,"
           "best_peer,peer_ratio")
GP_BACKEND_CPU, GP_DUPLICATES_SUM = 1, 1


class ContextOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("device", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p),
                ("allocator", ctypes.c_void_p * 3), ("workspace_bytes", ctypes.c_size_t),
                ("multiprocessors", ctypes.c_int)]


class CooDesc(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("index_dtype", ctypes.c_int),
                ("offset_dtype", ctypes.c_int), ("value_dtype", ctypes.c_int),
                ("duplicates", ctypes.c_int), ("algorithm", ctypes.c_int),
                ("reserved", ctypes.c_int), ("device_nnz", ctypes.c_void_p),
                ("device_num_rows", ctypes.c_void_p), ("permutation", ctypes.c_void_p)]


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Library:
    def __init__(self, path, threads):
        self.gp = ctypes.CDLL(os.path.abspath(path))
        self.gp.gp_last_error.restype = ctypes.c_char_p
        self.gp.gp_last_error.argtypes = [ctypes.c_void_p]
        self.gp.gp_dtype_string.restype = ctypes.c_char_p
        self.ctx = ctypes.c_void_p()
        options = ContextOptions(size=ctypes.sizeof(ContextOptions), backend=GP_BACKEND_CPU,
                                 device=-1, threads=threads)
        self.check(self.gp.gp_context_create(ctypes.byref(self.ctx), ctypes.byref(options)))
        i32 = self.dtype(b"i32")
        self.i32, self.f64 = i32, self.dtype(b"f64")
        self.desc = CooDesc(size=ctypes.sizeof(CooDesc), index_dtype=i32, offset_dtype=i32,
                            value_dtype=self.dtype(b"f32"), duplicates=GP_DUPLICATES_SUM)

    def dtype(self, name):
        return next(d for d in range(1, 16) if self.gp.gp_dtype_string(d) == name)

    def check(self, status):
        if status != 0:
            raise SystemExit(self.gp.gp_last_error(self.ctx))

    def from_coo(self, d):
        count = ctypes.c_uint64()
        self.check(self.gp.gp_csr_from_coo(
            self.ctx, ctypes.byref(self.desc), ctypes.c_size_t(d.side), ctypes.c_size_t(d.side),
            pointer(d.rows), pointer(d.cols), pointer(d.values), ctypes.c_size_t(d.values.size),
            pointer(d.pointers), pointer(d.out_cols), pointer(d.out_values), ctypes.byref(count)))
        return d.result(count.value)

    def transpose(self, d):
        m = d.matrix
        self.check(self.gp.gp_csr_transpose(
            self.ctx, ctypes.byref(self.desc), ctypes.c_size_t(d.side), ctypes.c_size_t(d.side),
            ctypes.c_size_t(m.nnz), pointer(m.indptr), pointer(m.indices), pointer(m.data),
            pointer(d.pointers), pointer(d.out_cols), pointer(d.out_values)))
        return d.result(m.nnz)


    def spmv(self, d):
        m, size = d.matrix, ctypes.c_size_t
        self.check(self.gp.gp_spmv(
            self.ctx, self.i32, self.i32, self.f64, size(m.shape[0]), size(m.shape[1]), size(m.nnz),
            pointer(m.indptr), pointer(m.indices), pointer(m.data), None, pointer(d.x), None,
            pointer(d.y)))
        return d.y


class Data:
    """Entries anywhere, whole numbers, so that sums are exact; their matrix, and room for results."""
    def __init__(self, n):
        draw = np.random.default_rng(1)
        self.side = n // 16
        self.rows, self.cols = draw.integers(0, self.side, (2, n), dtype=np.int32)
        self.values = draw.integers(-9, 10, n).astype(np.float32)
        self.pointers = np.zeros(self.side + 1, np.int32)
        self.out_cols, self.out_values = np.zeros(n, np.int32), np.zeros(n, np.float32)
        shape = (self.side, self.side)
        self.coo = sparse.coo_array((self.values, (self.rows, self.cols)), shape)
        self.matrix = self.coo.tocsr()

    def result(self, nnz):
        return self.pointers, self.out_cols[:nnz], self.out_values[:nnz]


class Product:
    """A matrix of f64, 16 whole numbers in a row, a vector, and room for their product."""
    def __init__(self, n, is_banded):
        draw, side = np.random.default_rng(1), n // 16
        cols = (np.arange(side, dtype=np.int32)[:, None] + np.arange(16, dtype=np.int32)) % side \
            if is_banded else draw.integers(0, side, (side, 16), dtype=np.int32)
        self.matrix = sparse.csr_array(
            (draw.integers(-9, 10, n).astype(np.float64), cols.ravel(),
             np.arange(0, n + 1, 16, dtype=np.int32)), (side, side))
        self.x = draw.integers(-9, 10, side).astype(np.float64)
        self.y = np.zeros(side)


def parts(matrix):
    matrix.sort_indices()
    return matrix.indptr, matrix.indices, matrix.data


def compare(case, dtype, n, n_bytes, impls, a, out):
    """Rows of gp and its peer, the second one."""
    seconds = measure(impls, a.rounds)
    for name, s in seconds.items():
        ratio = ["", ""]
        if name == "gp":
            peer = next(other for other in impls if other != name)
            ratio = [peer, f"{min(seconds[peer]) / min(s):.4f}"]
        print(f"{cpu_name()} ({a.threads} threads)", datetime.date.today().isoformat(),
              os.environ.get("GP_COMMIT", "unknown"), "csr", case, name, dtype, n,
              f"{np.median(s):.9f}", f"{min(s):.9f}", len(s), n_bytes, "", *ratio,
              sep=",", file=out, flush=True)


def conversions(gp, peer, n, a, out):
    d = Data(n)
    cases = {"coo_to_csr": (gp.from_coo, d.coo.tocsr),
             "transpose": (gp.transpose, lambda: d.matrix.T.tocsr())}
    for case, (ours, theirs) in cases.items():
        if not all(np.array_equal(x, y) for x, y in zip(ours(d), parts(theirs()))):
            raise SystemExit(f"{case}: gp and {peer} differ")
        compare(case, "f32", n, n * 20, {"gp": lambda: ours(d), peer: theirs}, a, out)


def products(gp, peer, n, a, out):
    for case in ("spmv_random", "spmv_banded"):
        d = Product(n, case == "spmv_banded")
        if not np.array_equal(gp.spmv(d), d.matrix @ d.x):
            raise SystemExit(f"{case}: gp and {peer} differ")
        compare(case, "f64", n, n * 12 + n // 16 * 20,
                {"gp": lambda: gp.spmv(d), peer: lambda: d.matrix @ d.x}, a, out)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("library")
    p.add_argument("--n", default="20,24", help="2^N entries, several with commas")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--only", choices=("conversions", "products"), help="one of both")
    p.add_argument("--csv")
    a = p.parse_args()
    gp, peer = Library(a.library, a.threads), "scipy-" + scipy.__version__
    with open(a.csv, "w") if a.csv else sys.stdout as out:
        print(COLUMNS, file=out)
        for n in (1 << int(e) for e in a.n.split(",")):
            for part in (conversions, products):
                if a.only in (None, part.__name__):
                    part(gp, peer, n, a, out)


main()
