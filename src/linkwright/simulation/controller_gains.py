"""Controllers that differ in their numbers only: one law, whose gains are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from ..types import SX, Floats
from .feedback import Feedback

Instruction = tuple[int, tuple[int, ...], tuple[int, ...]]
"""An operation of a law with the places of its operands and results."""


def share_controllers(laws: Sequence[Feedback]) -> tuple[Feedback | None, Floats]:
    """Return a controller with gains that stands for all of them, and its gains (runs, count).

    The controller is None where they differ in more than numbers.
    """
    first, nothing = laws[0], np.zeros((len(laws), 0))
    if any(law is not first for law in laws):
        functions = [law.law.expand() for law in laws]
        steps = [_instructions(function) for function in functions]
        kinds = [
            (law.names, law.period, law.sizes, law.follows, law.has_moving_reference)
            for law in laws
        ]
        for kind, own in zip(kinds, steps, strict=True):
            if (kind, own) != (kinds[0], steps[0]):
                return None, nothing
        constants = np.array([_constants(function) for function in functions])
        differ = np.flatnonzero((constants != constants[0]).any(axis=0))
        gains = ca.SX.sym("gains", len(differ))
        places = {int(k): place for place, k in enumerate(differ)}
        outputs, inputs = _law_with_gains(functions[0], places, gains)
        inputs[4] = ca.vertcat(inputs[4], gains)
        function = ca.Function("law", inputs, outputs)
        numbers = constants[:, differ]
        return replace(first, law=function, gains=tuple(numbers[0])), numbers
    return first, nothing


def _instructions(function: ca.Function) -> list[Instruction]:
    """Return the operations of a law without the values of its constants."""
    return [
        (
            function.instruction_id(k),
            tuple(function.instruction_input(k)),
            tuple(function.instruction_output(k)),
        )
        for k in range(function.n_instructions())
    ]


def _constants(function: ca.Function) -> list[float]:
    """Return the constants of a law in the order of its operations."""
    return [
        function.instruction_constant(k)
        for k in range(function.n_instructions())
        if function.instruction_id(k) == ca.OP_CONST
    ]


def _law_with_gains(
    function: ca.Function, places: dict[int, int], gains: SX
) -> tuple[list[SX], list[SX]]:
    """Return outputs and inputs of a law in which some constants, by their place, are gains."""
    inputs = [ca.SX.sym(f"i{k}", function.size1_in(k)) for k in range(function.n_in())]
    outputs = [ca.SX.zeros(function.size1_out(k)) for k in range(function.n_out())]
    work: dict[int, SX] = {}
    count = 0
    for operation, operands, results in _instructions(function):
        if operation == ca.OP_CONST:
            constant = ca.SX(_constants(function)[count])
            work[results[0]] = gains[places[count]] if count in places else constant
            count += 1
        elif operation == ca.OP_INPUT:
            work[results[0]] = inputs[operands[0]][operands[1]]
        elif operation == ca.OP_OUTPUT:
            outputs[results[0]][results[1]] = work[operands[0]]
        elif len(operands) == 2:
            work[results[0]] = ca.SX.binary(operation, work[operands[0]], work[operands[1]])
        else:
            work[results[0]] = ca.SX.unary(operation, work[operands[0]])
    return outputs, inputs
