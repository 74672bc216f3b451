"""Provenance of a run: versions and settings, and the repetition of a run from them."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np

from ..conveniences import find_convenience
from ..errors import UnsupportedError
from .events.user_event import Event
from .feedback import NOT_KEPT
from .run import Run
from .storage import load_run

StoredSetting = None | str | bool | int | float | list["StoredSetting"] | dict[str, "StoredSetting"]
"""A setting in the form that a file stores."""


def software_versions() -> dict[str, str]:
    """Return the versions of all software that computes, and the kind of machine.

    The same versions on one kind of machine give the same bits.
    """
    return dict(_cached_versions())


@cache
def _cached_versions() -> dict[str, str]:
    """Return the versions; each package reads its version from its files only once."""
    from importlib.metadata import version

    from .. import __version__

    packages = {name: version(name) for name in ("numpy", "scipy", "casadi", "llvmlite")}
    return {
        "linkwright": __version__,
        "python": platform.python_version(),
        **packages,
        "machine": f"{platform.system()} {platform.machine()}",
    }


def stored_settings(settings: Mapping[str, object]) -> dict[str, StoredSetting]:
    """Return all settings in the form that files store."""
    return {key: stored_form(value) for key, value in settings.items()}


def stored_form(value: object) -> StoredSetting:
    """Return a setting in the form that files store: numbers, texts, lists and tables; None for
    infinity."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Event):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): stored_form(item) for key, item in value.items()}
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray | list | tuple):
        return [stored_form(item) for item in value]
    return NOT_KEPT


def repeat(source: str | Path | Run) -> Run:
    """Repeat a run from its own mechanism and settings.

    The result has the same bits where versions and machine are the same.

    Parameters
    ----------
    source : str, Path or Run
        The run, or the file of one.

    Returns
    -------
    Run
        The new run.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=3)
    >>> bool((lw.simulation.repeat(run).q == run.q).all())
    True
    """
    from . import simulate, solve_inverse

    run = source if isinstance(source, Run) else load_run(source)
    where = "" if isinstance(source, Run) else str(source)
    _check_repeatable(run, where)
    given = {key: value for key, value in run.settings.items() if value is not None}
    if "controller" in given:
        recipe = given.pop("controller")
        if "\n" not in str(recipe.get("mechanism", "\n")):  # a name would be that of a file
            raise UnsupportedError("the run's controller names a file", where=where)
        given["torque"] = find_convenience("Run.repeat")(recipe)
    if given.pop("mode", "") != "inverse":
        found: Run = simulate(run.mechanism, **given)
        return found
    if "motion" in given:
        given.pop("over", None)
        return solve_inverse(run.mechanism, **given)
    return solve_inverse(run.mechanism, simulate(run.mechanism, **given))


def _check_repeatable(run: Run, where: str) -> None:
    """Raise an error for a run after a member broke, and for settings that a file cannot store."""
    if "after" in run.settings:
        raise UnsupportedError(
            f"the run continues another one after '{run.settings['after']}' broke",
            where=where,
            remedy="repeat the first part",
        )
    lost = [key for key, value in run.settings.items() if _has_python_function(value)]
    if lost:
        raise UnsupportedError(
            f"the run cannot be repeated: its {' and '.join(lost)} was a function of Python, "
            "which a file cannot keep",
            where=where,
            remedy="give expressions or tables instead, or call simulate with the function again",
        )


def _has_python_function(value: object) -> bool:
    """Return whether a setting was, or contained, a Python function."""
    if isinstance(value, Mapping):
        return any(map(_has_python_function, value.values()))
    return isinstance(value, str) and value == NOT_KEPT


def largest_difference(run: Run, other: Run) -> float:
    """Return the largest difference between the coordinates and velocities of two runs; 0 where all
    bits agree, infinity where their samples differ."""
    if run.q.shape != other.q.shape or not np.array_equal(run.t, other.t):
        return math.inf
    pairs = ((run.q, other.q), (run.qd, other.qd))
    return max(float(np.abs(a - b).max(initial=0.0)) for a, b in pairs)
