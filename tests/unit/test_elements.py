"""Forces, constraints and loops: checked when read, refused by `compile` until it treats them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import MechanismError

Change = Callable[[dict[str, Any]], Any]

ARM: dict[str, Any] = {
    "parameters": {"m1": 1.0, "l": "250 mm"},
    "bodies": {"a": {"mass": "m1"}, "b": {"mass": 2}},
    "joints": {
        "q1": {"type": "revolute", "child": "a"},
        "q2": {"type": "prismatic", "parent": "a", "child": "b"},
    },
    "frames": {"tip": {"body": "b", "origin": [0.1, 0, 0]}},
}


def changed(change: Change) -> dict[str, Any]:
    fields = dict(ARM)
    change(fields)
    return fields


def spring(**fields: Any) -> Change:
    return lambda f: f.update(
        forces={"s": {"type": "spring", "between": ["ground", "tip"], **fields}}
    )


def wrench(**fields: Any) -> Change:
    return lambda f: f.update(forces={"s": {"type": "wrench", "on": "tip", **fields}})


def equation(**fields: Any) -> Change:
    return lambda f: f.update(constraints={"s": {"type": "equation", **fields}})


def coupling(**fields: Any) -> Change:
    fields = {"joint": "q1", "other": "q2", "coefficients": [0, 1], **fields}
    return lambda f: f.update(constraints={"s": {"type": "coupling", **fields}})


REFUSALS: list[tuple[Change, str, str, str]] = [
    (spring(between=["zz", "a"]), "forces.s.between[0]", "unknown body or frame 'zz'", "tip"),
    (spring(between=["a", "a"]), "forces.s.between", "the same", "two points"),
    (spring(between=["a"]), "forces.s.between[1]", "is missing", "give it"),
    (spring(between=["a", "b", "tip"]), "forces.s.between", "has 3 entries", "give 2"),
    (spring(between="ab"), "forces.s.between", "is not a list", ""),
    (spring(stiffness="3 kg"), "forces.s.stiffness", "is in kg", "kg/s^2"),
    (spring(stiffness="foo*3"), "forces.s.stiffness", "'foo', which is not given", "parameters"),
    (spring(stiffness="3*"), "forces.s.stiffness", "missing at the end", ""),
    (spring(stiffness="1e400"), "forces.s.stiffness", "not a finite", ""),
    (spring(damping=-1), "forces.s.damping", "negative", "zero or more"),
    (spring(length=-1), "forces.s.length", "negative", "zero or more"),
    (wrench(on="tp"), "forces.s.on", "unknown body or frame 'tp'", "'tip'"),
    (wrench(on="ground"), "forces.s.on", "does not move", ""),
    (wrench(axes="z"), "forces.s.axes", "unknown body or frame 'z'", "tip"),
    (wrench(force=["q9", 0, 0]), "forces.s.force[0]", "'q9', which is not given", "q1, dq1"),
    (wrench(moment=[0, "3 N", 0]), "forces.s.moment[1]", "is in", "kg*m^2/s^2"),
    (wrench(force=["l*2", 0, 0]), "forces.s.force[0]", "is in m", "kg*m/s^2"),
    (wrench(force=["1e99", 0, 0]), "forces.s.force[0]", "too large", ""),
    (equation(), "constraints.s", "neither", "one of them"),
    (equation(position="q1", velocity="dq1"), "constraints.s", "both", "one of them"),
    (equation(position="q1 - q3"), "constraints.s.position", "'q3', which is not given", "q1, dq1"),
    (equation(position="q1 - dq2"), "constraints.s.position", "uses a speed", "velocity"),
    (equation(position="t - l"), "constraints.s.position", "uses no coordinate", ""),
    (equation(position="q1*(l + m1*0 + l^2)"), "constraints.s.position", "adds m to m^2", ""),
    (equation(velocity="q1"), "constraints.s.velocity", "uses no velocity", "dq1"),
    (equation(velocity="dq1*dq2"), "constraints.s.velocity", "not linear", "linear"),
    (equation(velocity="q1/dq1"), "constraints.s.velocity", "not linear", "linear"),
    (equation(velocity="sin(dq1)"), "constraints.s.velocity", "not linear", "linear"),
    (coupling(joint="nojoint"), "constraints.s.joint", "unknown joint 'nojoint'", "q1"),
    (coupling(other="q1"), "constraints.s.other", "the joint itself", "another"),
    (coupling(other=None), "constraints.s", "no other joint", "one coefficient"),
    (coupling(coefficients=3), "constraints.s.coefficients", "is not a list", "[c0"),
    (coupling(coefficients=[0, "1 m"]), "constraints.s.coefficients[1]", "is in m", "1/m"),
]


@pytest.mark.parametrize(("change", "where", "what", "remedy"), REFUSALS)
def test_refusals_name_place_and_remedy(change: Change, where: str, what: str, remedy: str) -> None:
    with pytest.raises(MechanismError) as caught:
        lw.Mechanism(**changed(change))
    assert caught.value.where == where
    assert what in caught.value.what
    assert remedy in caught.value.remedy


@pytest.mark.parametrize(
    "change",
    [
        spring(stiffness="2*m1", length="l"),
        wrench(force=["m1*sin(t)", "-3*dq1*q2", 0], moment=[0, 0, "2 N*m"], axes="a"),
        equation(position="q2 - l*sin(q1) + t"),
        equation(velocity="-sin(q1)*dq1 + 3*(dq2/l - 2) + t"),
        coupling(coefficients=["1 deg", "2 rad/m", "3 rad/m^2"]),
    ],
)
def test_what_makes_sense_is_accepted(change: Change) -> None:
    lw.Mechanism(**changed(change))


def test_coordinates_and_speeds_of_forces_by_name() -> None:
    kinds = {"c": "cylindrical", "s": "spherical", "q": "revolute", "dq": "revolute"}
    fields: dict[str, Any] = {
        "bodies": {f"b{name}": {} for name in kinds},
        "joints": {name: {"type": kind, "child": f"b{name}"} for name, kind in kinds.items()},
    }

    def mechanism(force: str) -> lw.Mechanism:
        forces = {"f": {"type": "wrench", "on": "bc", "force": [force, 0, 0]}}
        return lw.Mechanism(**fields, forces=forces)

    mechanism("c.x + dc.phi + s.qw + s.wx + q + ddq")
    with pytest.raises(MechanismError, match="'dq' is a speed of joint 'q' and a coordinate"):
        mechanism("dq")
    with pytest.raises(MechanismError, match=r"'ds\.wx', which is not given"):
        mechanism("ds.wx")
