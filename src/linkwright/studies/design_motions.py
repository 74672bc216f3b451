"""The motions of single designs, made again for the page of a study."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import mechanism_names
from ..types import Floats, Integers
from .design_evaluation import measure_values
from .measures import Measure
from .sampling_methods import Sampling
from .study_plan import GOLDEN_SECTION
from .study_recipe import StudyRecipe

if TYPE_CHECKING:
    from .study_result import Study

FRAMES = 61
"""Times of a motion."""

MAX_NUMBERS = 1_000_000
"""Numbers of all motions, 4 bytes each."""

MAX_SECONDS = 10.0
"""Seconds after which no more motions are made."""

LANES = 256
"""Designs that an ensemble makes at a time."""


@dataclass(frozen=True, eq=False)
class DesignMotions:
    """Motions of some designs.

    Attributes
    ----------
    places : array of int
        The designs, by their places among those that were asked for.
    states : (design, time, t and q and q̇) array
        Times, coordinates and velocities, NaN where a motion has ended.
    """

    places: Integers
    states: Floats


def prescribed_motion(recipe: StudyRecipe) -> str:
    """Return the analysis whose motion the measures are about, empty if it is the run."""
    needed = {name for one in recipe.measures for name in one.names_by_analysis()}
    if "run" in needed:
        return ""
    return next((name for name in ("kinematics", "inverse") if name in needed), "")


def make_motions(study: Study, designs: Integers) -> DesignMotions | None:
    """Return motions of as many designs as a page can hold and a few seconds allow, evenly chosen;
    None if there is none."""
    names = mechanism_names(study.mechanism)
    width = 1 + len(names.q) + len(names.qd)
    order = np.argsort(np.arange(len(designs)) * GOLDEN_SECTION % 1.0, kind="stable")
    order = order[: max(1, MAX_NUMBERS // (FRAMES * width))]
    recipe = _recipe_of_motions(study, designs[order])
    slow = bool(prescribed_motion(study.recipe)) or any(one.has_text for one in recipe.factors)
    size, end = 1 if slow else LANES, time.monotonic() + MAX_SECONDS
    states, made = np.full((len(order), FRAMES, width), np.nan), np.zeros(len(order), bool)
    for start in range(0, len(order), size):
        if time.monotonic() > end:
            break
        rows = slice(start, start + size)
        try:
            values, _ = measure_values(recipe, {}, start, min(start + size, len(order)))
        except LinkwrightError:  # this design has no motion
            continue
        clock = values["q"].clock
        if clock is None:
            continue
        count = min(len(clock.times), FRAMES)
        states[rows, :count, 0] = clock.times[:count]
        whole = np.concatenate([values["q"].array, values["qd"].array], axis=2)
        states[rows, :count, 1:] = whole[:, :count]
        made[rows] = np.isfinite(states[rows, 0]).all(axis=1)
    return DesignMotions(order[made], states[made]) if made.any() else None


def _recipe_of_motions(study: Study, designs: Integers) -> StudyRecipe:
    """Return a study of these designs alone that measures their states at a few times."""
    recipe = study.recipe
    chosen = [study.factors_of(int(k)) for k in designs]
    factors = tuple(
        replace(one, distribution="", numbers=(), levels=tuple(row[one.name] for row in chosen))
        for one in recipe.factors
    )
    analysis = prescribed_motion(recipe)
    given = {**recipe.settings.get(analysis or "run", {}), "samples": FRAMES}
    names = ("q", "qd")
    if analysis:
        measures = tuple(Measure(name, f"kinematics.{name}") for name in names)
    else:
        measures = tuple(Measure(name, name) for name in names)
    return replace(
        recipe,
        factors=factors,
        sampling=Sampling("list", len(chosen), recipe.sampling.seed, len(chosen)),
        measures=measures,
        settings={**recipe.settings, "kinematics" if analysis else "run": given},
        sizes={},
        histories={},
    )
