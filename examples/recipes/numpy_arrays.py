#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gp from Python by ctypes, on NumPy arrays where they lie. usage: numpy_arrays.py LIBGP.SO

Exit code 77: NumPy is not here.
"""
import ctypes
import sys

try:
    import numpy as np
except ImportError:
    print("numpy_arrays: no NumPy")
    sys.exit(77)

CPU, U32, F32, SUM = 1, 6, 11, 1  # GP_BACKEND_CPU, GP_U32, GP_F32, GP_SUM


class Options(ctypes.Structure):
    """gp_context_options."""
    _fields_ = [("size", ctypes.c_size_t), ("backend", ctypes.c_int), ("device", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p), ("allocator", ctypes.c_void_p * 3),
                ("workspace_bytes", ctypes.c_size_t), ("multiprocessors", ctypes.c_int),
                ("reserved", ctypes.c_int), ("validate", ctypes.c_int), ("reserved_too", ctypes.c_int)]


gp = ctypes.CDLL(sys.argv[1])
gp.gp_last_error.restype = ctypes.c_char_p
gp.gp_last_error.argtypes = [ctypes.c_void_p]
gp.gp_context_destroy.restype = None
ctx = ctypes.c_void_p()


def need(status):
    if status != 0:
        raise RuntimeError(gp.gp_last_error(ctx).decode())


def pointer(array):
    assert array.flags["C_CONTIGUOUS"]
    return ctypes.c_void_p(array.ctypes.data)


options = Options(size=ctypes.sizeof(Options), backend=CPU, device=-1)
need(gp.gp_context_create(ctypes.byref(ctx), ctypes.byref(options)))

x = np.random.default_rng(1).random(100_000, dtype=np.float32)
order, sums = np.empty(x.size, np.uint32), np.empty(x.size, np.uint32)
need(gp.gp_argsort(ctx, F32, pointer(x), ctypes.c_size_t(x.size), U32, pointer(order), None))
need(gp.gp_scan_inclusive(ctx, U32, SUM, pointer(order), ctypes.c_size_t(x.size), pointer(sums)))
need(gp.gp_context_synchronize(ctx))

assert (order == np.argsort(x, kind="stable")).all()
assert (sums == np.cumsum(order, dtype=np.uint32)).all()
try:
    need(gp.gp_scan_inclusive(ctx, U32, SUM, None, ctypes.c_size_t(5), pointer(sums)))
    sys.exit("a NULL was not noticed")
except RuntimeError as error:
    print("as it should be:", error)
gp.gp_context_destroy(ctx)
print("right")
