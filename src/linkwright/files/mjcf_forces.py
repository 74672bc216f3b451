"""Effects that MuJoCo adds to the equations beyond joints: the reader follows flags that switch
effects off, and refuses forces that have no equivalent here, so that none is silently left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import UnsupportedError
from .mjcf_ignored import leave_out_remedy

if TYPE_CHECKING:
    import mujoco


NameOfObject = Callable[[str, int], str]


@dataclass(frozen=True)
class MjcfSwitches:
    """The effects that the option flags of the file leave switched on."""

    gravity: bool
    springs: bool
    dampers: bool
    friction: bool
    equalities: bool
    limits: bool

    @property
    def has_passive_forces(self) -> bool:
        """Whether passive forces act: MuJoCo drops all of them, also those of fluids, once springs
        and dampers are off."""
        return self.springs or self.dampers

    def switched_off_notes(self) -> Iterator[str]:
        """Yield a note for each effect that a flag switches off."""
        words = {
            "gravity": "gravity",
            "springs": "springs",
            "dampers": "damping",
            "friction": "friction loss",
            "equalities": "equalities",
            "limits": "limits",
        }
        for key, what in words.items():
            if not getattr(self, key):
                yield f"{what} (switched off by a flag of the file)"


def read_mjcf_switches(model: mujoco.MjModel, bits: type[mujoco.mjtDisableBit]) -> MjcfSwitches:
    """Return the flags of a compiled model; `bits` is MuJoCo's table of them, which depends on its
    version."""
    flags = int(model.opt.disableflags)

    def has_mjcf_effect(*names: str) -> bool:
        return not any(flags & int(getattr(bits, f"mjDSBL_{name}", 0)) for name in names)

    return MjcfSwitches(
        gravity=has_mjcf_effect("GRAVITY"),
        springs=has_mjcf_effect("SPRING", "PASSIVE"),
        dampers=has_mjcf_effect("DAMPER", "PASSIVE"),
        friction=has_mjcf_effect("FRICTIONLOSS", "CONSTRAINT"),
        equalities=has_mjcf_effect("EQUALITY", "CONSTRAINT"),
        limits=has_mjcf_effect("LIMIT", "CONSTRAINT"),
    )


def refuse_mjcf_forces(model: mujoco.MjModel, on: MjcfSwitches, name: NameOfObject) -> None:
    """Raise an `UnsupportedError` for the first force that acts outside the joints."""
    for found in (
        _refused_mjcf_tendon_force(model, on, name),
        _refused_mjcf_actuator_force(model, on, name),
        _refused_mjcf_body_force(model, on),
    ):
        if found:
            what, remedy = found
            raise UnsupportedError(what, remedy=remedy)


def _first_nonzero_mjcf_row(model: mujoco.MjModel, *arrays: str) -> int | None:
    """Return the first row in which one of the arrays (if this version has it) is not zero."""
    rows: list[int] = []
    for array in arrays:
        values = getattr(model, array, None)
        if values is not None and values.size:
            rows += values.reshape(len(values), -1).any(axis=1).nonzero()[0].tolist()
    return min(rows, default=None)


def _refused_mjcf_tendon_force(
    model: mujoco.MjModel, on: MjcfSwitches, name: NameOfObject
) -> tuple[str, str] | None:
    """Return what is wrong and a remedy for the first tendon with an effect that has no equivalent
    here; None if none has."""
    effects = {
        "a spring of higher order": ("stiffnesspoly", "springyield") if on.springs else (),
        "a damper of higher order": ("dampingpoly",) if on.dampers else (),
    }
    for what, arrays in effects.items():
        index = _first_nonzero_mjcf_row(model, *(f"tendon_{array}" for array in arrays))
        if index is not None:
            remedy = leave_out_remedy("remove it from the tendon", "nonlinear")
            return f"the tendon '{name('TENDON', index)}' has {what}", remedy
    for index in range(model.ntendon):
        is_fixed = int(model.wrap_type[model.tendon_adr[index]]) == 1
        if model.tendon_armature[index] and not is_fixed:
            label = name("TENDON", index)
            remedy = leave_out_remedy("remove it from the tendon", "tendons")
            return f"the spatial tendon '{label}' has armature", remedy
    return None


def _refused_mjcf_actuator_force(
    model: mujoco.MjModel, on: MjcfSwitches, name: NameOfObject
) -> tuple[str, str] | None:
    """Return what is wrong and a remedy for the first actuator with armature or damping; None if
    none has."""
    damping = ("actuator_damping", "actuator_dampingpoly") if on.dampers else ()
    index = _first_nonzero_mjcf_row(model, "actuator_armature", *damping)
    if index is None:
        return None
    label = name("ACTUATOR", index)
    remedy = leave_out_remedy("give it to the joint instead", "actuators")
    return f"the actuator '{label}' has armature or damping", remedy


def _refused_mjcf_body_force(model: mujoco.MjModel, on: MjcfSwitches) -> tuple[str, str] | None:
    """Return what is wrong and a remedy for a force on bodies: of a fluid, a plugin or a flexible
    part."""
    if not on.has_passive_forces or not model.nv:
        return None
    if model.opt.density or model.opt.viscosity:
        remedy = leave_out_remedy("remove density and viscosity from <option>", "fluid")
        return "the bodies move in a fluid", remedy
    if (model.body_plugin >= 0).any():
        return "a plugin acts on its bodies", leave_out_remedy("remove the plugin", "plugins")
    elastic = ("stiffness", "edgestiffness", "bending", "damping", "edgedamping")
    if (
        model.nflex
        and _first_nonzero_mjcf_row(model, *(f"flex_{array}" for array in elastic)) is not None
    ):
        return "it has flexible parts", leave_out_remedy("remove the flexes", "flexes")
    return None
