"""Measures of a study: named expressions, or Python functions of what is computed for a design."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from ..errors import ArgumentError, LinkwrightError
from ..expressions import (
    Expression,
    is_expression_name,
    names_in_expression,
    parse_indexed_expression,
)
from .lane_values import MEASURE_FUNCTIONS

ANALYSES = ("run", "kinematics", "inverse", "equilibria", "linearize", "linkage")
"""What can be computed for a design; a run is the default of a name without a prefix."""

FUNCTION_ARGUMENTS = (*ANALYSES, "mechanism", "factors", "seed")
"""What a Python function may take, by the names of its parameters."""

MeasureFunction = Callable[..., object]
"""A function whose parameters have names among `FUNCTION_ARGUMENTS`."""


@dataclass(frozen=True)
class Measure:
    """A measure: its name, and an expression or the identity of a function.

    Attributes
    ----------
    name : str
        The name in the result.
    text : str
        The expression; empty for a function.
    module, function : str
        Where a function is found.
    source : str
        The digest of the function's source text.
    takes : tuple of str
        What a function takes.
    """

    name: str
    text: str = ""
    module: str = ""
    function: str = ""
    source: str = ""
    takes: tuple[str, ...] = ()

    @property
    def expression(self) -> Expression:
        """The expression as a tree."""
        return parse_indexed_expression(self.text, MEASURE_FUNCTIONS)

    def names_by_analysis(self) -> dict[str, set[str]]:
        """Return the names in the expression for each analysis; for a function what it takes."""
        found: dict[str, set[str]] = {}
        if not self.text:
            return {analysis: set() for analysis in self.takes if analysis in ANALYSES}
        for name in names_in_expression(self.expression):
            analysis, rest = split_measure_name(name)
            found.setdefault(analysis, set()).add(rest)
        return found

    @property
    def is_importable(self) -> bool:
        """Whether a function can be found again by its module and name."""
        return bool(self.module) and self.module != "__main__" and "<" not in self.function

    def to_json(self) -> dict[str, object]:
        """Return the measure as data."""
        return {key: list(x) if isinstance(x, tuple) else x for key, x in vars(self).items() if x}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Measure:
        """Return the measure of data."""
        given = {key: tuple(x) if isinstance(x, list) else x for key, x in data.items()}
        return cls(**given)  # type: ignore[arg-type]

    def summary(self) -> str:
        """Return the expression, or the place of the function."""
        return self.text or f"{self.module}:{self.function}"


def split_measure_name(name: str) -> tuple[str, str]:
    """Return the analysis that a name belongs to, and its name there."""
    head, _, rest = name.partition(".")
    return (head, rest) if rest and head in ANALYSES else ("run", name)


def read_measures(
    given: Mapping[str, str | MeasureFunction],
) -> tuple[tuple[Measure, ...], dict[str, MeasureFunction]]:
    """Return the measures, and the Python functions among them by name."""
    if not isinstance(given, Mapping) or not given:
        raise ArgumentError(
            "measure is not a table with measures", remedy='give {"peak": "max(abs(tau1))"}'
        )
    measures, functions = [], dict[str, MeasureFunction]()
    for name, one in given.items():
        if not isinstance(name, str) or not is_expression_name(name):
            raise ArgumentError(
                f"{name!r} cannot be the name of a measure",
                remedy="use letters, digits and _, a letter first",
            )
        if isinstance(one, str):
            measures.append(_read_measure_text(name, one))
        elif callable(one):
            measures.append(_identify_function(name, one))
            functions[name] = one
        else:
            raise ArgumentError(
                f"the measure '{name}' is {one!r}", remedy="give an expression or a function"
            )
    return tuple(measures), functions


def _read_measure_text(name: str, text: str) -> Measure:
    """Return a measure; module:function names a Python function."""
    module, colon, function = text.partition(":")
    if colon and module.replace(".", "").replace("_", "").isalnum() and function.isidentifier():
        return _identify_function(name, import_function(module, function, name))
    measure = Measure(name, text)
    try:
        _ = measure.expression
    except LinkwrightError as error:
        raise error.within(f"measure '{name}'") from None
    return measure


def import_function(module: str, function: str, measure: str) -> MeasureFunction:
    """Return the function of a module that a study names."""
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ArgumentError(
            f"the function {module}:{function} cannot be imported: {error}",
            where=f"measure '{measure}'",
            remedy="put its folder on PYTHONPATH, on all machines",
        ) from None
    if not callable(found):
        raise ArgumentError(f"{module}:{function} is not a function", where=f"measure '{measure}'")
    made: MeasureFunction = found
    return made


def _identify_function(name: str, function: MeasureFunction) -> Measure:
    try:
        takes = tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        takes = ()
    unknown = [one for one in takes if one not in FUNCTION_ARGUMENTS]
    if unknown or not takes:
        raise ArgumentError(
            f"the function takes {', '.join(takes) or 'nothing'}",
            where=f"measure '{name}'",
            remedy=f"name its parameters {', '.join(FUNCTION_ARGUMENTS[:-1])} or seed",
        )
    module = getattr(function, "__module__", "") or ""
    title = getattr(function, "__qualname__", type(function).__name__)
    return Measure(name, "", module, title, function_digest(function), takes)


def function_digest(function: MeasureFunction) -> str:
    """Return a digest of a function's source text, or of its byte code."""
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        text = repr(None if code is None else (code.co_code, code.co_consts, code.co_names))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def find_functions(
    measures: tuple[Measure, ...], given: Mapping[str, MeasureFunction]
) -> dict[str, MeasureFunction]:
    """Return the functions of all measures: those given, or imported; they must be unchanged."""
    found = {}
    for one in measures:
        if one.text:
            continue
        if one.name in given:
            function = given[one.name]
        elif one.is_importable and _is_module(one.module):
            function = import_function(one.module, one.function, one.name)
        else:
            raise ArgumentError(
                f"the function {one.module}:{one.function} cannot be imported",
                where=f"measure '{one.name}'",
                remedy="call lw.study again with the function, or put it into a module",
            )
        if function_digest(function) != one.source:
            raise ArgumentError(
                f"the function {one.module}:{one.function} has changed since the study began",
                where=f"measure '{one.name}'",
                remedy="restore it, or begin a new study",
            )
        found[one.name] = function
    return found


def _is_module(name: str) -> bool:
    """Whether a module exists."""
    if name in sys.modules:
        return True
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
