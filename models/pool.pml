/* SPDX-License-Identifier: MIT */
/*
 * The protocol of src/core/threads.c: callers borrow idle workers of one pool, offer them a loop that
 * lies on the caller's stack, take back the offers that nobody has come to, and wait for the others;
 * the last caller to leave ends the workers. Each of them has a range of the indices and goes on with
 * those of the others.
 *
 * Checked: every index of a loop is run exactly once; nobody looks at a loop whose call has returned; a
 * worker serves one call at a time; nobody sleeps for ever, and all workers end.
 *
 * Spinning before a lock is taken decides nothing, so the model has none.
 *
 * Each MUTANT_* breaks one rule; tools/model-check wants every one of them rejected.
 */
#define WORKERS 2
#define CALLERS 2
#define LOOPS 2   /* of the first caller */
#define COUNT 2   /* indices of a loop */

mtype = { IDLE, OFFERED, WORKING, QUIT };

mtype state[WORKERS] = IDLE;
bool locked[WORKERS], ended[WORKERS];
bool worker_asleep[WORKERS], caller_asleep[WORKERS]; /* on a condition variable each */
byte loop_of[WORKERS] = CALLERS; /* the caller whose loop is offered */
bool idle[WORKERS] = true;   /* in the pool's list */
byte users[WORKERS];         /* calls that have the worker */

byte contexts = CALLERS;
bool live[CALLERS];          /* the loop is on its caller's stack */
byte next[CALLERS];          /* index to be claimed, of the caller's range */
byte end[CALLERS];
byte next_of[WORKERS];       /* and of the worker's */
byte end_of[WORKERS];
byte runs[CALLERS * COUNT];  /* how often each index was run */

inline lock(w) { atomic { !locked[w] -> locked[w] = true } }
inline unlock(w) { locked[w] = false }

inline wake(w, to)
{
    if
    :: to == IDLE -> caller_asleep[w] = false
    :: else -> worker_asleep[w] = false
    fi
}

/* Go from one state to another if it is the one. */
inline change(w, from, to, was)
{
    lock(w);
    was = state[w];
    if
#ifdef MUTANT_BLIND_CHANGE
    :: true -> state[w] = to; wake(w, to)
#else
    :: was == from -> state[w] = to; wake(w, to)
    :: else
#endif
    fi;
    unlock(w)
}

/* Wait until the state is another one. */
inline leave(w, asleep, what)
{
#ifdef MUTANT_LOST_SIGNAL
    do
    :: state[w] != what -> break
    :: else -> asleep = true; !asleep
    od
#else
    lock(w);
    do
    :: state[w] != what -> break
    :: else ->
        atomic { locked[w] = false; asleep = true }
        !asleep;
        lock(w)
    od;
    unlock(w)
#endif
}

/* Claim an index of the caller's range or, when that is empty, of a worker's: whose range is looked
 * at first decides nothing. COUNT: there is none. */
inline claim(c, i, v)
{
    atomic {
        i = COUNT; v = 0;
        if
        :: next[c] < end[c] -> i = next[c]; next[c]++
        :: else ->
            do
            :: v == WORKERS -> break
            :: v < WORKERS && users[v] > 0 && loop_of[v] == c && next_of[v] < end_of[v] ->
                i = next_of[v]; next_of[v]++; break
            :: else -> v++
            od
        fi;
        v = 0
    }
}

inline run_loop(c, i, v)
{
    do
    :: assert(live[c]);
        claim(c, i, v);
        if
        :: i == COUNT -> break
        :: else -> assert(live[c]); runs[c * COUNT + i]++
        fi
    od
}

proctype worker(byte w)
{
    mtype was;
    byte i, v;
    do
    :: leave(w, worker_asleep[w], IDLE);
        change(w, OFFERED, WORKING, was);
        if
        :: was == QUIT -> break
        :: was == OFFERED ->
            run_loop(loop_of[w], i, v);
            change(w, WORKING, IDLE, was)
        :: else
        fi
    od;
    ended[w] = true
}

inline give_back(w)
{
    users[w]--; loop_of[w] = CALLERS;
    idle[w] = true
}

proctype caller(byte c)
{
    byte w, i, v, loops = 0;
    mtype was;
    bool lent[WORKERS];
    do
    :: loops == LOOPS - c -> break /* the second has one less */
    :: else ->
        atomic { /* the pool's lock */
            w = 0;
            do
            :: w == WORKERS -> break
            :: else ->
                lent[w] = idle[w];
                if
                :: lent[w] -> idle[w] = false; users[w]++; assert(users[w] == 1)
                :: else
                fi;
                w++
            od;
            live[c] = true;
            /* the indices in ranges: the caller's, then those of the workers, the last has the rest */
            next[c] = 0; end[c] = COUNT; i = 0; w = 0;
            do
            :: w == WORKERS -> break
            :: w < WORKERS && lent[w] ->
                if
                :: i == 0 -> end[c] = 1; next_of[w] = 1; i = 1
                :: else -> next_of[w] = COUNT
                fi;
                end_of[w] = COUNT; loop_of[w] = c; w++
            :: w < WORKERS && !lent[w] -> w++
            od
        }
        w = 0;
        do
        :: w == WORKERS -> break
        :: w < WORKERS && lent[w] -> change(w, IDLE, OFFERED, was); w++
        :: w < WORKERS && !lent[w] -> w++
        od;
        run_loop(c, i, v);
        w = 0;
        do
        :: w == WORKERS -> break
        :: w < WORKERS && lent[w] ->
#ifdef MUTANT_NO_TAKE_BACK
            was = state[w];
#else
            change(w, OFFERED, IDLE, was);
#endif
#ifdef MUTANT_NO_WAIT
            skip;
#else
            if
            :: was == WORKING -> leave(w, caller_asleep[w], WORKING)
            :: else
            fi;
#endif
            w++
        :: w < WORKERS && !lent[w] -> w++
        od;
        live[c] = false;
        i = 0;
        do
        :: i == COUNT -> break
        :: else -> assert(runs[c * COUNT + i] == 1); runs[c * COUNT + i] = 0; i++
        od;
        atomic {
            w = 0;
            do
            :: w == WORKERS -> break
            :: w < WORKERS && lent[w] -> give_back(w); w++
            :: w < WORKERS && !lent[w] -> w++
            od
        }
        loops++
    od;
    atomic { contexts--; i = contexts }
    if
#ifdef MUTANT_FIRST_LEAVER_ENDS
    :: i == CALLERS - 1 ->
#else
    :: i == 0 ->
#endif
        w = 0;
        do
        :: w == WORKERS -> break
        :: else -> assert(idle[w]); change(w, IDLE, QUIT, was); ended[w]; w++
        od
    :: else
    fi
}

init
{
    atomic {
        run worker(0); run worker(1);
        run caller(0); run caller(1)
    }
}
