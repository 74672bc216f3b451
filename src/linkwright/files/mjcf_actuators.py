"""Actuators of an MJCF file: what they drive, gain and bias, ranges, first-order activation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from .mjcf_forces import NameOfObject

if TYPE_CHECKING:
    import mujoco

Fields = dict[str, object]

_OTHER_TRANSMISSIONS = {2: "a slider-crank", 5: "the contacts of a body"}
"""What actuators without an equivalent drive, by the value of mjtTrn."""

_FIXED, _AFFINE = 0, 1
"""The values of mjtGain, and those of mjtBias (0: none)."""
_OTHER_LAWS = {2: "is a muscle", 3: "is a DC motor", 5: "is a PID controller"}
"""What actuators without an equivalent are, by the value of mjtGain."""
_NO_DYNAMICS, _INTEGRATOR, _FILTER, _EXACT_FILTER = range(4)
"""The values of mjtDyn."""
_FREE, _BALL = 0, 1
"""The values of mjtJoint for joints with quaternions."""


_HINGE_OR_SLIDE = (2, 3)
"""The values of mjtJoint for joints with one degree of freedom."""


def count_actuators(model: mujoco.MjModel) -> int:
    """Return the number of actuators; some have several controls, so that nu may be more."""
    return int(getattr(model, "nactuator", model.nu))


def control_index(model: mujoco.MjModel, actuator: int) -> int:
    """Return the index of an actuator's first control."""
    addresses = getattr(model, "actuator_ctrladr", None)
    return actuator if addresses is None else int(addresses[actuator])


def output_index(model: mujoco.MjModel, actuator: int) -> int:
    """Return the index of an actuator's first gear."""
    addresses = getattr(model, "actuator_outadr", None)
    return actuator if addresses is None else int(addresses[actuator])


def move_actuator_effects_to_joints(model: mujoco.MjModel) -> None:
    """Give armature and damping of actuators at hinges and slides to these joints, gear² times."""
    for index in range(len(model.actuator_trntype)):
        joint = int(model.actuator_trnid[index, 0])
        is_at_joint = int(model.actuator_trntype[index]) in (0, 1)
        if not is_at_joint or int(model.jnt_type[joint]) not in _HINGE_OR_SLIDE:
            continue
        dof = int(model.jnt_dofadr[joint])
        gear = float(model.actuator_gear[output_index(model, index), 0])
        for word in ("armature", "damping"):
            numbers = getattr(model, f"actuator_{word}", None)
            if numbers is not None and numbers[index]:
                getattr(model, f"dof_{word}")[dof] += gear**2 * float(numbers[index])
                numbers[index] = 0


class MjcfActuatorReader:
    """Converts the actuators of a compiled model.

    Those that have no equivalent here are left out with a note: actuators do nothing on their own.
    """

    def __init__(
        self, model: mujoco.MjModel, name: NameOfObject, length_name: Callable[[int], str]
    ) -> None:
        self.m, self.name, self.length_name = model, name, length_name
        self.notes: list[str] = []
        self.transmissions: dict[int, Callable[[int], Fields]] = {
            0: self.read_joint_transmission,
            1: self.read_parent_joint_transmission,
            3: self.read_tendon_transmission,
            4: self.read_site_transmission,
        }
        """By the value of mjtTrn: joint, jointinparent, tendon and site."""

    def read_actuators(self) -> Iterator[tuple[str, Fields]]:
        """Yield the actuators by name, and note those that are left out."""
        for index in range(count_actuators(self.m)):
            name = self.name("ACTUATOR", index)
            try:
                yield name, self.read_actuator(index)
            except UnsupportedError as error:
                self.notes.append(f"the actuator '{name}', which {error.what}")

    def read_actuator(self, index: int) -> Fields:
        """Return the fields of an actuator; raise an `UnsupportedError` for one that has no
        equivalent here."""
        if self.is_switched_off(index):
            raise UnsupportedError("is disabled in the file")
        trn = int(self.m.actuator_trntype[index])
        if trn not in self.transmissions:
            raise UnsupportedError(f"acts on {_OTHER_TRANSMISSIONS.get(trn, 'something else')}")
        fields = self.transmissions[trn](index) | self.read_law(index) | self.read_activation(index)
        self.note_delay(index)
        return fields

    def note_delay(self, index: int) -> None:
        """Note a delay of the control, which has no equivalent here."""
        delays = getattr(self.m, "actuator_delay", None)
        if delays is not None and delays[index]:
            name = self.name("ACTUATOR", index)
            self.notes.append(f"actuator {name}: the delay of its control, {delays[index]:g} s")

    def is_switched_off(self, index: int) -> bool:
        """Return whether a flag of the file disables all actuators, or those of this group."""
        import mujoco

        flag = int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        groups = int(self.m.opt.disableactuator)
        group = int(self.m.actuator_group[index])
        is_in_group = 0 <= group < 31 and bool(groups >> group & 1)
        return is_in_group or bool(int(self.m.opt.disableflags) & flag)

    def gears(self, index: int) -> list[float]:
        """Return the six gears."""
        return [float(x) for x in self.m.actuator_gear[output_index(self.m, index)]]

    def read_joint_transmission(self, index: int) -> Fields:
        """Return the joint and its gear; a push of a free joint becomes one on its body."""
        joint = int(self.m.actuator_trnid[index, 0])
        kind, gear = int(self.m.jnt_type[joint]), self.gears(index)
        if kind == _FREE:
            return self.read_free_joint_transmission(index, joint)
        fields: Fields = {"joint": self.name("JOINT", joint)}
        if kind == _BALL:
            return fields | {"gear": gear[:3]}
        return fields if gear[0] == 1 else fields | {"gear": gear[0]}

    def read_free_joint_transmission(self, index: int, joint: int) -> Fields:
        """Return a moment in the axes of the body, or a force in those of the world."""
        gear, body = self.gears(index), self.name("BODY", self.m.jnt_bodyid[joint])
        if any(gear[:3]) and any(gear[3:]):
            raise UnsupportedError("exerts both a force and a moment on a free joint")
        if any(gear[3:]):
            return {"frame": body, "moment": gear[3:]}
        return {"frame": body, "force": gear[:3], "axes": "ground"}

    def read_parent_joint_transmission(self, index: int) -> Fields:
        """Return a joint whose gears use the axes of the parent body."""
        joint = int(self.m.actuator_trnid[index, 0])
        kind, gear = int(self.m.jnt_type[joint]), self.gears(index)
        if kind == _BALL:
            raise UnsupportedError("acts on a ball joint about axes of its parent")
        if kind != _FREE:
            return self.read_joint_transmission(index)
        body = self.name("BODY", self.m.jnt_bodyid[joint])
        return {"frame": body, "force": gear[:3], "moment": gear[3:], "axes": "ground"}

    def read_tendon_transmission(self, index: int) -> Fields:
        """Return the length of a tendon and its gear."""
        gear = self.gears(index)[0]
        try:
            fields: Fields = {"length": self.length_name(int(self.m.actuator_trnid[index, 0]))}
        except UnsupportedError as error:
            raise UnsupportedError(f"pulls a tendon that is left out: {error.what}") from None
        return fields if gear == 1 else fields | {"gear": gear}

    def read_site_transmission(self, index: int) -> Fields:
        """Return the wrench on a site, in its axes."""
        site, reference = (int(x) for x in self.m.actuator_trnid[index])
        if reference >= 0:
            raise UnsupportedError("acts between two sites")
        gear = self.gears(index)
        return {"frame": self.name("SITE", site), "force": gear[:3], "moment": gear[3:]}

    def read_law(self, index: int) -> Fields:
        """Return gain, bias and ranges."""
        m = self.m
        gain_kind, bias_kind = int(m.actuator_gaintype[index]), int(m.actuator_biastype[index])
        if max(gain_kind, bias_kind) > _AFFINE:
            other = "has a gain or bias that is neither fixed nor affine"
            raise UnsupportedError(_OTHER_LAWS.get(gain_kind, other))
        gain = [float(x) for x in m.actuator_gainprm[index][:3]]
        bias = [float(x) for x in m.actuator_biasprm[index][:3]]
        fields: Fields = {}
        if gain_kind == _AFFINE and any(gain[1:]):
            fields["gain"] = gain
        elif gain[0] != 1:
            fields["gain"] = gain[0]
        if bias_kind == _AFFINE and any(bias):
            fields["bias"] = bias
        for key, word in (("control_range", "ctrl"), ("effort_range", "force")):
            place = control_index(m, index) if word == "ctrl" else index
            if getattr(m, f"actuator_{word}limited")[place] and not self.is_unclipped(word):
                fields[key] = [float(x) for x in getattr(m, f"actuator_{word}range")[place]]
        return fields

    def is_unclipped(self, word: str) -> bool:
        """Return whether a flag of the file switches the clipping of controls off."""
        import mujoco

        flag = int(mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL)
        return word == "ctrl" and bool(int(self.m.opt.disableflags) & flag)

    def read_activation(self, index: int) -> Fields:
        """Return the activation dynamics; a delay of less than one step vanishes with the step."""
        m, kind = self.m, int(self.m.actuator_dyntype[index])
        if kind == _NO_DYNAMICS:
            return {}
        if kind not in (_INTEGRATOR, _FILTER, _EXACT_FILTER):
            raise UnsupportedError(
                "has activation dynamics that are neither an integrator nor a filter"
            )
        activation: Fields = {}
        if kind != _INTEGRATOR:
            activation["time_constant"] = float(m.actuator_dynprm[index, 0])
        if m.actuator_actlimited[index]:
            activation["range"] = [float(x) for x in m.actuator_actrange[index]]
        return {"activation": activation}
