"""Parts of MJCF files that users can leave out on request: `load(path, ignore=["fluid"])`.

Each is one row: what it is, and how it is taken out of the compiled model before that is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NameNotFoundError, suggest_remedy

if TYPE_CHECKING:
    import mujoco

_TENDON_EQUALITY = 3
"""The value of mjtEq; those above it belong to flexes, and to what has no equivalent here."""


@dataclass(frozen=True)
class IgnoredEffect:
    """A part of a file: what it is, and the function that takes it out of a compiled model."""

    meaning: str
    take_out: Callable[[mujoco.MjModel], None]


def leave_out_remedy(remedy: str, effect: str) -> str:
    """Return a remedy that also says how to leave the part out."""
    return f'{remedy}, or leave it out: ignore=["{effect}"], --ignore {effect}'


def take_out_ignored_effects(model: mujoco.MjModel, effects: Collection[str]) -> Iterator[str]:
    """Take effects out of a compiled model, and yield a note for each."""
    if isinstance(effects, str):
        effects = [effects]
    for effect in effects:
        if effect not in IGNORED_EFFECTS:
            raise NameNotFoundError(
                f"'{effect}' cannot be ignored",
                remedy=suggest_remedy(str(effect), list(IGNORED_EFFECTS)),
            )
        IGNORED_EFFECTS[effect].take_out(model)
        yield f"{IGNORED_EFFECTS[effect].meaning} (ignored on request)"


def _zero_arrays(*names: str) -> Callable[[mujoco.MjModel], None]:
    """Return a function that sets arrays of a model to 0, where its version has them."""

    def set_to_zero(model: mujoco.MjModel) -> None:
        for name in names:
            if (values := getattr(model, name, None)) is not None:
                values[:] = 0

    return set_to_zero


def _take_out_fluid(model: mujoco.MjModel) -> None:
    model.opt.density = model.opt.viscosity = 0.0


def _take_out_plugins(model: mujoco.MjModel) -> None:
    model.body_plugin[:] = -1


def _take_out_tendons(model: mujoco.MjModel) -> None:
    words = ("stiffness", "stiffnesspoly", "springyield", "damping", "dampingpoly")
    _zero_arrays(*(f"tendon_{word}" for word in (*words, "frictionloss", "armature")))(model)
    model.eq_active0[model.eq_type == _TENDON_EQUALITY] = 0


def _take_out_flexes(model: mujoco.MjModel) -> None:
    words = ("stiffness", "edgestiffness", "bending", "damping", "edgedamping")
    _zero_arrays(*(f"flex_{word}" for word in words))(model)
    model.eq_active0[model.eq_type > _TENDON_EQUALITY] = 0


IGNORED_EFFECTS = {
    "fluid": IgnoredEffect("forces of the fluid", _take_out_fluid),
    "tendons": IgnoredEffect("tendons", _take_out_tendons),
    "flexes": IgnoredEffect("elasticity of flexes, and distance equalities", _take_out_flexes),
    "plugins": IgnoredEffect("plugins", _take_out_plugins),
    "gravcomp": IgnoredEffect("gravity compensation", _zero_arrays("body_gravcomp")),
    "friction": IgnoredEffect("friction loss of joints", _zero_arrays("dof_frictionloss")),
    "armature": IgnoredEffect(
        "armature of joints and actuators", _zero_arrays("dof_armature", "actuator_armature")
    ),
    "actuators": IgnoredEffect(
        "actuators", _zero_arrays("actuator_armature", "actuator_damping", "actuator_dampingpoly")
    ),
    "nonlinear": IgnoredEffect(
        "springs and dampers of higher order",
        _zero_arrays(
            "jnt_stiffnesspoly",
            "jnt_springyield",
            "dof_dampingpoly",
            "tendon_stiffnesspoly",
            "tendon_springyield",
            "tendon_dampingpoly",
            "actuator_dampingpoly",
        ),
    ),
}
"""By the words that `ignore` takes."""
