/* SPDX-License-Identifier: MIT */
/* Exact borders between ranks in keys that each rank has sorted. */
#include <stdlib.h>

#include "dist/dist_kernels_internal.h"

/* Where the array of all ranks is cut: behind target keys in their order. The word of the last one
 * before the cut lies in [word, word + 2^bits). */
struct gpi_dist_border {
    uint64_t target, word;
    bool exact; /* target keys lie below word: none equal to it comes before the cut */
    /* Of keys in any order: those of this rank below word, and equal to it, once that is known. */
    bool counted;
    uint64_t here, equal;
};

/* The words that one round asks for: each border has 2^step - 1 of them. */
struct round {
    int borders, step, bits; /* bits: of the intervals */
};

struct gpi_dist_border *gpi_dist_borders(int ranks)
{
    return malloc((size_t)ranks * sizeof(struct gpi_dist_border));
}

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

static uint64_t word_of(const struct round *r, const struct gpi_dist_border *b, int i)
{
    return b->word + ((uint64_t)(i + 1) << (r->bits - r->step));
}

/* The different intervals of the borders that are not found yet, which ascend; which[j] is that of
 * border j. Returns how many. */
static int list_intervals(const struct gpi_dist_border *b, int borders, uint64_t *starts,
                          int *which)
{
    int n = 0;
    for (int j = 0; j < borders; j++) {
        if (!b[j].exact && (n == 0 || starts[n - 1] != b[j].word))
            starts[n++] = b[j].word;
        which[j] = n - 1;
    }
    return n;
}

/* The same counts of keys in any order, which are below a border's interval or in a part of it. */
static gp_status count_parts(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                             const struct round *r, const struct gpi_dist_border *b,
                             uint64_t *counts)
{
    const int each = (1 << r->step) - 1;
    uint64_t starts[GP_COMM_RANKS_MAX];
    int which[GP_COMM_RANKS_MAX];
    const int n = list_intervals(b, r->borders, starts, which);
    GPI_TRY(gpi_dist_count(comm, f, keys, starts, n, r->bits, r->step, comm->asked));
    for (int j = 0; j < r->borders; j++) {
        uint64_t below = b[j].here;
        for (int i = 0; i < each; i++) {
            below += b[j].exact ? 0 : comm->asked[(which[j] << r->step) + i];
            counts[j * each + i] = below;
        }
    }
    return GP_OK;
}

/* Count the keys below the words of a round: comm->table gets a row per rank, its status first. */
static gp_status ask(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                     const struct round *r, const struct gpi_dist_border *b)
{
    const int count = r->borders, each = (1 << r->step) - 1, words = count * each;
    gp_status s;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < each; i++)
            comm->asked[j * each + i] = word_of(r, &b[j], i);
    if (keys->in_any_order)
        s = count_parts(comm, f, keys, r, b, comm->mine + 1);
    else
        s = gpi_dist_probe(comm, f, keys, comm->asked, words, comm->mine + 1);
    return gpi_dist_gather_words(comm, f, s, words);
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
static void narrow(const gp_comm *comm, const struct round *r, struct gpi_dist_border *b)
{
    const int each = (1 << r->step) - 1, words = r->borders * each;
    const uint64_t *mine = comm->table + (size_t)comm->rank * (size_t)(words + 1) + 1;
    for (int j = 0; j < r->borders; j++) {
        int i = 0;
        uint64_t below = 0;
        if (b[j].exact)
            continue;
        while (i < each && (below = sum_below(comm, words, j * each + i)) < b[j].target)
            i++;
        b[j].exact = i < each && below == b[j].target;
        i -= !b[j].exact; /* that word, or the last one before the target */
        if (i < 0)
            continue;
        b[j].word = word_of(r, &b[j], i);
        b[j].here = mine[j * each + i];
    }
}

/* After a round whose parts are single words: the counts of those that borders have now. */
static void keep_ties(const gp_comm *comm, const struct round *r, const int *which,
                      const uint64_t *starts, struct gpi_dist_border *b)
{
    for (int j = 0; j < r->borders; j++)
        if (!b[j].exact) {
            const uint64_t part = b[j].word - starts[which[j]];
            b[j].equal = comm->asked[((uint64_t)which[j] << r->step) + part];
            b[j].counted = true;
        }
}

static bool all_exact(const struct gpi_dist_border *b, int borders)
{
    for (int j = 0; j < borders; j++)
        if (!b[j].exact)
            return false;
    return true;
}

/* Until each interval is a single word, or the border lies between two. */
static gp_status narrow_all(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                            struct gpi_dist_border *b, int borders, int bits)
{
    struct round r = {borders, 0, bits};
    uint64_t starts[GP_COMM_RANKS_MAX];
    int which[GP_COMM_RANKS_MAX];
    while (r.bits > 0 && !all_exact(b, borders)) {
        r.step = step_of(borders, r.bits);
        GPI_TRY(ask(comm, f, keys, &r, b));
        list_intervals(b, borders, starts, which);
        narrow(comm, &r, b);
        r.bits -= r.step;
        if (keys->in_any_order && r.bits == 0)
            keep_ties(comm, &r, which, starts, b);
    }
    return GP_OK;
}

/* Keys below the words of borders, and those equal to it. Behind the highest word there is none:
 * then all that are not below are equal. */
static gp_status probe_ties(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                            const struct gpi_dist_border *b, int borders, uint64_t *pairs)
{
    enum { MOST = 256 };
    uint64_t words[2 * MOST], counts[2 * MOST];
    for (int first = 0; first < borders; first += MOST) {
        const int n = borders - first < MOST ? borders - first : MOST;
        for (int j = 0; j < n; j++) {
            words[2 * j] = b[first + j].word;
            words[2 * j + 1] = b[first + j].word + 1;
        }
        GPI_TRY(gpi_dist_probe(comm, f, keys, words, 2 * n, counts));
        for (int j = 0; j < n; j++) {
            const uint64_t up_to = words[2 * j + 1] ? counts[2 * j + 1] : keys->n;
            pairs[2 * (first + j)] = counts[2 * j];
            pairs[2 * (first + j) + 1] = up_to - counts[2 * j];
        }
    }
    return GP_OK;
}

/* The same of keys in any order; before an exact border no equal ones are wanted. */
static gp_status sum_up_ties(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                             const struct gpi_dist_border *b, int borders, uint64_t *pairs)
{
    uint64_t starts[GP_COMM_RANKS_MAX];
    int which[GP_COMM_RANKS_MAX];
    bool counted = true;
    for (int j = 0; j < borders; j++)
        counted = counted && (b[j].exact || b[j].counted);
    const int n = list_intervals(b, borders, starts, which);
    if (!counted)
        GPI_TRY(gpi_dist_count(comm, f, keys, starts, n, 0, 0, comm->asked));
    for (int j = 0; j < borders; j++) {
        pairs[2 * j] = b[j].here;
        pairs[2 * j + 1] = b[j].exact ? 0 : counted ? b[j].equal : comm->asked[which[j]];
    }
    return GP_OK;
}

/* Of each border: keys of every rank below its word, and those equal to it, to comm->table. */
static gp_status count_ties(gp_comm *comm, const char *f, const struct gpi_dist_keys *keys,
                            const struct gpi_dist_border *b, int borders)
{
    const gp_status s = keys->in_any_order ? sum_up_ties(comm, f, keys, b, borders, comm->mine)
                                           : probe_ties(comm, f, keys, b, borders, comm->mine);
    if (s != GP_OK)
        return gpi_dist_drop(comm, s);
    return comm->transport->gather(comm, f, comm->mine, 2 * (size_t)borders * sizeof comm->mine[0],
                                   comm->table);
}

/* Equal keys are cut by rank, and in a rank by place. */
static void cut(const gp_comm *comm, const struct gpi_dist_border *b, int borders, bool together,
                uint64_t *cuts, uint64_t *limits)
{
    for (int j = 0; j < borders; j++) {
        uint64_t below = 0, left;
        for (int s = 0; s < comm->ranks; s++)
            below += comm->table[2 * (size_t)(s * borders + j)];
        left = b[j].target > below ? b[j].target - below : 0;
        if (limits)
            limits[j] = b[j].word + (left != 0);
        if (limits && j && limits[j] < limits[j - 1])
            limits[j] = limits[j - 1]; /* nothing lies between */
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
                          uint64_t *cuts, uint64_t *limits)
{
    const int borders = comm->ranks - 1, bits = bits_of(least ^ most);
    struct gpi_dist_border *const b = comm->borders;
    uint64_t target = 0;
    for (int j = 0; j < borders; j++) {
        target += counts[j];
        b[j] = (struct gpi_dist_border){
            .target = target, .word = bits < 64 ? least >> bits << bits : 0, .exact = target == 0};
        b[j].word = target ? b[j].word : 0;
    }
    GPI_TRY(narrow_all(comm, f, keys, b, borders, bits));
    if (borders)
        GPI_TRY(count_ties(comm, f, keys, b, borders));
    cut(comm, b, borders, together, cuts, limits);
    if (together)
        recount(comm, borders, cuts, target + counts[borders], counts);
    return GP_OK;
}

uint64_t gpi_dist_cut(const gp_comm *comm, int from, int to)
{
    const int borders = comm->ranks - 1;
    if (to == 0)
        return 0;
    return to > borders ? comm->have[from]
                        : comm->cuts[(size_t)from * (size_t)borders + (size_t)to - 1];
}
