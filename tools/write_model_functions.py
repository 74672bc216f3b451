"""Write the modules of `linkwright.model.functions` from the table of quantities.

An editor sees only what stands in the source: so every compiled function of a model is declared
as a method with named arguments, shapes and units. Run this after a change of the table
`linkwright.quantities`; a test compares the files with the table.

    python tools/write_model_functions.py
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from linkwright.quantities import (
    ACTUATED_SIGNATURES,
    CONSTRAINED_SIGNATURES,
    INPUT_MEANINGS,
    INPUT_SHAPES,
    MOVING_SIGNATURES,
    SIGNATURES,
    QuantitySignature,
)

FOLDER = Path(__file__).parents[1] / "src/linkwright/model/functions"

SUBJECTS = {
    "dynamics": (
        "DynamicsFunctions",
        "Inverse and forward dynamics, their derivatives, and joint reactions",
        (
            "inverse_dynamics", "forward_dynamics", "inverse_dynamics_with_wrenches",
            "forward_dynamics_with_wrenches", "inverse_dynamics_derivatives",
            "forward_dynamics_derivatives", "reactions", "body_reactions", "reactions_of_motion",
        ),
    ),
    "terms": (
        "TermFunctions",
        "Terms of the equation of motion",
        (
            "mass_matrix", "mass_matrix_inverse", "coriolis_matrix", "gravity", "bias", "forces",
            "passive", "external", "input_matrix", "actuator_lengths",
        ),
    ),
    "states": (
        "StateFunctions",
        "Energies, terms of moving coordinates, and differences of configurations",
        (
            "kinetic_energy", "potential_energy", "jacobi_energy", "transport",
            "transport_momentum", "integrate", "difference",
        ),
    ),
    "momenta": (
        "MomentumFunctions",
        "Centres of mass, momentum, and regressors for inertial parameters",
        (
            "center_of_mass", "center_of_mass_jacobian", "subtree_centers_of_mass", "momentum",
            "centroidal_momentum_matrix", "centroidal_momentum_matrix_rate", "regressor",
            "control_regressor", "kinetic_energy_regressor", "potential_energy_regressor",
        ),
    ),
    "constraints": (
        "ConstraintFunctions",
        "Functions that only mechanisms with loops or constraints have",
        tuple(name for name in CONSTRAINED_SIGNATURES if name not in SIGNATURES),
    ),
}  # fmt: skip
"""Module: class, what it contains, and its functions."""

HEADER = '''"""{what}.

Written by tools/write_model_functions.py from the table `linkwright.quantities`: change that.
"""

# mypy: disable-error-code="empty-body"

from __future__ import annotations

{imports}from ...types import Floats, Output, VectorLike
from .compiled import compiled_method


class {name}:
    """{what}."""
'''

TREE_SIGNATURES = SIGNATURES | MOVING_SIGNATURES | ACTUATED_SIGNATURES
"""Functions of trees, those of moving coordinates and of actuators included."""

OPTIONAL = ("lambda", "t", "p")
"""Inputs that only some mechanisms have."""


def merged_inputs(name: str) -> list[str]:
    """Inputs of a function for trees and for constrained mechanisms, then t and p."""
    one = CONSTRAINED_SIGNATURES.get(name) or TREE_SIGNATURES[name]
    return [*one.inputs, "p"]


def argument(name: str) -> str:
    """The name of an input as Python allows it."""
    return f"{name}_" if name == "lambda" else name


def shape_text(shape: str) -> str:
    """The shape of an input or output over leading axes."""
    return f"(…, {shape.replace(',', ', ')})" if shape else "(…)"


def declared_signature(name: str, outputs: list[str]) -> str:
    arguments = ["self"]
    for key in merged_inputs(name):
        kind = "ArrayLike" if key == "t" else "VectorLike"
        optional = f"{kind} | None = None" if key in OPTIONAL else kind
        arguments.append(f"{argument(key)}: {optional}")
    arguments += ["*", "out: Output = None", "check: bool = False"]
    returned = "Floats" if len(outputs) == 1 else f"tuple[{', '.join(['Floats'] * len(outputs))}]"
    inner = "".join(f"        {one},\n" for one in arguments)
    return f"    @compiled_method\n    def {name}(\n{inner}    ) -> {returned}:\n"


def sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def summary(name: str) -> list[str]:
    """What the function is, for trees and, where that differs, under constraints."""
    whats = [
        table[name].description
        for table in (TREE_SIGNATURES, CONSTRAINED_SIGNATURES)
        if name in table
    ]
    lines = textwrap.wrap(f'"""{sentence(whats[0])}', 91)
    if len(set(whats)) > 1:
        lines += ["", *textwrap.wrap(f"Under constraints: {whats[1]}.", 91)]
    return lines


def docstring(name: str, signature: QuantitySignature, outputs: list[str]) -> str:
    shapes = INPUT_SHAPES | {"p": "parameters kept"}
    lines = [*summary(name), "", "Parameters", "----------"]
    for key in merged_inputs(name):
        meaning, units = INPUT_MEANINGS[key]
        form = "array" if key == "t" else "array, or table by name"
        lines.append(f"{argument(key)} : {shape_text(shapes[key])} {form}")
        lines.append(f"    {sentence(f'{meaning}; {units}')}")
    lines += ["out : array or tuple of arrays, optional", "    Where the result is written."]
    lines += ["check : bool", "    Raise an error where the state violates the constraints."]
    lines += ["", "Returns", "-------"]
    for key in outputs:
        lines.append(f"{key} : {shape_text(signature.outputs[key])} array")
    lines += [f"    Units: {signature.units}.", '"""']
    return textwrap.indent("\n".join(lines), " " * 8) + "\n"


def declaration(name: str) -> str:
    signature = CONSTRAINED_SIGNATURES.get(name) or TREE_SIGNATURES[name]
    outputs = [key for key in signature.outputs if key != "pivot"]
    return declared_signature(name, outputs) + docstring(name, signature, outputs)


def module_text(subject: str) -> str:
    """The source of the module of one subject."""
    name, what, functions = SUBJECTS[subject]
    declarations = [declaration(function) for function in functions]
    timed = any("ArrayLike |" in text for text in declarations)
    imports = "from numpy.typing import ArrayLike\n\n" if timed else ""
    parts = [HEADER.format(name=name, what=what, imports=imports), *declarations]
    return "\n".join(parts)


def main() -> None:
    for subject in SUBJECTS:
        (FOLDER / f"{subject}.py").write_text(module_text(subject), encoding="utf-8")


if __name__ == "__main__":
    main()
