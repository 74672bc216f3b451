"""The equations that papers print, kept as text beside the gallery's mechanisms, hold in numbers."""

from __future__ import annotations

from fractions import Fraction
from importlib.resources import files

import numpy as np
import pytest

import linkwright as lw
from linkwright.expressions import evaluate, parse

HOME = files("linkwright.mechanism.gallery")
FILES = sorted(entry.name for entry in HOME.iterdir() if entry.name.endswith(".equations.txt"))


def scope_of(name: str) -> dict[str, Fraction]:
    """Random parameters, state and accelerations, and all that follows from these."""
    rng = np.random.default_rng(3)
    arm = lw.gallery(name)
    free = {
        key: round(rng.uniform(0.5, 2), 3)
        for key in arm.parameters
        if key not in ("I1", "I2", "I3")
    }
    inertias = {
        key: round(rng.uniform(0.1, 0.5), 3) for key in arm.parameters if key in ("I1", "I2", "I3")
    }
    arm = arm.with_parameters(**free, **inertias)
    model = lw.compile(arm)
    q, v, a = rng.uniform(-1, 1, (3, model.nv))
    tau = np.linalg.solve(model.input_matrix(q), model.inverse_dynamics(q, v, a))
    M, C, h = model.mass_matrix(q), model.coriolis_matrix(q, v), 1e-6
    M_rate = (model.mass_matrix(q + h * v) - model.mass_matrix(q - h * v)) / (2 * h)
    known = {key: float(value) for key, value in arm.values.items()}
    for k, coordinate in enumerate(model.q_names):
        known |= {coordinate: q[k], f"d{coordinate}": v[k], f"dd{coordinate}": a[k]}
        known |= {f"tau{k + 1}": tau[k], f"phi{k + 1}": model.gravity(q)[k]}
        for j in range(model.nv):
            known |= {f"d{k + 1}{j + 1}": M[k, j], f"c{k + 1}{j + 1}": C[k, j]}
    if name == "triple-pendulum":
        for k, (p, rate) in enumerate(zip(M @ v, M @ a + M_rate @ v, strict=True), 1):
            known |= {f"p{k}": p, f"dp{k}": rate}
    return {key: Fraction(float(value)) for key, value in known.items()}


@pytest.mark.parametrize("file", FILES)
def test_printed_equations(file: str) -> None:
    scope = scope_of(file.removesuffix(".equations.txt"))
    lines = (HOME / file).read_text(encoding="utf-8").splitlines()
    checked = 0
    for line in (line for line in lines if line and not line.startswith("#")):
        is_misprint = line.startswith("!")
        _, equation = line.removeprefix("! ").split(" ", 1)
        left, right = (
            float(evaluate(parse(side.strip()), scope)) for side in equation.split(" = ")
        )
        holds = abs(left - right) < 1e-7 * max(1, abs(left))
        assert holds is not is_misprint, line
        checked += 1
    assert checked >= 2
