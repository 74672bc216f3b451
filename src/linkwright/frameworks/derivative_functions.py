"""Functions of a model with their derivatives, level by level, as tapes.

Level 0 is the function itself, level 1 its Jacobians, level 2 the Jacobians of these. First
derivatives of inverse and forward dynamics come from the recursions of the formulation; all others
from differentiating the expressions of the level below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..model.model import Model
from ..ports import Port
from ..quantities import quantity_ports
from ..simulation.fixed_steps.compiled_steps import CompiledStep
from ..simulation.inputs import read_force_law
from ..tape import Tape, record_compilable_tape

if TYPE_CHECKING:
    import casadi as ca

    from ..types import SX

_RECURSIONS = {
    "inverse_dynamics": "inverse_dynamics_derivatives",
    "forward_dynamics": "forward_dynamics_derivatives",
}
"""Functions whose derivatives the formulation computes by recursion."""


@dataclass(frozen=True, eq=False)
class DerivableFunction:
    """A function of arrays as expressions, and the way to its Jacobians.

    `write` returns the symbols of the inputs and the expressions of the outputs. `recursion`, if
    there is one, returns the Jacobians of the first output with respect to the first inputs.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    write: Callable[[], tuple[list[SX], list[SX]]]
    recursion: Callable[[Sequence[SX]], list[SX]] | None = None

    @cached_property
    def expressions(self) -> tuple[list[SX], list[SX]]:
        """Symbols of the inputs, and expressions of the outputs."""
        return self.write()

    @cached_property
    def tape(self) -> Tape:
        """The tape of the function."""
        import casadi as ca

        inputs, outputs = self.expressions
        dense = ca.cse([ca.densify(ca.SX(output)) for output in outputs])
        names = [f"i{k}" for k in range(len(inputs))], [f"o{k}" for k in range(len(outputs))]
        function = ca.Function("f", inputs, dense, *names)
        return record_compilable_tape(function, self.inputs, self.outputs)

    @cached_property
    def jacobian(self) -> DerivableFunction:
        """The function of all Jacobians, as blocks of one matrix: see `jacobian_block`.

        One output keeps higher derivatives below NumPy's limit of 64 arrays.
        """
        rows, columns = (sum(port.size for port in side) for side in (self.outputs, self.inputs))
        port = Port("jacobian", (rows, columns))
        return DerivableFunction(
            f"{self.name}_jacobian", self.inputs, (port,), self.write_jacobians
        )

    def jacobian_block(self, output: int, given: int) -> tuple[slice, slice]:
        """Return the rows of an output, and the columns of an input, by their numbers.

        There is a row for every entry of the output, and a column for every entry of the input.
        """
        row = sum(port.size for port in self.outputs[:output])
        column = sum(port.size for port in self.inputs[:given])
        return (
            slice(row, row + self.outputs[output].size),
            slice(column, column + self.inputs[given].size),
        )

    def write_jacobians(self) -> tuple[list[SX], list[SX]]:
        """Symbols of the inputs, and the Jacobians."""
        import casadi as ca

        inputs, outputs = self.expressions
        known = [] if self.recursion is None else self.recursion(inputs)
        rows = []
        for number, output in enumerate(outputs):
            flat = ca.vec(ca.densify(ca.SX(output)).T)  # row by row
            blocks = []
            for k, given in enumerate(inputs):
                has_recursion = number == 0 and k < len(known)
                blocks.append(known[k] if has_recursion else ca.jacobian(flat, ca.vec(given.T)))
            rows.append(ca.horzcat(*blocks))
        return inputs, [ca.vertcat(*rows)]


def model_function(model: Model, name: str, *frame: str) -> DerivableFunction:
    """Return a function of a model by its name, without the pivots of constrained mechanisms."""
    inputs, outputs = quantity_ports(model.names, name, model.parameters)
    kept = [port for port in outputs if port.name != "pivot"]

    def function_of(which: str) -> ca.Function:
        return model.equations.function_at_values(which, *frame, keep=model.parameters)

    def write() -> tuple[list[SX], list[SX]]:
        import casadi as ca

        function = function_of(name)
        symbols = [
            ca.SX.sym(function.name_in(k), function.sparsity_in(k).size1(), function.size2_in(k))
            for k in range(function.n_in())
        ]
        return symbols, list(function.call(symbols))[: len(kept)]

    def recursion(symbols: Sequence[SX]) -> list[SX]:
        return list(function_of(_RECURSIONS[name]).call(list(symbols)))

    is_tree = model.nq == model.nv and not model.names.constraints
    return DerivableFunction(
        "_".join((name, *frame)),
        tuple(inputs),
        tuple(kept),
        write,
        recursion if is_tree and name in _RECURSIONS else None,
    )


def step_function(model: Model, method: str) -> DerivableFunction:
    """Return the step (q, q̇, τ, t, dt, p) → (q, q̇) of a method as a derivable function."""
    equations = model.equations
    step = CompiledStep(equations, method, read_force_law(equations, None), kept=model.parameters)
    inputs, outputs, _ = step.ports
    return DerivableFunction(
        f"{method}_step",
        tuple(Port(name, shape) for name, _, shape in inputs),
        tuple(Port(name, shape) for name, _, shape in outputs[:2]),
        lambda: ([symbol for _, symbol, _ in inputs], [value for _, value, _ in outputs[:2]]),
    )
