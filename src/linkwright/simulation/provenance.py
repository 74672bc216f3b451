"""Where a run comes from: versions and settings, so that it can be made again."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..conveniences import find_convenience
from ..errors import UnsupportedError
from .events.user_event import Event
from .feedback import NOT_KEPT
from .run import Run
from .storage import load_run


def versions() -> dict[str, str]:
    """Versions of all that computes: the same ones on one kind of machine give the same bits."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    from importlib.metadata import version

    from .. import __version__

    packages = {name: version(name) for name in ("numpy", "scipy", "casadi", "llvmlite")}
    return {
        "linkwright": __version__, "python": platform.python_version(), **packages,
        "machine": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip


def written(value: Any) -> Any:
    """A setting as files keep it: numbers, texts, lists and tables; infinite is None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Event):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): written(item) for key, item in value.items()}
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray | list | tuple):
        return [written(item) for item in value]
    return NOT_KEPT


def repeat(source: str | Path | Run) -> Run:
    """The run of a file made again, from its own mechanism and settings: the same bits where
    versions and machine are the same."""
    from . import simulate, solve_inverse

    run = source if isinstance(source, Run) else load_run(source)
    where = "" if isinstance(source, Run) else str(source)
    if "after" in run.settings:
        raise UnsupportedError(
            f"the run is what followed after '{run.settings['after']}' broke", where=where,
            remedy="repeat the first part",
        )  # fmt: skip
    lost = [key for key, value in run.settings.items() if _is_lost(value)]
    if lost:
        raise UnsupportedError(
            f"the run cannot be repeated: its {' and '.join(lost)} was a function of Python, "
            "which no file keeps", where=where,
            remedy="give expressions or tables instead, or call simulate with the function again",
        )  # fmt: skip
    given = {key: value for key, value in run.settings.items() if value is not None}
    if "controller" in given:
        recipe = given.pop("controller")
        if "\n" not in str(recipe.get("mechanism", "\n")):  # a name would be that of a file
            raise UnsupportedError("the run's controller names a file", where=where)
        given["torque"] = find_convenience("Run.repeat")(recipe)
    if given.pop("mode", "") != "inverse":
        return simulate(run.mechanism, **given)
    if "motion" in given:
        given.pop("over", None)
        return solve_inverse(run.mechanism, **given)
    return solve_inverse(run.mechanism, simulate(run.mechanism, **given))


def _is_lost(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_lost, value.values()))
    return isinstance(value, str) and value == NOT_KEPT


def differences(run: Run, other: Run) -> float:
    """The largest difference of two runs' coordinates and speeds; 0 where all bits agree."""
    if run.q.shape != other.q.shape or not np.array_equal(run.t, other.t):
        return math.inf
    pairs = ((run.q, other.q), (run.qd, other.qd))
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)
