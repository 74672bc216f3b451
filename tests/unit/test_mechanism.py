"""Mechanisms: what is refused, with which words, and what can be changed."""

from __future__ import annotations

import copy
import pickle
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import MechanismError, NameNotFoundError, UnphysicalWarning
from linkwright.expressions import Number, parse_expression
from linkwright.mechanism import Joint, Mimic, PartTable
from linkwright.mechanism.validate.structure_checks import check_structure

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
    (lambda f: f["bodies"]["a"].update(mass=None), "bodies.a.mass", "is not a number", "expression"),
    (lambda f: f["bodies"]["a"].update(mass=float("nan")), "bodies.a.mass", "not a finite", ""),
    (lambda f: f["bodies"]["a"].update(center=[1, 2]), "bodies.a.center", "2 numbers", "3"),
    (lambda f: f["bodies"]["a"].update(inertia={"xyz": 1}), "bodies.a.inertia", "unknown key", ""),
    (lambda f: f["parameters"].update(m1="I"), "parameters.m1", "m1 -> I -> m1", "number"),
    (lambda f: f["parameters"].update(k="zz"), "parameters.k", "'zz', which is not given", ""),
    (lambda f: f["parameters"].update(k="l + 3 kg"), "parameters.k", "units follow", ""),
    (lambda f: f["parameters"].update(k="2 kg", h="k + l"), "parameters.h", "adds kg to m", ""),
    (lambda f: f["parameters"].update(pi=3), "parameters", "3.14159", "rename the parameter"),
    (lambda f: f["joints"]["q1"].update(axis=[0, 0, 0]), "joints.q1.axis", "is zero", "direction"),
    (lambda f: f["joints"]["q1"].update(type="hinge"), "joints.q1.type", "not a joint type", "revolute"),
    (lambda f: f["joints"]["q1"].update(child="c"), "joints.q1.child", "unknown body 'c'", "known"),
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
    (lambda f: f["joints"]["q1"].update(type="free", stiffness=3), "joints.q1.stiffness", "turn and slide", "a list of 6"),
    (lambda f: f["joints"]["q1"].update(type="cylindrical", damping=3), "joints.q1.damping", "turn and slide", "2"),
    (lambda f: f["joints"]["q1"].update(type="planar", axis=[1, 0, 0]), "joints.q1.axis2", "along the normal", "plane"),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q1"}), "joints.q1.mimic.joint", "follows itself", ""),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q9"}), "joints.q1.mimic.joint", "unknown joint 'q9'", "q"),
    (lambda f: f["joints"]["q1"].update(mimic={"joint": "q2"}, locked=1), "joints.q1", "locked and mimics", "choose"),
    (lambda f: f["joints"]["q1"].update(limits={"uper": 1}), "joints.q1.limits", "unknown key", "upper"),
    (lambda f: f["joints"]["q1"].update(origin={"rpy": [0, 0, 0], "quaternion": [1, 0, 0, 0]}), "joints.q1.origin", "both", "one"),
    (lambda f: f["frames"]["tip"].update(body="z"), "frames.tip.body", "unknown body 'z'", "known"),
    (lambda f: f["frames"].update(a={"body": "b"}), "frames.a", "is a body already", "rename the frame"),
    (lambda f: f["bodies"].update(ground={}), "bodies", "fixed world", "rename the body"),
    (lambda f: f.update(gravity=3), "gravity", "is not a list", "3"),
    (lambda f: f.update(bodies=[3]), "bodies", "is not a table", "name"),
    (lambda f: f.update(colour="red"), "", "unknown key 'colour'", ""),
    (lambda f: f.update(forces={"f": {"type": "magnet"}}), "forces.f", "'magnet' is not a type", "'spring'"),
    (lambda f: f.update(forces={"f": {"on": "tip"}}), "forces.f", "has no type", "type"),
    (lambda f: f["joints"]["q1"].pop("child"), "joints.q1.child", "is missing", "give it"),
    # axes, quaternions, positions
    (lambda f: f["joints"]["q1"].update(axis=["1 kg", 0, 0]), "joints.q1.axis", "units that a direction cannot have", "plain"),
    (lambda f: f["joints"]["q1"].update(axis=["l", "1 deg", 0]), "joints.q1.axis", "units that a direction cannot have", "lengths"),
    (lambda f: f["joints"]["q1"].update(type="universal", axis=[0, 1, 0]), "joints.q1.axis2", "parallel", "default: y"),
    (lambda f: f["joints"]["q1"].update(type="universal", axis=[1, 1, 0], axis2=[-3, -3, 0]), "joints.q1.axis2", "parallel", ""),
    (lambda f: f["joints"]["q1"].update(origin={"quaternion": [0, 0, 0, 0]}), "joints.q1.origin.quaternion", "is zero", "1, 0, 0, 0"),
    (lambda f: f["joints"]["q1"].update(child_origin={"quaternion": [0, "m1-m1", 0, 0]}), "joints.q1.child_origin.quaternion", "is zero", ""),
    (lambda f: f["frames"]["tip"].update(origin={"quaternion": [0, 0, 0, 0]}), "frames.tip.origin.quaternion", "is zero", ""),
    (lambda f: f["bodies"]["a"]["inertia"].update(quaternion=[0, 0, 0, 0]), "bodies.a.inertia.quaternion", "is zero", ""),
    (lambda f: f["joints"]["q1"].update(type="free", locked=[0] * 7), "joints.q1.locked", "is zero", ""),
    (lambda f: f["joints"]["q1"].update(type="spherical", locked=1), "joints.q1.locked", "one number", "list of 4"),
    (lambda f: f["joints"]["q1"].update(type="cylindrical", damping=1), "joints.q1.damping", "turn and slide", "2"),
    # sizes and signs
    (lambda f: f["bodies"]["a"].update(mass="1e400"), "bodies.a.mass", "not a finite", "1e+50"),
    (lambda f: f["bodies"]["a"].update(mass="1e200"), "bodies.a.mass", "too large (1e+200)", "1e+50"),
    (lambda f: f["joints"]["q1"].update(axis=[1e-200, 1e-200, 0]), "joints.q1.axis[0]", "too near zero", "write 0"),
    (lambda f: f["joints"]["q1"].update(limits={"upper": "1e400"}), "joints.q1.limits.upper", "not a finite", ""),
    (lambda f: f["parameters"].update(k="1e400"), "parameters.k", "no finite", ""),
    (lambda f: f["parameters"].update(k="1e-400"), "parameters.k", "too near zero", "write 0"),
    (lambda f: f["parameters"].update(k="exp(100)", h="k*k*k*k*k*k*k*k"), "parameters.h", "no finite", ""),
    (lambda f: f["joints"]["q1"].update(damping=-1), "joints.q1.damping", "negative (-1 N*m*s/rad)", "zero or more"),
    (lambda f: f["joints"]["q1"].update(friction=-1), "joints.q1.friction", "negative", ""),
    (lambda f: f["joints"]["q1"].update(smoothing=-1), "joints.q1.smoothing", "negative", ""),
    (lambda f: f["joints"]["q1"].update(motor={"inertia": -1}), "joints.q1.motor.inertia", "negative", ""),
    (lambda f: f["joints"]["q1"].update(limits={"effort": -1}), "joints.q1.limits.effort", "negative", ""),
    (lambda f: f["joints"]["q1"].update(limits={"lower": 1, "upper": "30 deg"}), "joints.q1.limits.lower", "above the upper", "swap"),
    (lambda f: f["joints"]["q2"].update(mimic={"joint": "q1", "multiplier": "1 kg"}), "joints.q2.mimic.multiplier", "kg", "in m"),
    *((lambda f, k=key, v=value: f["joints"]["q1"].update({"type": "fixed", k: v}), f"joints.q1.{key}", "no meaning for a fixed", "remove")
      for key, value in {"limits": {"lower": 0}, "smoothing": 1, "stiffness": 1, "rest": 1, "friction": 1, "motor": {}}.items()),
    # names
    *((lambda f, n=name: f["parameters"].update({n: 1}), "parameters", f"'{name}' cannot be used", "letter")
      for name in ("m 1", "2x", "", "sin", "m²", "a.b")),
    (lambda f: f["parameters"].update(q1=1), "parameters.q1", "a parameter and a coordinate of joint 'q1'", "rename the parameter"),
    (lambda f: f["parameters"].update(dq2=1), "parameters.dq2", "a parameter and a speed of joint 'q2'", "rename the parameter"),
    (lambda f: f["parameters"].update(t=1), "parameters.t", "a parameter and the time", "rename the parameter"),
    (lambda f: f["bodies"].update({"": {}}), "bodies", "empty name", "name"),
    (lambda f: f["joints"].update({" ": f["joints"].pop("q2")}), "joints", "empty name", "name"),
    (lambda f: f["frames"].update({"": {"body": "a"}}), "frames", "empty name", "name"),
    (lambda f: f["frames"].update(ground={"body": "a"}), "frames.ground", "fixed world", "rename the frame"),
    (lambda f: (f["joints"]["q1"].update(type="cylindrical"), f["joints"].update({"q1.x": f["joints"].pop("q2")})),
     "joints.q1.x", "'q1.x' is a coordinate of joint 'q1' already", "rename"),
    (lambda f: (f["joints"]["q1"].update(type="spherical"), f["joints"].update({"q1.wx": f["joints"].pop("q2")})),
     "joints.q1.wx", "'q1.wx' is a speed of joint 'q1' already", "rename"),
    # what is no number, table or text, in our words
    (lambda f: f["bodies"]["a"].update(inertia=3), "bodies.a.inertia", "3 is not a table", "[xx, yy, zz]"),
    (lambda f: f["joints"]["q1"].update(origin="x"), "joints.q1.origin", "'x' is not a table", "[x, y, z]"),
    (lambda f: f["bodies"].update(a=3), "bodies.a", "3 is not a table", "{ key = … }"),
    (lambda f: f.update(name=3), "name", "3 is not text", "quotes"),
    (lambda f: f["bodies"].update({3: {}}), "bodies[3]", "3 is not text", "quotes"),
    (lambda f: f["joints"]["q1"].update(type="free", rotation="euler"), "joints.q1.rotation", "'euler' is not known", "'cardan'"),
    (lambda f: f.update(forces={"s": 3}), "forces.s", "3 is not a table", ""),
    # loops
    (lambda f: f.update(loops={"c": {"type": "revolute", "parent": "a", "child": "a"}}), "loops.c", "parent and child", "two bodies"),
    (lambda f: f.update(loops={"c": {"type": "revolute", "child": "b", "mimic": {"joint": "q9"}}}), "loops.c.mimic", "has none", "remove"),
    (lambda f: f.update(loops={"c": {"type": "planar", "child": "b", "axis2": [0, 0, 1]}}), "loops.c.axis2", "along the normal", ""),
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


@pytest.mark.parametrize(
    "change",
    [
        {"limits": {"lower": -1.7e308, "upper": 1.7e308}},
        {"axis": ["l", 0, "3 mm"]},
        {"type": "turn-slide", "axis": [1, 0, 0]},
        {"origin": [5.8e-66, 0, 0]},
    ],
)
def test_what_makes_sense_is_accepted(change: dict[str, Any]) -> None:
    lw.Mechanism(**changed(lambda f: f["joints"]["q1"].update(change)))


def test_a_file_without_bodies_is_refused() -> None:
    with pytest.raises(MechanismError, match="has no bodies; add"):
        lw.load("name = 'nothing'\n")


def test_long_chains_of_parameters() -> None:
    chain = {f"p{i}": f"p{i + 1} + 1" for i in range(3000)} | {"p3000": 1}
    assert lw.Mechanism(parameters=chain).values["p0"] == 3001
    with pytest.raises(MechanismError, match="depends on itself"):
        lw.Mechanism(parameters=chain | {"p3000": "p0"})


def test_large_trees_are_checked_fast() -> None:
    """Searching names in lists would take minutes."""
    count, body = 5_000, lw.Body()
    joints = {
        f"j{i}": Joint.model_construct(
            type="revolute",
            parent=f"b{i - 1}" if i else "ground",
            child=f"b{i}",
            mimic=Mimic.model_construct(joint=f"j{i + 1}") if i < count - 1 else None,
        )
        for i in range(count)
    }
    bodies = PartTable({f"b{i}": body for i in range(count)})
    frames = PartTable(dict.fromkeys(map(str, range(100_000)), lw.Frame(body=f"b{count - 1}")))
    tree = lw.Mechanism.model_construct(bodies=bodies, joints=PartTable(joints), frames=frames)
    start = time.process_time()
    check_structure(tree)
    assert time.process_time() - start < 3


def test_a_part_alone_is_refused_too() -> None:
    with pytest.raises(MechanismError, match="unknown key 'wight'"):
        lw.Body(mass=1, wight=2)


def test_numbers_are_kept_exactly() -> None:
    arm = lw.Mechanism(**ARM)
    assert arm.values == {"m1": 1, "l": Fraction(1, 4), "I": Fraction(1, 192)}
    assert arm.bodies["a"].mass == parse_expression("m1")
    assert lw.Body(mass=0.1).mass == Number(Fraction(1, 10))


def test_mechanisms_are_values() -> None:
    arm, same = lw.Mechanism(**ARM), lw.Mechanism(**ARM)
    assert arm == same
    assert hash(arm) == hash(same)
    assert arm.digest == same.digest
    assert pickle.loads(pickle.dumps(arm)) == arm
    swapped = {**ARM, "joints": dict(reversed(ARM["joints"].items()))}
    assert lw.Mechanism(**swapped) != arm, "the order of joints is the order of coordinates"
    assert copy.copy(arm) == copy.deepcopy(arm) == arm
    with pytest.raises(Exception, match="frozen"):
        arm.name = "other"  # type: ignore[misc]


def test_copies_carry_nothing_stale() -> None:
    arm = lw.Mechanism(**ARM)
    assert arm.digest
    assert arm.values
    assert arm.warnings == ()
    heavy = arm.model_copy(update={"parameters": {**ARM["parameters"], "m1": 12}})
    assert heavy.digest != arm.digest
    assert heavy.values["I"] == Fraction(1, 16)
    assert arm.model_copy().digest == arm.digest
    assert "digest" not in pickle.loads(pickle.dumps(arm)).__dict__
    with pytest.raises(MechanismError, match="negative"):
        arm.model_copy(update={"bodies": {**ARM["bodies"], "a": {"mass": -1}}})
    assert arm.bodies["a"].model_copy(update={"mass": "2 kg"}).mass == parse_expression("2 kg")


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
    with pytest.raises(NameNotFoundError, match="'m2' is not a parameter"):
        arm.with_parameters(m2=1)


def test_without() -> None:
    fields = changed(lambda f: f["joints"]["q1"].update(damping=1, friction=2, stiffness=3, rest=1))
    arm = lw.Mechanism(**fields).without("friction", "springs", "gravity")
    joint = arm.joints["q1"]
    assert joint.damping == Number(Fraction(1))
    assert joint.friction == joint.stiffness == Number(Fraction(0))
    assert all(g == Number(Fraction(0)) for g in arm.gravity)
    with pytest.raises(NameNotFoundError, match="cannot be left out"):
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
    for negative in ("[1, 1, -0.5]", "{ zz = -1 }"):
        with pytest.warns(UnphysicalWarning, match="negative principal moment"):
            lw.load(text.replace("[1, 1, 3]", negative))


@pytest.mark.parametrize(
    "inertia", ["{ zz = 1 }", "[1, 1, 2]", "[0, 0, 0]", "{ xx=2, yy=2, zz=2, xy=1 }"]
)
def test_physical_inertia_does_not_warn(inertia: str) -> None:
    text = (
        f"[bodies.a]\nmass = 1\ninertia = {inertia}\n[joints.q]\ntype = 'revolute'\nchild = 'a'\n"
    )
    assert lw.load(text, strict=True).warnings == ()


def test_error_keeps_its_parts() -> None:
    error = MechanismError("is wrong", where="a.b", remedy="do this")
    assert str(error) == "a.b: is wrong; do this"
    assert str(error.within("file.toml")) == "file.toml: a.b: is wrong; do this"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("name", lw.gallery())
def test_equal_mechanisms_have_equal_hashes(name: str) -> None:
    mechanism = lw.gallery(name)
    for same in (mechanism.model_copy(), pickle.loads(pickle.dumps(mechanism))):
        assert same is not mechanism
        assert same == mechanism
        assert hash(same) == hash(mechanism)


def test_variants_of_a_mechanism_have_hashes_of_their_own() -> None:
    """Tables of mechanisms compare those with equal hashes part by part."""
    arm, crank = lw.gallery("elbow"), lw.gallery("slider-crank")
    variants = [
        arm, arm.with_parameters(m1="1.25"), arm.model_copy(update={"gravity": (0, 0, 0)}),
        crank, crank.model_copy(update={"loops": {}, "independent": ()}),
    ]  # fmt: skip
    assert len({hash(variant) for variant in variants}) == len(variants)
    assert len(set(variants)) == len(variants)
