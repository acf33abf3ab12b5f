/* SPDX-License-Identifier: MIT */
/*
 * The protocol of src/device/{epoch,tile_state,lookahead}.cuh: launches on one stream whose blocks draw
 * the epoch and tiles from one counter until there are none left, publish one tagged word per tile, and
 * read the words of all tiles before theirs.
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
#define RESIDENT_MAX 2

byte epoch = 1;              /* the high half of the counter */
byte drawn = 0;              /* its low half */
byte arrived = 0, tickets = 0; /* of the mutant with two counters */
byte tag[SLOTS];             /* 0 at first: epochs start at 1 */
byte value[SLOTS];           /* the epoch whose result the word holds */
byte taken[SLOTS];           /* how often each tile was taken in this launch */
byte running = 0, finished = 0;
byte tiles, grid, draws;     /* of the current launch */
byte resident;               /* how many blocks run at the same time in it */

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

/* One atomicAdd; the last draw of a launch starts the next epoch by a second one. */
inline draw(e, t)
{
    atomic { e = epoch; t = drawn; drawn++ }
    if
    :: t == draws - 1 -> atomic { epoch++; drawn = 0 }
    :: else
    fi
}

proctype block()
{
    byte e, tile, before, again;
    draw(e, tile);
#ifdef MUTANT_TWO_COUNTERS
    /* The first tiles by arrival, later ones from a counter that starts behind the first tiles of all
     * blocks, also of those that have not started. */
    atomic { tile = arrived; arrived++ };
#endif
    if
    :: tile == 0 -> retire(e)
    :: else
    fi;
#ifdef MUTANT_TICKET_ORDER
    if /* later tiles first: who they wait for may never start */
    :: tile < tiles && tile < grid && grid <= tiles -> tile = grid - 1 - tile
    :: else
    fi;
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
        if
        :: tiles <= grid -> tile = tiles
        :: else ->
            draw(again, tile);
            assert(again == e);
#ifdef MUTANT_TWO_COUNTERS
            atomic { tile = grid + tickets; tickets++ }
#endif
        fi
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
            /* any number of tiles from one to all; more or fewer blocks */
            select(tiles : 1 .. SLOTS);
            select(grid : 1 .. GRID_MAX);
            select(resident : 1 .. RESIDENT_MAX);
            if
            :: tiles <= grid -> draws = grid
            :: else -> draws = tiles + grid
            fi;
            arrived = 0;
            tickets = 0;
            started = 0;
            finished = 0;
        }
        do
        :: started < grid && running < resident -> atomic { running++; started++; run block() }
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
