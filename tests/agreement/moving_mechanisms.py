"""Mechanisms in coordinates that depend on time, for the tests of their equations and motions."""

from __future__ import annotations

import linkwright as lw

HOOP = lw.Mechanism(
    name="hoop", gravity=[0, 0, "-g"],
    parameters={"m": "200 g", "R": "0.3 m", "Omega": "7 rad/s", "g": "9.81 m/s^2"},
    bodies={"hoop": {}, "bead": {"mass": "m", "center": ["R", 0, 0]}},
    joints={
        "turn": {"type": "revolute", "child": "hoop"},
        "theta": {"type": "revolute", "parent": "hoop", "child": "bead", "axis": [0, 1, 0]},
    },
    coordinates={"names": ["th"], "joints": {"turn": "Omega*t", "theta": "th"}},
)  # fmt: skip
"""A bead on a hoop that turns uniformly about the vertical; th from the horizontal, down."""

SUPPORT = lw.Mechanism(
    name="driven support", gravity=[0, "-g", 0],
    parameters={"m": 1, "mc": 0.3, "l": 0.5, "J": 0.04, "A": 0.1, "w": 12, "c": 0.02, "k": 3,
                "g": 9.81},
    bodies={"slide": {"mass": "mc"},
            "bob": {"mass": "m", "center": ["l", 0, 0], "inertia": ["J", "J", "J"]}},
    joints={
        "x": {"type": "prismatic", "child": "slide", "axis": [1, 0, 0], "stiffness": "k",
              "damping": 0.4},
        "phi": {"type": "revolute", "parent": "slide", "child": "bob", "damping": "c"},
    },
    coordinates={"names": ["th"], "joints": {"x": "A*sin(w*t)", "phi": "th"}},
)  # fmt: skip
"""A pendulum whose support moves as A sin ωt along x; th from the x axis."""

CURVED = lw.Mechanism(
    name="curved", gravity=[0, "-g", 0], parameters={"g": 9.81, "w": 3, "l": 0.5},
    bodies={
        "a": {"mass": 1, "center": ["l", 0, 0], "inertia": [1, 2, 2]},
        "b": {"mass": 2, "center": [1, 2, 3], "inertia": [1, 2, 2]},
        "c": {"mass": 3, "center": [1, -2, 1], "inertia": [2, 2, 1]},
    },
    joints={
        "q1": {"type": "revolute", "child": "a", "motor": {"ratio": 10, "inertia": 1}},
        "q2": {"type": "prismatic", "parent": "a", "child": "b", "axis": [1, 0, 0]},
        "q3": {"type": "revolute", "parent": "b", "child": "c", "axis": [0, 1, 0]},
    },
    coordinates={"names": ["u", "s"], "joints": {
        "q1": "u + sin(u)*cos(w*t)/2", "q2": "s*u + t*s", "q3": "u^2 + s/4 + w*t"}},
    forces={"load": {"type": "wrench", "on": "c", "force": [1, "t", 0]},
            "spring": {"type": "spring", "between": ["ground", "c"], "stiffness": 20, "length": 2}},
)  # fmt: skip
"""Three joints by two coordinates and time, non-linear in all."""


def moving_four_bar() -> lw.Mechanism:
    """The four-bar of the gallery, in coordinates of a frame that turns and swings."""
    joints = {
        "q1": "theta1 + sin(3*t)/2",
        "q2": "theta2 - theta1 + t^2",
        "q3": "theta3 + theta1^2/8",
    }
    names = ["theta1", "theta2", "theta3"]
    return lw.gallery("four-bar").model_copy(
        update={"coordinates": {"names": names, "joints": joints}}
    )


def driven_disk() -> lw.Mechanism:
    """Agrawal's disk with the plates' angle ωt in the coordinates, not as a constraint."""
    disk = lw.gallery("sharp-edged-disk")
    joints = {"plates": "omega*t", "rod.x": "q1", "rod.y": "q2", "rod.theta": "q3"}
    return disk.model_copy(update={
        "coordinates": {"names": ["q1", "q2", "q3"], "joints": joints},
        "constraints": {"edge": disk.constraints["edge"]},
    })  # fmt: skip
