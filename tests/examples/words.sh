#!/bin/sh
# SPDX-License-Identifier: MIT
# examples/words on texts whose words are counted by other programs: words.sh PROGRAM
words=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail()
{
    echo "words.sh: $1" >&2
    exit 1
}

# Every word with another count, so that the order is the only one.
i=1
for word in scan tree of the merge sort; do
    k=0
    while [ $k -lt $i ]; do
        echo "$word,"
        k=$((k + 1))
    done
    i=$((i + 1))
done > "$folder/text"
tr ',' ' ' < "$folder/text" | tr -d ' ' | sort | uniq -c | sort -rn | awk '{print $1, $2}' > "$folder/expected"
tr 'st' 'ST' < "$folder/text" | "$words" - | awk '{print $1, $2}' > "$folder/actual" || fail "no result"
cmp "$folder/expected" "$folder/actual" || fail "other words"

"$words" "$folder/text" > "$folder/from_file" || fail "no result of a file"
awk '{print $1, $2}' "$folder/from_file" | cmp - "$folder/expected" || fail "other words of a file"
printf '1, 2; 3.' | "$words" 2> "$folder/error" && fail "words where there are none"
grep -q "no words" "$folder/error" || fail "no reason"
"$words" /dev/null 2> "$folder/error" && fail "words in an empty file"
"$words" "$folder/none" 2> "$folder/error"
[ $? -eq 1 ] || fail "a file that is not there"
grep -q "none: No such file" "$folder/error" || fail "no name of a file that is not there"
"$words" a b 2> "$folder/error"
[ $? -eq 2 ] || fail "two files"
exit 0
