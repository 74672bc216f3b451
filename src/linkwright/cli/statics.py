"""`linkwright equilibrium` and `linkwright linearize`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError
from ..mechanism import Mechanism, names_of
from ..mechanism.units import coordinate_units
from ..simulation import Equilibrium, equilibria, equilibrium, linearize
from .inputs import numbers
from .show import (
    CheckFailedError,
    clean,
    emit_json,
    figure,
    print_table,
    with_unit,
    working,
    write_file,
)


def rest(mechanism: Mechanism, start: list[str], drives: list[str], as_json: bool) -> None:
    torque = numbers(mechanism, drives, "torque") or None
    with working(f"looking for rest of {mechanism.name}"):
        if start:
            found = [equilibrium(mechanism, numbers(mechanism, start), torque)]
        else:
            found = equilibria(mechanism, torque)
    if not found:
        raise CheckFailedError(
            "no rest was found", where=mechanism.name, remedy="give a start, or forces that hold it"
        )
    if as_json:
        emit_json([_plain(one) for one in found])
        return
    names = names_of(mechanism)
    rows = [
        [one.kind, *map(figure, one.q), ", ".join(map(figure, one.frequencies))] for one in found
    ]
    print_table(
        ["kind", *with_unit(names.q, coordinate_units(mechanism)), "frequencies (rad/s)"], rows
    )
    if any((one.frequencies < 0).any() for one in found):
        print("a frequency below zero is the rate at which a motion runs away")
    for one in found if len(found) == 1 else []:
        shapes = zip(names.qd, one.modes, strict=True)
        print_table(
            ["mode", *(f"{f:.6g} rad/s" for f in one.frequencies)],
            [[name, *(f"{x:.6f}" for x in clean(row))] for name, row in shapes],
        )


def _plain(one: Equilibrium) -> dict[str, Any]:
    return {
        "kind": one.kind, "q": one.q.tolist(), "independent": list(one.names),
        "frequencies": one.frequencies.tolist(), "modes": one.modes.tolist(),
        "mass": one.mass.tolist(), "damping": one.damping.tolist(),
        "stiffness": one.stiffness.tolist(),
    }  # fmt: skip


def linear(
    mechanism: Mechanism,
    state: list[str],
    speeds: list[str],
    drives: list[str],
    outputs: str,
    output: Path | None,
    as_json: bool,
) -> None:
    if output is not None and output.suffix != ".npz":
        raise FileError(f"'{output}' is no .npz", remedy="name such a file")
    wanted = outputs.split(",") if outputs else None
    found = linearize(
        mechanism,
        numbers(mechanism, state),
        numbers(mechanism, speeds, "qd0") or None,
        numbers(mechanism, drives, "torque") or None,
        outputs=wanted,
    )
    matrices = {"A": found.A, "B": found.B, "C": found.C, "D": found.D}
    if output is not None:
        buffer = io.BytesIO()
        labels = {"states": found.states, "inputs": found.inputs, "outputs": found.outputs}
        everything: dict[str, Any] = {**matrices, **labels}
        np.savez(buffer, **everything)
        write_file(output, buffer.getvalue())
    values = sorted(found.eigenvalues.tolist(), key=lambda x: (x.real, x.imag))
    if as_json:
        emit_json(
            {key: matrix.tolist() for key, matrix in matrices.items()}
            | {"states": found.states, "inputs": found.inputs, "outputs": found.outputs,
               "eigenvalues": [[x.real, x.imag] for x in values],
               "frequencies": found.frequencies.tolist(), "damping": found.damping.tolist(),
               "file": str(output or "")}
        )  # fmt: skip
        return
    for key, heads, names in (
        ("A", found.states, found.states), ("B", found.inputs, found.states),
        ("C", found.states, found.outputs), ("D", found.inputs, found.outputs),
    ):  # fmt: skip
        rows = [[n, *map(figure, row)] for n, row in zip(names, matrices[key], strict=True)]
        print_table([key, *heads], rows)
        print()
    print("eigenvalues (1/s): " + ", ".join(f"{x:.6g}" for x in values))
    pairs = zip(found.frequencies, found.damping, strict=True)
    if len(found.frequencies):
        swings = "; ".join(f"{w:.6g}, {d:.4g}" for w, d in pairs)
        print(f"frequencies (rad/s), damping: {swings}")
