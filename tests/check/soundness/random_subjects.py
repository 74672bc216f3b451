"""Random mechanisms with their references: trees, springs, gears, edges, balls, and names that collide."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import linkwright as lw
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
    quaternion_turn,
    turn,
    vector,
)
from tests.references.reference_mechanics import RefBody, Reference, lump
from tests.references.trig_polynomials import Poly, cos, root, sin, var

from .subjects import ROWS, Subject

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


def mechanism(name: str, draft: Draft) -> lw.Mechanism:
    numbers = {key: x if isinstance(x, str) else str(x) for key, x in draft.parameters.items()}
    return lw.Mechanism(name=name, parameters=numbers, **draft.said)


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


# -- constraints, balls ---------------------------------------------------------------------


def geared(seed: str) -> Subject:
    """Two wheels in mesh, one with an arm: a gear, or an equation of positions."""
    draw = random.Random(f"geared {seed}")
    draft = Draft(draw, draw.sample(NASTY, 4) if draw.random() < 0.4 else [])
    coordinates = coordinate_names(draw, 2)
    draft.names = [x for x in draft.names if x not in coordinates and x[1:] not in coordinates]
    a, b = coordinates
    m, c, I, J, g, n = (draft.parameter(x) for x in ("m", "c", "I", "J", "g", "n"))
    one = RefBody("wheel", turn((0, 0, 1), a), ZERO, (lump(m, (c, 0, 0), (0, 0, I)),))
    two = RefBody("pinion", turn((0, 0, 1), b), ZERO, (lump(1, (0, 0, 0), (0, 0, J)),))
    draft.said = {
        "gravity": [0, f"-{g}", 0],
        "bodies": {
            "wheel": {"mass": m, "center": [c, 0, 0], "inertia": {"zz": I}},
            "pinion": {"mass": 1, "inertia": {"zz": J}},
        },
        "joints": {a: {"type": "revolute", "child": "wheel"}, b: {"type": "revolute", "child": "pinion"}},
        "constraints": {"mesh": {"type": "gear", "factors": {a: 1, b: n}}}
        if draw.random() < 0.5
        else {"mesh": {"type": "equation", "position": f"{a} + {n}*{b}"}},
    }  # fmt: skip
    reference = Reference(
        coordinates, [one, two], draft.parameters, (Poly(), -var(g), Poly()),
        positions=[var(a) + var(n) * var(b)],
    )  # fmt: skip
    return Subject(f"geared-{seed}", mechanism(f"geared-{seed}", draft), reference)


def sleigh(seed: str) -> Subject:
    """Chaplygin's sleigh: a knife edge under a body on ice."""
    draw = random.Random(f"sleigh {seed}")
    draft = Draft(draw, draw.sample(NASTY, 3) if draw.random() < 0.5 else [])
    x, y, q = draw.choice(
        [("x", "y", "theta"), ("q1", "q2", "q3"), ("q3", "q1", "q2"), ("x2", "x1", "q1")]
    )
    draft.names = [n for n in draft.names if n not in (x, y, q) and n[1:] not in (x, y, q)]
    m, a, I = (draft.parameter(word) for word in ("m", "a", "I"))
    body = RefBody("sled", turn((0, 0, 1), q), vector((x, y, 0)), (lump(m, (a, 0, 0), (0, 0, I)),))
    edge = cos(q) * var(f"d{y}") - sin(q) * var(f"d{x}")
    draft.said = {
        "gravity": [0, 0, 0],
        "bodies": {"sled": {"mass": m, "center": [a, 0, 0], "inertia": {"zz": I}}},
        "joints": {"ice": {"type": "planar", "child": "sled"}},
        "constraints": {"edge": {"type": "knife-edge", "on": "sled"}},
        "coordinates": {"new": {x: "ice.x", y: "ice.y", q: "ice.theta"}},
    }
    reference = Reference([x, y, q], [body], draft.parameters, velocities=[edge])
    return Subject(f"sleigh-{seed}", mechanism(f"sleigh-{seed}", draft), reference, withheld=ROWS)


def slope(seed: str) -> Subject:
    """A rod that hangs on a block on a slope of 60 degrees, sometimes with friction, or held."""
    draw = random.Random(f"slope {seed}")
    draft = Draft(draw, [])
    s, q = draw.choice([("s", "q"), ("q1", "q2"), ("q2", "q1")])
    M, m, c, I, g = (draft.parameter(x) for x in ("mb", "mr", "c", "I", "g"))
    along = vector((var(s) * F(1, 2), var(s) * root(Poly() + 3) * F(1, 2), 0))
    block = RefBody("block", IDENTITY, along, (lump(M),))
    rod = RefBody("rod", turn((0, 0, 1), q), along, (lump(m, (c, 0, 0), (0, 0, I)),))
    rubs, held = draw.random() < 0.4, draw.random() < 0.3
    slide: dict[str, Any] = {
        "type": "prismatic", "axis": [1, 0, 0], "origin": {"rpy": [0, 0, "60 deg"]}, "child": "block",
        **({"friction": 0.3} if rubs else {}),
    }  # fmt: skip
    draft.said = {
        "gravity": [0, f"-{g}", 0],
        "bodies": {
            "block": {"mass": M}, "rod": {"mass": m, "center": [c, 0, 0], "inertia": {"zz": I}}
        },
        "joints": {
            s: slide,
            q: {
                "type": "revolute", "parent": "block", "child": "rod",
                "child_origin": {"rpy": [0, 0, "60 deg"]},
            },
        },
        **({"constraints": {"hold": {"type": "equation", "position": f"{s} - {c}"}}} if held else {}),
    }  # fmt: skip
    reference = Reference(
        [s, q], [block, rod], draft.parameters, (Poly(), -var(g), Poly()),
        positions=[var(s) - var(c)] if held else [],
    )  # fmt: skip
    withheld = ("motion",) if rubs else ()
    return Subject(f"slope-{seed}", mechanism(f"slope-{seed}", draft), reference, withheld=withheld)


def ball(seed: str) -> Subject:
    """A top on a ball joint that a slide lifts; speeds of the ball are no rates."""
    draw = random.Random(f"ball {seed}")
    draft = Draft(draw, draw.sample(NASTY, 4) if draw.random() < 0.3 else [])
    h = draw.choice(["h", "q1", "q2"])
    draft.names = [x for x in draft.names if x != h and x[1:] != h]
    M, m, c, A, B, g = (draft.parameter(x) for x in ("ms", "mb", "c", "A", "B", "g"))
    q = [f"b.q{x}" for x in "wxyz"]
    w = [f"b.w{x}" for x in "xyz"]
    W, X, Y, Z = (var(name) for name in q)
    ox, oy, oz = (var(name) for name in w)
    half = F(1, 2)
    rates = {
        h: var(f"d{h}"),
        q[0]: (X * ox + Y * oy + Z * oz) * -half,
        q[1]: (W * ox + Y * oz - Z * oy) * half,
        q[2]: (W * oy + Z * ox - X * oz) * half,
        q[3]: (W * oz + X * oy - Y * ox) * half,
    }
    slide = RefBody("slide", IDENTITY, vector((0, 0, h)), (lump(M),))
    R = quaternion_turn(*q)
    top = RefBody("top", R, slide.p, (lump(m, (0, 0, c), (A, A, B)),), (ox, oy, oz))
    draft.said = {
        "gravity": [0, 0, f"-{g}"],
        "bodies": {
            "slide": {"mass": M}, "top": {"mass": m, "center": [0, 0, c], "inertia": [A, A, B]}
        },
        "joints": {
            h: {"type": "prismatic", "axis": [0, 0, 1], "child": "slide"},
            "b": {"type": "spherical", "parent": "slide", "child": "top"},
        },
    }  # fmt: skip
    reference = Reference(
        [h, *q], [slide, top], draft.parameters, (Poly(), Poly(), -var(g)), speeds=[f"d{h}", *w],
        rates=rates, units=[q],
    )  # fmt: skip
    weight = f"({M} + {m})*{g}"
    textbook = [
        "b.qw^2 + b.qx^2 + b.qy^2 + b.qz^2 = 1",
        "2*b.qw^2 + 2*b.qz^2 - 1 = 1 - 2*b.qx^2 - 2*b.qy^2",
        *([f"V_{h} = {weight}"] if "V" not in draft.parameters else []),
        *([f"z2 = {h} + {c}*(1 - 2*b.qx^2 - 2*b.qy^2)"] if "z2" not in draft.parameters else []),
    ]
    return Subject(f"ball-{seed}", mechanism(f"ball-{seed}", draft), reference, textbook)


FAMILIES = {"tree": random_tree, "geared": geared, "sleigh": sleigh, "ball": ball, "slope": slope}


@cache
def random_subject(family: str, seed: str) -> Subject:
    return FAMILIES[family](seed)
