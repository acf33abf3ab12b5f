#!/bin/sh
# SPDX-License-Identifier: MIT
# gp-bench when its output is lost: an error, and a message. Usage: output.sh PROGRAM
program=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

if [ ! -w /dev/full ]; then
    echo 'there is no /dev/full'
    exit 77
fi

# lost FRAGMENT ARGUMENT..: stdout, or what the arguments name, is full.
lost()
{
    fragment=$1
    shift
    "$program" "$@" > "$out" 2> "$dir/text"
    code=$?
    if [ "$code" != 1 ] || ! grep -q "$fragment" "$dir/text"; then
        echo "WRONG: gp-bench $*: exit code $code, expected 1 and \"$fragment\""
        cat "$dir/text"
        failed=1
    fi
}

out=/dev/full
lost 'cannot write the output' --list
lost 'cannot write the output' --help
lost 'cannot write the output' memcpy --backend cpu --n 8 --runs 1
out=$dir/out
lost 'cannot write /dev/full' memcpy --backend cpu --n 8 --runs 1 --csv /dev/full
[ "$(grep -c '^memcpy' "$dir/out")" -le 1 ] || { echo 'WRONG: it went on without a file'; failed=1; }
lost 'cannot write /dev/full: No space' ladder --backend cpu --n 8 --runs 1 --svg /dev/full

# wrong CODE FRAGMENT ARGUMENT..: refused, with a reason.
wrong()
{
    expected=$1
    fragment=$2
    shift 2
    "$program" "$@" > "$out" 2> "$dir/text"
    code=$?
    if [ "$code" != "$expected" ] || ! grep -q -e "$fragment" "$dir/text"; then
        echo "WRONG: gp-bench $*: exit code $code, expected $expected and \"$fragment\""
        cat "$dir/text"
        failed=1
    fi
}

wrong 2 'did you mean --backend?' --bakend cpu
wrong 2 'did you mean scan?' scna
wrong 2 "option '--runs' requires an argument" --runs
wrong 2 '--n is "32", expected 8 to 31' scan --n 32
wrong 2 '--compare takes two files' --compare one.csv
wrong 1 'cannot read .*: No such file' --compare "$dir/none" "$dir/none"
wrong 1 'row 1 does not have 15 columns' --compare /dev/zero /dev/zero
wrong 1 'no rows' --compare /dev/null /dev/null
exit $failed
