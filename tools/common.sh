# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What the shell programs of tools/ share: --version, step lines, logs, packages, a build.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
logs=$root/build/logs
jobs=${GP_JOBS:-$(nproc 2>/dev/null || echo 2)}

# A line about what happens now, with the seconds since the start of the script.
step() {
    printf '[%4d s] %s\n' "$SECONDS" "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# help FIRST LAST: these lines of the program's own comment, for --help.
help() {
    sed -n "$1,$2s/^# \{0,1\}//p" "$0" || die "cannot write the output"
}

# The line of --version.
version() {
    printf '%s (gp) %s\n' "${0##*/}" "$(sed -n "s/^  version: '\([^']*\)'.*/\1/p" "$root/meson.build")"
}

# quiet NAME COMMAND..: run it with its output in a file; if it fails, show the end and say where the rest is.
quiet() {
    local log=$logs/$1.log status=0
    shift
    mkdir -p "$logs"
    "$@" >"$log" 2>&1 </dev/null || status=$?
    [ "$status" = 0 ] && return 0
    printf -- '---- %s failed (exit code %d), the end of its output:\n' "$1" "$status"
    tail -n 30 "$log"
    printf -- '---- all of it is in %s\n' "$log"
    return "$status"
}

have() {
    command -v "$1" >/dev/null 2>&1
}

# have_package PACKAGE: whether what we need of it is here, whoever installed it.
have_package() {
    case $1 in
    gcc) have cc || have gcc || have clang ;;
    g++) have c++ || have g++ || have clang++ ;;
    ninja-build) have ninja || have ninja-build ;;
    pkg-config) have pkg-config || have pkgconf ;;
    check) have pkg-config && pkg-config --exists check ;;
    libsubunit-dev) have pkg-config && pkg-config --exists libsubunit ;;
    libtbb-dev) have pkg-config && pkg-config --exists tbb ;;
    abigail-tools) have abidw && have abidiff ;;
    gcc-aarch64-linux-gnu) have aarch64-linux-gnu-gcc ;;
    libc6-dev-arm64-cross) [ -e /usr/aarch64-linux-gnu/lib/crt1.o ] ;;
    qemu-user) have qemu-aarch64 ;;
    libclang-rt-dev) echo 'int main(void) { return 0; }' | clang -fsanitize=memory -x c - -o /dev/null >/dev/null 2>&1 ;;
    libboost-context-dev) echo '#include <boost/context/detail/fcontext.hpp>' | c++ -E -x c++ - >/dev/null 2>&1 ;;
    *) have "$1" ;;
    esac
}

# The packages of the list that are missing, on one line.
missing_packages() {
    local package
    for package in "$@"; do
        have_package "$package" || printf '%s ' "$package"
    done
}

# install_packages PACKAGE..: through apt where that is possible, otherwise say what is missing and stop.
install_packages() {
    local missing sudo=() apt
    missing=$(missing_packages "$@")
    if [ -z "$missing" ]; then
        step "packages: all there"
        return 0
    fi
    apt="apt-get install ${missing% }"
    have apt-get || die "please install these (Debian's names) and run again: $missing"
    if [ "$(id -u)" != 0 ]; then
        { have sudo && sudo -n true 2>/dev/null; } || die "missing packages; please run: sudo $apt"
        sudo=(sudo -n)
    fi
    step "packages: installing ${missing% }"
    quiet apt-update "${sudo[@]}" apt-get update ||
        step "packages: apt-get update failed, trying with the lists as they are"
    # shellcheck disable=SC2086 # a list of words
    quiet apt-install "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends $missing || die "please install by hand: $missing"
    missing=$(missing_packages "$@")
    [ -z "$missing" ] || die "still missing after the installation: $missing"
}

# configure NAME OPTION..: configure build/NAME, once.
configure() {
    local name=$1 dir=$root/build/$1
    shift
    [ ! -f "$dir/build.ninja" ] || return 0
    rm -rf "$dir" # what a failed setup left behind
    quiet "$name-setup" meson setup "$dir" "$root" "$@"
}

# build NAME OPTION..: configure build/NAME, once, and compile it, or TARGETS of it alone.
build() {
    configure "$@" || return 1
    # shellcheck disable=SC2086 # a list of words
    quiet "$1-build" ninja -C "$root/build/$1" -j "$jobs" ${TARGETS:-}
}
