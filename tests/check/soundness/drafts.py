"""Drafts of random mechanisms: the file and its reference, with names that collide."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import linkwright as lw
from tests.references.reference_mechanics import RefBody
from tests.references.trig_polynomials import Poly, var

F = Fraction
NASTY = (
    "L", "eps", "m", "d", "T", "g2", "x1", "tau", "M11", "K", "V", "C", "f1", "J", "p1", "H", "E", "U", "P",
    "D", "c1", "s1", "phi", "K1", "v1", "w", "lambda1", "tau1", "M12", "phi1", "G", "c112", "Q1", "J11", "y2",
)  # fmt: skip
LETTERS = (
    "a",
    "b",
    "c",
    "h",
    "k",
    "n",
    "r",
    "s",
    "u",
    "w",
    "alpha",
    "beta",
    "mu",
    "rho",
    "lc",
    "ls",
)


@dataclass
class Draft:
    """A mechanism in the making: what the file says, and the same by our own mechanics."""

    draw: random.Random
    names: list[str]
    spatial: bool = False
    said: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Fraction | str] = field(default_factory=dict)
    bodies: list[RefBody] = field(default_factory=list)
    joints: dict[str, dict[str, int]] = field(
        default_factory=dict
    )  # as linear forms of coordinates
    springs: Poly = field(default_factory=Poly)
    forces: dict[str, Poly] = field(default_factory=dict)
    rotors: dict[str, Poly] = field(default_factory=dict)

    def parameter(self, hint: str, low: float = 0.2, high: float = 2.0) -> str:
        """A new parameter: the name that is wished for, or the next of the pool."""
        name = self.names.pop() if self.names else hint
        while name in self.parameters or name in self.joints:
            name += "z"
        self.parameters[name] = F(round(self.draw.uniform(low, high), 2)).limit_denominator(100)
        return name


def coordinate_names(draw: random.Random, n: int) -> list[str]:
    """q1, q2, q3 in order or not, other letters, or letters with an index that is not their place."""
    pools = [
        [f"q{i + 1}" for i in range(n)],
        [f"q{n - i}" for i in range(n)],
        [f"theta{i + 1}" for i in range(n)],
        draw.sample(["x", "y", "theta", "phi", "psi", "s", "z"], n),
        [f"q{i + 2}" for i in range(n)],
        [f"p{i + 1}" for i in range(n)],
        draw.sample(["x2", "x1", "q2", "theta", "g1", "v"], n),
    ]
    return draw.choice(pools)


def linear(form: dict[str, int]) -> Poly:
    return sum((var(name) * x for name, x in form.items()), Poly())


def mechanism(name: str, draft: Draft) -> lw.Mechanism:
    numbers = {key: x if isinstance(x, str) else str(x) for key, x in draft.parameters.items()}
    return lw.Mechanism(name=name, parameters=numbers, **draft.said)
