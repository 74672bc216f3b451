"""Denavit–Hartenberg tables against their own definition, multiplied out in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import load

ROWS = [  # type, theta, d, a, alpha
    ("revolute", 0.3, 0.4, 0.1, 90.0),
    ("prismatic", -0.5, 0.2, -0.2, -90.0),
    ("revolute", 0.0, 0.0, 0.3, 37.5),
    ("revolute", 1.1, -0.1, 0.0, 180.0),
]


def translation(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def rotation(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def step(convention: str, row: tuple, q: float) -> np.ndarray:
    kind, theta, d, a, degrees = row
    alpha = np.radians(degrees)
    theta, d = (theta + q, d) if kind == "revolute" else (theta, d + q)
    turn, slide = rotation("z", theta), translation(0, 0, d)
    if convention == "standard":
        return turn @ slide @ translation(a, 0, 0) @ rotation("x", alpha)
    return rotation("x", alpha) @ translation(a, 0, 0) @ turn @ slide


def toml(convention: str) -> str:
    text = f"convention = '{convention}'\nname = 'test'\n"
    for kind, theta, d, a, alpha in ROWS:
        text += f"[[links]]\ntype = '{kind}'\ntheta = {theta}\nd = {d}\na = {a}\n"
        text += (
            f"alpha = '{alpha} deg'\nmass = 1.0\ncenter = [0.1, 0.2, 0.3]\ninertia = [1, 1, 1]\n"
        )
    return text


def table(convention: str) -> str:
    text = f"# convention: {convention}\n# name: test\n"
    text += "type,theta,d,a,alpha,mass,cx,cy,cz,Ixx,Iyy,Izz\n"
    for kind, theta, d, a, alpha in ROWS:
        text += f"{kind},{theta},{d},{a},{alpha} deg,1.0,0.1,0.2,0.3,1,1,1\n"
    return text


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("form", [toml, table])
def test_placements(convention: str, form) -> None:
    model = lw.compile(load(form(convention)))
    for seed in range(3):
        q = np.random.default_rng(seed).uniform(-1, 1, 4)
        T = np.eye(4)
        for i, row in enumerate(ROWS):
            T = T @ step(convention, row, q[i])
            np.testing.assert_allclose(model.placement(f"link{i + 1}")(q), T, atol=1e-14)


def test_both_forms_are_one() -> None:
    assert load(toml("standard")) == load(table("standard"))


def test_the_convention_must_be_said() -> None:
    silent = toml("standard").replace("convention = 'standard'\n", "")
    for text in (silent, toml("craig")):
        with pytest.raises(LinkwrightError, match="convention"):
            load(text)
    assert load(silent, convention="standard") == load(toml("standard"))
    with pytest.raises(LinkwrightError, match="Denavit"):
        load("[bodies.a]\n", convention="standard")


def test_right_angles_stay_exact() -> None:
    eqs = lw.derive(lw.gallery("puma560"), parameters="symbolic")
    assert not [name for name in eqs.parameters if name.startswith(("roll", "pitch", "yaw"))]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("# convention: standard\ntype,alpha\nrevolute\n", "cells"),
        ("# convention: standard\nalpha,colour\n0,red\n", "unknown key 'colour'"),
        ("# convention: standard\nalpha,mass\n0,2 m\n", "is in m"),
    ],
)
def test_broken_tables(text: str, what: str) -> None:
    with pytest.raises(LinkwrightError, match=what):
        load(text)
