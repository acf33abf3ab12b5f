/* SPDX-License-Identifier: MIT */
/*
 * Mail between GPUs (src/dist/dist_mail_internal.h): every rank writes its part into the mail of
 * each, word by word, in any order, and ends a round when the words of all have come. A word holds
 * its round beside half of the payload, which is the round, too. A rank may break the ranks at any
 * time. Each rank that ends a round has read the parts of that round, and none waits for ever.
 *
 * MUTANT_ONE_BANK    words always lie in the same bank
 * MUTANT_NOT_ALL     a rank waits for those before it only, as a scan would let it
 * MUTANT_NO_STOP     a rank that leaves does not end the waits of the others
 * MUTANT_FLAG_APART  the round is written before the payload
 */
#define RANKS 3
#define ROUNDS 4
#define WORDS 2

#define AT(to, from, w) ((((to) * 2 + bank) * RANKS + (from)) * WORDS + (w))

byte round_of[2 * RANKS * RANKS * WORDS], payload_of[2 * RANKS * RANKS * WORDS];
bool stop;

inline write_word(to, w)
{
#ifdef MUTANT_FLAG_APART
    round_of[AT(to, me, w)] = step;
    payload_of[AT(to, me, w)] = step;
#else
    atomic {
        round_of[AT(to, me, w)] = step;
        payload_of[AT(to, me, w)] = step
    }
#endif
}

inline send()
{
    other = 0;
    do
    :: other < RANKS ->
        if
        :: write_word(other, 0); write_word(other, 1)
        :: write_word(other, 1); write_word(other, 0)
        fi;
        other++
    :: else -> break
    od
}

inline receive()
{
    other = 0;
    do
#ifdef MUTANT_NOT_ALL
    :: other < me && good ->
#else
    :: other < RANKS && good ->
#endif
        part = 0;
        do
        :: part < WORDS && good ->
            atomic {
                (round_of[AT(me, other, part)] == step || stop);
                good = (round_of[AT(me, other, part)] == step)
            }
            assert(!good || payload_of[AT(me, other, part)] == step);
            part++
        :: else -> break
        od;
        other++
    :: else -> break
    od
}

proctype Rank(byte me)
{
    byte step = 1, bank, other, part;
    bool good = true;

    do
    :: good && step <= ROUNDS ->
#ifdef MUTANT_ONE_BANK
        bank = 0;
#else
        bank = step % 2;
#endif
        send();
        receive();
        step++
    :: good && step <= ROUNDS -> good = false /* it leaves before the others */
    :: else -> break
    od;
#ifndef MUTANT_NO_STOP
    if
    :: step <= ROUNDS -> stop = true
    :: else
    fi
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
