"""Recipes of controllers, as data: a run's file keeps one, and a file can ask for one.

A recipe is a table: the controller's name, what its function was given by name, and the mechanism
that the law knows, as text. Functions as references are in no recipe.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..files import load
from ..mechanism import Mechanism
from ..motion import Trajectory, quintic
from ..simulation.feedback import NOT_KEPT, Feedback
from ..writers import write_mechanism_text

P = ParamSpec("P")
CONTROLLERS_BY_NAME: dict[str, Callable[..., Feedback]] = {}
"""Controllers by name."""


def register_controller(make: Callable[P, Feedback]) -> Callable[P, Feedback]:
    """A function that makes the same control law and stores its recipe with it."""
    signature = inspect.signature(make)

    @wraps(make)
    def made(*args: P.args, **named: P.kwargs) -> Feedback:
        law = make(*args, **named)
        given = signature.bind(*args, **named).arguments
        kept = {name: _controller_recipe_value(value) for name, value in given.items()}
        return replace(law, recipe={"controller": make.__name__, **kept})

    CONTROLLERS_BY_NAME[make.__name__] = made
    return made


def _controller_recipe_value(value: Any) -> Any:
    if isinstance(value, Mechanism):
        return write_mechanism_text(value, "toml")[0]
    if isinstance(value, Trajectory):
        return {"knots": value.knots.tolist(), "coefficients": value.coefficients.tolist()}
    if callable(value):
        return NOT_KEPT
    return value if value is None or isinstance(value, str | bool) else np.asarray(value).tolist()


def made_by(recipe: Mapping[str, object], mechanism: Mechanism | None = None) -> Feedback:
    """Return the controller that a recipe describes.

    A recipe is plain data: the name of the controller and its arguments. Every controller carries
    its own as `Feedback.recipe`, and run files store it.

    Parameters
    ----------
    recipe : mapping
        "controller", the name of a function of this package, and its arguments by name. A reference
        is a list of numbers, {knots, coefficients}, or {start, end, time} for a quintic.
    mechanism : Mechanism, optional
        The controlled mechanism, if the recipe has no "mechanism" of its own.

    Returns
    -------
    Feedback
        The controller.

    Raises
    ------
    NameNotFoundError
        If the controller, or one of its arguments, does not exist.

    Examples
    --------
    >>> import linkwright as lw
    >>> recipe = {"controller": "pid", "reference": [0.5, 0.0], "kp": 100.0, "kd": 10.0}
    >>> lw.control.made_by(recipe, lw.gallery("elbow")).sizes
    (2, 2)
    """
    given = dict(recipe)
    name = str(given.pop("controller", ""))
    if name not in CONTROLLERS_BY_NAME:
        raise NameNotFoundError(
            f"unknown controller '{name}'",
            remedy=suggest_remedy(name, list(CONTROLLERS_BY_NAME)),
        )
    if "mechanism" in given:
        mechanism = load(str(given.pop("mechanism")))
    if mechanism is None:
        raise LinkwrightError(f"the controller '{name}' needs a mechanism", remedy="give one")
    known = inspect.signature(CONTROLLERS_BY_NAME[name]).parameters
    for key in given:
        if key not in known:
            raise NameNotFoundError(
                f"the controller '{name}' has no '{key}'",
                remedy=suggest_remedy(key, list(known)[1:]),
            )
    for key, parameter in list(known.items())[1:]:
        if parameter.default is parameter.empty and key not in given:
            raise LinkwrightError(f"the controller '{name}' needs '{key}'", remedy="give it")
    try:
        if "reference" in given:
            given["reference"] = _read_controller_reference(given["reference"])
        return CONTROLLERS_BY_NAME[name](mechanism, **given)
    except LinkwrightError:
        raise
    except (TypeError, ValueError) as error:
        raise LinkwrightError(f"'{name}' cannot be made of these values: {error}") from None


def _read_controller_reference(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    if set(given) == {"knots", "coefficients"}:
        return Trajectory(*(np.array(given[key], dtype=float) for key in ("knots", "coefficients")))
    if set(given) == {"start", "end", "time"}:
        return quintic(given["start"], given["end"], given["time"])
    raise LinkwrightError(
        f"a reference does not take {', '.join(map(str, given))}",
        remedy="give numbers to stay at, or start, end and time",
    )
