/* SPDX-License-Identifier: MIT */
/* Fibers, blocks of them, and grids of blocks. */
#include "emulator.h"

#include <boost/context/detail/fcontext.hpp>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <sys/mman.h>
#include <thread>

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;

namespace emulator
{

thread_local Fiber *self_;

namespace context = boost::context::detail;

/* ---- a block --------------------------------------------------------------------------------- */

enum { STACK = 128 << 10, BARRIERS = 16 };

struct Barrier {
    uint32_t arrived, generation, sum, result;
};

struct Cluster {
    std::mutex lock;
    std::condition_variable ended;
    std::vector<char *> storage; /* of its blocks: the thread pointers of their threads */
    std::atomic<uint32_t> arrived{0}, generation{0};
    uint32_t threads = 0;
};

/* What runs blocks, one at a time. */
struct Processor {
    Fiber fibers[THREADS_MAX];
    Warp warps[THREADS_MAX / 32];
    Barrier barriers[BARRIERS];
    uint32_t cluster_seen[THREADS_MAX];
    char *stacks = nullptr;
    void *scheduler = nullptr;
    int alive = 0;
    Cluster *cluster = nullptr;
    const std::function<void()> *thread = nullptr;
};

static thread_local Processor *processor;
alignas(1024) static thread_local char shared[SHARED];

static char *thread_pointer()
{
    return (char *)__builtin_thread_pointer();
}

static void to_scheduler()
{
    Fiber *f = self_;
    processor->scheduler = context::jump_fcontext(processor->scheduler, nullptr).fctx;
    self_ = f;
    threadIdx = f->thread;
}

void give_way()
{
    self_->polls = true;
    to_scheduler();
}

void wait_while(const uint32_t *word, uint32_t is)
{
    self_->waits_for = word;
    self_->while_it_is = is;
    to_scheduler();
}

static void look(Barrier &b, int threads)
{
    if ((int)b.arrived < threads)
        return;
    b.arrived = 0;
    b.result = b.sum;
    b.sum = 0;
    b.generation++;
}

/* `all` counts those whose predicate is false, so that nothing but a sum is needed. */
uint32_t meet(int barrier, int threads, uint32_t mine, bool all)
{
    Barrier &b = processor->barriers[barrier];
    const uint32_t turn = b.generation;
    b.arrived++;
    b.sum += all ? !mine : mine;
    look(b, threads ? threads : processor->alive);
    if (b.generation == turn)
        wait_while(&b.generation, turn);
    return all ? b.result == 0 : b.result != 0;
}

void *dynamic_shared()
{
    return shared;
}

static void fiber_main(context::transfer_t from)
{
    Processor &p = *processor;
    p.scheduler = from.fctx;
    self_ = (Fiber *)from.data;
    threadIdx = self_->thread;
    (*p.thread)();
    p.alive--;
    if (p.alive)
        look(p.barriers[0], p.barriers[0].arrived ? p.alive : THREADS_MAX + 1);
    self_->context = nullptr;
    context::jump_fcontext(p.scheduler, nullptr);
}

static void start(Processor &p, const Shape &shape)
{
    if (!p.stacks) {
        p.stacks = (char *)mmap(nullptr, (size_t)THREADS_MAX * STACK, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p.stacks == MAP_FAILED)
            abort();
    }
    memset(p.barriers, 0, sizeof p.barriers);
    memset(shared, 0xa5, shape.bytes); /* nobody may count on zeros */
    p.alive = (int)shape.threads;
    for (unsigned i = 0; i < shape.threads; i++) {
        if (i % 32 == 0)
            p.warps[i / 32] = Warp();
        p.fibers[i] = {{i, 0, 0}, &p.warps[i / 32], nullptr, 0, false, nullptr};
        p.fibers[i].context =
            context::make_fcontext(p.stacks + (size_t)(i + 1) * STACK, STACK, fiber_main);
    }
}

static void run_block(unsigned number, const Shape &shape, const std::function<void()> &thread,
                      Cluster *cluster)
{
    if (!processor)
        processor = new Processor; /* of this thread, for good */
    Processor &p = *processor;
    blockIdx = {number, 0, 0};
    blockDim = {shape.threads, 1, 1};
    gridDim = {shape.grid, 1, 1};
    p.thread = &thread;
    p.cluster = cluster;
    start(p, shape);
    while (p.alive) {
        bool moved = false;
        for (unsigned i = 0; i < shape.threads; i++) {
            Fiber &f = p.fibers[i];
            if (!f.context ||
                (f.waits_for && __atomic_load_n(f.waits_for, __ATOMIC_SEQ_CST) == f.while_it_is))
                continue;
            f.waits_for = nullptr;
            f.polls = false;
            const context::transfer_t back = context::jump_fcontext(f.context, &f);
            if (f.context)
                f.context = back.fctx;
            moved = moved || !f.polls;
        }
        if (!moved)
            sched_yield(); /* all wait, or poll what other blocks write */
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

uint32_t shared_address_of(const void *p)
{
    return (uint32_t)((const char *)p - (thread_pointer() - (1u << (address_bits - 1)))) &
           ((1u << address_bits) - 1);
}

char *shared_at(uint32_t address)
{
    const uint32_t block = address >> address_bits;
    char *const base = block ? processor->cluster->storage[block - 1] : thread_pointer();
    return base - (1u << (address_bits - 1)) + (address & ((1u << address_bits) - 1));
}

void cluster_arrive()
{
    Cluster &c = *processor->cluster;
    const uint32_t turn = c.generation;
    processor->cluster_seen[self_->thread.x] = turn;
    if (++c.arrived == c.threads) {
        c.arrived = 0;
        c.generation = turn + 1;
    }
}

void cluster_wait()
{
    wait_while((const uint32_t *)&processor->cluster->generation,
               processor->cluster_seen[self_->thread.x]);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

/* Threads that stay, for blocks beside that of the caller. */
struct Helpers {
    std::mutex lock;
    std::condition_variable asked;
    std::vector<std::function<void()>> jobs;
    int idle = 0;

    void add(std::function<void()> job)
    {
        std::unique_lock<std::mutex> l(lock);
        jobs.push_back(std::move(job));
        if (idle < (int)jobs.size()) {
            idle++;
            std::thread([this] { work(); }).detach();
        }
        asked.notify_one();
    }

    void work()
    {
        for (;;) {
            std::function<void()> job;
            {
                std::unique_lock<std::mutex> l(lock);
                asked.wait(l, [this] { return !jobs.empty(); });
                job = std::move(jobs.back());
                jobs.pop_back();
                idle--;
            }
            job();
            std::unique_lock<std::mutex> l(lock);
            idle++;
        }
    }
};

static Helpers &helpers = *new Helpers;

/* Blocks start in their order, at most `places` at a time. */
void run_grid(const Shape &shape, const std::function<void()> &thread)
{
    const bool together = shape.cooperative || shape.cluster;
    const unsigned places = together ? shape.grid : std::min(shape.grid, 3u);
    Cluster cluster;
    std::atomic<unsigned> next{0}, started{0};
    unsigned running = places;
    std::mutex lock;
    std::condition_variable ended;
    cluster.storage.resize(shape.cluster ? shape.grid : 0);
    cluster.threads = shape.grid * shape.threads;
    auto work = [&](bool caller) {
        if (together) {
            const unsigned own = next++;
            if (!cluster.storage.empty())
                cluster.storage[own] = thread_pointer();
            started++;
            while (started < places)
                sched_yield();
            run_block(own, shape, thread, &cluster);
        } else {
            for (unsigned b; (b = next++) < shape.grid;)
                run_block(b, shape, thread, &cluster);
        }
        std::unique_lock<std::mutex> l(lock);
        running--;
        if (!caller)
            ended.notify_all();
    };
    for (unsigned i = 1; i < places; i++)
        helpers.add([&] { work(false); });
    work(true);
    std::unique_lock<std::mutex> l(lock);
    ended.wait(l, [&] { return running == 0; });
}

} // namespace emulator
