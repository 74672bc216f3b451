"""Inputs of runs whose parameters vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..errors import UnsupportedError
from ..expressions import names_in_expression, parse_expression
from ..mechanism import Mechanism
from ..types import ForceLike
from .feedback import Feedback


def check_inputs_without(
    mechanism: Mechanism,
    given: ForceLike | Feedback | None,
    varied: Sequence[str],
    how: str = "differs from run to run",
) -> None:
    """Raise an error if an expression of the inputs depends on a parameter that varies: names of
    parameters in expressions stand for the mechanism's own values. `how` says how it varies."""
    if not isinstance(given, Mapping):
        return
    texts = {x: parse_expression(x) for x in given.values() if isinstance(x, str)}
    for name, actuator in mechanism.actuators.items():
        texts |= {f"{name}.{key}": number for key, number in actuator.law_numbers()}
    for text, expression in texts.items():
        pending, seen = list(names_in_expression(expression)), set[str]()
        while pending:
            name = pending.pop()
            if name in varied:
                raise UnsupportedError(
                    f"the input '{text}' depends on '{name}', which {how}",
                    where=mechanism.name,
                    remedy="write the input without this parameter",
                )
            if name in mechanism.parameters and name not in seen:
                seen.add(name)
                pending += names_in_expression(mechanism.parameters[name])
