"""Random mechanisms with gears, knife edges, slopes and ball joints."""

from __future__ import annotations

import random
from typing import Any

from tests.references.polynomial_vectors import IDENTITY, ZERO, quaternion_turn, turn, vector
from tests.references.reference_mechanics import RefBody, Reference, lump
from tests.references.trig_polynomials import Poly, cos, root, sin, var

from .drafts import NASTY, Draft, F, coordinate_names, mechanism
from .subjects import ROWS, Subject


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
