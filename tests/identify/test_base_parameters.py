"""Base parameters: counts of the literature, published grouping formulas, and random mechanisms."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

import linkwright as lw
from linkwright.expressions import parse_expression
from linkwright.formulations.base_inertial_parameters.exact_constants import (
    exact_base_parameter_values,
)
from linkwright.identify import base_parameters
from tests.commands import ok, run
from tests.random_trees import KINDS, RandomTree, trees
from tests.robots import path_of

LETTERS = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")


def khalil_arm(tmp_path: Path, rows: list[tuple[str, str, str]], seed: int = 0) -> lw.Mechanism:
    """An arm in Khalil's frames (a, alpha, d of each link), every inertial number other than 0."""
    rng = np.random.default_rng(seed)
    text = 'convention = "modified"\nname = "arm"\ngravity = [0, 0, -9.81]\n'
    for a, alpha, d in rows:
        n = rng.uniform(0.2, 0.9, 10).round(3)
        text += f'[[links]]\na = {a}\nalpha = "{alpha} deg"\nd = {d}\nmass = {n[0]}\n'
        text += f"center = [{n[1]}, {n[2]}, {n[3]}]\n"
        moments = zip(("xx", "yy", "zz", "xy", "xz", "yz"), n[4:], strict=True)
        text += f"inertia = {{ {', '.join(f'{key} = {x}' for key, x in moments)} }}\n"
    path = tmp_path / "arm.dh.toml"
    path.write_text(text, encoding="utf-8")
    return lw.load(path)


PUMA = [
    ("0", "0", "0"), ("0", "-90", "0"), ("0.4318", "0", "0.15005"), ("0.0203", "-90", "0.4318"),
    ("0", "90", "0"), ("0", "-90", "0"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("elbow", 6),  # 3n: axes are parallel, in a field of weight
        ("chain-6", 18),
        ("puma560", 36),  # Gautier and Khalil; Mayeda, Yoshida and Osuka
        ("six-axis", 36),
        ("seven-axis", 43),  # 7n − 6
        ("stanford", 33),
        ("stanford-rrp", 10),
        ("cartesian", 2),  # masses alone
        ("cart-pole", 4),
        ("quadruped", 94),  # 10 of the trunk, 7 for every joint
    ],
)
def test_counts(name: str, count: int) -> None:
    found = base_parameters(lw.gallery(name))
    assert found.rank == found.rank_of_values == len(found) == count
    bodies = len(lw.compile(lw.gallery(name)).inertial_parameters) // 10
    assert len({*found.kept, *found.grouped, *found.without_effect}) == 10 * bodies


def test_weight_tells_more() -> None:
    assert base_parameters(lw.gallery("elbow").without("gravity")).rank == 4


def test_the_elbow() -> None:
    found = str(base_parameters(lw.gallery("elbow")))
    assert "MXR_link1 = MX_link1 + l1*M_link2 = 1.5\n" in found
    assert "ZZR_link1 = ZZ_link1 + l1^2*M_link2 = 1.3333" in found
    assert "ZZ_link2  = ZZ_link2 = 0.3333" in found


def test_which_of_the_puma_are_kept(tmp_path: Path) -> None:
    """ZZ of link 1, and all but M, MZ and YY of the others: Gautier and Khalil's choice."""
    kept = base_parameters(khalil_arm(tmp_path, PUMA)).kept
    others = [f"{x}_link{j}" for j in range(2, 7) for x in LETTERS if x not in ("M", "MZ", "YY")]
    assert set(kept) == {"ZZ_link1", *others}


def gautier_khalil(
    own: list[dict[str, Fraction]], rows: list[tuple[str, str, str]]
) -> list[dict[str, Fraction]]:
    """The printed relations of turning joints (Gautier and Khalil 1990), from the tip inward."""
    turns = {"0": (1, 0), "90": (0, 1), "-90": (0, -1)}
    for j in range(len(own) - 1, -1, -1):
        link = own[j]
        M, MZ, YY = link["M"], link["MZ"], link["YY"]
        link |= {"XX": link["XX"] - YY, "YY": Fraction(0), "MZ": Fraction(0), "M": Fraction(0)}
        if j == 0:
            break
        d, (C, S), r = Fraction(rows[j][0]), turns[rows[j][1]], Fraction(rows[j][2])
        gain = {
            "XX": YY + 2 * r * MZ + r * r * M,
            "XY": d * S * MZ + d * r * S * M,
            "XZ": -d * C * MZ - d * r * C * M,
            "YY": C * C * YY + 2 * r * C * C * MZ + (d * d + r * r * C * C) * M,
            "YZ": C * S * YY + 2 * r * C * S * MZ + r * r * C * S * M,
            "ZZ": S * S * YY + 2 * r * S * S * MZ + (d * d + r * r * S * S) * M,
            "MX": d * M,
            "MY": -S * MZ - r * S * M,
            "MZ": C * MZ + r * C * M,
            "M": M,
        }
        for letter, more in gain.items():
            own[j - 1][letter] += more
    return own


def test_the_published_relations(tmp_path: Path) -> None:
    arm = khalil_arm(tmp_path, PUMA)
    found = base_parameters(arm)
    eqs = lw.derive(arm)
    values = exact_base_parameter_values(eqs, eqs.inertial_parameters)
    own = [dict(zip(LETTERS, values[10 * j : 10 * j + 10], strict=True)) for j in range(6)]
    printed = gautier_khalil(own, PUMA)
    for parameter in found.parameters.values():
        letter, body = parameter.kept.split("_link")
        assert parameter.value == printed[int(body) - 1][letter]


def test_a_slide_gives_its_tensor_to_the_parent() -> None:
    found = base_parameters(lw.gallery("stanford-rrp")).parameters
    assert found["ZZR_link1"].formula == parse_expression("ZZ_link1 + YY_link2 + ZZ_link3")
    assert found["M_link3"].factors == {}


def numeric(tree: RandomTree, count: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """The regressor at random states, in floating point, and π."""
    eqs = lw.derive(tree.mechanism, parameters="numeric")
    function = eqs.function("regressor")
    Y = np.vstack([np.array(function(*tree.state(k))) for k in range(count)])
    return Y, np.array(ca.DM(eqs.inertial_parameters)).ravel()


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(tree=trees(max_bodies=4, losses=False, motors=False, kinds=KINDS))
def test_random_trees(tree: RandomTree) -> None:
    """The field's rank is that of singular values, and the base parameters give the same forces."""
    found = base_parameters(tree.mechanism)
    Y, pi = numeric(tree)
    assert found.rank == np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y, 2))
    bodies = lw.derive(tree.mechanism).names.bodies
    names = [f"{letter}_{body}" for body in bodies for letter in LETTERS]
    values = [float(parameter.value) for parameter in found.parameters.values()]
    forces = Y[:, [names.index(name) for name in found.kept]] @ values
    assert np.abs(forces - Y @ pi).max() <= 1e-10 * np.abs(Y @ pi).max()


def pair(**second: object) -> lw.Mechanism:
    body = {"mass": 1.5, "center": [0.1, 0.2, 0.3], "inertia": {"xx": 2, "yy": 2.5, "zz": 3}}
    first = {"type": "revolute", "child": "a", "axis": [7, 24, 0]}
    joints = {"one": first, "two": {"parent": "a", "child": "b", "origin": [0.5, 0, 0], **second}}
    return lw.Mechanism(
        name="pair", gravity=[1, 2, 3], bodies={"a": body, "b": body}, joints=joints
    )


def test_numbers_that_are_special_are_told() -> None:
    """Axes that are parallel by their numbers, not by structure."""
    found = base_parameters(pair(type="revolute", axis=[7, 24, 0]))
    assert found.rank_of_values == 6 < found.rank
    assert "the rank is 6" in str(found)


def test_angles_that_are_special_are_told() -> None:
    """Two turns that undo each other, by their numbers."""
    body = {"mass": 1.5, "center": [0.1, 0.2, 0.3], "inertia": {"xx": 2, "yy": 2.5, "zz": 3}}
    joints = {
        "one": {"type": "revolute", "child": "a"},
        "held": {"type": "fixed", "parent": "a", "child": "b", "origin": {"rpy": [0.3, 0, 0]}},
        "two": {
            "type": "revolute", "parent": "b", "child": "c",
            "origin": {"xyz": [0.5, 0, 0], "rpy": [-0.3, 0, 0]},
        },
    }  # fmt: skip
    bodies = dict.fromkeys("abc", body)
    arm = lw.Mechanism(name="arm", gravity=[1, 2, 3], bodies=bodies, joints=joints)
    found = base_parameters(arm)
    assert found.rank_of_values == 6 < found.rank


def test_what_does_not_move_is_refused() -> None:
    still = lw.Mechanism(
        name="still", bodies={"a": {"mass": 1}}, joints={"f": {"type": "fixed", "child": "a"}}
    )
    with pytest.raises(lw.LinkwrightError, match="still has no degrees of freedom"):
        base_parameters(still)


@pytest.mark.parametrize(("file", "count"), [("ur5_robot.urdf", 36), ("panda.urdf", 48)])
def test_public_robots(file: str, count: int) -> None:
    """The Panda's fingers follow each other: 43 of the arm, two masses, one first moment."""
    found = base_parameters(lw.load(path_of(file)))
    assert found.rank == found.rank_of_values == count
    assert not found.shared


def test_a_follower_moves_with_its_leader() -> None:
    arm = pair(type="revolute", axis=[0, 0, 1], mimic={"joint": "one", "multiplier": 2})
    found = base_parameters(arm)
    eqs = lw.derive(arm, parameters="numeric")
    function, rng = eqs.function("regressor"), np.random.default_rng(0)
    Y = np.vstack([np.array(function(*rng.uniform(-2, 2, (3, 1)))) for _ in range(60)])
    assert found.rank == np.linalg.matrix_rank(Y, tol=1e-9 * np.linalg.norm(Y, 2))


def test_the_command() -> None:
    assert "cart-pole: 4 base parameters of 20" in ok("base", "cart-pole")
    found = json.loads(ok("base", "elbow", "--json"))
    assert found["rank"] == 6
    assert found["base_parameters"]["MXR_link1"]["factors"] == {"M_link2": "l1"}
    failed = run("base", "four-bar")
    assert failed.returncode == 2
    assert "has loops or constraints" in failed.stderr


def test_the_guides_run() -> None:
    """The Python of the guides, and what they say of the elbow."""
    guides = Path(__file__).parents[2] / "docs/how-to"
    page, other = (
        (guides / name).read_text(encoding="utf-8")
        for name in ("base-parameters.md", "regressors.md")
    )
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page + other, re.S):
        exec(compile(block, "base-parameters.md", "exec"), names)
    assert names["found"].rank == 36
    assert names["six"].rank == 5
    (shown,) = re.findall(r"\$ linkwright base elbow\n(.*?)without", page, re.S)
    assert str(base_parameters(lw.gallery("elbow"))).startswith(shown)
