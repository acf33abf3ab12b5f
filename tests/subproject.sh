#!/bin/sh
# SPDX-License-Identifier: MIT
# A project that has gp as a subproject: the library is built alone, a program runs with it, and what the project
# installs is found like any gp. Here the library is static, and without optimisation, to be built quickly.
# subproject.sh run|pkg-config|cmake SOURCE BUILD COMPILER..
set -eu
what=$1 source=$2 build=$3
shift 3
project=$build/project
mkdir -p "$project/subprojects"
ln -sfn "$source/tests/subproject/meson.build" "$project/meson.build"
ln -sfn "$source/tests/install/user.c" "$project/user.c"
ln -sfn "$source" "$project/subprojects/gp"

built() {
    [ -f "$build/build/build.ninja" ] || {
        rm -rf "$build/build"
        CC="$*" meson setup "$build/build" "$project" --prefix=/usr/local --libdir=lib \
            -Ddefault_library=static -Dc_args=-O0 -Dgp:cuda=disabled -Dgp:isa_variants=false
    }
    meson compile -C "$build/build" -j "${GP_JOBS:-0}"
}
built "$@" >"$build/log" 2>&1 || {
    tail -n 40 "$build/log"
    exit 1
}

case $what in
run)
    programs=$(meson introspect --targets "$build/build" | grep -o '"type": "executable"' | wc -l)
    tests=$(meson introspect --tests "$build/build")
    if [ "$programs" != 1 ] || [ "$tests" != '[]' ]; then
        echo "gp brought programs or tests of its own: $programs programs, tests: $tests"
        exit 1
    fi
    "$build/build/user"
    echo "subproject: built and ran"
    ;;
*) exec "$source/tests/install.sh" "$what" "$build/build" /usr/local lib "$@" ;;
esac
