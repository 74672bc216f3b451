"""Sine and cosine as a program, for targets that have no function of their own.

Reduction (Cody–Waite): k = round(x·2/π) by adding 1.5·2⁵², r = x − k·π/2 with π/2 as a sum of parts
for which every product is exact. Polynomials: minimax in relative error on |r| ≤ π/4, below 4e-18,
evaluated by Estrin's scheme. The result has at most 2 ulp for |x| < `MAX_FAST_ARGUMENT`.
"""

from __future__ import annotations

from .language import unroll

MAX_FAST_ARGUMENT = float(1 << 20)
"""Beyond this size the reduction is not exact; targets then call a library."""

TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
ROUNDING_CONSTANT = 1.5 * 2.0**52
EXACT_HALF_PI_PARTS = tuple(float.fromhex(h) for h in (
    "0x1.921fb54400000p+0", "0x1.0b46000000000p-34", "0x1.1a62633100000p-54",
    "0x1.1701800000000p-88", "0x1.c1cd129024e09p-107"))  # fmt: skip
"""Parts of π/2 whose products with k have no rounding error, without fused operations."""

# sin r = r + r³·S(r²), cos r = 1 + r²·C(r²)
SIN_COEFFICIENTS = (-0.1666666666666663, 0.008333333333322108, -0.00019841269829580182,
        2.755731361802952e-06, -2.5050747220816195e-08, 1.5896197816709372e-10)  # fmt: skip
COS_COEFFICIENTS = (-0.5, 0.041666666666666595, -0.001388888888887304, 2.4801587288841424e-05,
        -2.755731417624645e-07, 2.087570041687616e-09, -1.1358513987892362e-11)  # fmt: skip

TURNS = 1 << 22
"""A multiple of 4 that makes the number of quarter turns positive."""

_S, _C = SIN_COEFFICIENTS, COS_COEFFICIENTS


def sine_and_cosine(x: float) -> tuple[float, float]:
    """Return sin x and cos x for |x| < `MAX_FAST_ARGUMENT`."""
    turns = x * TWO_OVER_PI + ROUNDING_CONSTANT - ROUNDING_CONSTANT
    r = x
    for part in unroll(range(len(EXACT_HALF_PI_PARTS))):
        r = r - turns * EXACT_HALF_PI_PARTS[part]
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    s = ((_S[3] * z + _S[2]) * z2 + (_S[1] * z + _S[0])) + (_S[5] * z + _S[4]) * z4
    c = ((_C[3] * z + _C[2]) * z2 + (_C[1] * z + _C[0])) + (_C[6] * z2 + (_C[5] * z + _C[4])) * z4
    sine = r if r == 0.0 else s * (r * z) + r  # keeps the sign of zero
    cosine = c * z + 1.0
    quarter = (int(turns) + TURNS) % 4
    is_odd = quarter % 2 == 1
    first = cosine if is_odd else sine
    second = sine if is_odd else cosine
    return (-first if quarter > 1 else first), (-second if quarter == 1 or quarter == 2 else second)
