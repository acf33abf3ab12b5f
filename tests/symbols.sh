#!/bin/sh
# SPDX-License-Identifier: MIT
# Only names that begin with gp_ leave the library, it needs nothing but libc and libm at run time, and it is asked for
# by the name of its interface.
# symbols.sh LIBRARY SONAME FUNCTION
set -eu
names=$(nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//')
foreign=$(echo "$names" | grep -v '^gp_' || true)
if [ -n "$foreign" ]; then
    echo "exported without the prefix gp_:"
    echo "$foreign"
    exit 1
fi
echo "$names" | grep -qx "$3" || {
    echo "$3 is not exported"
    exit 1
}
allowed='linux-vdso|linux-gate|ld-linux|ld-musl|libc\.|libm\.|libpthread\.|libdl\.|librt\.'
others=$(ldd "$1" | awk '{ print $1 }' | sed 's,.*/,,' | grep -Ev "^($allowed)" || true)
if [ -n "$others" ]; then
    echo "needed at run time:"
    echo "$others"
    exit 1
fi
soname=$(readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
if [ "$soname" != "$2" ]; then
    echo "the soname is $soname, not $2"
    exit 1
fi
echo "$(echo "$names" | wc -l) symbols"
