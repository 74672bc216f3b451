"""The tapes behind the functions of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .mass_check import check_invertible
from .mechanism import Names
from .quantities import ports
from .tape import Tape, record_scheduled

if TYPE_CHECKING:
    from .equations import Equations


def record_quantity(
    equations: Callable[[], Equations], names: Names, parameters: tuple[str, ...], name: str,
    *frame: str,
) -> Tape:  # fmt: skip
    """The tape of a function by its name, ready to be compiled.

    It needs no model: a ufunc outlives the model that it was taken from, and may have to compile
    its float32 loop then.
    """
    eqs = equations()
    check_invertible(eqs, name)
    function = eqs.folded(name, *frame, keep=parameters)
    return record_scheduled(function, *ports(names, name, parameters))
