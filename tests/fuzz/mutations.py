"""Mutations of text and bytes, seeded. Some make a file invalid for certain, and say so."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

NUMBER = re.compile(rb"(?<![\w.])-?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w.])")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")

ODD_NUMBERS = [
    b"0", b"-0", b"-1", b"1e308", b"1e-308", b"1e400", b"1e49", b"-1e49", b"99999999999999999999",
    b"0x10", b"1_000", b"1e", b"--1", b"3.14159265358979", b"1/0", b"0/0", b"'1 m'", b"\"2 kg\"",
    b"1e999999999", b"true", b"[]", b"{}", b"''",
]  # fmt: skip
NOT_FINITE = [b"nan", b"inf", b"-inf", b"NaN", b"Infinity"]
PIECES = [
    b"", b" ", b"\n", b"\0", b"\xff", b"\xe2\x88\x92", b"(", b")", b"[", b"]", b"{", b"}", b"<", b">",
    b"\"", b"'", b"=", b",", b".", b"..", b"/", b"\\", b"^", b"^-1", b"*", b"+", b"-", b"&", b"&amp;",
    b"<!--", b"]]>", b"#", b"%", b"$(id)", b"../../etc/passwd", b"\\frac{", b"\\dot{", b"sqrt(", b"sin",
    b"pi", b"1e400", b"nan", b"ground", b"t", b"q1", b"\xf0\x9f\x98\x80", b"(" * 200, b"[" * 300,
    b"-" * 100, b"a." * 70,
]  # fmt: skip


def mutate(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    """The data after one to three mutations, and whether it is invalid for certain."""
    invalid = False
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        change = random.choice(CHANGES)
        data, now = change(data, random)
        invalid = now if change is not _not_finite else now or invalid
        if change is not _not_finite:
            invalid = False  # a later change may have undone it
    return data[:200_000], invalid


Change = Callable[[bytes, random.Random], tuple[bytes, bool]]


def _span(data: bytes, random: random.Random) -> tuple[int, int]:
    a = random.randrange(len(data) + 1)
    return a, min(len(data), a + random.choice((1, 2, 5, 20, 100)))


def _delete(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    a, b = _span(data, random)
    return data[:a] + data[b:], False


def _double(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    a, b = _span(data, random)
    return data[:b] + data[a:b] * random.choice((1, 2, 50)) + data[b:], False


def _move(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    (a, b), c = _span(data, random), random.randrange(len(data) + 1)
    return data[:c] + data[a:b] + data[c:], False


def _insert(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    a = random.randrange(len(data) + 1)
    return data[:a] + random.choice(PIECES) + data[a:], False


def _byte(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    if not data:
        return data, False
    a = random.randrange(len(data))
    return data[:a] + bytes([random.randrange(256)]) + data[a + 1 :], False


def _truncate(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    return data[: random.randrange(len(data) + 1)], False


def _lines(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    """Drops, doubles or swaps whole lines."""
    lines = data.split(b"\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(3):
        case 0:
            del lines[a]
        case 1:
            lines.insert(b, lines[a])
        case _:
            lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines), False


def _replaced(pattern: re.Pattern[bytes], data: bytes, new: bytes, random: random.Random) -> bytes:
    found = list(pattern.finditer(data))
    if not found:
        return data
    one = random.choice(found)
    return data[: one.start()] + new + data[one.end() :]


def _number(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    return _replaced(NUMBER, data, random.choice(ODD_NUMBERS), random), False


def _not_finite(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    """A value that is a number becomes NaN or infinite, which no format of ours allows."""
    values = re.compile(rb"(?<=[=\[,] )-?\d+\.?\d*(?=\s*[,\]\n])")
    changed = _replaced(values, data, random.choice(NOT_FINITE[:3]), random)
    return changed, changed != data


def _word(data: bytes, random: random.Random) -> tuple[bytes, bool]:
    words = WORD.findall(data) or [b"x"]
    return _replaced(WORD, data, random.choice([random.choice(words), b"zz", b""]), random), False


CHANGES: list[Change] = [
    _delete, _double, _move, _insert, _byte, _truncate, _lines, _number, _number, _not_finite, _word,
]  # fmt: skip
