"""Mechanisms: what is refused, with which words, and what can be changed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import MechanismError, NameNotFoundError, UnphysicalWarning
from linkwright.expressions import Number, parse

ARM: dict[str, Any] = {
    "parameters": {"m1": 1.0, "l": "250 mm", "I": "m1*l^2/12"},
    "bodies": {
        "a": {"mass": "m1", "center": ["l/2", 0, 0], "inertia": {"zz": "I"}},
        "b": {"mass": 2, "inertia": [1, 1, 1]},
    },
    "joints": {
        "q1": {"type": "revolute", "child": "a"},
        "q2": {"type": "prismatic", "parent": "a", "child": "b"},
    },
    "frames": {"tip": {"body": "b", "origin": [0.1, 0, 0]}},
}


def changed(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    fields = copy.deepcopy(ARM)
    change(fields)
    return fields


REFUSALS: list[tuple[Callable[[dict[str, Any]], Any], str, str, str]] = [
    (lambda f: f["bodies"]["a"].update(mas=1), "bodies.a", "unknown key 'mas'", "'mass'"),
    (lambda f: f["bodies"]["a"].update(mass=-1), "bodies.a.mass", "negative (-1 kg)", "zero or more"),
    (lambda f: f["bodies"]["a"].update(mass="30 deg"), "bodies.a.mass", "radians", "kg"),
    (lambda f: f["bodies"]["a"].update(mass="l"), "bodies.a.mass", "is in m", "kg"),
    (lambda f: f["bodies"]["a"].update(mass="m7"), "bodies.a.mass", "'m7', which is not given", "m1"),
    (lambda f: f["bodies"]["a"].update(mass="x +"), "bodies.a.mass", "missing at the end", ""),
    (lambda f: f["bodies"]["a"].update(mass=None), "bodies.a.mass", "is no number", "expression"),
    (lambda f: f["bodies"]["a"].update(mass=float("nan")), "bodies.a.mass", "no finite", ""),
    (lambda f: f["bodies"]["a"].update(center=[1, 2]), "bodies.a.center", "2 numbers", "3"),
    (lambda f: f["bodies"]["a"].update(inertia={"xyz": 1}), "bodies.a.inertia", "unknown key", ""),
    (lambda f: f["parameters"].update(m1="I"), "parameters.m1", "m1 -> I -> m1", "number"),
    (lambda f: f["parameters"].update(k="zz"), "parameters.k", "'zz', which is not given", ""),
    (lambda f: f["parameters"].update(k="l + 3 kg"), "parameters.k", "units go behind", ""),
    (lambda f: f["parameters"].update(k="2 kg", h="k + l"), "parameters.h", "adds kg to m", ""),
    (lambda f: f["parameters"].update(pi=3), "parameters", "3.14159", "otherwise"),
    (lambda f: f["joints"]["q1"].update(axis=[0, 0, 0]), "joints.q1.axis", "is zero", "direction"),
    (lambda f: f["joints"]["q1"].update(type="hinge"), "joints.q1.type", "no joint type", "revolute"),
    (lambda f: f["joints"]["q1"].update(child="c"), "joints.q1.child", "no body 'c'", "known"),
    (lambda f: f["joints"]["q1"].update(child="ground"), "joints.q1", "ground is the child", "swap"),
    (lambda f: f["joints"]["q2"].update(child="a"), "joints.q2", "parent and child", "two bodies"),
    (lambda f: f["joints"].pop("q1"), "bodies.a", "no chain of joints", "child = 'a'"),
    (lambda f: f["joints"].update(q3={"type": "fixed", "child": "a"}), "joints.q3", "child of joint 'q1'", "[loops]"),
    (lambda f: f["joints"]["q1"].update(damping="3 N"), "joints.q1.damping", "kg*m/s^2", "kg*m^2/s"),
    (lambda f: f["joints"]["q2"].update(damping="3 N*s/m", friction="1 N*m"), "joints.q2.friction", "is in", "kg*m/s^2"),
    (lambda f: f["joints"]["q1"].update(damping=[3, 4]), "joints.q1.damping", "2 numbers", "1"),
    (lambda f: f["joints"]["q1"].update(pitch=3), "joints.q1.pitch", "no meaning for a revolute", "remove"),
    (lambda f: f["joints"]["q1"].update(type="helical"), "joints.q1.pitch", "is missing", "m/rad"),
    (lambda f: f["joints"]["q1"].update(type="free", axis=[1, 0, 0]), "joints.q1.axis", "no meaning", "remove"),
    (lambda f: f["joints"]["q1"].update(type="free", stiffness=3), "joints.q1.stiffness", "quaternions", ""),
    (lambda f: f["joints"]["q1"].update(type="cylindrical", damping=3), "joints.q1.damping", "turn and slide", "2"),
    (lambda f: f["joints"]["q1"].update(type="planar", axis=[1, 0, 0]), "joints.q1.axis2", "along the normal", "plane"),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q1"}), "joints.q1.mimic.joint", "follows itself", ""),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q9"}), "joints.q1.mimic.joint", "no joint 'q9'", "q"),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q2"}, locked=1), "joints.q1", "locked and mimics", "choose"),
    (lambda f: f["joints"]["q1"].update(limits={"uper": 1}), "joints.q1.limits", "unknown key", "upper"),
    (lambda f: f["joints"]["q1"].update(origin={"rpy": [0, 0, 0], "quaternion": [1, 0, 0, 0]}), "joints.q1.origin", "both", "one"),
    (lambda f: f["frames"]["tip"].update(body="z"), "frames.tip.body", "no body 'z'", "known"),
    (lambda f: f["frames"].update(a={"body": "b"}), "frames.a", "is a body already", "otherwise"),
    (lambda f: f["bodies"].update(ground={}), "bodies", "fixed world", "otherwise"),
    (lambda f: f.update(gravity=3), "gravity", "no list", "3"),
    (lambda f: f.update(bodies=[3]), "bodies", "no table", "name"),
    (lambda f: f.update(colour="red"), "", "unknown key 'colour'", ""),
    (lambda f: f.update(forces={"f": {"type": "magnet"}}), "forces.f", "'magnet' is no type", "'spring'"),
    (lambda f: f.update(forces={"f": {"on": "tip"}}), "forces.f", "has no type", "type"),
    (lambda f: f["joints"]["q1"].pop("child"), "joints.q1.child", "is missing", "give it"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "what", "remedy"), REFUSALS)
def test_refusals_name_place_and_remedy(
    change: Callable[[dict[str, Any]], Any], where: str, what: str, remedy: str
) -> None:
    with pytest.raises(MechanismError) as caught:
        lw.Mechanism(**changed(change))
    error = caught.value
    assert error.where == where
    assert what in error.what or what in str(error)
    assert remedy in error.remedy
    assert "\n" not in str(error)


def test_a_part_alone_is_refused_too() -> None:
    with pytest.raises(MechanismError, match="unknown key 'wight'"):
        lw.Body(mass=1, wight=2)


def test_numbers_are_kept_exactly() -> None:
    arm = lw.Mechanism(**ARM)
    assert arm.values == {"m1": 1, "l": Fraction(1, 4), "I": Fraction(1, 192)}
    assert arm.bodies["a"].mass == parse("m1")
    assert lw.Body(mass=0.1).mass == Number(Fraction(1, 10))


def test_mechanisms_are_values() -> None:
    arm, same = lw.Mechanism(**ARM), lw.Mechanism(**ARM)
    assert arm == same
    assert hash(arm) == hash(same)
    assert arm.digest == same.digest
    assert pickle.loads(pickle.dumps(arm)) == arm
    swapped = {**ARM, "joints": dict(reversed(ARM["joints"].items()))}
    assert lw.Mechanism(**swapped) != arm, "the order of joints is the order of coordinates"
    with pytest.raises(Exception, match="frozen"):
        arm.name = "other"  # type: ignore[misc]


def test_order_is_depth_first_in_file_order() -> None:
    fields = {
        "bodies": {name: {"mass": 1} for name in "abcd"},
        "joints": {
            "to_c": {"type": "revolute", "parent": "a", "child": "c"},
            "to_d": {"type": "revolute", "child": "d"},
            "to_a": {"type": "revolute", "child": "a"},
            "to_b": {"type": "revolute", "parent": "a", "child": "b"},
        },
    }
    names = [name for name, _ in lw.Mechanism(**fields).joints_depth_first()]
    assert names == ["to_d", "to_a", "to_c", "to_b"]


def test_with_parameters() -> None:
    arm = lw.Mechanism(**ARM).with_parameters(m1=2.0, l="1 m")
    assert arm.values["I"] == Fraction(1, 6)
    with pytest.raises(NameNotFoundError, match="'m2' is no parameter"):
        arm.with_parameters(m2=1)


def test_without() -> None:
    fields = changed(lambda f: f["joints"]["q1"].update(damping=1, friction=2, stiffness=3, rest=1))
    arm = lw.Mechanism(**fields).without("friction", "springs", "gravity")
    joint = arm.joints["q1"]
    assert joint.damping == Number(Fraction(1))
    assert joint.friction == joint.stiffness == Number(Fraction(0))
    assert all(g == Number(Fraction(0)) for g in arm.gravity)
    with pytest.raises(NameNotFoundError, match="nothing that can be taken out"):
        arm.without("fricton")


def test_reduced_locks_followers_too() -> None:
    fields = changed(
        lambda f: f["joints"].update(
            q3={"type": "revolute", "parent": "b", "child": "c", "mimic": {"joint": "q1", "multiplier": 2, "offset": "10 deg"}}
        )
    )  # fmt: skip
    fields["bodies"]["c"] = {"mass": 1, "inertia": [1, 1, 1]}
    arm = lw.Mechanism(**fields).reduced({"q1": "30 deg"})
    assert not arm.joints["q1"].moves
    assert not arm.joints["q3"].moves
    model = lw.compile(arm)
    assert model.q_names == ("q2",)
    with pytest.raises(NameNotFoundError, match="no joint 'q7'"):
        arm.reduced({"q7": 0})


def test_unphysical_inertia_warns_and_strict_refuses() -> None:
    text = "[bodies.a]\nmass = 1\ninertia = [1, 1, 3]\n[joints.q]\ntype = 'revolute'\nchild = 'a'\n"
    with pytest.warns(UnphysicalWarning, match="triangle inequality"):
        arm = lw.load(text)
    assert len(arm.warnings) == 1
    with pytest.raises(MechanismError, match="triangle inequality"):
        lw.load(text, strict=True)
    with pytest.warns(UnphysicalWarning, match="negative principal moment"):
        lw.load(text.replace("[1, 1, 3]", "[1, 1, -0.5]"))


@pytest.mark.parametrize(
    "inertia", ["{ zz = 1 }", "[1, 1, 2]", "[0, 0, 0]", "{ xx=2, yy=2, zz=2, xy=1 }"]
)
def test_physical_inertia_does_not_warn(inertia: str) -> None:
    text = (
        f"[bodies.a]\nmass = 1\ninertia = {inertia}\n[joints.q]\ntype = 'revolute'\nchild = 'a'\n"
    )
    assert lw.load(text, strict=True).warnings == ()


@pytest.mark.parametrize("table", ["loops", "constraints", "forces"])
def test_what_is_not_treated_yet_is_refused_by_name(table: str) -> None:
    extra: dict[str, Any] = {
        "loops": {"closing": {"type": "revolute", "parent": "ground", "child": "b"}},
        "constraints": {"gear": {"type": "coupling", "joint": "q1", "other": "q2", "coefficients": [0, 2]}},
        "forces": {"cable": {"type": "spring", "between": ["ground", "tip"], "stiffness": "10 N/m"}},
    }  # fmt: skip
    arm = lw.Mechanism(**ARM, **{table: extra[table]})
    assert lw.load(lw.files.write(arm, "toml")[0]) == arm  # type: ignore[attr-defined]
    for attempt in (lw.compile, lw.derive):
        with pytest.raises(lw.LinkwrightError, match=table):
            attempt(arm)


def test_error_keeps_its_parts() -> None:
    error = MechanismError("is wrong", where="a.b", remedy="do this")
    assert str(error) == "a.b: is wrong; do this"
    assert str(error.within("file.toml")) == "file.toml: a.b: is wrong; do this"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
