"""Values that users give for the parameters that a model keeps as inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ...errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ...model.model import Model
from ...number_checks import check_finite_array
from ...types import Floats, VectorLike


def read_kept_parameters(model: Model, given: VectorLike | None) -> Floats:
    """Return (…, parameters) in the model's order; raise an error if one of them has no value."""
    names = model.parameters
    if not names:
        if given is None or (isinstance(given, Mapping) and not given):
            return np.zeros(0)
        raise LinkwrightError(
            "the model keeps no parameters as inputs",
            where=model.mechanism.name,
            remedy="name them when compiling: compile(mechanism, parameters=[…])",
        )
    if given is None:
        listed = ", ".join(
            f"{n} = {x:g}" for n, x in zip(names, model.nominal_parameters, strict=True)
        )
        raise LinkwrightError(
            f"the model keeps parameters, and none has a value here; nominal: {listed}",
            where=model.mechanism.name,
            remedy="give parameters={name: value, …}",
        )
    if isinstance(given, Mapping):
        return _read_parameters_by_name(names, given)
    values = check_finite_array(given, "parameters")
    if values.shape[-1:] != (len(names),):
        raise LinkwrightError(
            f"parameters have shape {values.shape}",
            remedy=f"give (…, {len(names)}): {', '.join(names)}",
        )
    return values


def _read_parameters_by_name(names: tuple[str, ...], given: Mapping[str, ArrayLike]) -> Floats:
    """Return (…, parameters) from a table that must have exactly these names."""
    for name in given:
        if name not in names:
            raise NameNotFoundError(
                f"the model does not keep '{name}' as a parameter",
                remedy=suggest_remedy(str(name), list(names)),
            )
    missing = [name for name in names if name not in given]
    if missing:
        raise LinkwrightError(
            f"no value is given for {' and '.join(missing)}",
            where="parameters",
            remedy="give all that the model keeps",
        )
    columns = [check_finite_array(given[name], f"parameters['{name}']") for name in names]
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        shapes = ", ".join(f"{n} {c.shape}" for n, c in zip(names, columns, strict=True))
        raise LinkwrightError(
            f"parameters do not broadcast: {shapes}", remedy="give arrays of one shape, or numbers"
        ) from None
