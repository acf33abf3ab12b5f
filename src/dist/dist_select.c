/* SPDX-License-Identifier: MIT */
/* Exact borders between ranks in keys that each rank has sorted. */
#include "dist/dist_internal.h"

/* Where the array of all ranks is cut: behind target keys in their order. The word of the last one
 * before the cut lies in [word, word + 2^bits). below[s] keys of rank s lie below word. */
struct border {
    uint64_t target, word;
    bool exact; /* target keys lie below word: none equal to it comes before the cut */
};

/* The words that one round asks for: each border has 2^step - 1 of them. */
struct round {
    int borders, step, bits; /* bits: of the intervals */
};

static int bits_of(uint64_t x)
{
    return x ? 64 - __builtin_clzll(x) : 0;
}

/* As many words for each border as there is room for. */
static int step_of(int borders, int bits)
{
    int step = 1;
    while (step < bits && borders * ((2 << step) - 1) <= GPI_DIST_PROBES)
        step++;
    return step < bits ? step : bits;
}

static uint64_t word_of(const struct round *r, const struct border *b, int i)
{
    return b->word + ((uint64_t)(i + 1) << (r->bits - r->step));
}

/* Count the keys below the words of a round: comm->table gets a row per rank, its status first. */
static gp_status ask(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                     const struct round *r, const struct border *b)
{
    const int count = r->borders, each = (1 << r->step) - 1, words = count * each;
    uint64_t asked[GPI_DIST_PROBES];
    for (int j = 0; j < count; j++)
        for (int i = 0; i < each; i++)
            asked[j * each + i] = word_of(r, &b[j], i);
    return gpi_dist_gather_words(
        comm, f, gpi_dist_probe(comm, f, keys, asked, words, comm->mine + 1), words);
}

/* Keys of all ranks below word number w of a round that asked for that many words. */
static uint64_t sum_below(const gp_comm *comm, int words, int w)
{
    uint64_t sum = 0;
    for (int s = 0; s < comm->ranks; s++)
        sum += comm->table[(size_t)s * (size_t)(words + 1) + 1 + (size_t)w];
    return sum;
}

/* The last word with fewer than target keys below it begins the new interval. */
static void narrow(const gp_comm *comm, const struct round *r, struct border *b)
{
    const int each = (1 << r->step) - 1, words = r->borders * each;
    for (int j = 0; j < r->borders; j++) {
        int i = 0;
        uint64_t below = 0;
        while (!b[j].exact && i < each &&
               (below = sum_below(comm, words, j * each + i)) < b[j].target)
            i++;
        if (i < each && !b[j].exact && below == b[j].target) {
            b[j].exact = true;
            b[j].word = word_of(r, &b[j], i);
        } else if (i > 0) {
            b[j].word = word_of(r, &b[j], i - 1);
        }
    }
}

static bool all_exact(const struct border *b, int borders)
{
    for (int j = 0; j < borders; j++)
        if (!b[j].exact)
            return false;
    return true;
}

/* Until each interval is a single word, or the border lies between two. */
static gp_status narrow_all(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                            struct border *b, int borders, int bits)
{
    struct round r = {borders, 0, bits};
    while (r.bits > 0 && !all_exact(b, borders)) {
        r.step = step_of(borders, r.bits);
        GPI_TRY(ask(comm, f, keys, &r, b));
        narrow(comm, &r, b);
        r.bits -= r.step;
    }
    return GP_OK;
}

/* Of each border: keys of this rank below its word, and those equal to it; of all ranks to
 * comm->table. Behind the highest word there is none: then all that are not below are equal. */
static gp_status count_ties(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                            const struct border *b, int borders)
{
    uint64_t words[2 * GPI_DIST_PROBES], counts[2 * GPI_DIST_PROBES];
    for (int first = 0; first < borders; first += GPI_DIST_PROBES / 2) {
        const int n = borders - first < GPI_DIST_PROBES / 2 ? borders - first : GPI_DIST_PROBES / 2;
        for (int j = 0; j < n; j++) {
            words[2 * j] = b[first + j].word;
            words[2 * j + 1] = b[first + j].word + 1;
        }
        const gp_status status = gpi_dist_probe(comm, f, keys, words, 2 * n, counts);
        if (status != GP_OK)
            return gpi_dist_drop(comm, status);
        for (int j = 0; j < n; j++) {
            const uint64_t up_to = words[2 * j + 1] ? counts[2 * j + 1] : keys->n;
            comm->mine[2 * (first + j)] = counts[2 * j];
            comm->mine[2 * (first + j) + 1] = up_to - counts[2 * j];
        }
    }
    return comm->transport->gather(comm, f, comm->mine, 2 * (size_t)borders * sizeof words[0],
                                   comm->table);
}

/* Equal keys are cut by rank, and in a rank by place. */
static void cut(const gp_comm *comm, const struct border *b, int borders, bool together,
                uint64_t *cuts)
{
    for (int j = 0; j < borders; j++) {
        uint64_t below = 0, left;
        for (int s = 0; s < comm->ranks; s++)
            below += comm->table[2 * (size_t)(s * borders + j)];
        left = b[j].target > below ? b[j].target - below : 0;
        for (int s = 0; s < comm->ranks; s++) {
            const uint64_t *pair = &comm->table[2 * (size_t)(s * borders + j)];
            const uint64_t equal = together && left ? pair[1] : pair[1] < left ? pair[1] : left;
            cuts[s * borders + j] = pair[0] + equal;
            left -= together ? 0 : equal;
        }
    }
}

/* What ranks get from cuts. */
static void recount(const gp_comm *comm, int borders, const uint64_t *cuts, uint64_t total,
                    uint64_t *counts)
{
    uint64_t before = 0;
    for (int j = 0; j <= borders; j++) {
        uint64_t end = total;
        for (int s = 0; s < comm->ranks && j < borders; s++)
            end = (s ? end : 0) + cuts[s * borders + j];
        counts[j] = end - before;
        before = end;
    }
}

gp_status gpi_dist_select(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                          uint64_t least, uint64_t most, bool together, uint64_t *counts,
                          uint64_t *cuts)
{
    const int borders = comm->ranks - 1, bits = bits_of(least ^ most);
    struct border b[GP_COMM_RANKS_MAX];
    uint64_t target = 0;
    for (int j = 0; j < borders; j++) {
        target += counts[j];
        b[j] = (struct border){target, bits < 64 ? least >> bits << bits : 0, target == 0};
        b[j].word = target ? b[j].word : 0;
    }
    GPI_TRY(narrow_all(comm, f, keys, b, borders, bits));
    if (borders)
        GPI_TRY(count_ties(comm, f, keys, b, borders));
    cut(comm, b, borders, together, cuts);
    if (together)
        recount(comm, borders, cuts, target + counts[borders], counts);
    return GP_OK;
}
