#!/bin/sh
# SPDX-License-Identifier: MIT
# libgp_cub is found beside the code that looks for it, or where libraries are; without it, and with one of another
# version, the error says so.
# cub_loader.sh PROGRAM LIBRARY SONAME COMPILER..
set -eu
program=$1 library=$2 soname=$3
shift 3
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/beside" "$tree/elsewhere"
cp "$program" "$tree/beside/loader"
unset LD_LIBRARY_PATH

"$tree/beside/loader" "$soname: cannot open"
ln -s "$library" "$tree/elsewhere/$soname"
LD_LIBRARY_PATH=$tree/elsewhere "$tree/beside/loader" found
ln -s "$library" "$tree/beside/$soname"
"$tree/beside/loader" found
rm "$tree/beside/$soname"
: >"$tree/beside/$soname"
LD_LIBRARY_PATH=$tree/elsewhere "$tree/beside/loader" 'file too short'

# A table begins with the number of the border.
echo 'const void *gp_cub_table(void) { static unsigned table[8] = {999}; return table; }' >"$tree/other.c"
"$@" -shared -fPIC -o "$tree/beside/$soname" "$tree/other.c"
"$tree/beside/loader" 'another version'
echo 'int nothing;' >"$tree/none.c"
"$@" -shared -fPIC -o "$tree/beside/$soname" "$tree/none.c"
"$tree/beside/loader" gp_cub_table
