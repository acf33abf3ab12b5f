/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one process (src/dist/dist_local.c): a barrier under a lock, notes in two banks that one
 * barrier parts, and arrays that others read between two barriers. A rank may leave at any time.
 * Each rank that goes on has read what all others laid out for that step, and none waits for ever.
 *
 * MUTANT_ONE_BANK    notes always lie in the same bank
 * MUTANT_NOT_TAKEN   an array is used again before the others have read it
 * MUTANT_NO_WAKE     a rank that leaves does not break the table
 * MUTANT_ARRIVED     the number of arrivals is not set back by the last one
 */
#define RANKS 3
#define STEPS 4

byte generation, arrived;
bool broken;
byte note[2 * RANKS]; /* the step that each note in a bank is of */
byte lent[RANKS];     /* the step that each array is of */

inline barrier()
{
    atomic {
        if
        :: broken -> good = false
        :: else ->
            before = generation;
            arrived++;
            if
            :: arrived == RANKS ->
#ifndef MUTANT_ARRIVED
                arrived = 0;
#endif
                generation = (generation + 1) % 16
            :: else
            fi
        fi
    }
    if
    :: good -> atomic {
            (generation != before || broken);
            good = (generation != before)
        }
    :: else
    fi
}

/* Notes: the bank is that of the generation, which no rank can be two ahead of. */
inline gather()
{
#ifdef MUTANT_ONE_BANK
    bank = 0;
#else
    bank = generation % 2;
#endif
    note[bank * RANKS + me] = step;
    barrier();
    other = 0;
    do
    :: good && other < RANKS ->
        assert(note[bank * RANKS + other] == step);
        other++
    :: else -> break
    od
}

/* Arrays: read by all between two barriers. */
inline exchange()
{
    lent[me] = step;
    barrier();
    other = 0;
    do
    :: good && other < RANKS ->
        assert(lent[other] == step);
        other++
    :: else -> break
    od;
#ifndef MUTANT_NOT_TAKEN
    if
    :: good -> barrier()
    :: else
    fi;
#endif
    if
    :: good -> lent[me] = 0
    :: else
    fi
}

proctype Rank(byte me)
{
    byte step = 1, before, bank, other;
    bool good = true;

    do
    :: good && step <= STEPS ->
        if
        :: step == 3 -> exchange()
        :: else -> gather()
        fi;
        step++
    :: good && step <= STEPS -> break /* it leaves before the others */
    :: else -> break
    od;
#ifndef MUTANT_NO_WAKE
    broken = true
#endif
}

init
{
    atomic {
        run Rank(0);
        run Rank(1);
        run Rank(2)
    }
}
