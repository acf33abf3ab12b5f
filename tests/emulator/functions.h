/* SPDX-License-Identifier: MIT */
/* Functions of CUDA C++ in device code. */
#ifndef EMULATOR_FUNCTIONS_H
#define EMULATOR_FUNCTIONS_H

#include "emulator.h"

template <class T> T __shfl_sync(uint32_t mask, T v, int lane, int = 32)
{
    return emulator::value_of<T>(emulator::exchange(mask, emulator::word_of(v))[lane & 31]);
}
template <class T> T __shfl_up_sync(uint32_t mask, T v, unsigned delta, int = 32)
{
    const int lane = (int)(threadIdx.x & 31), from = lane - (int)delta;
    return emulator::value_of<T>(
        emulator::exchange(mask, emulator::word_of(v))[from < 0 ? lane : from]);
}
template <class T> T __shfl_down_sync(uint32_t mask, T v, unsigned delta, int = 32)
{
    const int lane = (int)(threadIdx.x & 31), from = lane + (int)delta;
    return emulator::value_of<T>(
        emulator::exchange(mask, emulator::word_of(v))[from > 31 ? lane : from]);
}
template <class T> T __shfl_xor_sync(uint32_t mask, T v, int bits, int = 32)
{
    return emulator::value_of<T>(
        emulator::exchange(mask, emulator::word_of(v))[(threadIdx.x & 31) ^ bits]);
}
inline uint32_t __ballot_sync(uint32_t mask, int predicate)
{
    const uint64_t *all = emulator::exchange(mask, predicate != 0);
    uint32_t bits = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1)
            bits |= (uint32_t)all[i] << i;
    return bits;
}
inline int __all_sync(uint32_t mask, int predicate)
{
    return __ballot_sync(mask, predicate) == mask;
}
inline int __any_sync(uint32_t mask, int predicate)
{
    return __ballot_sync(mask, predicate) != 0;
}
inline void __syncwarp(uint32_t mask = 0xffffffffu)
{
    emulator::exchange(mask, 0);
}
inline uint32_t __match_any_sync(uint32_t mask, uint64_t v)
{
    const uint64_t *all = emulator::exchange(mask, v);
    uint32_t bits = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1 && all[i] == v)
            bits |= 1u << i;
    return bits;
}
template <class T> T __reduce_add_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v, [](uint32_t a, uint32_t b) { return a + b; });
}
template <class T> T __reduce_or_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v, [](uint32_t a, uint32_t b) { return a | b; });
}
template <class T> T __reduce_xor_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v, [](uint32_t a, uint32_t b) { return a ^ b; });
}
template <class T> T __reduce_and_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v, [](uint32_t a, uint32_t b) { return a & b; });
}
template <class T> T __reduce_max_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v,
                                   [](uint32_t a, uint32_t b) { return (T)a < (T)b ? b : a; });
}
template <class T> T __reduce_min_sync(uint32_t mask, T v)
{
    return (T)emulator::fold_lanes(mask, (uint32_t)v,
                                   [](uint32_t a, uint32_t b) { return (T)b < (T)a ? b : a; });
}
inline void __syncthreads()
{
    emulator::meet(0, 0, 0, false);
}
inline int __syncthreads_or(int predicate)
{
    return emulator::meet(0, 0, predicate != 0, false) != 0;
}
inline int __syncthreads_and(int predicate)
{
    return emulator::meet(0, 0, predicate != 0, true) != 0;
}
inline int __syncthreads_count(int predicate)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int count = 0;
    for (uint32_t i = 0; i < 32; i++) /* a bit for each warp */
        count += __builtin_popcount(
            emulator::meet(0, 0, predicate && lane == i ? 1u << warp : 0u, false));
    return count;
}
inline void __threadfence()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
}
inline void __threadfence_block()
{
    __threadfence();
}
inline void __nanosleep(unsigned)
{
    emulator::give_way();
}

template <class T> T __ldg(const T *p)
{
    return *p;
}
template <class T> T __ldcs(const T *p)
{
    return *p;
}
template <class T> T __ldcg(const T *p)
{
    return *(const volatile T *)p;
}
inline uint2 __ldcg(const uint2 *p)
{
    return *p;
}
inline uint4 __ldcg(const uint4 *p)
{
    return *p;
}
template <class T> void __stcs(T *p, T v)
{
    *p = v;
}

inline int __popc(uint32_t x)
{
    return __builtin_popcount(x);
}
inline int __popcll(uint64_t x)
{
    return __builtin_popcountll(x);
}
inline int __clz(uint32_t x)
{
    return x ? __builtin_clz(x) : 32;
}
inline int __clzll(uint64_t x)
{
    return x ? __builtin_clzll(x) : 64;
}
inline int __ffs(uint32_t x)
{
    return __builtin_ffs((int)x);
}
inline int __ffsll(uint64_t x)
{
    return __builtin_ffsll((long long)x);
}
inline uint32_t __brev(uint32_t x)
{
    uint32_t y = 0;
    for (int i = 0; i < 32; i++)
        y |= (x >> i & 1) << (31 - i);
    return y;
}
inline uint32_t __byte_perm(uint32_t a, uint32_t b, uint32_t order)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t to = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t pick = order >> 4 * i & 15, byte = bytes >> 8 * (pick & 7) & 255;
        to |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * i;
    }
    return to;
}
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, uint32_t shift)
{
    return (uint32_t)((((uint64_t)high << 32 | low) << (shift & 31)) >> 32);
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift)
{
    return (uint32_t)(((uint64_t)high << 32 | low) >> (shift & 31));
}
inline uint32_t __funnelshift_lc(uint32_t low, uint32_t high, uint32_t shift)
{
    return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline uint32_t __vmaxu2(uint32_t a, uint32_t b)
{
    const uint32_t low = (a & 0xffff) > (b & 0xffff) ? a : b;
    return ((a >> 16 > b >> 16 ? a : b) & 0xffff0000) | (low & 0xffff);
}
inline uint32_t __vcmpne4(uint32_t a, uint32_t b)
{
    uint32_t to = 0;
    for (int i = 0; i < 32; i += 8)
        to |= ((a ^ b) >> i & 255 ? 255u : 0u) << i;
    return to;
}
/* Of each half. */
inline uint32_t __vimax3_u16x2(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t low = std::max({a & 0xffff, b & 0xffff, c & 0xffff});
    return std::max({a >> 16, b >> 16, c >> 16}) << 16 | low;
}

inline int __dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
}
inline uint32_t __dp4a(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 32; i += 8)
        c += (a >> i & 255) * (b >> i & 255);
    return c;
}
inline uint32_t __dp2a_lo(uint32_t a, uint32_t b, uint32_t c)
{
    return c + (a & 0xffff) * (b & 255) + (a >> 16) * (b >> 8 & 255);
}
inline int __dp2a_lo(int a, int b, int c)
{
    return c + (int16_t)a * (int8_t)b + (int16_t)(a >> 16) * (int8_t)(b >> 8);
}
inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
inline uint64_t __umul64hi(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
#define EMULATOR_SAME_BITS(name, From, To)                                                         \
    inline To name(From x)                                                                         \
    {                                                                                              \
        return emulator::value_of<To>(emulator::word_of(x));                                       \
    }
EMULATOR_SAME_BITS(__uint_as_float, uint32_t, float)
EMULATOR_SAME_BITS(__int_as_float, int, float)
EMULATOR_SAME_BITS(__float_as_uint, float, uint32_t)
EMULATOR_SAME_BITS(__float_as_int, float, int)
EMULATOR_SAME_BITS(__double_as_longlong, double, long long)
EMULATOR_SAME_BITS(__longlong_as_double, long long, double)
inline double __hiloint2double(int high, int low)
{
    return __longlong_as_double((long long)((uint64_t)(uint32_t)high << 32 | (uint32_t)low));
}
/* All NaNs that a GPU computes in 32 bits are one. */
inline float one_nan(float x)
{
    return x == x ? x : __uint_as_float(0x7fffffff);
}
#define __expf expf /* glibc has a symbol of that name, which it does not export */

inline float __fmaf_rn(float a, float b, float c)
{
    return one_nan(fmaf(a, b, c));
}
inline double __fma_rn(double a, double b, double c)
{
    return fma(a, b, c);
}
inline float __fdividef(float a, float b)
{
    return a / b;
}
/* Rounded by themselves: a compiler that fuses multiplications and additions leaves these alone. */
__noinline__ inline float __fadd_rn(float a, float b)
{
    return one_nan(a + b);
}
__noinline__ inline float __fmul_rn(float a, float b)
{
    return one_nan(a * b);
}
__noinline__ inline double __dsub_rn(double a, double b)
{
    return a - b;
}
__noinline__ inline double __dadd_rn(double a, double b)
{
    return a + b;
}
__noinline__ inline double __dmul_rn(double a, double b)
{
    return a * b;
}
/* Out of range: the nearest. */
inline float __double2float_rn(double x)
{
    return (float)x;
}
/* Towards 0. */
inline float __double2float_rz(double x)
{
    const float nearest = (float)x;
    return std::fabs((double)nearest) > std::fabs(x) ? std::nextafterf(nearest, 0.0f) : nearest;
}
inline unsigned __double2uint_rz(double x)
{
    return x > 4294967295.0 ? 0xffffffffu : x > 0 ? (unsigned)x : 0;
}
inline size_t __cvta_generic_to_shared(const void *p)
{
    return emulator::shared_address_of(p);
}
inline void cudaGraphSetConditional(cudaGraphConditionalHandle, unsigned)
{
}
using std::max;
using std::min;

template <class T> using emulator_plain = std::common_type_t<T>;
template <class T> T atomicAdd(T *p, emulator_plain<T> v)
{
    if constexpr (std::is_integral_v<T>) {
        return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
    } else {
        T old = *(volatile T *)p, sum;
        do
            sum = old + v;
        while (
            !__atomic_compare_exchange(p, &old, &sum, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
        return old;
    }
}
template <class T> T atomicSub(T *p, emulator_plain<T> v)
{
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);
}
template <class T> T atomicOr(T *p, emulator_plain<T> v)
{
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);
}
template <class T> T atomicAnd(T *p, emulator_plain<T> v)
{
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);
}
template <class T> T atomicXor(T *p, emulator_plain<T> v)
{
    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);
}
template <class T> T atomicExch(T *p, emulator_plain<T> v)
{
    emulator::give_way(); /* a lock is tried so */
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
}
template <class T> T atomicCAS(T *p, emulator_plain<T> expected, emulator_plain<T> v)
{
    emulator::give_way();
    T old = expected;
    __atomic_compare_exchange_n(p, &old, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return old;
}
template <class T, class F> T emulator_atomic(T *p, F f)
{
    T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(p, &old, f(old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return old;
}
template <class T> T atomicMax(T *p, emulator_plain<T> v)
{
    return emulator_atomic(p, [=](T old) { return old < v ? v : old; });
}
template <class T> T atomicMin(T *p, emulator_plain<T> v)
{
    return emulator_atomic(p, [=](T old) { return v < old ? v : old; });
}

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A... a)
{
    std::tuple<std::remove_const_t<P>...> values(a...);
    void *arguments[sizeof...(P)];
    std::apply(
        [&](auto &...v) {
            int i = 0;
            ((arguments[i++] = (void *)&v), ...);
        },
        values);
    return cudaLaunchKernelExC(config, emulator::known(kernel), arguments);
}
template <class... P> cudaError_t cudaFuncSetAttribute(void (*)(P...), cudaFuncAttribute, int)
{
    return cudaSuccess;
}

#endif
