"""What every CUDA source begins with: types, sines, and stand-ins for a C compiler.

The same text is C for a processor: without `__CUDACC__`, the words of CUDA are macros, a block is a
loop over its threads, and the caller counts blocks in `lw_block`. Tests run kernels in this way.

`LW_SECTION` is a branch that is never taken (a GPU has fewer than 2^30 multiprocessors): compilers
do not move instructions across it.
"""

from __future__ import annotations

_HOST = """\
#ifdef __CUDACC__
#ifdef __CUDACC_RTC__
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif
#define LW_INLINE static __device__ __forceinline__
#define LW_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#define LW_SHARED __shared__ __align__(16)
#define LW_RESTRICT __restrict__
#define LW_THREADS(threads)
#define LW_SYNC() __syncthreads()
#define LW_THREAD ((int)threadIdx.x)
#define LW_BLOCK ((lw_int)blockIdx.x)
#define LW_UNROLL _Pragma("unroll")
#define LW_SECTIONS unsigned lw_sections; asm volatile("mov.u32 %0, %%nsmid;" : "=r"(lw_sections));
#define LW_SECTION(k) if (lw_sections == 0x40000000u + (k)) return;
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#define LW_INLINE static inline
#define LW_KERNEL(threads, blocks) void
#define LW_SHARED static
#define LW_RESTRICT restrict
#define LW_THREADS(threads) for (lw_thread = 0; lw_thread < (threads); ++lw_thread)
#define LW_SYNC()
#define LW_THREAD lw_thread
#define LW_BLOCK ((lw_int)lw_block)
#define LW_UNROLL
#define LW_SECTIONS
#define LW_SECTION(k)
int lw_thread, lw_block;
#endif
typedef long long lw_int;
typedef {kind} real;
"""

_FLOAT_BITS = """\
LW_INLINE uint32_t lw_bits(real x)
{
#ifdef __CUDACC__
    return __float_as_uint(x);
#else
    uint32_t y;
    memcpy(&y, &x, sizeof y);
    return y;
#endif
}

LW_INLINE real lw_real(uint32_t x)
{
#ifdef __CUDACC__
    return __uint_as_float(x);
#else
    real y;
    memcpy(&y, &x, sizeof y);
    return y;
#endif
}

/* 1/x with an error of at most 1 ulp. */
LW_INLINE real lw_reciprocal(real x)
{
#ifdef __CUDACC__
    real y;
    asm("rcp.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return 1.0f / x;
#endif
}
"""

_FLOAT_SINES = """\
/* sin and cos with errors of about 1 ulp, without a branch: reduction of Cody and Waite, minimax
   polynomials. NaN from 2^21 on, where neighbouring numbers are a quarter of a radian apart. */
LW_INLINE void lw_sincos(real x, real *LW_RESTRICT sine, real *LW_RESTRICT cosine)
{
    const real shifted = fmaf(x, 0.63661977236758134f, 12582912.0f);
    const real k = shifted - 12582912.0f;
    real r = fmaf(k, -1.57079637050628662109375f, x);
    r = fmaf(k, 4.371138828673793e-08f, r);
    r = fmaf(k, 1.7151245100058819e-15f, r);
    r = fabsf(x) < 2097152.0f ? r : NAN;
    const uint32_t quarter = lw_bits(shifted);
    const real z = r*r;
    const real s = fmaf(r*z, fmaf(z, fmaf(z, -1.9515295891e-4f, 8.3321608736e-3f),
        -1.6666654611e-1f), r);
    const real c = fmaf(z*z, fmaf(z, fmaf(z, 2.443315711809948e-5f, -1.388731625493765e-3f),
        4.166664568298827e-2f), fmaf(z, -0.5f, 1.0f));
    const int is_odd = quarter & 1u;
    *sine = lw_real(lw_bits(is_odd ? c : s) ^ ((quarter >> 1) << 31));
    *cosine = lw_real(lw_bits(is_odd ? s : c) ^ (((quarter + 1u) >> 1) << 31));
}
"""

_FLOAT_SPECIAL_SINES = """\
/* sin and cos by the special function unit of the card, after reduction to one turn: absolute
   errors of about 4e-7. NaN from 2^21 on. */
LW_INLINE void lw_sincos(real x, real *LW_RESTRICT sine, real *LW_RESTRICT cosine)
{
    const real turns = fmaf(x, 0.15915494309189535f, 12582912.0f) - 12582912.0f;
    real r = fmaf(turns, 1.7484555314695172e-07f, fmaf(turns, -6.283185482025146484375f, x));
    r = fabsf(x) < 2097152.0f ? r : NAN;
#ifdef __CUDACC__
    *sine = __sinf(r);
    *cosine = __cosf(r);
#else
    *sine = sinf(r);
    *cosine = cosf(r);
#endif
}
"""

_LIBRARY_SINES = """\
LW_INLINE void lw_sincos(real x, real *LW_RESTRICT sine, real *LW_RESTRICT cosine)
{{
#ifdef __CUDACC__
    sincos{suffix}(x, sine, cosine);
#else
    *sine = sin{suffix}(x);
    *cosine = cos{suffix}(x);
#endif
}}
"""

_DOUBLE_BITS = """\
LW_INLINE uint64_t lw_bits(real x)
{
#ifdef __CUDACC__
    return (uint64_t)__double_as_longlong(x);
#else
    uint64_t y;
    memcpy(&y, &x, sizeof y);
    return y;
#endif
}

LW_INLINE real lw_real(uint64_t x)
{
#ifdef __CUDACC__
    return __longlong_as_double((long long)x);
#else
    real y;
    memcpy(&y, &x, sizeof y);
    return y;
#endif
}

/* 1/x: two steps of Newton's method; where x or 1/x is not normal, by division. */
LW_INLINE real lw_reciprocal(real x)
{
#ifdef __CUDACC__
    const real size = fabs(x);
    if (!(size > 1e-300 && size < 1e300))
        return 1.0 / x;
    real y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    real e = fma(-x, y, 1.0);
    y = fma(fma(e, e, e), y, y);
    e = fma(-x, y, 1.0);
    return fma(e, y, y);
#else
    return 1.0 / x;
#endif
}
"""

_DOUBLE_SINES = """\
/* sin and cos with errors of at most 2 ulp, without a branch: reduction of Cody and Waite, minimax
   polynomials. NaN from 2^49 on. */
LW_INLINE void lw_sincos(real x, real *LW_RESTRICT sine, real *LW_RESTRICT cosine)
{
    const real shifted = fma(x, 0.63661977236758138, 6755399441055744.0);
    const real k = shifted - 6755399441055744.0;
    real r = fma(k, -1.5707963267948966, x);
    r = fma(k, -6.123233995736766e-17, r);
    r = fma(k, 1.4973849048591698e-33, r);
    r = fabs(x) < 562949953421312.0 ? r : NAN;
    const real z = r*r;
    const real s = fma(r*z, fma(z, fma(z, fma(z, fma(z, fma(z, 1.5896197816709372e-10,
        -2.5050747220816195e-08), 2.755731361802952e-06), -0.00019841269829580182),
        0.008333333333322108), -0.1666666666666663), r);
    const real c = fma(z, fma(z, fma(z, fma(z, fma(z, fma(z, fma(z, -1.1358513987892362e-11,
        2.087570041687616e-09), -2.755731417624645e-07), 2.4801587288841424e-05),
        -0.001388888888887304), 0.041666666666666595), -0.5), 1.0);
    const uint64_t quarter = lw_bits(shifted);
    const int is_odd = quarter & 1u;
    *sine = lw_real(lw_bits(is_odd ? c : s) ^ ((quarter >> 1) << 63));
    *cosine = lw_real(lw_bits(is_odd ? s : c) ^ (((quarter + 1u) >> 1) << 63));
}
"""


TILE_FUNCTIONS = """\
/* Copies rows of `size` numbers from memory to shared memory, where they are `stride` apart. */
LW_INLINE void lw_load_tile(real *tile, const real *LW_RESTRICT rows, int total, int size,
                            int stride, int block)
{
    if (total == size*block) {
        LW_UNROLL
        for (int k = 0; k < size; ++k) {
            const int e = k*block + LW_THREAD;
            tile[stride == size ? e : e + e/size] = rows[e];
        }
    } else {
        for (int e = LW_THREAD; e < total; e += block)
            tile[stride == size ? e : e + e/size] = rows[e];
    }
}

LW_INLINE void lw_store_tile(const real *tile, real *LW_RESTRICT rows, int total, int size,
                             int stride, int block)
{
    if (total == size*block) {
        LW_UNROLL
        for (int k = 0; k < size; ++k) {
            const int e = k*block + LW_THREAD;
            rows[e] = tile[stride == size ? e : e + e/size];
        }
    } else {
        for (int e = LW_THREAD; e < total; e += block)
            rows[e] = tile[stride == size ? e : e + e/size];
    }
}
"""
"""Copies between rows in memory and shared memory, by all threads of a block."""


def write_device_prelude(precision: str, sines: str) -> str:
    """Return the head of a source: `precision` is float or double.

    `sines` is polynomial, special (float only: the special function unit), or library.
    """
    head = _HOST.replace("{kind}", precision)
    is_single = precision == "float"
    bits = _FLOAT_BITS if is_single else _DOUBLE_BITS
    if sines == "library":
        return head + bits + _LIBRARY_SINES.format(suffix="f" if is_single else "")
    if is_single:
        return head + bits + (_FLOAT_SPECIAL_SINES if sines == "special" else _FLOAT_SINES)
    return head + bits + _DOUBLE_SINES
