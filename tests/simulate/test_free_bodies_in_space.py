"""Free bodies in space: 13 states each, the same motions as by recursion, joints that hold."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.formulations.newton_euler import size
from linkwright.simulation.inputs import drive_of
from linkwright.simulation.system import System

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def body(mass: float, center: list | None = None) -> dict:
    inertia = {"xx": "0.2", "yy": "0.3", "zz": "0.25", "xy": "0.02"}
    return {"mass": mass, "center": center or ["0.1", "0.2", "-0.3"], "inertia": inertia}


def chain(name: str, *joints: dict, **more: object) -> lw.Mechanism:
    """Bodies one behind the other, with frames that are turned at q = 0."""
    origin = {"xyz": ["0.3", "0.1", "0.2"], "rpy": ["0.4", "-0.7", "1.1"]}
    return lw.Mechanism(
        name=name, gravity=["1.0", "-2.0", "-9.81"],
        bodies={f"b{k}": body(1 + k) for k in range(len(joints))},
        joints={
            f"j{k}": {"child": f"b{k}", "parent": f"b{k - 1}" if k else "ground",
                      "origin": origin, **joint}
            for k, joint in enumerate(joints)
        }, **more,
    )  # fmt: skip


def arm(**more: object) -> lw.Mechanism:
    return chain(
        "arm", {"type": "revolute", "axis": [0, "0.6", "0.8"]}, {"type": "revolute"}, **more
    )


def with_masses(name: str) -> lw.Mechanism:
    """A mechanism of the gallery, with some inertia in every body."""
    given = lw.gallery(name)
    heavy = {
        key: part if part.mass != 0 else type(part)(**body(1)) for key, part in given.bodies.items()
    }
    return given.model_copy(update={"bodies": heavy})


AXIS = ["0.6", 0, "0.8"]
MECHANISMS = {
    "turns": lambda: chain("turns", *[{"type": "revolute", "axis": a} for a in ([1, 0, 0], AXIS)]),
    "universal": lambda: chain(
        "universal", {"type": "universal", "axis": [1, 0, 0], "axis2": ["0.6", "0.8", 0]},
        {"type": "universal"},
    ),
    "balls": lambda: chain("balls", {"type": "spherical"}, {"type": "spherical"}),
    "cardan": lambda: chain("cardan", *[{"type": "spherical", "rotation": "cardan"}] * 2),
    "free": lambda: chain("free", {"type": "free"}, {"type": "revolute", "axis": AXIS}),
    "free cardan": lambda: chain(
        "free", {"type": "free", "rotation": "cardan"}, {"type": "spherical"}
    ),
    "slides": lambda: chain(
        "slides", {"type": "cylindrical", "axis": AXIS, "stiffness": [3, 40]},
        {"type": "turn-slide", "axis": AXIS, "axis2": [0, 1, 0], "stiffness": [3, 40]},
        {"type": "prismatic", "stiffness": 50},
    ),
    "screw": lambda: chain(
        "screw", {"type": "helical", "axis": AXIS, "pitch": "0.1"},
        {"type": "planar", "axis": [0, 1, 0], "axis2": [1, 0, 0]},
    ),
    "mimic": lambda: chain(
        "mimic", {"type": "revolute", "axis": AXIS, "stiffness": 4},
        {"type": "revolute", "axis": [1, 0, 0], "mimic": {
            "joint": "j0", "multiplier": "1/3", "offset": "0.3"}},
        {"type": "revolute", "axis": [1, 0, 0], "locked": "0.7"},
        {"type": "revolute", "axis": [0, 1, 0]},
    ),
    "chosen": lambda: arm(coordinates={"new": {"a": "j0", "b": "j0 + j1/2 + 0.2"}}),
    "bent": lambda: arm(
        coordinates={"names": ["a", "b"], "joints": {"j0": "a + 0.2*sin(b)", "j1": "b - 0.1*a^2"}}
    ),
    "driven": lambda: arm(
        constraints={"motor": {"type": "drive", "on": "j0", "position": "0.3*sin(2*t)"}}
    ),
    **{name: (lambda name=name: lw.gallery(name)) for name in (
        "elbow", "stanford-rrp", "bricard", "rolling-disk", "six-axis",
    )},
    "puma560": lambda: with_masses("puma560"),
}  # fmt: skip
SLOW = ("six-axis", "puma560", "two-arms", "bicycle", "stewart", "quadruped")


def pushed(mechanism: lw.Mechanism) -> dict:
    """A start that moves everything that the constraints allow."""
    model, rng = lw.compile(mechanism), np.random.default_rng(3)
    if model.names.constraints:
        return {"qd0": dict.fromkeys(model.independent_names[:1], 0.9)}
    q = model.integrate(model.neutral(), rng.uniform(-0.5, 0.5, model.nv))
    return {"q0": q, "qd0": rng.uniform(-1.5, 1.5, model.nv)}


def states(mechanism: lw.Mechanism) -> System:
    eqs = lw.derive(mechanism, by="newton_euler", parameters="numeric")
    return System(eqs, drive_of(eqs, None))


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in MECHANISMS]
)
def test_move_as_all_do(name: str) -> None:
    mechanism = MECHANISMS[name]()
    options = pushed(mechanism) | TIGHT | {"samples": 9, "stops": "ignore"}
    free, plain = (
        lw.simulate(mechanism, 0.6, by=by, **options) for by in ("newton_euler", "recursive")
    )
    assert free.status == plain.status == "finished"
    np.testing.assert_allclose(free.q, plain.q, atol=1e-8)
    np.testing.assert_allclose(free.qd, plain.qd, atol=1e-8)
    np.testing.assert_allclose(free.reactions, plain.reactions, rtol=1e-8, atol=1e-7)
    np.testing.assert_allclose(free.energy, plain.energy, atol=1e-8)
    assert free.audit < 1e-9
