/* SPDX-License-Identifier: MIT */
/* The inline PTX of the library, an instruction (or a few) each; translate.py makes their names. */
#ifndef EMULATOR_PTX_H
#define EMULATOR_PTX_H

#include "emulator.h"

namespace emulator
{

/* ---- what only hardware has ---- */

template <class... A> void ptx_prefetch_global_L2(A...)
{
}
template <class... A> void ptx_cp_async_bulk_prefetch_L2_global(A...)
{
}
inline void ptx_fence_mbarrier_init_release_cluster()
{
}
inline void ptx_fence_proxy_async()
{
}
inline void ptx_fence_proxy_async_shared_cta()
{
}
inline void ptx_griddepcontrol_wait()
{
}

inline void ptx_griddepcontrol_launch_dependents()
{
}
inline void ptx_cp_async_wait_all()
{
}
inline void ptx_createpolicy_fractional_L2_evict_last_b64(uint64_t &to)
{
    to = 1;
}
inline void ptx_createpolicy_fractional_L2_evict_first_b64(uint64_t &to)
{
    to = 2;
}
inline void ptx_createpolicy_fractional_L2_evict_normal_b64(uint64_t &to)
{
    to = 0;
}
inline void ptx_mov_u32_then_shr_u32_then_or_b32(uint32_t &to, uint32_t value)
{
    to = value;
}

/* Of a register that holds nothing. */
template <class T> void ptx_mov_b32(T &to)
{
    to = (T)0xdeadbeef;
}
template <class T> void ptx_mov_b64(T &to)
{
    to = (T)0xdeadbeefdeadbeef;
}

inline void ptx_prmt_b32(uint32_t &bytes, uint32_t x, uint32_t y, uint32_t order)
{
    bytes = __byte_perm(x, y, order);
}
/* The highest bit; of none -1. */
inline void ptx_bfind_u32(uint32_t &bit, uint32_t x)
{
    bit = x ? 31 - (uint32_t)__builtin_clz(x) : 0xffffffffu;
}
inline void ptx_and_b32_then_setp_ne_u32_then_vote_sync_ballot_b32(uint32_t &votes, uint32_t x,
                                                                   uint32_t bit)
{
    votes = __ballot_sync(0xffffffffu, (x & bit) != 0);
}

#define UNLESS(instruction, result)                                                                \
    inline void ptx_setp_ne_u32_then_##instruction(uint32_t &right, uint32_t left, uint32_t alone) \
    {                                                                                              \
        right = alone ? right : (result);                                                          \
    }
UNLESS(max_u32, left > right ? left : right)
UNLESS(or_b32, left | right)
UNLESS(xor_b32, left ^ right)
UNLESS(mul_lo_u32, left *right)
UNLESS(add_u32, left + right)
#undef UNLESS

template <class P>
void ptx_ld_global_nc_L1_no_allocate_v4_u32(uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d,
                                            P *from)
{
    const uint32_t *words = (const uint32_t *)from;
    a = words[0], b = words[1], c = words[2], d = words[3];
}

#define LOAD_PASSING(type, word)                                                                   \
    template <class P> void ptx_ld_global_nc_L1_no_allocate_##type(word &to, P *from)              \
    {                                                                                              \
        to = *(const word *)from;                                                                  \
    }
LOAD_PASSING(u16, uint16_t)
LOAD_PASSING(u32, uint32_t)
LOAD_PASSING(u64, uint64_t)
#undef LOAD_PASSING
template <class P> void ptx_ld_global_nc_L1_evict_last_u64(uint64_t &to, P *from)
{
    to = *(const uint64_t *)from;
}

/* ---- words that other threads read ---- */

template <class T, class P> void load(T &to, P *from)
{
    give_way();
    to = __atomic_load_n((T *)from, __ATOMIC_SEQ_CST);
}
#define LOAD(name)                                                                                 \
    template <class T, class P> void name(T &to, P *from)                                          \
    {                                                                                              \
        load(to, from);                                                                            \
    }
LOAD(ptx_ld_relaxed_gpu_global_u32)
LOAD(ptx_ld_relaxed_gpu_global_u64)
LOAD(ptx_ld_acquire_gpu_global_u32)
LOAD(ptx_ld_acquire_gpu_global_u64)
#undef LOAD
template <class P, class T> void ptx_st_relaxed_gpu_global_u32(P *to, T value)
{
    __atomic_store_n((uint32_t *)to, value, __ATOMIC_SEQ_CST);
}
template <class P, class T> void ptx_st_relaxed_gpu_global_u64(P *to, T value)
{
    __atomic_store_n((uint64_t *)to, value, __ATOMIC_SEQ_CST);
}
inline void ptx_atom_acq_rel_gpu_global_add_u64(uint64_t &before, uint64_t *to, uint64_t value)
{
    before = __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST);
}
inline void ptx_atom_release_gpu_global_add_u64(uint64_t &before, uint64_t *to)
{
    before = __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
}
inline void ptx_red_release_gpu_global_add_u32(uint32_t *to)
{
    __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
}
inline void ptx_red_release_gpu_global_add_u64(uint64_t *to)
{
    __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
}
/* %laneid, where only lane 0 may ask. */
inline void ptx_mov_u32(uint32_t &lane)
{
    lane = 0;
}
/* 16 bytes at once. */
inline void ptx_mov_b128_then_st_relaxed_gpu_global_b128(uint64_t *to, uint64_t low, uint64_t high)
{
    const unsigned __int128 word = (unsigned __int128)high << 64 | low;
    __atomic_store_n((unsigned __int128 *)to, word, __ATOMIC_SEQ_CST);
}
inline void ptx_ld_relaxed_gpu_global_b128_then_mov_b128(uint64_t &low, uint64_t &high,
                                                         const uint64_t *from)
{
    give_way();
    const unsigned __int128 word =
        __atomic_load_n((const unsigned __int128 *)from, __ATOMIC_SEQ_CST);
    low = (uint64_t)word;
    high = (uint64_t)(word >> 64);
}

/* ---- barriers of a block ---- */

inline void ptx_bar_sync(int barrier, int threads)
{
    meet(barrier, threads, 0, false);
}
inline void ptx_bar_sync_1(int threads)
{
    meet(1, threads, 0, false);
}
inline void ptx_bar_sync_2(int threads)
{
    meet(2, threads, 0, false);
}
inline void ptx_bar_sync_3(int threads)
{
    meet(3, threads, 0, false);
}
inline void ptx_setp_ne_u32_then_bar_red_or_pred_then_selp_u32(uint32_t &some, uint32_t mine,
                                                               int barrier, int threads)
{
    some = meet(barrier, threads, mine != 0, false);
}

/* ---- barriers in shared memory: the hardware's (sm_80 and newer) ---- */

struct MemoryBarrier {
    uint16_t missing, expected;
    uint32_t phase : 1;
    int32_t bytes : 31; /* that copies have not brought yet */

    void look()
    {
        if (missing == 0 && bytes == 0) {
            missing = expected;
            phase ^= 1;
        }
    }
};

inline MemoryBarrier &barrier_at(uint32_t address)
{
    return *(MemoryBarrier *)shared_at(address);
}
inline void ptx_mbarrier_init_shared_b64(uint32_t b, uint32_t arrivals)
{
    barrier_at(b) = {(uint16_t)arrivals, (uint16_t)arrivals, 0, 0};
}
inline void ptx_mbarrier_arrive_shared_b64(uint32_t b)
{
    barrier_at(b).missing--;
    barrier_at(b).look();
}
inline void ptx_mbarrier_arrive_expect_tx_shared_b64(uint32_t b, uint32_t bytes)
{
    barrier_at(b).bytes += (int32_t)bytes;
    ptx_mbarrier_arrive_shared_b64(b);
}
inline void ptx_mbarrier_try_wait_parity_shared_b64_then_bra(uint32_t b, uint32_t parity)
{
    while (barrier_at(b).phase == parity)
        give_way();
}
inline void ptx_mbarrier_test_wait_parity_shared_b64_then_selp_u32(uint32_t &done, uint32_t b,
                                                                   uint32_t parity)
{
    give_way();
    done = barrier_at(b).phase != parity;
}
inline void ptx_cp_async_mbarrier_arrive_shared_b64(uint32_t)
{
    /* the copies of this thread are done: the arrival that this adds and takes */
}

/* ---- and those out of words (before) ---- */

inline void ptx_atom_acq_rel_cta_shared_add_u32(uint32_t &before, uint32_t word)
{
    before = __atomic_fetch_sub((uint32_t *)shared_at(word), 1, __ATOMIC_SEQ_CST);
}
inline void
ptx_st_shared_u32_then_ld_shared_u32_then_xor_b32_then_st_release_cta_shared_u32(uint32_t word,
                                                                                 uint32_t missing)
{
    uint32_t *words = (uint32_t *)shared_at(word);
    words[0] = missing;
    words[1] ^= 1;
}
inline void ptx_ld_acquire_cta_shared_u32(uint32_t &to, uint32_t word)
{
    give_way();
    to = ((volatile uint32_t *)shared_at(word))[1]; /* the one place that reads has an offset */
}
inline void ptx_ld_shared_u8(uint32_t &to, uint32_t byte)
{
    to = *(const uint8_t *)shared_at(byte);
}
inline void ptx_ld_shared_u32(uint32_t &to, uint32_t word)
{
    to = *(const uint32_t *)shared_at(word);
}
inline void ptx_ld_shared_u64(uint64_t &to, uint32_t word)
{
    to = *(const uint64_t *)shared_at(word);
}

/* ---- copies into shared memory ---- */

inline void ptx_cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes(uint32_t to,
                                                                               const void *from,
                                                                               uint32_t bytes,
                                                                               uint32_t b)
{
    memcpy(shared_at(to), from, bytes);
    barrier_at(b).bytes -= (int32_t)bytes;
    barrier_at(b).look();
}
inline void ptx_cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes_L2_cache_hint(
    uint32_t to, const void *from, uint32_t bytes, uint32_t b, uint64_t)
{
    ptx_cp_async_bulk_shared_cluster_global_mbarrier_complete_tx_bytes(to, from, bytes, b);
}
inline void ptx_cp_async_ca_shared_global(uint32_t to, const void *from, int bytes)
{
    memcpy(shared_at(to), from, (size_t)bytes);
}
inline void ptx_cp_async_cg_shared_global_L2_128B(uint32_t to, const void *from)
{
    memcpy(shared_at(to), from, 16);
}

/* ---- and out of it ---- */

inline void ptx_cp_async_bulk_global_shared_cta_bulk_group(void *to, uint32_t from, uint32_t bytes)
{
    memcpy(to, shared_at(from), bytes);
}
inline void ptx_cp_async_bulk_commit_group()
{
}
inline void ptx_cp_async_bulk_wait_group_read(int)
{
}

/* ---- clusters ---- */

inline void ptx_barrier_cluster_arrive_relaxed()
{
    cluster_arrive();
}
inline void ptx_barrier_cluster_arrive_release()
{
    cluster_arrive();
}
inline void ptx_barrier_cluster_wait_acquire()
{
    cluster_wait();
}
inline void ptx_mapa_shared_cluster_u32(uint32_t &to, uint32_t address, uint32_t block)
{
    to = address | (block + 1) << address_bits;
}
inline void ptx_st_shared_cluster_u32(uint32_t to, uint32_t value)
{
    *(uint32_t *)shared_at(to) = value;
}

/* ---- conversions ---- */

inline float half_to_float(uint16_t h)
{
    _Float16 x;
    memcpy(&x, &h, sizeof x);
    return (float)x;
}
inline uint16_t float_to_half(float f)
{
    const _Float16 x = (_Float16)f;
    uint16_t h;
    memcpy(&h, &x, sizeof h);
    return f != f ? 0x7fff : h;
}
inline uint16_t float_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return f != f ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
inline void ptx_cvt_f32_f16(float &to, uint16_t from)
{
    to = half_to_float(from);
}
inline void ptx_cvt_rn_f16_f32(uint16_t &to, float from)
{
    to = float_to_half(from);
}
inline void ptx_cvt_rn_bf16_f32(uint16_t &to, float from)
{
    to = float_to_bf16(from);
}
inline void ptx_cvt_rn_f16x2_f32(uint32_t &to, float high, float low)
{
    to = (uint32_t)float_to_half(high) << 16 | float_to_half(low);
}
inline void ptx_cvt_rn_bf16x2_f32(uint32_t &to, float high, float low)
{
    to = (uint32_t)float_to_bf16(high) << 16 | float_to_bf16(low);
}

/* Two halves in a word. */
inline float half_of(uint32_t two, int i)
{
    return half_to_float((uint16_t)(two >> 16 * i));
}
inline float bf16_of(uint32_t two, int i)
{
    const uint32_t bits = two >> 16 * i << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
inline void ptx_add_rn_f16x2(uint32_t &to, uint32_t a, uint32_t b)
{
    ptx_cvt_rn_f16x2_f32(to, half_of(a, 1) + half_of(b, 1), half_of(a, 0) + half_of(b, 0));
}
inline void ptx_fma_rn_bf16x2(uint32_t &to, uint32_t a, uint32_t b, uint32_t c)
{
    ptx_cvt_rn_bf16x2_f32(to, bf16_of(a, 1) * bf16_of(b, 1) + bf16_of(c, 1),
                          bf16_of(a, 0) * bf16_of(b, 0) + bf16_of(c, 0));
}
inline void ptx_set_neu_u32_f16x2(uint32_t &to, uint32_t a, uint32_t b)
{
    to = (half_of(a, 0) != half_of(b, 0) ? 0xffffu : 0) |
         (half_of(a, 1) != half_of(b, 1) ? 0xffff0000u : 0);
}
inline void ptx_set_neu_u32_bf16x2(uint32_t &to, uint32_t a, uint32_t b)
{
    to = (bf16_of(a, 0) != bf16_of(b, 0) ? 0xffffu : 0) |
         (bf16_of(a, 1) != bf16_of(b, 1) ? 0xffff0000u : 0);
}

} // namespace emulator

#endif
