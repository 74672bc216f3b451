"""The analyses of one design: a run, kinematics, an inverse motion, equilibria, a linear model, a
linkage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..linearization import equilibria, linearize
from ..linkages import analyze_linkage
from ..simulation import simulate, solve_inverse, solve_kinematics
from .design_groups import DesignGroup


def _settings_of(group: DesignGroup, analysis: str) -> dict[str, Any]:
    return dict(group.recipe.settings.get(analysis, {}))


def _make_run(group: DesignGroup, lane: int, seed: int) -> object:
    given: dict[str, Any] = {**group.run_settings, "torque": group.torque(lane)}
    given |= {what: group.start(what, lane) for what in ("q0", "qd0")}
    parameters = group.parameters_of(lane) or None
    return simulate(group.recipe.mechanism, parameters=parameters, progress=False, **given)


def _make_kinematics(group: DesignGroup, lane: int, seed: int) -> object:
    given = _settings_of(group, "kinematics")
    return solve_kinematics(group.mechanism_of(lane), read_motion(given), **given)


def _make_inverse(group: DesignGroup, lane: int, seed: int) -> object:
    given = _settings_of(group, "inverse")
    return solve_inverse(group.mechanism_of(lane), read_motion(given), **given)


def read_motion(given: dict[str, Any]) -> dict[str, object] | None:
    """Take the motion out of settings; JSON has lists for the tuples of tables."""
    motion = given.pop("motion", None)
    if motion is None:
        return None
    return {name: tuple(x) if isinstance(x, list) else x for name, x in motion.items()}


def _make_equilibria(group: DesignGroup, lane: int, seed: int) -> object:
    given = {"seed": seed, **_settings_of(group, "equilibria")}
    if "torque" not in given:
        given["torque"] = constant_torque(group, lane)
    return equilibria(group.mechanism_of(lane), **given)


def _make_linear(group: DesignGroup, lane: int, seed: int) -> object:
    given = _settings_of(group, "linearize")
    for key, what in (("q", "q0"), ("qd", "qd0")):
        start = group.start(what, lane)
        if key not in given and start is not None:
            given[key] = start
    if "torque" not in given:
        given["torque"] = constant_torque(group, lane)
    return linearize(group.mechanism_of(lane), **given)


def constant_torque(group: DesignGroup, lane: int | None) -> object:
    """Return the inputs of a design if they are numbers, for analyses about a state; of all designs
    with columns."""
    if group.recipe.settings.get("run", {}).get("control") is not None:
        return None
    torque = group.torque(lane)
    if isinstance(torque, Mapping):
        return {k: x for k, x in torque.items() if isinstance(x, float | int | np.ndarray)} or None
    return torque if isinstance(torque, list) else None


def _make_linkage(group: DesignGroup, lane: int, seed: int) -> object:
    given = _settings_of(group, "linkage")
    if isinstance(given.get("over"), list):
        given["over"] = tuple(given["over"])
    return analyze_linkage(group.mechanism_of(lane), **given)


DESIGN_ANALYSES: dict[str, Callable[[DesignGroup, int, int], object]] = {
    "run": _make_run,
    "kinematics": _make_kinematics,
    "inverse": _make_inverse,
    "equilibria": _make_equilibria,
    "linearize": _make_linear,
    "linkage": _make_linkage,
}
"""By analysis, the function that makes it for a lane of a group, with the seed of the design."""
