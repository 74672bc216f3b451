"""`export`: a mechanism in another format, and its functions as source code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import ArgumentError, FileError, UnsupportedError
from ..mechanism import Mechanism, require_mechanism
from .export_target import ExportedFiles, ExportRequest, ExportTarget
from .export_targets import EXPORT_TARGETS
from .exported_functions import DEFAULT_QUANTITIES

if TYPE_CHECKING:
    from ..equations import Equations
    from ..model.model import Model

PRECISIONS = ("double", "float")


def export(
    source: Mechanism | Equations | Model,
    *,
    to: str,
    quantities: Sequence[str] | None = None,
    by: str | None = None,
    parameters: Sequence[str] | None = None,
    precision: str | None = None,
) -> ExportedFiles:
    """Return a mechanism in another format, or its functions as source code.

    Parameters
    ----------
    source : Mechanism, Equations or Model
        What is exported. Equations and models are exported as they were derived.
    to : str
        The target: a file format or a language (docs/how-to/export.md lists all).
    quantities : sequence of str, optional
        Functions by name, those of frames as `placement:tool`. Default: inverse_dynamics,
        forward_dynamics, mass_matrix and bias.
    by : str, optional
        The formulation that derives the functions of a mechanism; default: recursive.
    parameters : sequence of str, optional
        Parameters that stay inputs, as a last argument p; the others are written as numbers.
    precision : str, optional
        "double" (default) or "float", for languages with both.

    Returns
    -------
    ExportedFiles
        Texts by file name; its method `save` writes them.

    Examples
    --------
    >>> import linkwright as lw
    >>> list(lw.export(lw.gallery("elbow"), to="urdf").files)
    ['elbow.urdf']
    """
    target = _find_export_target(to)
    given = {"quantities": quantities, "by": by, "parameters": parameters, "precision": precision}
    _check_export_options(target, given)
    names = DEFAULT_QUANTITIES if quantities is None else _check_name_list(quantities, "quantities")
    kept = None if parameters is None else _check_name_list(parameters, "parameters")
    request = ExportRequest(
        _source_mechanism(source),
        lambda: _compile_export_source(source, by, kept),
        names,
        precision or PRECISIONS[0],
    )
    return target.write(request)


def _find_export_target(name: str) -> ExportTarget:
    """Return the target of this name."""
    if name not in EXPORT_TARGETS:
        *others, last = EXPORT_TARGETS
        raise FileError(f"'{name}' cannot be written", remedy=f"use {', '.join(others)} or {last}")
    return EXPORT_TARGETS[name]


def _check_export_options(target: ExportTarget, given: Mapping[str, object]) -> None:
    """Refuse options that the target does not use, and an unknown precision."""
    for name, value in given.items():
        if value is not None and name not in target.options:
            raise UnsupportedError(f"{name} does not apply to {target.name}", remedy="leave it out")
    precision = given["precision"]
    if precision is not None and precision not in PRECISIONS:
        raise UnsupportedError(
            f"precision cannot be {precision!r}", remedy=f"use {' or '.join(map(repr, PRECISIONS))}"
        )


def _source_mechanism(source: Mechanism | Equations | Model) -> Mechanism:
    """Return the mechanism itself, or that of equations or of a model."""
    mechanism = source if isinstance(source, Mechanism) else getattr(source, "mechanism", source)
    require_mechanism(mechanism)
    assert isinstance(mechanism, Mechanism)
    return mechanism


def _check_name_list(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the names as a tuple; a bare text or an empty list is an error."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ArgumentError(
            f"{what} cannot be {names!r}", remedy=f'give a list of names: {what}=["…"]'
        )
    if not names:
        raise ArgumentError(f"{what} is empty", remedy="name at least one, or leave it out")
    if len(set(names)) < len(names):
        raise ArgumentError(f"{what} has a name twice: {', '.join(names)}", remedy="give it once")
    return tuple(names)


def _compile_export_source(
    source: Mechanism | Equations | Model, by: str | None, parameters: tuple[str, ...] | None
) -> Model:
    """Return the model whose functions are exported."""
    from ..formulations import derive
    from ..model import model as models

    if isinstance(source, Mechanism):
        if by is None:
            return models.compile(source, parameters=parameters or ())
        kept = list(parameters) if parameters else "numeric"
        return models.compile(derive(source, by=by, parameters=kept), parameters=parameters or ())
    if by is not None:
        raise UnsupportedError(
            f"by = '{by}' does not apply to equations that are already derived",
            remedy="export the mechanism",
        )
    if not isinstance(source, models.Model):
        return models.compile(source, parameters=parameters or ())
    if parameters is not None and parameters != source.parameters:
        raise UnsupportedError(
            f"parameters = {list(parameters)} does not apply to a model that is already compiled",
            remedy="export the mechanism, or compile it with these parameters",
        )
    return source
