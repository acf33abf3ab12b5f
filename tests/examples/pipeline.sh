#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sparse_pipeline as its user sees it: good files, malformed files, options.
#
#     pipeline.sh PROGRAM BACKEND DATA_DIR zlib|no-zlib
#
# Every *.mtx of DATA_DIR and of $GP_TEST_DATA must pass the check against the oracle (of the latter, complex
# ones must be refused). The last line counts as Check's does.
set -euo pipefail

program=$1 backend=$2 data=$3 zlib=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ran=0 failed=0
everything=(--bfs --components --triangles --picture "$work/picture.svg")

wrong() {
    failed=$((failed + 1))
    printf 'FAILED %s: %s\n' "$1" "$2"
    sed 's/^/    /' "$work/out" "$work/err"
}

# call ARGUMENT..: run the program; its exit code is in $code, its text in out and err.
call() {
    ran=$((ran + 1))
    code=0
    "$program" "$@" >"$work/out" 2>"$work/err" || code=$?
}

good() { # NAME ARGUMENT..
    local name=$1
    shift
    call --backend "$backend" "$@"
    if [ "$code" != 0 ]; then
        wrong "$name" "exit code $code, expected 0"
    elif [ "$(tail -n 1 "$work/out")" != "check passed" ] || [ -s "$work/err" ]; then
        wrong "$name" "did not end with \"check passed\""
    fi
}

prints() { # NAME CODE FRAGMENT ARGUMENT..: the fragment is on stdout or stderr
    local name=$1 expected=$2 fragment=$3
    shift 3
    call --backend cpu "$@"
    if [ "$code" != "$expected" ]; then
        wrong "$name" "exit code $code, expected $expected"
    elif [[ $(cat "$work/out" "$work/err") != *"$fragment"* ]]; then
        wrong "$name" "expected: ...$fragment..."
    fi
}

refused() { # NAME FILE LINE FRAGMENT; LINE - : the message names the file alone
    local prefix="sparse_pipeline: $2:$3: "
    [ "$3" != - ] || prefix="sparse_pipeline: $2: "
    call --backend cpu "$2"
    if [ "$code" != 1 ]; then
        wrong "$1" "exit code $code, expected 1"
    elif [ -s "$work/out" ] || [ "$(wc -l <"$work/err")" != 1 ]; then
        wrong "$1" "expected one line on stderr and nothing else"
    elif [[ $(cat "$work/err") != "$prefix"*"$4"* ]]; then
        wrong "$1" "expected: $prefix...$4..."
    fi
}

bad() { # NAME LINE FRAGMENT CONTENT, with the escapes of printf
    printf '%b' "$4" >"$work/$1.mtx"
    refused "$1" "$work/$1.mtx" "$2" "$3"
}

bad_option() { # FRAGMENT ARGUMENT..
    local fragment=$1
    shift
    call "$@"
    if [ "$code" != 2 ]; then
        wrong "options $*" "exit code $code, expected 2"
    elif [ -s "$work/out" ] || [[ $(cat "$work/err") != *"$fragment"* ]]; then
        wrong "options $*" "expected on stderr alone: ...$fragment..."
    fi
}

good_files() {
    local file
    for file in "$data"/*.mtx; do
        good "${file##*/}" "${everything[@]}" "$file"
        svg "${file##*/}"
    done
    good "R-MAT" "${everything[@]}" --rmat 10 --edge-factor=8 --seed 7
    good "R-MAT, one thread" "${everything[@]}" --rmat 8 --threads 1 --tolerance 1e-12
    good "R-MAT, few vertices" "${everything[@]}" --rmat 1 --edge-factor 40 --tolerance 0.1
    [ "$backend" = cuda ] || # validation takes a newer driver
        GP_VALIDATE=1 good "R-MAT, contents are checked" "${everything[@]}" --rmat 9 --seed 3
    good "R-MAT 18" --rmat 18 --bfs --components
    [ "$(wc -l <"$work/out")" -le 22 ] || wrong "R-MAT 18" 'expected no more than 22 lines'
    [ "$(awk '{ if (length > n) n = length } END { print n }' "$work/out")" -le 80 ] ||
        wrong "R-MAT 18" 'expected no line of more than 80 characters'
    [ -d "${GP_TEST_DATA:-}" ] || return 0
    for file in "$GP_TEST_DATA"/*.mtx; do
        if head -n 1 "$file" | grep -qiE 'complex|hermitian'; then
            refused "${file##*/}" "$file" 1 "not supported"
        else
            good "${file##*/}" "${everything[@]}" "$file"
            svg "${file##*/}"
        fi
    done
}

# The picture is XML; without entries it has axes alone.
svg() { # NAME
    if ! python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$work/picture.svg" 2>"$work/err"; then
        wrong "$1, picture" 'not well-formed'
    fi
    rm -f "$work/picture.svg"
}

# The binary form gives the same answers, and is what was written or is refused.
binary_form() {
    local file=$work/matrix.gp
    good 'save' --bfs --save "$file" "$data/general.mtx"
    good 'load' "${everything[@]}" --load "$file"
    good 'save, R-MAT' --rmat 9 --tolerance 1e-9 --save "$file"
    tail -n 7 "$work/out" >"$work/saved"
    good 'load, R-MAT' --load "$file" --tolerance 1e-9
    tail -n 7 "$work/out" | cmp -s - "$work/saved" || wrong 'load, R-MAT' 'other ranks'
    good 'save again' --load "$file" --save "$work/again.gp"
    cmp -s "$file" "$work/again.gp" || wrong 'save again' 'another file'
    good 'save, no rows' --save "$file" "$data/no_rows.mtx"
    good 'load, no rows' --load "$file"
    good 'save, not finite' --save "$file" "$data/overflow_nan.mtx"
    good 'load, not finite' --load "$file"
}

# damaged NAME FRAGMENT OFFSET BYTES: the file of 3 x 4 entries below with other bytes there, in escapes of printf
damaged() {
    cp "$work/small.gp" "$work/damaged.gp"
    printf '%b' "$4" | dd of="$work/damaged.gp" bs=1 seek="$3" conv=notrunc 2>/dev/null
    prints "$1" 1 "sparse_pipeline: $work/damaged.gp: $2" --load "$work/damaged.gp"
}

# Header: magic 8, form 4, order 4, rows 8, columns 8, entries 8, check 8; then pointers 0 2 2 3, columns 0 3 1.
malformed_binary() {
    printf '%%%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1\n1 4 2\n3 2 5\n' >"$work/small.mtx"
    good 'small' --save "$work/small.gp" "$work/small.mtx"
    damaged 'another file' 'not a matrix that --save has written' 0 '%%Mat'
    damaged 'another form' 'of form 2, expected 1' 8 '\0002'
    damaged 'another order' 'written by a machine with another order' 12 '\0001\0002\0003\0004'
    damaged 'rows' 'the header is damaged' 16 '\0004'
    damaged 'check' 'the header is damaged' 40 '\0000\0001\0002\0003'
    damaged 'first pointer' 'gp_check_csr: ' 48 '\0001'
    damaged 'pointer too large' 'gp_check_csr: ' 52 '\0377\0377\0377\0377'
    damaged 'pointer descends' 'gp_check_csr: ' 56 '\0001'
    damaged 'last pointer' 'gp_check_csr: ' 60 '\0004'
    damaged 'column too large' 'gp_check_csr: ' 68 '\0004'
    damaged 'columns descend' 'gp_check_csr: ' 64 '\0003'
    head -c 47 "$work/small.gp" >"$work/damaged.gp"
    prints 'half a header' 1 'not a matrix that --save has written' --load "$work/damaged.gp"
    head -c 90 "$work/small.gp" >"$work/damaged.gp"
    prints 'cut' 1 '90 bytes, expected 104 by the header' --load "$work/damaged.gp"
    { cat "$work/small.gp" && printf x; } >"$work/damaged.gp"
    prints 'longer' 1 '105 bytes, expected 104 by the header' --load "$work/damaged.gp"
    : >"$work/damaged.gp"
    prints 'empty' 1 'not a matrix that --save has written' --load "$work/damaged.gp"
    prints 'missing' 1 'No such file' --load "$work/none.gp"
    prints 'a folder' 1 'not a regular file' --load "$work"
    prints 'a limit' 1 '--max-memory 1G allows it' --max-memory 100 --load "$work/small.gp"
    prints 'no folder' 1 'No such file' --rmat 4 --save "$work/none/matrix.gp"
    prints 'no folder' 1 'No such file' --rmat 4 --picture "$work/none/picture.svg"
    rm -f "$work"/*.gp
}

malformed_headers() {
    bad empty 1 'the file is empty' ''
    bad no_banner 1 'not a Matrix Market file' '3 3 1\n1 1 1\n'
    bad object 1 'the object is "vector"' '%%MatrixMarket vector coordinate real general\n'
    bad format 1 'the format is "sparse"' '%%MatrixMarket matrix sparse real general\n'
    bad field 1 'the field is "float"' '%%MatrixMarket matrix coordinate float general\n'
    bad complex 1 'complex matrices are not supported' \
        '%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n'
    bad hermitian 1 'hermitian matrices are not supported' \
        '%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n'
    bad header_short 1 'the symmetry is ""' '%%MatrixMarket matrix coordinate real\n1 1 1\n1 1 1\n'
    bad header_long 1 '"extra" after the symmetry' '%%MatrixMarket matrix coordinate real general extra\n'
    bad pattern_skew 1 'cannot be skew' '%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n'
    bad pattern_array 1 'cannot be an array' '%%MatrixMarket matrix array pattern general\n1 1\n'
}

malformed_sizes() {
    local h='%%MatrixMarket matrix coordinate real general\n'
    bad no_sizes 3 'the file ends where the sizes should be' "$h% nothing else\n"
    bad sizes_short 2 'the line ends where the number of entries should be' "${h}3 3\n1 1 1\n"
    bad sizes_long 2 '"7" after the sizes' "${h}3 3 1 7\n1 1 1\n"
    bad sizes_negative 2 'the number of rows is "-3"' "${h}-3 3 1\n1 1 1\n"
    bad sizes_huge 2 'expected 0 to 4294967294' "${h}4294967296 3 1\n1 1 1\n"
    bad sizes_overflow 2 'the number of entries is 99999999999999999999' "${h}3 3 99999999999999999999\n"
    bad not_square 2 'expected as many of both' '%%MatrixMarket matrix coordinate real symmetric\n3 2 0\n'
}

malformed_entries() {
    local h='%%MatrixMarket matrix coordinate real general\n' s='%%MatrixMarket matrix coordinate'
    bad truncated 4 'the file ends after 2 of 3 entries' "${h}3 3 3\n1 1 1\n2 2 2"
    bad count_huge 4 'the file ends after 1 of 1000000000000 entries' "${h}3 3 1000000000000\n1 1 1\n"
    bad too_many 5 'more than the 2 entries' "${h}3 3 2\n1 1 1\n2 2 2\n3 3 3\n"
    bad row_zero 3 'the row is 0, expected 1 to 3' "${h}3 3 1\n0 1 1\n"
    bad row_large 4 'the row is 4, expected 1 to 3' "${h}3 3 2\n3 1 1\n4 1 1\n"
    bad col_large 3 'the column is 18446744073709551617' "${h}3 3 1\n1 18446744073709551617 1\n"
    bad row_fraction 3 'the row is "1.5"' "${h}3 3 1\n1.5 1 1\n"
    bad value_missing 4 'the line ends where the value should be' "${h}3 3 1\n\n1 1\n1\n"
    bad value_word 3 'the value is "one"' "${h}3 3 1\n1 1 one\n"
    bad value_nan 3 'the value is "nan"' "${h}3 3 1\n1 1 nan\n"
    bad value_hex 3 'the value is "0x10"' "${h}3 3 1\n1 1 0x10\n"
    bad value_huge 3 'does not fit a double' "${h}3 3 1\n1 1 1e999\n"
    bad value_exponent 3 'the value is "1e"' "${h}3 3 1\n1 1 1e\n"
    bad value_integer 3 'expected a whole number' "$s integer general\n3 3 1\n1 1 1.0\n"
    bad value_extra 3 '"9" after the entry' "${h}3 3 1\n1 1 1 9\n"
    bad pattern_value 3 '"5" after the entry' "$s pattern general\n3 3 1\n1 1 5\n"
    bad upper 3 'above the diagonal' "$s real symmetric\n3 3 1\n1 2 1\n"
    bad diagonal 3 'on the diagonal of a skew' "$s real skew-symmetric\n3 3 1\n2 2 1\n"
    bad no_rows 3 'without rows or columns' "${h}0 3 1\n1 1 1\n"
    bad binary 3 'the value is "??"' "${h}3 3 1\n1 1 \\0001\\0377\n"
    bad array_short 5 'the file ends after 2 of 4 entries' '%%MatrixMarket matrix array real general\n2 2\n1\n2\n'
    refused missing "$work/none.mtx" - 'No such file'
    refused directory "$work" - 'Is a directory'
}

not_finite() {
    prints 'a sum that overflows' 0 'PageRank      left out: the sum of column 1 is not finite' \
        "$data/overflow_sum.mtx"
    prints 'an infinite row' 0 'not finite: 1 rows, as in the oracle' "$data/overflow_sum.mtx"
    prints 'a row with a NaN' 0 'not finite: 1 rows, as in the oracle' "$data/overflow_nan.mtx"
}

# What is no file of its size in entries: endless, or a short one with many rows.
limits() {
    local h='%%MatrixMarket matrix coordinate real general\n'
    printf '%b' "${h}400000000 1 0\n" >"$work/rows.mtx"
    printf '%b' "${h}1000000 1 0\n" >"$work/fewer_rows.mtx"
    refused endless /dev/zero 1 'not a Matrix Market file'
    refused rows "$work/rows.mtx" - '--max-memory 18G allows it'
    prints 'fewer rows' 0 'check passed' "$work/fewer_rows.mtx"
    prints 'fewer rows, limit' 1 'more than 0.0 GiB' --max-memory 40M "$work/fewer_rows.mtx"
    prints 'a graph' 1 'the graph: 65536 x 65536' --max-memory 64m --rmat 16
    prints 'a graph, limit' 0 'check passed' --max-memory 1G --rmat 6
    ran=$((ran + 1)) code=0
    { printf '%b' "$h" && yes '% endless'; } 2>/dev/null |
        "$program" --backend cpu --max-memory 3M - >"$work/out" 2>"$work/err" || code=$?
    if [[ $code != 1 || $(cat "$work/err") != *'more than the 3145728 bytes'* ]]; then
        wrong 'an endless stream' "exit code $code, expected 1 and a limit"
    fi
}

# from_input NAME CODE FRAGMENT COMMAND..: the standard input is what the command writes.
from_input() {
    local name=$1 expected=$2 fragment=$3
    shift 3
    ran=$((ran + 1)) code=0
    { "$@" 2>/dev/null || true; } | "$program" --backend cpu - >"$work/out" 2>"$work/err" || code=$?
    if [[ $code != "$expected" || $(cat "$work/out" "$work/err") != *"$fragment"* ]]; then
        wrong "$name" "exit code $code, expected $expected and ...$fragment..."
    fi
}

standard_input() {
    from_input 'standard input' 0 'check passed' cat "$data/general.mtx"
    from_input 'standard input, wrong' 1 'standard input:4: the file ends after 1 of 3' \
        printf '%%%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n'
    from_input 'standard input, empty' 1 'standard input:1: the file is empty' true
    from_input 'standard input, endless' 1 'standard input:1: not a Matrix Market file' yes
}

compressed() {
    local h='%%MatrixMarket matrix coordinate real general\n'
    gzip -c "$data/general.mtx" >"$work/general.mtx.gz"
    if [ "$zlib" != zlib ]; then
        refused 'compressed' "$work/general.mtx.gz" - 'which this build cannot read'
        return 0
    fi
    good 'compressed' "$work/general.mtx.gz"
    from_input 'standard input, compressed' 0 'check passed' cat "$work/general.mtx.gz"
    { printf '%b' "$h" && seq 100000; } | gzip -c >"$work/numbers.gz"
    refused 'compressed, wrong' "$work/numbers.gz" 2 'the line ends where the number of columns'
    head -c 100000 "$work/numbers.gz" >"$work/cut.gz"
    refused 'compressed, cut' "$work/cut.gz" - 'the compressed data ends too early'
    { head -c 90000 "$work/numbers.gz" && printf 'broken' && tail -c +90007 "$work/numbers.gz"; } >"$work/broken.gz"
    call --backend cpu "$work/broken.gz"
    [[ $code == 1 && $(cat "$work/err") == *"$work/broken.gz"* ]] || wrong 'compressed, broken' "exit code $code"
    { printf '%b' "$h" && head -c 10000000 /dev/zero | tr '\0' ' '; } | gzip -c >"$work/large.gz"
    prints 'compressed, much larger' 1 'more than the 3145728 bytes' --max-memory 3M "$work/large.gz"
    gzip -c "$0" >"$work/other.gz"
    refused 'compressed, no matrix' "$work/other.gz" 1 'not a Matrix Market file'
}

# Lost output is an error; names cannot do anything to a terminal.
output() {
    local name=$work/$'red\033[31m.mtx'
    cp "$data/one.mtx" "$name"
    prints 'a name with escapes' 0 'red?[31m.mtx' "$name"
    prints 'no file with escapes' 1 'red?[31m.mtx?:' "$name"$'\n'
    [ -w /dev/full ] || return 0
    for arguments in '--backend cpu --rmat 4' --help; do
        ran=$((ran + 1)) code=0
        # shellcheck disable=SC2086
        "$program" $arguments >/dev/full 2>"$work/err" || code=$?
        : >"$work/out"
        if [[ $code != 1 || $(cat "$work/err") != *'cannot write the output'* ]]; then
            wrong "a full disk, $arguments" "exit code $code, expected 1 and a message"
        fi
    done
}

options() {
    bad_option 'expected a file or --rmat SCALE'
    bad_option 'not both' --rmat 4 file.mtx
    bad_option 'more than one file' a.mtx b.mtx
    bad_option "unrecognized option '--frobnicate'" --frobnicate
    bad_option 'did you mean --threads?' --thraeds 2
    bad_option "option '--rmat' requires an argument" --rmat
    bad_option '--rmat is "29"' --rmat 29
    bad_option '--load without a file' --load a.gp b.mtx
    bad_option '--load without a file' --load a.gp --rmat 4
    bad_option '--bfs is "0"' --bfs=0 --rmat 4
    bad_option '--bfs is "x"' --bfs=x --rmat 4
    prints 'no such vertex' 0 'left out: there is no vertex 17' --bfs=17 --rmat 4
    prints 'a vertex' 0 'from 16: ' --bfs=16 --rmat 4
    prints 'no comparison' 0 'PageRank' --no-oracle --rmat 4
    bad_option '--threads is "two"' --threads two --rmat 4
    bad_option '--threads is "-1"' --threads=-1 --rmat 4
    bad_option '--backend is "gpu"' --backend gpu --rmat 4
    bad_option '--edge-factor is "0"' --edge-factor 0 --rmat 4
    bad_option '--tolerance is "0"' --tolerance 0 --rmat 4
    bad_option '--max-memory is "0"' --max-memory 0 --rmat 4
    bad_option '--max-memory is "1GB"' --max-memory 1GB --rmat 4
    bad_option '--max-memory is "20000000T"' --max-memory 20000000T --rmat 4
    call --help
    if [ "$code" != 0 ] || ! grep -q -- '--edge-factor F' "$work/out"; then
        wrong help 'expected the usage text'
    fi
    prints version 0 'sparse_pipeline (gp) ' --version
}

if [ "$backend" = cuda ]; then
    call --backend cuda --rmat 4
    # Only a context that cannot be made means that there is no GPU.
    if [ "$code" != 0 ] && [ "${GP_REQUIRE_CUDA:-0}" != 1 ] && grep -q gp_context_create "$work/err"; then
        sed 's/^/skipped: /' "$work/err"
        exit 77
    fi
    ran=0
    good_files
    binary_form
else
    good_files
    binary_form
    malformed_binary
    malformed_headers
    malformed_sizes
    malformed_entries
    not_finite
    limits
    standard_input
    compressed
    output
    options
fi
echo "$((ran ? 100 * (ran - failed) / ran : 0))%: Checks: $ran, Failures: $failed, Errors: 0"
[ "$failed" = 0 ]
