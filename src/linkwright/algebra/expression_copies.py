"""Copies of expressions, since CasADi lets users change those that they hold: `M[0, 0] += 1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import casadi as ca

from ..types import SX

T = TypeVar("T")


def copy_casadi_expressions(made: T) -> T:
    """A copy of an expression or of a table of expressions; other values are returned unchanged."""
    copied: Any = made
    if type(copied) is ca.SX:
        copied = +copied  # as `ca.SX(copied)`, without its search for the right overload
    elif type(copied) in (tuple, list):
        copied = type(copied)(map(copy_casadi_expressions, copied))
    elif type(copied) is dict:
        copied = {key: copy_casadi_expressions(value) for key, value in copied.items()}
    result: T = copied
    return result


class SymbolTable(Mapping[str, SX]):
    """A read-only table of symbols by name."""

    def __init__(self, symbols: Mapping[str, SX]) -> None:
        self._symbols: Mapping[str, SX]
        self._symbols = symbols._symbols if isinstance(symbols, SymbolTable) else symbols

    def __getitem__(self, name: str) -> SX:
        return copy_casadi_expressions(self._symbols[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __repr__(self) -> str:
        return repr(self._symbols)
