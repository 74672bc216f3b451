"""Users' texts in generated files: identifiers, file names and comments that cannot become code."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_MAX_NAME_LENGTH = 56
"""MATLAB's names have at most 63 characters, of which prefixes and numbers need some."""

_COMMENT_CHARACTERS = frozenset(" _-–.,:;()[]/^'°·…")
"""What comments keep besides letters, digits, accents and signs of mathematics such as + and <.

None of them ends a comment in any language."""

_RESERVED_WORDS = """
abstract alignas alignof and and_eq as asm assert async auto await become bitand bitor bool box
break case catch char class classdef compl concept const const_cast constexpr continue crate
decltype def default del delete do double dyn dynamic_cast elif else elseif end enum except
explicit export extern false final finally float fn for friend from function global goto if impl
import in inline int is lambda let long loop macro main match mod move mut mutable
namespace new noexcept nonlocal not not_eq nullptr operator or or_eq otherwise override parfor
pass persistent priv private protected pub public raise ref register reinterpret_cast requires
restrict return self short signed sizeof spmd static static_assert static_cast struct super
switch template this thread_local throw trait true try type typedef typeid typename typeof union
unsafe unsigned unsized until use using virtual void volatile wchar_t where while with xor
xor_eq yield con nul prn aux std eigen math numpy casadi
"""
"""Words that mean something in a target language, or name a library or a device of a system."""


def make_safe_identifier(text: str, fallback: str = "mechanism") -> str:
    """Return a name of ASCII letters, digits and underscores that every language accepts."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:_MAX_NAME_LENGTH].rstrip("_")
    if not name:
        name = fallback
    if not name[0].isalpha():
        name = f"{fallback}_{name}"
    return f"{name}_" if name.lower() in _RESERVED_WORDS.split() else name


def make_unique_identifiers(
    texts: Iterable[str], fallback: str = "mechanism", endings: Sequence[str] = ("",)
) -> list[str]:
    """Return a safe name for each text; equal ones get numbers, also those that differ in case.

    With each of the `endings`, the names are different too.
    """
    found: list[str] = []
    taken: set[str] = set()
    for text in texts:
        base = name = make_safe_identifier(text, fallback)
        number = 2
        while taken.intersection(name.lower() + ending for ending in endings):
            name, number = f"{base}_{number}", number + 1
        taken.update(name.lower() + ending for ending in endings)
        found.append(name)
    return found


def write_comment_text(text: str) -> str:
    """Return a text for a comment in any language: other characters as <U+002A>, on one line."""
    return "".join(c if _is_plain_in_comments(c) else f"<U+{ord(c):04X}>" for c in text)


def _is_plain_in_comments(character: str) -> bool:
    category = unicodedata.category(character)
    return character in _COMMENT_CHARACTERS or category[0] in "LMN" or category == "Sm"
