#!/bin/sh
# SPDX-License-Identifier: MIT
# equalise on files: a known image, and files that must be refused. Usage: equalise.sh PROGRAM
program=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failed=0

wrong()
{
    echo "WRONG: $1"
    failed=1
}

# Greys 10 10 20 30 40 50, with comments in the header: the two darkest become black.
printf 'P5 # six\n# pixels\n3 2\n255\n\012\012\024\036\050\062' > "$dir/in.pgm"
printf 'P5\n3 2\n255\n\000\000\100\200\277\377' > "$dir/expected.pgm"
"$program" "$dir/in.pgm" "$dir/out.pgm" || wrong 'a good file was refused'
cmp "$dir/out.pgm" "$dir/expected.pgm" || wrong 'the image'

# One grey alone has nothing to spread.
printf 'P5\n2 1\n7\n\003\003' > "$dir/in.pgm"
"$program" "$dir/in.pgm" "$dir/out.pgm" || wrong 'an even file was refused'
cmp "$dir/out.pgm" "$dir/in.pgm" || wrong 'the even image'

# refuse WHAT: in.pgm must lead to a message, exit status 1 and no output.
refuse()
{
    rm -f "$dir/out.pgm"
    "$program" "$dir/in.pgm" "$dir/out.pgm" 2> "$dir/text"
    [ $? -eq 1 ] || wrong "exit status for $1"
    [ -s "$dir/text" ] || wrong "no message for $1"
    [ ! -e "$dir/out.pgm" ] || wrong "an output for $1"
}

rm "$dir/in.pgm" && refuse 'a missing file'
: > "$dir/in.pgm" && refuse 'an empty file'
printf 'P2\n2 1\n7\n3 3' > "$dir/in.pgm" && refuse 'a PGM file in text'
printf 'P5\n2' > "$dir/in.pgm" && refuse 'half a header'
printf 'P5\n0 1\n7\n' > "$dir/in.pgm" && refuse 'no width'
printf 'P5\n-1 1\n7\n\003' > "$dir/in.pgm" && refuse 'a negative width'
printf 'P5\n2 x\n7\n\003\003' > "$dir/in.pgm" && refuse 'a height that is no number'
printf 'P5\n99999999999999999999 1\n7\n\003' > "$dir/in.pgm" && refuse 'a huge width'
printf 'P5\n2 1\n256\n\003\003\003\003' > "$dir/in.pgm" && refuse 'two bytes a pixel'
printf 'P5\n2 2\n7\n\003\003\003' > "$dir/in.pgm" && refuse 'a missing pixel'
printf 'P5\n2 1\n7\n\003\010' > "$dir/in.pgm" && refuse 'a pixel that is too bright'

printf 'P5\n2 1\n7\n\003\007' > "$dir/in.pgm"
"$program" "$dir/in.pgm" "$dir/no/out.pgm" 2> /dev/null && wrong 'an output that cannot be written'
"$program" "$dir/in.pgm" 2> /dev/null && wrong 'one file name'
exit $failed
