#!/bin/sh
# SPDX-License-Identifier: MIT
# What is linked has read-only relocations, bound at its start, and a stack that is not executable; with "frames" also
# functions that check their frame.
# hardened.sh frames|links FILE..
set -eu
what=$1
shift
complain() {
    echo "$1: $2"
    failed=1
}
failed=0
for file in "$@"; do
    headers=$(readelf -lW "$file")
    dynamic=$(readelf -dW "$file")
    echo "$headers" | grep -q 'GNU_RELRO' || complain "$file" "its relocations can be overwritten: no RELRO"
    echo "$dynamic" | grep -Eq '\(BIND_NOW\)|\(FLAGS(_1)?\).*NOW' ||
        complain "$file" "functions are bound when they are first called: no BIND_NOW"
    stack=$(echo "$headers" | awk '$1 == "GNU_STACK" { print $7 }')
    [ "$stack" = RW ] || complain "$file" "the flags of its stack are \"$stack\", expected RW"
    [ "$what" = links ] || nm -D --undefined-only "$file" | grep -q '__stack_chk_fail' ||
        complain "$file" "no function checks its frame"
done
exit "$failed"
