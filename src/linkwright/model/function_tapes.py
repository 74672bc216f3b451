"""The tapes behind the functions of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..mechanism import MechanismNames
from ..quantities import quantity_ports
from ..tape import Tape, record_compilable_tape
from .mass_check import check_function_mass_invertible

if TYPE_CHECKING:
    from ..equations import Equations


def record_model_function_tape(
    equations: Callable[[], Equations],
    names: MechanismNames,
    parameters: tuple[str, ...],
    name: str,
    *frame: str,
) -> Tape:
    """The tape of a function by its name, ready to be compiled.

    It needs no model: a ufunc outlives the model that it was taken from, and may have to compile
    its float32 loop then.
    """
    eqs = equations()
    check_function_mass_invertible(eqs, name)
    function = eqs.function_at_values(name, *frame, keep=parameters)
    return record_compilable_tape(function, *quantity_ports(names, name, parameters))
