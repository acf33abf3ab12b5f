#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the build into a scratch tree and build a foreign program against it, by pkg-config and by CMake.
# install.sh BUILD PREFIX LIBDIR COMPILER..
set -eu
build=$1 prefix=$2 libdir=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
DESTDIR=$tree/root meson install -C "$build" --no-rebuild --quiet
root=$tree/root$prefix
export LD_LIBRARY_PATH="$root/$libdir"

if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_LIBDIR="$root/$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$tree/root"
    # shellcheck disable=SC2046 # flags are words
    "$@" -std=c11 -Wall -Werror "$here/install/user.c" $(pkg-config --cflags --libs gp) -o "$tree/user"
    "$tree/user"
    echo "pkg-config gp $(pkg-config --modversion gp): built and ran"
else
    echo "pkg-config is not here: not tested"
fi

if command -v cmake >/dev/null; then
    if ! cmake -S "$here/install" -B "$tree/cmake" -DCMAKE_PREFIX_PATH="$root" >"$tree/log" 2>&1 ||
        ! cmake --build "$tree/cmake" >>"$tree/log" 2>&1; then
        cat "$tree/log"
        exit 1
    fi
    "$tree/cmake/user"
    echo "find_package(gp): built and ran"
else
    echo "cmake is not here: not tested"
fi
