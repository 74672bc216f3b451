"""Random trees with their references, and all families of random mechanisms."""

from __future__ import annotations

import random
from functools import cache
from typing import Any

from tests.references.polynomial_vectors import (
    AXES,
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    apply,
    compose,
    dot,
    plus,
    turn,
    vector,
)
from tests.references.reference_mechanics import RefBody, Reference, lump
from tests.references.trig_polynomials import Poly, root, var

from .drafts import (
    LETTERS,
    NASTY,
    Draft,
    F,
    coordinate_names,
    linear,
    mechanism,
)
from .random_constrained import ball, geared, sleigh, slope
from .subjects import Subject


def random_tree(seed: str) -> Subject:
    """A tree of one to three joints."""
    draw = random.Random(f"tree {seed}")
    n = draw.choice((1, 2, 2, 2, 3, 3))
    names: list[str] = []
    if draw.random() < 0.5:
        names = draw.sample(NASTY, 8)
    elif draw.random() < 0.4:
        names = draw.sample(LETTERS, 10)
    draft = Draft(draw, names, spatial=draw.random() < 0.25)
    coordinates = coordinate_names(draw, n)
    draft.names = [x for x in draft.names if x not in coordinates and x[1:] not in coordinates]
    chosen = not draft.spatial and n > 1 and draw.random() < 0.35
    joints = [f"j{i + 1}" for i in range(n)] if chosen else coordinates
    draft.joints = joint_forms(draft, joints, coordinates, chosen)
    types = ["revolute" if chosen or draw.random() < 0.7 else "prismatic" for _ in joints]
    g = draft.parameter("g", 9, 10) if draw.random() < 0.8 else ""
    axis = "z" if draft.spatial else "y"
    draft.said["gravity"] = [0, 0, 0] if not g else [f"-{g}" if x == axis else 0 for x in "xyz"]
    order = depth_first(add_links(draft, joints, types))
    coordinates = [coordinates[i] for i in order]
    draft.bodies = [draft.bodies[i] for i in order]
    weld(draft)
    add_forces(draft, joints, types)
    actuators = add_actuators(draft, joints)
    reference = Reference(
        coordinates, draft.bodies, draft.parameters,
        tuple(-var(g) if g and x == axis else Poly() for x in "xyz"),  # type: ignore[arg-type]
        springs=draft.springs, forces=draft.forces, rotors=draft.rotors, actuators=actuators,
    )  # fmt: skip
    shuffle_bodies(draft)
    return Subject(f"tree-{seed}", mechanism(f"tree-{seed}", draft), reference)


def joint_forms(
    draft: Draft, joints: list[str], coordinates: list[str], chosen: bool
) -> dict[str, dict[str, int]]:
    """Joint variables by coordinates: themselves, or differences of absolute angles."""
    if not chosen:
        return {name: {name: 1} for name in joints}
    draft.said["coordinates"] = {
        "new": {q: " + ".join(joints[: i + 1]) for i, q in enumerate(coordinates)}
    }
    forms = {}
    for i, joint in enumerate(joints):
        forms[joint] = {coordinates[i]: 1} | ({coordinates[i - 1]: -1} if i else {})
    return forms


def add_links(draft: Draft, joints: list[str], types: list[str]) -> list[int]:
    """One body behind each joint, chains where coordinates are chosen, else any tree; the parents."""
    parents = []
    draw = draft.draw
    chained = "coordinates" in draft.said
    draft.said |= {"bodies": {}, "joints": {}}
    lengths: list[str] = []
    like_joints = draw.random() < 0.2 and not chained and len(joints) > 1
    labels = [joints[-1 - i] for i in range(len(joints))] if like_joints else [f"link{i + 1}" for i in range(len(joints))]  # fmt: skip
    for i, (joint, kind) in enumerate(zip(joints, types, strict=True)):
        parent = i - 1 if chained or draw.random() < 0.7 else draw.randrange(-1, i)
        R, p = (draft.bodies[parent].R, draft.bodies[parent].p) if parent >= 0 else (IDENTITY, ZERO)
        said: dict[str, Any] = {"type": kind, "child": labels[i]}
        if parent >= 0:
            said |= {"parent": labels[parent], "origin": [lengths[parent], 0, 0]}
            p = plus(p, apply(R, vector((lengths[parent], 0, 0))))
        axis = draw.choice("xyz" if draft.spatial else "z" if kind == "revolute" else "xy")
        said["axis"] = list(AXES[axis])
        R, p = placed(R, p, kind, axis, draft.joints[joint])
        draft.said["joints"][joint] = said
        lengths.append(draft.parameter(f"l{i + 1}"))
        add_body(draft, labels[i], i, R, p)
        parents.append(parent)
    return parents


def placed(
    R: Matrix, p: Vector, kind: str, axis: str, form: dict[str, int]
) -> tuple[Matrix, Vector]:
    if kind == "revolute":
        return compose(R, turn(AXES[axis], form)), p
    return R, plus(p, apply(R, vector([linear(form) * x for x in AXES[axis]])))


def add_body(draft: Draft, label: str, i: int, R: Matrix, p: Vector) -> None:
    draw = draft.draw
    m, c = draft.parameter(f"m{i + 1}"), draft.parameter(f"lc{i + 1}")
    side = draft.parameter(f"e{i + 1}") if draw.random() < 0.2 else 0
    center = [c, side, 0]
    if draft.spatial:
        A, B = draft.parameter(f"A{i + 1}"), draft.parameter(f"B{i + 1}")
        said, moments = [A, B, A], (A, B, A)
    else:
        moment = draft.parameter(f"I{i + 1}")
        said, moments = {"zz": moment}, (0, 0, moment)  # type: ignore[assignment]
    draft.said["bodies"][label] = {"mass": m, "center": center, "inertia": said}
    draft.bodies.append(RefBody(label, R, p, (lump(m, center, moments),)))


def weld(draft: Draft) -> None:
    """A particle that is fixed to a link."""
    if draft.draw.random() > 0.15:
        return
    at = draft.draw.randrange(len(draft.bodies))
    host = draft.bodies[at]
    m, e = draft.parameter("mw"), draft.parameter("lw")
    draft.said["bodies"]["weight"] = {"mass": m}
    draft.said["joints"]["weld"] = {
        "type": "fixed", "parent": host.name, "child": "weight", "origin": [0, e, 0]
    }  # fmt: skip
    lumps = (*host.lumps, lump(m, (0, e, 0)))
    draft.bodies[at] = RefBody(host.name, host.R, host.p, lumps)


def add_forces(draft: Draft, joints: list[str], types: list[str]) -> None:
    """Springs, dampers and rotors at joints, a spring between a point and ground."""
    draw = draft.draw
    for joint in joints:
        form, said = draft.joints[joint], draft.said["joints"][joint]
        speed = linear({f"d{name}": x for name, x in form.items()})
        if draw.random() < 0.12:
            k = said["stiffness"] = draft.parameter("ks")
            draft.springs = draft.springs + var(k) * linear(form) ** 2 * F(1, 2)
        if draw.random() < 0.12:
            b = said["damping"] = draft.parameter("bd")
            for name, x in form.items():
                own = draft.forces.get(f"d{name}", Poly())
                draft.forces[f"d{name}"] = own - var(b) * speed * x
        if draw.random() < 0.1 and len(form) == 1:
            r, i = draft.parameter("nr"), draft.parameter("Jr")
            said["motor"] = {"ratio": r, "inertia": i}
            draft.rotors[f"d{next(iter(form))}"] = var(r) ** 2 * var(i)
    if draw.random() < 0.12:
        k, rest, at, e = (draft.parameter(x) for x in ("k", "rest", "h", "e"))
        host = draw.choice(draft.bodies)
        draft.said["frames"] = {
            "hook": {"body": host.name, "origin": [e, 0, 0]},
            "post": {"body": "ground", "origin": [0, at, 0]},
        }  # fmt: skip
        draft.said["forces"] = {
            "coil": {"type": "spring", "between": ["post", "hook"], "stiffness": k, "length": rest}
        }
        apart = plus(host.at((e, 0, 0)), vector((0, -var(at), 0)))
        length = root(dot(apart, apart))
        draft.springs = draft.springs + var(k) * (length - var(rest)) ** 2 * F(1, 2)


def add_actuators(draft: Draft, joints: list[str]) -> dict[str, Poly]:
    """Sometimes fewer than joints."""
    if draft.draw.random() > 0.25:
        return {}
    driven = draft.draw.sample(joints, draft.draw.randint(1, len(joints)))
    found = {f"u{i + 1}": joint for i, joint in enumerate(driven)}
    chosen = "coordinates" in draft.said
    if any(word in draft.parameters for word in found):
        return {}
    draft.said["actuators"] = {
        word: {"moves": " + ".join(f"({x})*{q}" for q, x in draft.joints[joint].items())} if chosen else {"moves": joint}
        for word, joint in found.items()
    }  # fmt: skip
    return {word: linear(draft.joints[joint]) for word, joint in found.items()}


def shuffle_bodies(draft: Draft) -> None:
    """Bodies in another order than the tree's."""
    if draft.draw.random() < 0.25:
        items = list(draft.said["bodies"].items())
        draft.draw.shuffle(items)
        draft.said["bodies"] = dict(items)


def depth_first(parents: list[int]) -> list[int]:
    """The order in which coordinates and bodies are numbered: joints depth first, in file order."""

    def below(at: int) -> list[int]:
        return [x for i, p in enumerate(parents) if p == at for x in (i, *below(i))]

    return below(-1)


FAMILIES = {"tree": random_tree, "geared": geared, "sleigh": sleigh, "ball": ball, "slope": slope}


@cache
def random_subject(family: str, seed: str) -> Subject:
    return FAMILIES[family](seed)
