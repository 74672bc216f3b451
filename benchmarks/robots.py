"""The robots of the benchmark: ours, Pinocchio's and MuJoCo's model of each."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import files
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin

import linkwright as lw


def path_of(ending: str) -> Path:
    """A file of example-robot-data."""
    found = files("example-robot-data") or []
    return next(Path(str(f.locate())) for f in found if str(f).endswith(ending))


def long_chain(n: int) -> lw.Mechanism:
    """Alternating axes, offset centres of mass, full inertias."""
    rng = np.random.default_rng(0)
    bodies, joints = {}, {}
    for i in range(n):
        A = rng.uniform(-1, 1, (3, 3))
        S = 0.01 * A @ A.T
        entries = (np.trace(S) * np.eye(3) - S + 0.01 * np.eye(3)).round(5)
        keys = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
        bodies[f"b{i}"] = {
            "mass": round(rng.uniform(0.5, 2), 3),
            "center": rng.uniform(-0.05, 0.05, 3).round(3).tolist(),
            "inertia": {key: entries[place] for key, place in keys.items()},
        }
        joints[f"q{i}"] = {
            "type": "revolute",
            "parent": f"b{i - 1}" if i else "ground",
            "child": f"b{i}",
            "origin": [0.1, 0.02, 0.03],
            "axis": np.eye(3)[i % 3].tolist(),
            "limits": {"lower": -3, "upper": 3},
        }
    return lw.Mechanism(name=f"{n}-link chain", bodies=bodies, joints=joints)


@dataclass(frozen=True)
class Robot:
    name: str
    mechanism: lw.Mechanism

    @cached_property
    def model(self) -> lw.Model:
        return lw.compile(self.mechanism, threads=1)

    @cached_property
    def urdf(self) -> Path:
        """Our own export, so that all peers read the very same robot."""
        path = Path(tempfile.mkdtemp()) / "robot.urdf"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that fingers are locked
            lw.save(self.mechanism, path)
        return path

    @cached_property
    def pin(self) -> pin.Model:
        return pin.buildModelFromUrdf(str(self.urdf))

    @cached_property
    def mujoco(self) -> mujoco.MjModel:
        """Without shapes, limits and damping, as the others; MuJoCo gives massless bodies the mass
        of their shapes.

        MuJoCo refuses inertias that are not positive (frames of sensors): they get tiny ones,
        which changes no time.
        """
        spec = mujoco.MjSpec.from_file(str(self.urdf))
        spec.compiler.balanceinertia = True
        for shape in list(spec.geoms):
            spec.delete(shape)
        for body in spec.bodies:
            xx, yy, zz, xy, xz, yz = body.fullinertia
            if np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])[0] <= 1e-12:
                body.fullinertia = [1e-9, 1e-9, 1e-9, 0, 0, 0]
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        return spec.compile()

    @cached_property
    def order(self) -> list[int]:
        """Our coordinates in Pinocchio's order of joints (fixed bases: nq = nv)."""
        names = list(self.model.q_names)
        return [names.index(name) for name in list(self.pin.names)[1:]]

    def to_pin(self, rows: np.ndarray) -> np.ndarray:
        """Columns, one a state, as Pinocchio has them."""
        return np.asfortranarray(rows[:, self.order].T)

    def matrix_to_pin(self, matrix: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(self.order, self.order)]


def robots() -> list[Robot]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ur5, panda, talos = (
            lw.load(path_of(f"/{file}.urdf")).without("friction", "damping")
            for file in ("ur5_robot", "panda", "talos_reduced")
        )
    fingers = {"panda_finger_joint1": 0, "panda_finger_joint2": 0}
    return [
        Robot("UR5", ur5),
        Robot("Panda 7", panda.reduced(lock=fingers)),
        Robot("Talos 32", talos),
        Robot("100-link chain", long_chain(100)),
    ]
