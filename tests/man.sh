#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual pages: every exported function has one, and what reads manual pages can read them.
#
#     man.sh PAGES SOURCES LIBGP.SO GP_BENCH
#
# PAGES has those of the calls, SOURCES gp-bench.1. GP_BENCH is empty where it was not built.
set -euo pipefail

pages=$1 sources=$2 library=$3 bench=$4
failed=0

wrong() {
    failed=$((failed + 1))
    printf 'WRONG %s\n' "$*"
}

functions=$(nm -D --defined-only "$library" | sed -n 's/.* T \(gp_[a-z0-9_]*\)$/\1/p')
[ -n "$functions" ] || wrong "no function in $library"
for name in $functions; do
    page=$pages/$name.3
    if [ ! -s "$page" ]; then
        wrong "$name: no page"
        continue
    fi
    for part in NAME SYNOPSIS DESCRIPTION 'SEE ALSO'; do
        grep -qx ".SH $part" "$page" || wrong "$name: no $part"
    done
    # The prototype is whole: it ends as it does in the header.
    grep -q 'fB.*);\\fP$' "$page" || wrong "$name: no prototype"
done
# One that has everything, as words.
for words in 'gp_scan(gp_context \*ctx' 'SH ARGUMENTS' 'SH RETURN VALUE' 'fBGP_ERROR_DTYPE' 'Since gp 0.1'; do
    grep -q -e "$words" "$pages/gp_scan.3" || wrong "gp_scan: no $words"
done
for file in "$pages"/*.3 "$sources/gp-bench.1"; do
    read -r first <"$file"
    if [[ $first == .so\ * ]]; then
        [ -s "$pages/${first##*/}" ] || wrong "$file leads to no page"
        continue
    fi
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -W warning "$file" || wrong "$file: mandoc"
    fi
    if command -v lexgrog >/dev/null; then
        lexgrog "$file" >/dev/null || wrong "$file: no name and description that apropos can read"
    fi
done
# The page of gp-bench has the options that gp-bench has.
if [ -n "$bench" ]; then
    options() { grep -oE -e '--[a-z]+' | sort -u; }
    diff <("$bench" --help | options) <(sed 's/\\-/-/g' "$sources/gp-bench.1" | options) ||
        wrong "gp-bench.1: other options than --help"
fi
[ "$failed" = 0 ]
