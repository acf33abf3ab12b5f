/* SPDX-License-Identifier: MIT */
/*
 * The protocol of src/device/{epoch,tile_state,lookahead}.cuh: launches on one stream whose blocks draw
 * an epoch and an arrival index, take tiles by arrival and then by ticket, publish one tagged word per
 * tile, and read the words of all tiles before theirs.
 *
 * Checked: no deadlock with fewer resident blocks than the grid has; a word of another launch is never
 * taken for one of this launch, although tags wrap; every tile is taken exactly once.
 *
 * Each MUTANT_* breaks one rule; tools/model-check wants every one of them rejected.
 */
#define SLOTS 3     /* words in the state block */
#define TAGS 5      /* tags wrap: after 2^32 launches on the device; SLOTS + 2 at least */
#define LAUNCHES 7  /* more than one wrap */
#define GRID_MAX 3
#define RESIDENT 2  /* blocks that run at the same time */

byte epoch = 1;              /* the high bits of the arrival counter */
byte arrived = 0;            /* its low bits */
byte tickets[2];
byte tag[SLOTS];             /* 0 at first: epochs start at 1 */
byte value[SLOTS];           /* the epoch whose result the word holds */
byte taken[SLOTS];           /* how often each tile was taken in this launch */
byte running = 0, finished = 0;
byte tiles, grid;            /* of the current launch */

inline publish(t, e)
{
#ifdef MUTANT_MISSING_RELEASE
    tag[t] = e % TAGS;       /* value and tag no longer travel in one word */
    value[t] = e;
#else
    atomic { tag[t] = e % TAGS; value[t] = e; }
#endif
}

/* Wait for the word of tile t and use it. */
inline consume(t, e)
{
    atomic {
#ifdef MUTANT_STALE_EPOCH
        tag[t] != 0;
#else
        tag[t] == e % TAGS;
#endif
        assert(value[t] == e);
    }
}

/* Age one word that this launch does not use, in turn: its tag becomes the one that comes round last. (A
 * fixed tag would do for all epochs but one.) */
inline retire(e)
{
#ifdef MUTANT_TAG_WRAP
    skip
#else
    if
    :: e % SLOTS >= tiles -> tag[e % SLOTS] = (e - 1) % TAGS
    :: else
    fi
#endif
}

proctype block()
{
    byte e, index, tile, before;
    atomic { /* one atomicAdd */
        e = epoch;
        index = arrived;
        arrived++;
    }
    if
    :: index == grid - 1 -> atomic { epoch++; arrived = 0 } /* the second atomicAdd */
    :: else
    fi;
    if
    :: index == 0 -> tickets[(e + 1) % 2] = 0; retire(e)
    :: else
    fi;
#ifdef MUTANT_TICKET_ORDER
    tile = grid - 1 - index;     /* later tiles first: who they wait for may never start */
#else
    tile = index;
#endif
    do
    :: tile >= tiles -> break
    :: else ->
        taken[tile]++;
        publish(tile, e);
        before = 0;
        do
        :: before >= tile -> break
        :: else -> consume(before, e); before++
        od;
        atomic { tile = grid + tickets[e % 2]; tickets[e % 2]++ }
    od;
    atomic { running--; finished++ }
}

/* One stream: a launch starts when the one before is over. */
init
{
    byte launch = 0, started, t;
    do
    :: launch == LAUNCHES -> break
    :: else ->
        atomic {
            /* any number of tiles from one to all; any grid up to that */
            select(tiles : 1 .. SLOTS);
            select(grid : 1 .. GRID_MAX);
            if
            :: grid > tiles -> grid = tiles
            :: else
            fi;
            started = 0;
            finished = 0;
        }
        do
        :: started < grid && running < RESIDENT -> atomic { running++; started++; run block() }
        :: started == grid -> break
        od;
        finished == grid;
        t = 0;
        do
        :: t == tiles -> break
        :: else -> assert(taken[t] == 1); taken[t] = 0; t++
        od;
        launch++
    od
}
