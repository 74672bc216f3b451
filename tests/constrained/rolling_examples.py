"""Mechanisms that roll and cut, each with states that are possible and a solution of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from tests.constrained.rolling_files import DRIVE, GEARS, LOOSE, SLEIGH, TABLE
from tests.references import bicycle, contacts, rigid, rolling_disk, sharp_edged_disk, vehicles
from tests.references.contacts import Blade, Wheel, link

State = tuple[np.ndarray, np.ndarray]
DOWN = np.array([0, 0, -9.81])


@dataclass(frozen=True)
class Example:
    """`state` draws coordinates and speeds that are possible; `accelerations` of (q, v, tau);
    `driven` is the index of a coordinate that follows the time, and `time` tells it from q."""

    mechanism: lw.Mechanism
    freedom: int
    state: Callable[[np.random.Generator], State]
    accelerations: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    time: Callable[[np.ndarray], float] | None = None
    driven: int | None = None

    @cached_property
    def model(self) -> lw.Model:
        return lw.compile(self.mechanism)

    def states(self, count: int = 8) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Coordinates, speeds and loads."""
        rng = np.random.default_rng(0)
        return [(*self.state(rng), rng.uniform(-5, 5, self.model.nv)) for _ in range(count)]

    def t(self, q: np.ndarray) -> tuple[float, ...]:
        """The last inputs of functions of time."""
        return () if self.time is None else (self.time(q),)


def values(mechanism: lw.Mechanism) -> dict[str, float]:
    return {name: float(number) for name, number in mechanism.values.items()}


def sharp_disk() -> Example:
    mechanism = lw.gallery("sharp-edged-disk")
    disk = sharp_edged_disk.Disk(**values(mechanism))

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform(-2, 2, 4)
        return q, sharp_edged_disk.rates(disk, q, *rng.uniform(-2, 2, 2))

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return sharp_edged_disk.accelerations(disk, q, v, tau)

    return Example(mechanism, 2, state, solved, lambda q: q[0] / disk.omega, 0)


def disk_on_ground() -> Example:
    mechanism = lw.gallery("rolling-disk")
    disk = rolling_disk.Disk(**values(mechanism))

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform([-2, -2, 0, -3, -1.2, -3], [2, 2, 0, 3, 1.2, 3])
        q[2] = disk.r * np.cos(q[4])
        return q, rolling_disk.rate_matrix(disk, q) @ rng.uniform(-3, 3, 3)

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return rolling_disk.accelerations(disk, q, v, tau)

    return Example(mechanism, 3, state, solved)


def car() -> Example:
    mechanism = lw.gallery("car")
    plain = vehicles.Car(**values(mechanism))

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform([-2, -2, -3, -1.2], [2, 2, 3, 1.2])
        return q, plain.rates(q, *rng.uniform(-3, 3, 2))

    return Example(mechanism, 2, state, plain.accelerations)


def trolley() -> Example:
    mechanism = lw.gallery("trolley-trailers")
    p = values(mechanism)
    ranges = {"m": "012", "I": "012", "a": "012", "b": "01", "l": "12"}
    train = vehicles.Train(
        **{key: tuple(p[key + i] for i in digits) for key, digits in ranges.items()}
    )

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform(-2, 2, 5)
        return q, train.rate_matrix(q) @ rng.uniform(-3, 3, 2)

    return Example(mechanism, 2, state, train.accelerations)


def touching(
    mechanism: lw.Mechanism, freedom: int, bodies: list[rigid.Body],
    touches: list[Wheel | Blade], adjust: list[int], gravity: np.ndarray = DOWN,
) -> Example:  # fmt: skip
    """An example that the plain reference of contacts solves; `adjust` closes it."""

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform(-0.6, 0.6, len(bodies))
        q = contacts.closed(bodies, touches, q, adjust) if adjust else q
        A, _ = contacts.rows(bodies, touches, q, np.zeros(len(q)))
        N = contacts.allowed(A)
        return q, N @ rng.uniform(-2, 2, N.shape[1])

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return contacts.accelerations(bodies, touches, q, v, tau, gravity)

    return Example(mechanism, freedom, state, solved)


def whole_bicycle() -> Example:
    mechanism = lw.gallery("bicycle")
    p = values(mechanism)
    return touching(mechanism, 3, bicycle.bodies(p), bicycle.wheels(p), [2, 5])


SLOPE = rigid.homogeneous(rigid.rpy(0.3, -0.2, 0.1), np.array([0.1, 0.2, -0.3]))
SLOPE_ORIGIN = {"xyz": [0.1, 0.2, -0.3], "rpy": [0.3, -0.2, 0.1]}


def _disk_body(p: dict[str, float], parent: int) -> rigid.Body:
    return link(parent, "revolute", rigid.Y, mass=p["m"], inertia=[p["I"], p["J"], p["I"]])


def disk_on_slope() -> Example:
    flat = lw.gallery("rolling-disk")
    rolling = replace_part_fields(flat.constraints["rolling"], on="slope")
    mechanism = replace_part_fields(
        flat,
        frames={"slope": {"body": "ground", "origin": SLOPE_ORIGIN}},
        constraints={"rolling": rolling},
    )
    p = values(flat)
    bodies = [*contacts.free_links(), _disk_body(p, 4)]
    return touching(mechanism, 3, bodies, [Wheel(5, p["r"], rigid.Y, plane_at=SLOPE)], [2])


def disk_on_moving_plane(kind: str) -> Example:
    """The plane is fixed in a body that slides askew, or tilts."""
    flat = lw.gallery("rolling-disk")
    axis, tensor = [0.6, 0.2, 0.5], [0.3, 0.4, 0.5]
    table = {"mass": 2.0, "center": [0.1, -0.2, 0.05], "inertia": tensor}
    assert flat.coordinates is not None
    new = {**flat.coordinates.new, "s": "table"}
    mechanism = replace_part_fields(
        flat,
        bodies={**flat.bodies, "table": table},
        joints={**flat.joints, "table": {"type": kind, "child": "table", "axis": axis}},
        frames={"top": {"body": "table", "origin": SLOPE_ORIGIN}},
        constraints={"rolling": replace_part_fields(flat.constraints["rolling"], on="top")},
        independent=["psi", "theta", "phi", "s"],
        coordinates={"new": new},
    )
    p = values(flat)
    plate = link(-1, kind, np.array(axis), mass=2.0, center=table["center"], inertia=tensor)
    bodies = [*contacts.free_links(), _disk_body(p, 4), plate]
    wheel = Wheel(5, p["r"], rigid.Y, plane=6, plane_at=SLOPE)
    return touching(mechanism, 4, bodies, [wheel], [2])


def sleigh() -> Example:
    """Chaplygin's sleigh on a slope, by hand: v along the blade and w, the weight down the slope −y,

    m (v' − a w²) = F·e,    (I + m a²) w' + m a v w = a F·n + T
    """
    mechanism = lw.load(SLEIGH)
    p = values(mechanism)
    m, a, weight = p["m"], p["a"], p["m"] * p["g"] * np.sin(p["alpha"])

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform(-3, 3, 3)
        v, w = rng.uniform(-2, 2, 2)
        return q, np.array([v * np.cos(q[2]), v * np.sin(q[2]), w])

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        c, s, w = np.cos(q[2]), np.sin(q[2]), v[2]
        speed = v[0] * c + v[1] * s
        along = (tau[0] * c + (tau[1] - weight) * s) / m + a * w**2
        turn = (tau[2] - a * weight * c - m * a * speed * w) / (p["I"] + m * a**2)
        return np.array([along * c - speed * w * s, along * s + speed * w * c, turn])

    return Example(mechanism, 2, state, solved)


def sleigh_on_table(driven: bool) -> Example:
    """A blade that cuts into a turntable, which turns freely, or as t²."""
    mechanism = lw.load(TABLE + DRIVE if driven else TABLE)
    Z = rigid.Z
    bodies = [
        link(-1, "prismatic", rigid.X),
        link(0, "prismatic", rigid.Y),
        link(1, "revolute", Z, mass=2.0, center=[0.4, 0.1, 0], inertia=[0, 0, 0.3]),
        link(-1, "revolute", Z, [0.3, -0.2, 0], 3.0, [0.1, 0.2, 0], [0, 0, 0.8]),
    ]
    blade = Blade(2, np.array([-0.2, 0.1, 0]), np.array([0.3, 1, 0]), seen_from=3)
    if not driven:
        return touching(mechanism, 3, bodies, [blade], [])

    def state(rng: np.random.Generator) -> State:
        q = rng.uniform(0.1, 2, 4)
        A, _ = contacts.rows(bodies, [blade], q, np.zeros(4))
        A, right = contacts.with_driven(A, np.zeros(1), {3: 2 * np.sqrt(q[3])})
        N = contacts.allowed(A)
        v = np.linalg.lstsq(A, right, rcond=None)[0] + N @ rng.uniform(-2, 2, N.shape[1])
        return q, v

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return contacts.accelerations(bodies, [blade], q, v, tau, DOWN, {3: 2.0})

    return Example(mechanism, 2, state, solved, lambda q: np.sqrt(q[3]), 3)


def planet(inside: bool) -> Example:
    """A planet about a fixed sun, or in a fixed ring, by hand: it turns by ±R/r against the carrier
    (absolutely by 1 ± R/r), with its mass R ± r away."""
    arm, other, sign = ('"R - r"', "-R", -1) if inside else ('"R + r"', "R", 1)
    mechanism = lw.load(GEARS.replace("ARM", arm).replace("OTHER", other))
    p = values(mechanism)
    k = sign * p["R"] / p["r"]
    ratio = np.array([1.0, k])

    def state(rng: np.random.Generator) -> State:
        return rng.uniform(-3, 3, 2), ratio * rng.uniform(-2, 2)

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        inertia = p["Ic"] + p["m"] * (p["R"] + sign * p["r"]) ** 2 + p["J"] * (1 + k) ** 2
        return ratio * (ratio @ tau) / inertia

    return Example(mechanism, 1, state, solved)


def loose_disk(inside: bool) -> Example:
    """A disk on a fixed disk, or in a fixed ring, in a vertical plane, by hand: its centre goes round
    at L = R ± r, and it turns by L/r as much (against it in the ring)."""
    other, sign = ("-R", -1) if inside else ("R", 1)
    mechanism = lw.load(
        LOOSE.replace("OTHER", other).replace("START", f"{'r -' if inside else 'r +'} R")
    )
    p = values(mechanism)
    L = p["R"] + sign * p["r"]
    k = sign * L / p["r"]

    def state(rng: np.random.Generator) -> State:
        angle, rate = rng.uniform(-3, 3), rng.uniform(-2, 2)
        place = L * np.array([np.cos(angle), np.sin(angle)])
        q = np.array([*place, rng.uniform(-3, 3)])
        return q, rate * np.array([-place[1], place[0], k])

    def solved(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        rate = v[2] / k
        way = np.array([-q[1], q[0], k])
        push = way @ (tau - np.array([0, p["m"] * p["g"], 0]))
        turn = push / (p["m"] * L**2 + p["J"] * k**2)
        return turn * way - rate**2 * np.array([q[0], q[1], 0])

    return Example(mechanism, 1, state, solved)


EXAMPLES: dict[str, Callable[[], Example]] = {
    "sharp-edged-disk": sharp_disk,
    "rolling-disk": disk_on_ground,
    "car": car,
    "trolley-trailers": trolley,
    "bicycle": whole_bicycle,
    "slope": disk_on_slope,
    "sliding-plane": lambda: disk_on_moving_plane("prismatic"),
    "tilting-plane": lambda: disk_on_moving_plane("revolute"),
    "sleigh": sleigh,
    "sleigh-on-table": lambda: sleigh_on_table(driven=False),
    "sleigh-on-driven-table": lambda: sleigh_on_table(driven=True),
    "planet": lambda: planet(inside=False),
    "planet-in-ring": lambda: planet(inside=True),
    "loose-disk": lambda: loose_disk(inside=False),
    "disk-in-ring": lambda: loose_disk(inside=True),
}
