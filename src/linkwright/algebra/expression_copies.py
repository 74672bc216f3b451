"""Copies of expressions: CasADi lets people change those that they hold, such as `M[0, 0] += 1`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import casadi as ca

from ..types import SX


def copy_expressions(made: Any) -> Any:
    """A copy of an expression, or of a table of them; anything else is left as it is."""
    if type(made) is ca.SX:
        return +made  # as `ca.SX(made)`, without its search for the right overload
    if type(made) in (tuple, list):
        return type(made)(map(copy_expressions, made))
    if type(made) is dict:
        return {key: copy_expressions(value) for key, value in made.items()}
    return made


class SymbolTable(Mapping[str, SX]):
    """Symbols by name, which cannot be changed."""

    def __init__(self, symbols: Mapping[str, SX]) -> None:
        self._symbols = symbols

    def __getitem__(self, name: str) -> SX:
        symbol: SX = copy_expressions(self._symbols[name])
        return symbol

    def __iter__(self) -> Iterator[str]:
        return iter(self._symbols)

    def __len__(self) -> int:
        return len(self._symbols)

    def __repr__(self) -> str:
        return repr(self._symbols)
