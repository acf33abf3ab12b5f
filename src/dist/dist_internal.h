/* SPDX-License-Identifier: MIT */
/*
 * Calls over several ranks, made of the calls of one rank and of two ways to move bytes, which each
 * transport fills in (struct gpi_transport): collect a few from every rank in host memory, and send
 * pieces of an array in the context's memory to every rank.
 *
 * A call is a list of stages, the same on every rank:
 *   1. check the arguments; what is wrong becomes the status in this rank's note;
 *   2. gpi_dist_meet(): every rank gets the notes of all, compares them, and decides alike;
 *   3. plan from the notes' numbers of items (dist_place.c), without another message;
 *   4. work of this rank; where it can fail and others would wait, gpi_dist_agree() follows;
 *   5. exchanges, and the rest of the work.
 *
 * reduce, scan: each rank's part is reduced and travels in its note; every rank folds the parts in
 *   rank order on the CPU (a context of its own), and a scan takes those before it as its init.
 *   Between GPUs that see each other's memory parts go by mail (dist_mail_internal.h).
 * sort: keys that their highest bits divide well go to their rank by these, and are sorted there
 *   (dist_split_internal.h). All others are sorted where they are; the borders between ranks are
 *   found exactly (dist_select.c): every round counts, for each border, how many keys of all ranks
 *   lie below 2^k - 1 words that divide the interval it is known to lie in, until the interval is
 *   one word; equal keys are cut by rank and place. Each rank then merges the intervals that belong
 *   to it: out of the memory of the others where it can be read (gp_comm_create_local()), otherwise
 *   out of its own, where they were sent. GPUs that read it find the borders there, too, by such
 *   rounds in one kernel (dist_lent.c), so that no host waits.
 * group-by: each rank groups its own; the groups, with what was reduced of each, are sorted, equal
 *   keys to one rank, and those of equal keys are reduced. So a frequent key takes no memory.
 * CSR: entries go to the owner of their row by one split, and become CSR there (dist_csr.c).
 * histogram: each rank adds up one part of the bins of all. top-k: of the first k of each.
 * compaction, rebalance: intervals of the array of all ranks, cut where old and new borders lie.
 *
 * Scratch: a frame of the context, opened once the sizes are known. Host memory for notes and
 * counts is allocated with the gp_comm: about ranks * (3 ranks + GPI_DIST_PROBES) words.
 */
#ifndef GPI_DIST_INTERNAL_H
#define GPI_DIST_INTERNAL_H

#include <gp/dist.h>

#include "core/check.h"
#include "core/order.h"

/* Pieces of arrays in the context's memory: send_bytes[r] from send + send_at[r] go to rank r, and
 * recv_bytes[r] of rank r to recv + recv_at[r]. */
struct gpi_route {
    const char *send;
    const uint64_t *send_at, *send_bytes;
    char *recv;
    const uint64_t *recv_at, *recv_bytes;
};

/* What moves bytes. A function that fails has broken the gp_comm and written the text. */
struct gpi_transport {
    /* bytes of every rank, in host memory, in rank order to all. */
    gp_status (*gather)(gp_comm *comm, const char *function, const void *mine, size_t bytes,
                        void *all);
    /* Behind the work queued so far; later work finds what came, and may overwrite what went. */
    gp_status (*exchange)(gp_comm *comm, const char *function, const struct gpi_route *route);
    /* The same in the lanes, behind gpi_dist_fork(): what came is there after gpi_dist_join(), and
     * what went may be overwritten once that is concluded. NULL: exchange() is all there is. */
    gp_status (*exchange_beside)(gp_comm *comm, const char *function,
                                 const struct gpi_route *route);
    gp_status (*conclude)(gp_comm *comm, const char *function); /* NULL: nothing is to be done */
    void (*abort)(gp_comm *comm);                               /* from any thread: end all waits */
    void (*destroy)(gp_comm *comm);
    /* Memory of the GPU out of which the next gathering of notes takes the words of this rank's;
     * NULL: it takes all from the host. */
    void *(*words_place)(gp_comm *comm);
    bool seats;   /* ranks may turn out to be of one process, see gpi_local_sit() */
    bool windows; /* ranks of several processes may have windows, see dist_window.c */
    /* While the stream is waited for: an error that was found meanwhile; NULL: none can be. */
    gp_status (*check)(gp_comm *comm, const char *function);
    /* Where ranks can read each other's memory, otherwise NULL: lend arrays of the workspace to
     * all, and get theirs: theirs[GPI_DIST_LENT * r] and the next. They stay as they are until
     * every rank has returned them, behind the work that it has queued by then. */
    gp_status (*lend)(gp_comm *comm, const char *function, const void *const *mine,
                      const void **theirs);
    gp_status (*give_back)(gp_comm *comm, const char *function);
    /* Of such ranks, too: what others see will be there behind the work queued so far, which all
     * know once they have gathered something; and let later work wait for what all have told. */
    gp_status (*announce)(gp_comm *comm, const char *function);
    gp_status (*follow)(gp_comm *comm, const char *function);
    /* give_back() in two, of such ranks of one process: what the work queued so far has taken is
     * taken, and let later work wait for all to have said so. */
    gp_status (*announce_taken)(gp_comm *comm, const char *function);
    gp_status (*follow_taken)(gp_comm *comm, const char *function);
};

/* Arrays that a rank lends at once. */
enum { GPI_DIST_LENT = 4 };

/* How the streams of all ranks are captured: each into a graph of its own, or all into one. */
enum gpi_dist_capture { GPI_DIST_NO_CAPTURE, GPI_DIST_APART, GPI_DIST_AS_ONE };

/* In the order of these: up to a sort of indices they can be captured. */
enum gpi_dist_function {
    GPI_DIST_REDUCE = 1,
    GPI_DIST_SCAN,
    GPI_DIST_SORT,
    GPI_DIST_SORT_PAIRS,
    GPI_DIST_ARGSORT,
    GPI_DIST_TOP_K,
    GPI_DIST_HISTOGRAM,
    GPI_DIST_COMPACT,
    GPI_DIST_REBALANCE,
    GPI_DIST_EXCHANGE,
    GPI_DIST_GROUP_BY,
    GPI_DIST_CSR_FROM_COO,
    GPI_DIST_HALO,
    GPI_DIST_SPMV,
    GPI_DIST_FUNCTIONS
};

/* The magic of a note whose words come from a GPU, and are not under the check. */
enum { GPI_NOTE_WORDS = 8, GPI_NOTE_OF_GPU = 0x67704e32 };
/* The word that names the graph into which a rank is captured, in calls that can be. */
enum { GPI_NOTE_CAPTURE = GPI_NOTE_WORDS - 1 };

enum { GPI_DIST_PINNED = 16384 };

/* The words that a round of a selection asks for, see dist_select.c; the keys of a sample. */
enum { GPI_DIST_PROBES = 2048, GPI_DIST_SCRATCH = 2 * GPI_DIST_PROBES, GPI_DIST_SAMPLES = 512 };

/* What each rank tells all others at the beginning of a call, and when a stage has ended. */
struct gpi_note {
    uint32_t magic, function;
    uint64_t sequence; /* of calls and stages */
    uint32_t status;   /* not GP_OK: the call ends here on every rank */
    uint32_t dtype, op, hash;
    uint64_t item;        /* bytes */
    uint64_t n, capacity; /* may differ */
    uint64_t check;       /* over all else */
    uint64_t words[GPI_NOTE_WORDS];
};

struct gp_comm {
    gp_context *ctx;
    int rank, ranks;
    const struct gpi_transport *transport;
    void *state;              /* of the transport */
    void *seats;              /* of ranks of one process, see dist_local.c; otherwise NULL */
    bool seated;              /* whether they are of one process is known */
    struct gpi_transport own; /* of such ranks that had another one, */
    const struct gpi_transport *under; /* which is this */
    uint64_t sequence;
    double seconds;         /* to wait for others; negative: no limit */
    int broken;             /* atomic */
    gp_context *fold;       /* the CPU, for what every rank computes alike */
    struct gpi_note *notes; /* of all ranks, of the last meeting */
    uint64_t *table, *mine; /* counts of all ranks, and of this one */
    uint64_t *asked;        /* GPI_DIST_PROBES and GP_COMM_RANKS_MAX words of a selection */
    struct gpi_dist_border *borders; /* of a selection, see gpi_dist_borders() */
    uint64_t *have, *get;       /* items of each rank before and after a call; have: and one more */
    uint64_t *route;            /* 4 * ranks words */
    const void **lent;          /* GPI_DIST_LENT arrays of each rank */
    struct gpi_dist_side *side; /* of a GPU, once it is needed */
    struct gpi_window *window;  /* of ranks that lend what lies in it alone; otherwise NULL */
    bool introduced;            /* whether there are windows is known */
    uint64_t *cuts;             /* ranks * ranks words, see gpi_dist_select() */
    struct gpi_mail *mail; /* of ranks on GPUs that reach each other's memory; otherwise NULL */
    bool shares_gpu;       /* some of these do */
    enum gpi_dist_capture capture; /* of the streams of all ranks, in the present call */
    void *pinned; /* GPI_DIST_PINNED bytes that a GPU copies to without blocking the host */
    void *stage;  /* host memory that data of a GPU passes through */
    size_t stage_bytes;
};

/* ---- dist_comm.c ---- */

/* A public call: comm and its context, claimed. */
struct gpi_dist_call {
    struct gpi_entry *comm, *ctx;
};

gp_status gpi_dist_begin(struct gpi_dist_call *call, gp_comm *comm, const char *function);
void gpi_dist_end(struct gpi_dist_call *call);

#define GPI_DIST_CALL(comm, function)                                                              \
    __attribute__((cleanup(gpi_dist_end))) struct gpi_dist_call gpi_call_ = {NULL, NULL};          \
    GPI_TRY(gpi_dist_begin(&gpi_call_, comm, function))

/* Words of one rank in comm->table. */
static inline size_t gpi_dist_row(int ranks)
{
    const size_t two = 2 * (size_t)ranks;
    return two > GPI_DIST_PROBES + 1 ? two : GPI_DIST_PROBES + 1;
}

/* A new rank; the transport is still to be set. Its text is that of the thread. */
gp_status gpi_dist_new(const char *function, gp_context *ctx, int rank, int ranks, gp_comm **comm);
void gpi_dist_free(gp_comm *comm);
/* GP_ERROR_MEMORY; the text is that of the thread and of ctx. */
gp_status gpi_dist_no_memory(const char *function, gp_context *ctx);
bool gpi_dist_is_broken(const gp_comm *comm);
/* Break comm, and with it what waits for it; the text follows. */
gp_status gpi_dist_break(gp_comm *comm, const char *function, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Break comm because of a status that others cannot see and would wait for; returns it. */
gp_status gpi_dist_drop(gp_comm *comm, gp_status status);
/* Host memory of at least that many bytes that lives with comm; NULL: there is none. */
void *gpi_dist_stage(gp_comm *comm, size_t bytes);
/* Seconds of a clock that only goes forward. */
double gpi_dist_now(void);

/* The first checks of a function that gives the bytes of a call's workspace. */
gp_status gpi_dist_check_figure(const char *function, const gp_target *target, int ranks,
                                gp_target *taken);

/* ---- dist_job.c ---- */

/* What is common to the arguments of all calls. */
struct gpi_dist_args {
    const char *function;
    enum gpi_dist_function number;
    gp_status status; /* of what was checked so far */
};

/* Run a call, of which args begins with a struct gpi_dist_args, now or at the end of the group. */
typedef gp_status gpi_dist_run_fn(gp_comm *comm, void *args);
gp_status gpi_dist_submit(gp_comm *comm, gpi_dist_run_fn *run, void *args, size_t bytes);
/* GP_ERROR_UNSUPPORTED while the context's stream is being captured. */
gp_status gpi_dist_check_capture(gp_comm *comm, const char *function);

/* ---- dist_note.c ---- */

/* Exchange notes, of which the caller has filled in status, dtype, op, hash, item, n, capacity and
 * words. GP_OK: all ranks are in the same call and none has an error. */
gp_status gpi_dist_meet(gp_comm *comm, const struct gpi_dist_args *a, struct gpi_note *note);
/* The same at the end of a stage: the status of each, and words. */
gp_status gpi_dist_agree(gp_comm *comm, const struct gpi_dist_args *a, gp_status status,
                         const uint64_t *words, int count);
uint32_t gpi_dist_hash(uint32_t seed, const void *memory, size_t bytes);
/* The status of a call without context, whose text becomes that of ctx and names function. */
gp_status gpi_dist_blame(gp_context *ctx, const char *function, gp_status status);

/* ---- dist_place.c ---- */

/* Copy and check a descriptor; NULL: the defaults. */
gp_status gpi_dist_take(gp_comm *comm, const char *function, const char *argument,
                        const gp_dist_desc *given, gp_dist_desc *full);
uint32_t gpi_dist_desc_hash(const gp_comm *comm, const gp_dist_desc *desc);
/* The room of this rank's outputs, which gave n items. */
static inline uint64_t gpi_dist_room(const gp_comm *comm, const gp_dist_desc *desc, uint64_t n)
{
    if (desc->capacity)
        return desc->capacity;
    return desc->counts ? desc->counts[comm->rank] : n;
}
/* How many of total items each rank gets, to comm->get; as_it_falls: for FREE, NULL: EVEN. */
gp_status gpi_dist_place(gp_comm *comm, const char *function, const gp_dist_desc *desc,
                         uint64_t total, const uint64_t *as_it_falls);
/* No rank gets more than its note says that it has room for. */
gp_status gpi_dist_check_room(gp_comm *comm, const char *function);
/* Items of an array of which each rank has comm->have become one of which each has comm->get. */
gp_status gpi_dist_move(gp_comm *comm, const char *function, size_t item_bytes, const void *in,
                        void *out);
/* Tell the caller what this rank got; out_count may be NULL. */
gp_status gpi_dist_tell(gp_comm *comm, const char *function, uint64_t *out_count);
/* The notes' n: the items of each rank to comm->have, and of all. */
uint64_t gpi_dist_total(gp_comm *comm);

/* A word of status and count more of every rank to comm->table, from comm->mine + 1; the status is
 * that of the first rank whose status is not GP_OK. */
gp_status gpi_dist_gather_words(gp_comm *comm, const char *function, gp_status status, int count);

/* ---- dist_select.c ---- */

/* Keys of this rank, sorted, or of 4 or 8 bytes in any order. */
struct gpi_dist_keys {
    const void *keys;
    uint64_t n;
    size_t bytes;
    struct gpi_radix_order order;
    uint64_t *scratch; /* GPI_DIST_SCRATCH words in the context's memory */
    bool in_any_order; /* their words are they themselves */
};

/* The word of a key x of that many bytes, zeros above them; floats see core/order.h. */
#define GPI_DIST_WORD(order, bytes, x)                                                             \
    ((((order)->inf ? GPI_RADIX_FLOAT(uint64_t, x, (uint64_t)(order)->sign, (order)->inf) : (x)) ^ \
      (order)->flip) &                                                                             \
     UINT64_MAX >> (64 - 8 * (bytes)))

/* Room for those between a number of ranks, or NULL. */
struct gpi_dist_border *gpi_dist_borders(int ranks);
/* Cut the sorted keys of every rank so that rank r gets counts[r]: cuts[s * (ranks - 1) + b] is
 * where border b lies in the keys of rank s. together: equal keys stay together, and counts becomes
 * what comes of it; limits, if not NULL, gets of each border the least word behind it. least and
 * most are words of all keys. Keys in any order are cut as if they were sorted. */
gp_status gpi_dist_select(gp_comm *comm, const char *function, const struct gpi_dist_keys *keys,
                          uint64_t least, uint64_t most, bool together, uint64_t *counts,
                          uint64_t *cuts, uint64_t *limits);

/* Where the interval for rank to begins in the keys of rank from, and what lies in it. */
uint64_t gpi_dist_cut(const gp_comm *comm, int from, int to);
static inline uint64_t gpi_dist_piece(const gp_comm *comm, int from, int to)
{
    return gpi_dist_cut(comm, from, to + 1) - gpi_dist_cut(comm, from, to);
}

/* ---- dist_work.c: what either backend does ---- */

/* Between the context's memory and the host's; fetching waits for the work queued so far. */
gp_status gpi_dist_fetch(gp_comm *comm, const char *function, const void *source, size_t bytes,
                         void *host);
gp_status gpi_dist_put(gp_comm *comm, const char *function, const void *host, size_t bytes,
                       void *destination);
/* counts[i] = keys whose word is below words[i], both in host memory. */
gp_status gpi_dist_probe(gp_comm *comm, const char *function, const struct gpi_dist_keys *keys,
                         const uint64_t *words, int count, uint64_t *counts);
/* dist_rows.c: counts[(j << step) + i] = keys in part i of interval j, of keys in any order, whose
 * words are they themselves. Interval j has 2^bits words from starts[j] on, which is a multiple of
 * that; they ascend, each once, and are divided in 2^step parts, in all as many as comm->asked. */
gp_status gpi_dist_count(gp_comm *comm, const char *function, const struct gpi_dist_keys *keys,
                         const uint64_t *starts, int intervals, int bits, int step,
                         uint64_t *counts);
/* numbers[i] = how many of count ascending limits, in the context's memory, are at most keys[i]; of
 * 1 byte, or 4. */
gp_status gpi_dist_number_rows(gp_comm *comm, const char *function, size_t bytes, const void *keys,
                               uint64_t n, const uint64_t *limits, int count, size_t number_bytes,
                               void *numbers);
/* The word of the key at place i of sorted keys. */
gp_status gpi_dist_word(gp_comm *comm, const char *function, const struct gpi_dist_keys *keys,
                        uint64_t i, uint64_t *word);
/* The words of count of n keys in any order, at most GPI_DIST_SAMPLES, evenly from all places. */
gp_status gpi_dist_sample(gp_comm *comm, const char *function, const struct gpi_dist_keys *keys,
                          int count, uint64_t *words);
/* out[i] = in[i] + offset, of integers of 4 or 8 bytes. */
gp_status gpi_dist_shift(gp_comm *comm, const char *function, size_t in_bytes, const void *in,
                         uint64_t n, uint64_t offset, size_t out_bytes, void *out);
/* out[i] = the sum of in[r * n + i] over rows. */
gp_status gpi_dist_add_rows(gp_comm *comm, const char *function, size_t bytes, const void *in,
                            int rows, uint64_t n, void *out);

/* Columns of a matrix as places of x: the own of them from first on, and behind them those of a
 * sorted list. */
gp_status gpi_dist_renumber(gp_comm *comm, const char *function, size_t bytes, const void *cols,
                            uint64_t n, uint64_t first, uint64_t own, const void *list,
                            uint64_t count, void *out);

/* By all threads of a context on the CPU. */
void gpi_dist_copy_host(gp_context *ctx, const void *from, uint64_t bytes, void *to);

/* Copies of what is lent, on a GPU beside the context's stream: behind what it has been given up to
 * gpi_dist_fork(), and before what it is given after gpi_dist_join(). Copies of a lane come one
 * after the other. BY_OTHERS: the GPU that has it writes; of GPUs of one process. */
enum gpi_dist_lane { GPI_DIST_FROM_HERE, GPI_DIST_FROM_OTHERS, GPI_DIST_BY_OTHERS };
gp_status gpi_dist_fork(gp_comm *comm, const char *function);
gp_status gpi_dist_pull(gp_comm *comm, const char *function, enum gpi_dist_lane lane,
                        const void *from, uint64_t bytes, void *to);
gp_status gpi_dist_join(gp_comm *comm, const char *function);
/* An exchange in the lanes where the transport can, otherwise one that is over when this returns;
 * and the end of all of them: joined and concluded. */
gp_status gpi_dist_exchange_beside(gp_comm *comm, const char *function,
                                   const struct gpi_route *route);
gp_status gpi_dist_conclude(gp_comm *comm, const char *function);

/* ---- dist_seats.c ---- */

/* The host by the number of its start. */
enum { GPI_HOST_NAME = 64 };
bool gpi_dist_name_host(char name[GPI_HOST_NAME]);
/* By all ranks, on GPUs, when they first meet: if they are of one process and see each other's
 * memory, they go on as those of gp_comm_create_local() do. */
gp_status gpi_local_sit(gp_comm *comm, const char *function);

/* ---- dist_window.c; dist_none.c in builds without CUDA ---- */

/* By all ranks, on GPUs: find out whether they can have windows, and if so, let the transport lend
 * what lies in them. */
gp_status gpi_window_introduce(gp_comm *comm, const char *function);
/* By all ranks: at least that many bytes of this rank's window, which the next call moves. */
gp_status gpi_window_reserve(gp_comm *comm, const char *function, size_t bytes, char **memory);
/* Ranks that read each other's arrays wherever they are. */
static inline bool gpi_dist_reads_all(const gp_comm *comm)
{
    return comm->transport->lend && !comm->window;
}

/* ---- dist_cuda.c: the runtime; dist_none.c in builds without ---- */

/* Wait for the context's stream; comm breaks if that takes longer than seconds. */
gp_status gpi_dist_cuda_wait(gp_comm *comm, const char *function, double seconds);
/* Page-locked memory; NULL: there is none. */
void *gpi_dist_cuda_pinned(gp_context *ctx, size_t bytes);
void gpi_dist_cuda_unpin(gp_context *ctx, void *memory);
/* Memory of the current device, zeros; NULL: there is none. */
struct gpi_mail *gpi_dist_cuda_mail(void);
void gpi_dist_cuda_mail_free(struct gpi_mail *mail);
/* Let the devices of both contexts reach each other's memory; a is current. false: they cannot. */
bool gpi_dist_cuda_introduce(gp_context *a, gp_context *b);
/* Events: NULL if one cannot be made. */
void *gpi_dist_cuda_event(gp_context *ctx);
void gpi_dist_cuda_event_free(gp_context *ctx, void *event);
gp_status gpi_dist_cuda_record(gp_context *ctx, const char *function, void *event);
gp_status gpi_dist_cuda_wait_event(gp_context *ctx, const char *function, void *event);
/* The streams of gpi_dist_pull(), see there. */
gp_status gpi_dist_cuda_fork(gp_comm *comm, const char *function);
gp_status gpi_dist_cuda_pull(gp_comm *comm, const char *function, enum gpi_dist_lane lane,
                             const void *from, uint64_t bytes, void *to);
gp_status gpi_dist_cuda_join(gp_comm *comm, const char *function);
void gpi_dist_cuda_side_free(gp_context *ctx, struct gpi_dist_side *side);
/* The number of the graph that the context's stream is captured into; 0: none. */
uint64_t gpi_dist_cuda_graph(const gp_context *ctx);
/* Let lanes wait for an event. */
gp_status gpi_dist_cuda_lanes_wait(gp_comm *comm, const char *function, void *event);

#endif
