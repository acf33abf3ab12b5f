#!/bin/sh
# SPDX-License-Identifier: MIT
# Install the build into a scratch tree and build a foreign program against it, with the shared library, the static one,
# or both: as many as there are.
# install.sh pkg-config|cmake BUILD PREFIX LIBDIR COMPILER..
set -eu
what=$1 build=$2 prefix=$3 libdir=$4
shift 4
command -v "$what" >/dev/null || {
    echo "$what is not here: skipped"
    exit 77
}
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
DESTDIR=$tree/root meson install -C "$build" --no-rebuild --quiet
root=$tree/root$prefix
lib=$root/$libdir
export LD_LIBRARY_PATH="$lib"

# runs PROGRAM shared|static: it does, and asks for libgp at run time only if it was to take the shared one.
runs() {
    needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(libgp\..*\)\]/\1/p')
    case $2 in
    shared) [ -n "$needed" ] ;;
    static) [ -z "$needed" ] ;;
    esac || {
        echo "$2, but it needs '$needed' at run time"
        exit 1
    }
    "$1"
    echo "$what, $2: built and ran"
}

# Where both are, the linker takes the shared library: it has to go for the static one.
by_pkg_config() {
    export PKG_CONFIG_LIBDIR="$lib/pkgconfig"
    cub=$(pkg-config --variable=cub gp)
    if [ -e "$lib/libgp.so" ] && [ "$cub" != "$has_cub" ]; then
        echo "the package says cub=$cub, libgp_cub beside the shared library: $has_cub"
        exit 1
    fi
    for kind in shared static; do
        static=
        case $kind in
        shared) [ -e "$lib/libgp.so" ] || continue ;;
        static)
            [ -e "$lib/libgp.a" ] || continue
            rm -f "$lib"/libgp.so*
            static=--static
            ;;
        esac
        # shellcheck disable=SC2046,SC2086 # flags are words
        "$compiler" "$@" -std=c11 -Wall -Werror "$here/install/user.c" \
            $(pkg-config --define-variable=prefix="$root" $static --cflags --libs gp) -o "$tree/user_$kind"
        runs "$tree/user_$kind" "$kind"
    done
}

# refused WHY ARGUMENT..: find_package() fails, and says why.
refused() {
    why=$1
    shift
    echo "find_package(gp $* REQUIRED CONFIG)" >"$tree/find.cmake"
    if cmake -Dgp_DIR="$lib/cmake/gp" -P "$tree/find.cmake" >"$tree/log" 2>&1 ||
        ! tr -s ' \n' '  ' <"$tree/log" | grep -q "$why"; then
        echo "find_package(gp $*) did not fail because of: $why"
        cat "$tree/log"
        exit 1
    fi
}

by_cmake() {
    version=$(sed -n 's/^Version: //p' "$lib/pkgconfig/gp.pc")
    if ! cmake -S "$here/install" -B "$tree/cmake" -DCMAKE_PREFIX_PATH="$root" -DWANTED="$version" >"$tree/log" 2>&1 ||
        ! cmake --build "$tree/cmake" >>"$tree/log" 2>&1; then
        cat "$tree/log"
        exit 1
    fi
    for kind in shared static; do
        case $kind in
        shared) file=libgp.so ;;
        static) file=libgp.a ;;
        esac
        if [ -e "$lib/$file" ]; then
            runs "$tree/cmake/user_$kind" "$kind"
        else
            refused "built without the component $kind" "$version" COMPONENTS "$kind"
        fi
    done
    if [ "$has_cub" = no ]; then
        refused 'built without the component cub' "$version" COMPONENTS cub
    else
        mkdir "$tree/cub"
        printf '%s\n' 'cmake_minimum_required(VERSION 3.10)' 'project(cub C)' \
            "find_package(gp $version REQUIRED CONFIG COMPONENTS cub)" >"$tree/cub/CMakeLists.txt"
        cmake -S "$tree/cub" -B "$tree/cub/build" -Dgp_DIR="$lib/cmake/gp" >"$tree/log" 2>&1 || {
            cat "$tree/log"
            exit 1
        }
    fi
    major=${version%%.*}
    minor=${version#*.}
    refused 'compatible with requested version' "$major.$((${minor%%.*} + 1))"
    refused 'compatible with requested version' "$((major + 1)).0"
    [ "$major" != 0 ] || refused 'compatible with requested version' 0.0
    rm -f "$lib"/libgp.*
    refused 'which is missing' "$version"
}

# libgp.so loads libgp_cub by its soname, from its own folder.
has_cub=no
for file in "$lib"/libgp.so.*; do
    [ ! -e "$lib/libgp_cub.so.${file#"$lib"/libgp.so.}" ] || has_cub=yes
done

case $what in
pkg-config)
    compiler=$1
    shift
    by_pkg_config "$@"
    ;;
cmake) by_cmake ;;
esac
