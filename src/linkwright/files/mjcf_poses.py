"""Keyframes of an MJCF file as named poses."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from ..mechanism import Joint, joint_coordinate_names, joint_velocity_names
from .mjcf_actuators import control_index, count_actuators
from .mjcf_forces import NameOfObject

if TYPE_CHECKING:
    import mujoco

PoseTables = dict[str, dict[str, float]]


class MjcfPoseReader:
    """Converts the keyframes of a compiled model.

    `joints` are the fields of the joints that were read, and `actuators` the names of the actuators
    that were read.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        name: NameOfObject,
        joints: Mapping[str, dict[str, object]],
        actuators: Collection[str],
    ) -> None:
        self.m, self.name, self.actuators = model, name, actuators
        self.joints = [
            (joint_name, Joint(**joints[joint_name]))
            for joint_name in (name("JOINT", k) for k in range(model.njnt))
        ]

    def read_poses(self) -> Iterator[tuple[str, PoseTables]]:
        """Yield the keyframes by name: all coordinates; velocities, controls and activations that
        are not 0."""
        for key in range(self.m.nkey):
            tables = {
                "qd": self.read_velocities(key),
                "controls": self.read_controls(key),
                "activations": self.read_activations(key),
            }
            known = {k: {n: x for n, x in table.items() if x} for k, table in tables.items()}
            pose: PoseTables = {"q": self.read_coordinates(key)}
            yield self.name("KEY", key), pose | {k: table for k, table in known.items() if table}

    def read_coordinates(self, key: int) -> dict[str, float]:
        """Return all coordinates of a keyframe."""
        found: dict[str, float] = {}
        for index, (name, joint) in enumerate(self.joints):
            first, own = int(self.m.jnt_qposadr[index]), joint_coordinate_names(name, joint)
            numbers = self.m.key_qpos[key][first : first + len(own)]
            found |= dict(zip(own, map(float, numbers), strict=True))
        return found

    def read_velocities(self, key: int) -> dict[str, float]:
        """Return all velocities of a keyframe: of a free joint ω, then v, in the body's axes."""
        import mujoco
        import numpy as np

        found: dict[str, float] = {}
        for index, (name, joint) in enumerate(self.joints):
            first, own = int(self.m.jnt_dofadr[index]), joint_velocity_names(name, joint)
            speeds = np.array(self.m.key_qvel[key][first : first + len(own)])
            if joint.kind.closure is None:
                place, turned = int(self.m.jnt_qposadr[index]) + 3, np.empty(9)
                mujoco.mju_quat2Mat(turned, self.m.key_qpos[key][place : place + 4])
                speeds = np.concatenate([speeds[3:], turned.reshape(3, 3).T @ speeds[:3]])
            found |= dict(zip(own, map(float, speeds), strict=True))
        return found

    def read_controls(self, key: int) -> dict[str, float]:
        """Return the controls of a keyframe."""
        places = {
            self.name("ACTUATOR", k): control_index(self.m, k)
            for k in range(count_actuators(self.m))
        }
        controls = {name: float(self.m.key_ctrl[key][k]) for name, k in places.items()}
        return {name: value for name, value in controls.items() if name in self.actuators}

    def read_activations(self, key: int) -> dict[str, float]:
        """Return the activations of a keyframe."""
        places = {
            self.name("ACTUATOR", k): int(self.m.actuator_actadr[k])
            for k in range(count_actuators(self.m))
        }
        return {
            name: float(self.m.key_act[key][place])
            for name, place in places.items()
            if place >= 0 and name in self.actuators
        }
