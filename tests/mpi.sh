#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Examples over ranks with each MPI that is here: 2, 4 and 7 processes, and one that never comes.
#
#     mpi.sh BUILD    a build folder with libgp; exit status 77 without an MPI
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
found=0
export UCX_LOG_LEVEL=error # requests of a call that failed stay open

# compile COMPILER: into $folder/dist_sort and the like.
compile() {
    local name
    for name in dist_sort dist_pagerank mpi_late; do
        local source=$here/examples/$name.c
        [ -e "$source" ] || source=$here/tests/$name.c
        "$1" -std=c11 -D_GNU_SOURCE -DEXAMPLE_MPI -Wall -Wextra -Werror -I "$here/include" -I "$here/cli" -I "$here/examples" \
            -o "$folder/$name" "$source" "$here/examples/dist_ranks.c" "$build"/cli/libgp_cli.a \
            -L "$build/src" -lgp -Wl,-rpath,"$build/src" -pthread -lm
    done
}

# run RUNNER.. -- PROGRAM ARGUMENT..: with 2, 4 and 7 processes.
run() {
    local runner=() n
    while [ "$1" != -- ]; do
        runner+=("$1")
        shift
    done
    shift
    for n in 2 4 7; do
        timeout 60 "${runner[@]}" -n "$n" "$@"
    done
}

if command -v mpicc.openmpi >/dev/null; then
    found=1
    echo "Open MPI"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
    compile mpicc.openmpi
    run mpirun.openmpi --oversubscribe -- "$folder/dist_sort" --keys 300001 --runs 1
    run mpirun.openmpi --oversubscribe -- "$folder/dist_pagerank" --scale 10 --steps 10
    run mpirun.openmpi --oversubscribe -- "$folder/mpi_late"
fi
if command -v mpicc.mpich >/dev/null; then
    found=1
    echo "MPICH"
    compile mpicc.mpich
    run mpirun.mpich -- "$folder/dist_sort" --keys 300001 --runs 1
    run mpirun.mpich -- "$folder/dist_pagerank" --scale 10 --steps 10
    run mpirun.mpich -- "$folder/mpi_late"
fi
[ "$found" = 1 ] || exit 77
