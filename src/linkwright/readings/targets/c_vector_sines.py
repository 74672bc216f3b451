"""sin and cos of vectors in C: the same reduction and polynomials as in `readings/llvm/sincos`."""

from __future__ import annotations

VECTOR_SINES = """\
typedef uint64_t lane_bits __attribute__((vector_size(LANE_BYTES)));

static inline lane_bits bits_of(lanes x)
{
    lane_bits y;
    memcpy(&y, &x, sizeof y);
    return y;
}

static inline lanes lanes_of(lane_bits x)
{
    lanes y;
    memcpy(&y, &x, sizeof y);
    return y;
}

/*
 * sin and cos, at most 2 ulp for |x| < 2^20, by the library beyond. Reduction of Cody and Waite:
 * r = x - k pi/2, with pi/2 in parts whose products with k are exact. Minimax polynomials.
 */
static inline void lanes_sincos(lanes given, lanes *sine, lanes *cosine)
{
    const lane_bits is_huge =
        (lane_bits)((given >= 0x1p20) | (given <= -0x1p20) | (given != given));
    const lanes x = lanes_of(bits_of(given) & ~is_huge);
    const lanes shifted = x*0x1.45f306dc9c883p-1 + 0x1.8p52;
    const lanes k = shifted - 0x1.8p52;
    lanes r = x - k*0x1.921fb544p+0;
    r = r - k*0x1.0b46p-34;
    r = r - k*0x1.1a626331p-54;
    r = r - k*0x1.17018p-88;
    r = r - k*0x1.c1cd129024e09p-107;
    const lanes z = r*r;
    const lanes s = r + r*z*(-0.1666666666666663 + z*(0.008333333333322108
        + z*(-0.00019841269829580182 + z*(2.755731361802952e-06
        + z*(-2.5050747220816195e-08 + z*1.5896197816709372e-10)))));
    const lanes c = 1.0 + z*(-0.5 + z*(0.041666666666666595 + z*(-0.001388888888887304
        + z*(2.4801587288841424e-05 + z*(-2.755731417624645e-07
        + z*(2.087570041687616e-09 + z*-1.1358513987892362e-11))))));
    /* the last bits of `shifted` are those of k: odd k exchanges sin and cos, bit 1 is the sign */
    const lane_bits turns = bits_of(shifted), is_odd = -(turns & 1);
    const lane_bits sin_sign = (turns >> 1) << 63, cos_sign = ((turns + 1) >> 1) << 63;
    *sine = lanes_of(((bits_of(c) & is_odd) | (bits_of(s) & ~is_odd)) ^ sin_sign);
    *cosine = lanes_of(((bits_of(s) & is_odd) | (bits_of(c) & ~is_odd)) ^ cos_sign);
    for (size_t n = 0; n < LANES; n++) {
        if (is_huge[n]) {
            (*sine)[n] = sin(given[n]);
            (*cosine)[n] = cos(given[n]);
        }
    }
}
"""
"""Definitions for vectors of doubles; `lanes`, LANES and LANE_BYTES are defined before."""

LONE_SINE = """\
static inline lanes lanes_{name}(lanes x)
{{
    lanes sin_x, cos_x;
    lanes_sincos(x, &sin_x, &cos_x);
    return {name}_x;
}}
"""
"""The definition of sin or cos alone."""
