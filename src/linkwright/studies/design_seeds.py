"""Seeds of designs: those of `numpy.random.SeedSequence` by index, for many designs at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_POOL, _WORD = 4, 0xFFFFFFFF

Words = NDArray[np.uint32]
"""Words of 32 bits."""


def design_seeds(seed: int, start: int, stop: int) -> NDArray[np.uint64]:
    """Return the seeds of the designs from `start` up to `stop`.

    That of design i is `SeedSequence(seed, spawn_key=(i,)).generate_state(1, uint64)[0]`. NumPy
    makes one sequence at a time, which takes longer than a short run; the same arithmetic on arrays
    is a hundred times faster.
    """
    index = np.arange(start, stop, dtype=np.uint64)
    if stop > _WORD + 1:  # keys of one and of two words have different entropies
        parts = [design_seeds(seed, start, _WORD + 1)] if start <= _WORD else []
        parts.append(_seeds_of_words(seed, _split_words(index[index > _WORD])))
        return np.concatenate(parts)
    return _seeds_of_words(seed, [index.astype(np.uint32)])


def _split_words(index: NDArray[np.uint64]) -> list[Words]:
    """Return the low and the high words of large indices."""
    high = index >> np.uint64(32)
    return [(index & np.uint64(_WORD)).astype(np.uint32), high.astype(np.uint32)]


def _seeds_of_words(seed: int, keys: list[Words]) -> NDArray[np.uint64]:
    """Return the seeds of spawn keys, given as their words."""
    entropy: list[int | Words] = []
    rest = seed
    while rest or not entropy:
        entropy.append(rest & _WORD)
        rest >>= 32
    entropy += [0] * (_POOL - len(entropy)) + list(keys)
    count = len(keys[0])
    words = [np.broadcast_to(np.asarray(one, np.uint32), count).copy() for one in entropy]
    pool = _mix_entropy(words)
    low, high = _output_words(pool)
    return low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))


def _mix_entropy(words: list[Words]) -> list[Words]:
    """Return the mixed pool of entropy."""
    constant = _INIT_A

    def hash_words(value: Words) -> Words:
        nonlocal constant
        value = value ^ np.uint32(constant)
        constant = constant * _MULT_A & _WORD
        value = value * np.uint32(constant)
        return value ^ (value >> np.uint32(16))

    pool = [hash_words(word) for word in words[:_POOL]]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                pool[target] = _mix(pool[target], hash_words(pool[source]))
    for word in words[_POOL:]:
        for target in range(_POOL):
            pool[target] = _mix(pool[target], hash_words(word))
    return pool


def _mix(left: Words, right: Words) -> Words:
    mixed = left * np.uint32(_MIX_LEFT) - right * np.uint32(_MIX_RIGHT)
    found: Words = mixed ^ (mixed >> np.uint32(16))
    return found


def _output_words(pool: list[Words]) -> list[Words]:
    """Return the first two words of output."""
    constant, found = _INIT_B, []
    for word in pool[:2]:
        value = word ^ np.uint32(constant)
        constant = constant * _MULT_B & _WORD
        value = value * np.uint32(constant)
        found.append(value ^ (value >> np.uint32(16)))
    return found
