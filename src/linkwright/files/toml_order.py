"""The order in which a TOML file lists loops and constraints, which parsed tables do not keep."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_TOML_KEY = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DOTTED_TOML_KEY = rf"{_TOML_KEY}(?:[ \t]*+\.[ \t]*+{_TOML_KEY})*+"
_TOML_TABLE_HEADER = re.compile(rf"[ \t]*+\[[ \t]*+({_DOTTED_TOML_KEY})[ \t]*+\][ \t]*+(?:#.*)?")
_TOML_ASSIGNMENT = re.compile(rf"[ \t]*+({_DOTTED_TOML_KEY})[ \t]*+=")
_CONSTRAINT_TABLES = ("loops", "constraints")


def read_constraint_order(text: str, table: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """Return the field `constraint_order` of a mechanism; none where loops come before
    constraints."""
    parts = {key: table.get(key) for key in _CONSTRAINT_TABLES}
    tables = {key: part for key, part in parts.items() if isinstance(part, dict) and part}
    if len(tables) < len(parts):
        return {}
    usual = [(key, name) for key, part in tables.items() for name in part]
    known, listed = set(usual), []
    for path in _toml_key_paths(text):
        if path[:2] in known:
            listed.append((path[0], path[1]))
        elif len(path) == 1 and path[0] in _CONSTRAINT_TABLES:  # an inline table
            listed += [one for one in usual if one[0] == path[0]]
    order = list(dict.fromkeys([*listed, *usual]))
    return {} if order == usual else {"constraint_order": tuple(name for _, name in order)}


def _toml_key_paths(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the full keys of the file, line by line. Text inside multi-line strings is read as keys
    too, which matters only if it looks like the key of a constraint."""
    here: tuple[str, ...] = ()
    for line in text.splitlines():
        if header := _TOML_TABLE_HEADER.fullmatch(line):
            here = _split_toml_key(header[1])
            if len(here) > 1:
                yield here
        elif assignment := _TOML_ASSIGNMENT.match(line):
            yield (*here, *_split_toml_key(assignment[1]))


def _split_toml_key(dotted: str) -> tuple[str, ...]:
    """Return the parts of a dotted key without quotation marks."""
    return tuple(key.strip("\"'") for key in re.findall(_TOML_KEY, dotted))
