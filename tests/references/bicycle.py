"""The linearised bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007), appendix A.

    M q'' + v C1 q' + (g K0 + v² K2) q = f,   q = (lean, steer), both positive to the right

x points forward, z down; the parameters are those of their table 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from . import rigid
from .contacts import Blade, Wheel, free_links, link


@dataclass(frozen=True)
class Canonical:
    M: np.ndarray
    C1: np.ndarray
    K0: np.ndarray
    K2: np.ndarray
    g: float

    def state_matrix(self, v: float) -> np.ndarray:
        """Of (lean, steer, their rates)."""
        stiffness = self.g * self.K0 + v**2 * self.K2
        lower = -np.linalg.solve(self.M, np.hstack([stiffness, v * self.C1]))
        return np.vstack([np.hstack([np.zeros((2, 2)), np.eye(2)]), lower])


@dataclass(frozen=True)
class Part:
    """Some bodies together: mass, mass centre, and inertia about it."""

    m: float
    x: float
    z: float
    xx: float
    xz: float
    zz: float

    def about(self, x: float, z: float) -> tuple[float, float, float]:
        """xx, xz, zz about another point."""
        dx, dz = self.x - x, self.z - z
        return self.xx + self.m * dz**2, self.xz - self.m * dx * dz, self.zz + self.m * dx**2


def together(*parts: Part) -> Part:
    m = sum(part.m for part in parts)
    x = sum(part.m * part.x for part in parts) / m
    z = sum(part.m * part.z for part in parts) / m
    return Part(m, x, z, *np.sum([part.about(x, z) for part in parts], axis=0))


def canonical(p: Mapping[str, float]) -> Canonical:
    rear = Part(p["mR"], 0.0, -p["rR"], p["IRxx"], 0.0, p["IRxx"])
    front = Part(p["mF"], p["w"], -p["rF"], p["IFxx"], 0.0, p["IFxx"])
    B = Part(p["mB"], p["xB"], p["zB"], p["IBxx"], p["IBxz"], p["IBzz"])
    H = Part(p["mH"], p["xH"], p["zH"], p["IHxx"], p["IHxz"], p["IHzz"])
    T, A = together(rear, B, H, front), together(H, front)
    Txx, Txz, Tzz = T.about(0.0, 0.0)
    s, c, w = np.sin(p["lambda"]), np.cos(p["lambda"]), p["w"]
    u = (A.x - w - p["c"]) * c - A.z * s  # of the front part's mass centre before the steering axis
    A_steer = A.m * u**2 + A.xx * s**2 + 2 * A.xz * s * c + A.zz * c**2
    A_x = -A.m * u * A.z + A.xx * s + A.xz * c
    A_z = A.m * u * A.x + A.xz * s + A.zz * c
    mu = p["c"] * c / w
    S_F = p["IFyy"] / p["rF"]
    S_T = S_F + p["IRyy"] / p["rR"]
    S_A = A.m * u + mu * T.m * T.x
    gyro = mu * S_T + S_F * c
    lean_steer = A_x + mu * Txz
    return Canonical(
        M=np.array([[Txx, lean_steer], [lean_steer, A_steer + 2 * mu * A_z + mu**2 * Tzz]]),
        C1=np.array([
            [0.0, gyro + Txz / w * c - mu * T.m * T.z],
            [-gyro, A_z / w * c + mu * (S_A + Tzz / w * c)],
        ]),
        K0=np.array([[T.m * T.z, -S_A], [-S_A, -S_A * s]]),
        K2=np.array([[0.0, (S_T - T.m * T.z) / w * c], [0.0, (S_A + S_F * s) / w * c]]),
        g=p["g"],
    )  # fmt: skip


def bodies(p: Mapping[str, float]) -> list[rigid.Body]:
    """The bicycle with all its motions, z up; coordinates x, y, z of the rear hub, heading, lean and
    pitch of the rear frame, turn of the rear wheel, steer, turn of the front wheel."""
    Y, s, c = rigid.Y, np.sin(p["lambda"]), np.cos(p["lambda"])
    up = np.diag([1.0, -1.0, -1.0])  # from the paper's axes to ours

    def tensor(name: str) -> np.ndarray:
        xx, yy, zz, xz = (p[f"I{name}{key}"] for key in ("xx", "yy", "zz", "xz"))
        return up @ np.array([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]]) @ up

    def wheel(name: str) -> list[float]:
        return [p[f"I{name}xx"], p[f"I{name}yy"], p[f"I{name}xx"]]

    foot = p["w"] + p["c"]  # where the steering axis meets the plane
    frame_center = [p["xB"], 0, -p["zB"] - p["rR"]]
    fork_center = [p["xH"] - foot, 0, -p["zH"]]
    return [
        *free_links(),
        link(4, "revolute", Y, mass=p["mB"], center=frame_center, inertia=tensor("B")),
        link(5, "revolute", Y, mass=p["mR"], inertia=wheel("R")),
        link(5, "revolute", np.array([s, 0, -c]), [foot, 0, -p["rR"]],
             p["mH"], fork_center, tensor("H")),
        link(7, "revolute", Y, [-p["c"], 0, p["rF"]], p["mF"], inertia=wheel("F")),
    ]  # fmt: skip


def wheels(p: Mapping[str, float]) -> list[Wheel | Blade]:
    return [Wheel(6, p["rR"], rigid.Y), Wheel(8, p["rF"], rigid.Y)]
