"""The functions of equations as `casadi.Function`s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import casadi as ca

from ..expressions import ExactNumber
from ..quantities import FRAME_SIGNATURES, quantity_inputs, quantity_signatures

if TYPE_CHECKING:
    from .equations import Equations


def make_casadi_function(eqs: Equations, name: str, *frame: str) -> ca.Function:
    """Return a function of the equations; p are the parameters that are still symbols."""
    expressions = eqs.expressions(name, *frame)
    signature = FRAME_SIGNATURES[name] if frame else quantity_signatures(eqs.names)[name]
    inputs = {key: eqs.symbols[key] for key in quantity_inputs(signature, eqs.names)}
    if eqs.parameters:
        inputs["p"] = eqs.symbols["p"]
    merged = ca.cse([ca.SX(e) for e in expressions])
    return ca.Function(name, list(inputs.values()), merged, list(inputs), list(signature.outputs))


def substitute_parameter_values(
    function: ca.Function, parameters: Mapping[str, ExactNumber], keep: Sequence[str]
) -> ca.Function:
    """Return the function with parameters at their values; those to `keep` are its input p."""
    kept = {parameter: ca.SX.sym(parameter) for parameter in keep}
    p = ca.vertcat(*(kept.get(k, float(v)) for k, v in parameters.items()))
    inputs = [function.sx_in(i) for i in range(function.n_in() - 1)]
    outputs = function.call([*inputs, p])
    names = [function.name_in(i) for i in range(len(inputs))]
    if kept:
        inputs.append(ca.vertcat(*kept.values()))
        names.append("p")
    return ca.Function(function.name(), inputs, ca.cse(outputs), names, function.name_out())


class FunctionTable(Mapping[str, ca.Function]):
    """A mapping of names to functions of some equations."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations

    def __getitem__(self, name: str) -> ca.Function:
        if name not in self.equations.function_names():
            raise KeyError(name)
        return self.equations.function(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.equations.function_names())

    def __len__(self) -> int:
        return len(self.equations.function_names())
