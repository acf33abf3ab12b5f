#!/bin/sh
# SPDX-License-Identifier: MIT
# A CMake project that brings gp along by FetchContent: it configures, builds and runs. Without optimisation, to be
# built quickly; with what debuggers read, in which tools/check looks for the binary interface.
# fetch.sh shared|static SOURCE BUILD COMPILER
set -eu
kind=$1 source=$2 build=$3
shift 3
command -v cmake >/dev/null || {
    echo "cmake is not here: skipped"
    exit 77
}
case $kind in
shared) shared=ON needed=1 ;;
static) shared=OFF needed=0 ;;
esac
mkdir -p "$build"
{
    cmake -S "$source/tests/fetch" -B "$build" -DGP_SOURCE="$source" -DCMAKE_C_COMPILER="$1" -DGP_CUDA=disabled \
        -DGP_ISA_VARIANTS=false -DGP_SHARED="$shared" "-DGP_MESON_OPTIONS=-Dc_args=-O0;-Ddebug=true" && cmake --build "$build"
} >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    exit 1
}
if [ "$(readelf -d "$build/user" | grep -c 'NEEDED.*libgp\.')" != "$needed" ]; then
    echo "$kind, but:"
    readelf -d "$build/user" | grep NEEDED
    exit 1
fi
"$build/user"
echo "$kind: built and ran"
