"""Public robots of `example-robot-data`, as ours and as Pinocchio's, in the same states."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import files
from pathlib import Path

import numpy as np
import pinocchio as pin

import linkwright as lw

UNREADABLE = {
    "falcon.urdf": "names a link that does not exist",
    "ur3.urdf": "has no link",
}
"""Files that Pinocchio's parser refuses too, and why."""


def _paths() -> dict[str, Path]:
    found = files("example-robot-data") or []
    paths = [Path(str(f.locate())) for f in found if str(f).endswith(".urdf")]
    return {"/".join(p.parts[-3:]): p for p in sorted(paths)}


PATHS = _paths()
READABLE = [name for name, path in PATHS.items() if path.name not in UNREADABLE]


def path_of(ending: str) -> Path:
    return next(path for name, path in PATHS.items() if name.endswith(ending))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Pinocchio's parser writes warnings to the process' stderr."""
    sys.stderr.flush()
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


@dataclass(frozen=True)
class Robot:
    """One URDF with a fixed or a free base."""

    path: Path
    free: bool

    @cached_property
    def mechanism(self) -> lw.Mechanism:
        """Ours, without what Pinocchio ignores."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = lw.load(self.path, base="free" if self.free else "fixed")
        return ours.without("friction", "damping", "springs")

    @cached_property
    def pin(self) -> pin.Model:
        """Pinocchio's, with every mimicking joint a joint of its own."""
        with _quiet():
            if self.free:
                return pin.buildModelFromUrdf(str(self.path), pin.JointModelFreeFlyer())
            return pin.buildModelFromUrdf(str(self.path))

    @cached_property
    def data(self) -> pin.Data:
        return self.pin.createData()

    @cached_property
    def mimics(self) -> dict[str, tuple[str, float, float]]:
        """Followers with leader, gain and offset, read from the file independently."""
        root = ET.parse(self.path).getroot()
        joints = {j.get("name"): j for j in root.findall("joint")}
        found = {}
        for name, joint in joints.items():
            tag = joint.find("mimic")
            if tag is not None and tag.get("joint") in joints:
                gain, offset = float(tag.get("multiplier", 1)), float(tag.get("offset", 0))
                found[name] = (tag.get("joint"), gain, offset)
        return found

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """Our coordinates and speeds, by name."""
        eqs = self.equations
        return list(eqs.names.q), list(eqs.names.qd)

    @cached_property
    def equations(self) -> lw.Equations:
        return lw.derive(self.mechanism, parameters="numeric")

    @cached_property
    def G(self) -> np.ndarray:
        """v of Pinocchio's full tree = G · our speeds."""
        _, speeds = self.names
        G = np.zeros((self.pin.nv, len(speeds)))
        for index in range(1, self.pin.njoints):
            joint, name = self.pin.joints[index], self.pin.names[index]
            if joint.nv == 6:
                G[np.ix_(range(6), range(6))] = np.eye(6)[[3, 4, 5, 0, 1, 2]]
                continue
            leader, gain = name, 1.0
            while leader in self.mimics:
                leader, factor, _ = self.mimics[leader]
                gain *= factor
            G[joint.idx_v, speeds.index(leader)] = gain
        return G

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Our q as Pinocchio's."""
        coordinates, _ = self.names
        theirs = pin.neutral(self.pin)
        for index in range(1, self.pin.njoints):
            joint, name = self.pin.joints[index], self.pin.names[index]
            if joint.nv == 6:
                theirs[:7] = q[[0, 1, 2, 4, 5, 6, 3]]
                continue
            value = self._angle(name, coordinates, q)
            if joint.nq == 2:
                theirs[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
            else:
                theirs[joint.idx_q] = value
        return theirs

    def _angle(self, name: str, coordinates: list[str], q: np.ndarray) -> float:
        if name in self.mimics:
            leader, gain, offset = self.mimics[name]
            return gain * self._angle(leader, coordinates, q) + offset
        return float(q[coordinates.index(name)])

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        coordinates, speeds = self.names
        q = rng.uniform(-1.5, 1.5, len(coordinates))
        if self.free:
            q[3:7] /= np.linalg.norm(q[3:7])
        v, a = rng.uniform(-1, 1, (2, len(speeds)))
        return q, v, a
