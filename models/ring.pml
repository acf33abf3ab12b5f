/* SPDX-License-Identifier: MIT */
/*
 * The ring of src/device/ring.cuh in one block, with the barriers of src/device/barrier.cuh that
 * are words in shared memory: several loader warps share the number of each tile, a stage is used
 * again when all store warps have freed it, and every role sees each tile once, in order and whole.
 *
 * MUTANT_ONE_SLOT     the number of the next tile is always shared through the same word
 * MUTANT_NOT_FREED    loaders do not wait until a stage is freed
 * MUTANT_RESET_LATE   a barrier's phase ends before the arrivals of the next one can be counted
 * MUTANT_UNRESOLVED   store warps do not wait for the prefix
 */
#define STAGES 2
#define LOADERS 2
#define STORERS 2
#define TILES 4
#define NONE 99

typedef Barrier {
    byte missing, expected;
    bit phase
};

Barrier loaded[STAGES], summed[STAGES], resolved[STAGES], freed[STAGES];
byte tile[STAGES];                /* the number of each stage's tile */
byte content[STAGES * LOADERS];   /* the tile whose bytes a loader's share of a stage holds */
byte sum[STAGES], prefix[STAGES]; /* the tile that they are of */
byte shared[2];
byte meeting, meetings; /* bar.sync of the loaders */

inline arrive(b)
{
    d_step {
        before = b.missing;
        b.missing--
    }
    if
    :: before == 1 ->
#ifdef MUTANT_RESET_LATE
        b.phase = 1 - b.phase;
        b.missing = b.expected
#else
        b.missing = b.expected;
        b.phase = 1 - b.phase
#endif
    :: else
    fi;
    before = 0
}

inline wait(b, turns)
{
    (b.phase != turns)
}

inline next_turn()
{
    d_step {
        stage++;
        if
        :: stage == STAGES -> stage = 0; parity = 1 - parity
        :: else
        fi
    }
}

inline meet()
{
    d_step {
        seen = meetings;
        meeting++;
        if
        :: meeting == LOADERS -> meeting = 0; meetings = 1 - meetings
        :: else
        fi
    }
    (meetings != seen);
    seen = 0
}

proctype Loader(byte me)
{
    byte now = 0, round = 0, stage = 0, before, seen;
    bit parity = 0;

    do
    :: true ->
#ifndef MUTANT_NOT_FREED
        if
        :: round >= STAGES -> wait(freed[stage], 1 - parity)
        :: else
        fi;
#endif
        if
        :: me == 0 -> tile[stage] = now
        :: else
        fi;
        if
        :: now >= TILES -> break
        :: else
        fi;
        content[stage * LOADERS + me] = now;
        arrive(loaded[stage]);
#ifdef MUTANT_ONE_SLOT
        if
        :: me == 0 -> shared[0] = now + 1
        :: else
        fi;
        meet();
        now = shared[0];
#else
        if
        :: me == 0 -> shared[round % 2] = now + 1
        :: else
        fi;
        meet();
        now = shared[round % 2];
#endif
        round++;
        next_turn()
    od;
    arrive(loaded[stage])
}

/* Each tile is there as a whole, in order. */
#define WHOLE assert(now == turn && content[stage * LOADERS] == now && content[stage * LOADERS + 1] == now)

proctype Summer()
{
    byte now, turn = 0, stage = 0, before;
    bit parity = 0;

    do
    :: true ->
        wait(loaded[stage], parity);
        now = tile[stage];
        if
        :: now >= TILES -> break
        :: else
        fi;
        WHOLE;
        sum[stage] = now;
        arrive(summed[stage]);
        turn++;
        next_turn()
    od
}

proctype LookAhead()
{
    byte now, turn = 0, stage = 0, before;
    bit parity = 0;

    do
    :: true ->
        wait(loaded[stage], parity);
        now = tile[stage];
        if
        :: now >= TILES -> break
        :: else
        fi;
        assert(now == turn);
        prefix[stage] = now;
        arrive(resolved[stage]);
        turn++;
        next_turn()
    od
}

proctype Storer()
{
    byte now, turn = 0, stage = 0, before;
    bit parity = 0;

    do
    :: true ->
        wait(loaded[stage], parity);
        now = tile[stage];
        if
        :: now >= TILES -> break
        :: else
        fi;
        WHOLE;
        wait(summed[stage], parity);
#ifndef MUTANT_UNRESOLVED
        wait(resolved[stage], parity);
#endif
        assert(sum[stage] == now && prefix[stage] == now);
        WHOLE;
        arrive(freed[stage]);
        turn++;
        next_turn()
    od;
    assert(turn == TILES)
}

inline make(b, arrivals)
{
    b.missing = arrivals;
    b.expected = arrivals
}

init {
    byte i;
    atomic {
        for (i : 0 .. STAGES - 1) {
            make(loaded[i], LOADERS);
            make(summed[i], 1);
            make(resolved[i], 1);
            make(freed[i], STORERS);
            sum[i] = NONE;
            prefix[i] = NONE
        }
        run Loader(0);
        run Loader(1);
        run Summer();
        run LookAhead();
        run Storer();
        run Storer()
    }
}
