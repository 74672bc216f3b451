"""What a page may ask of the studio: messages as checked data, and the jobs that answer them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence

from ..comparison.formulation_comparison import measure_comparison
from ..errors import ArgumentError
from ..formulations import FORMULATIONS
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..mechanism import Mechanism
from ..processes.timed_worker import TimedWorkerProcess
from ..report.page_sections import comparison_section
from .studio_tasks import (
    GENERAL_FORM,
    check_for_studio,
    simulate_for_studio,
    verify_for_studio,
    write_studio_equations,
)
from .work_lanes import StudioJob

MAX_MESSAGE = 1_000_000
"""Characters of a message from a page, at most."""
_JOB_SECONDS = 3600.0
"""Processor time that a job may take; people cancel it before."""
_COMPARED_SECONDS, _COMPARISON_BUDGET = 0.2, 60.0
"""Duration of the compared motion, and processor time of one formulation, s."""
_MAX_DURATION = 1e4
"""The longest simulation that a page may ask for, s."""

JobOptions = Mapping[str, object]
JobWork = Callable[[TimedWorkerProcess, Callable[[str], None]], Mapping[str, object]]


def make_studio_job(
    kind: str, options: JobOptions, mechanism: Mechanism, version: int, file: str
) -> StudioJob:
    """Return the job that answers a request; an error if its options have wrong values."""
    makers: dict[str, Callable[[JobOptions, Mechanism, str], JobWork]] = {
        "equations": _equations_work,
        "checks": _checks_work,
        "simulation": _simulation_work,
        "formulations": _formulations_work,
        "own": _own_equations_work,
    }
    if kind not in makers:
        raise ArgumentError(
            f"'{kind[:40]}' is not a request", remedy=f"ask for {', '.join(makers)}"
        )
    return StudioJob(kind, job_key(kind, options, version), makers[kind](options, mechanism, file))


def job_key(kind: str, options: JobOptions, version: int) -> str:
    """The text by which a page and the studio know a request."""
    return json.dumps([kind, options, version], sort_keys=True)


def _equations_work(options: JobOptions, mechanism: Mechanism, file: str) -> JobWork:
    by, steps = options.get("by", GENERAL_FORM), options.get("steps", False)
    if by not in (GENERAL_FORM, *FORMULATIONS) or not isinstance(steps, bool):
        raise ArgumentError("the formulation is not known", remedy="choose one of the list")
    return _html_work(write_studio_equations, mechanism, by, steps, file)


def _checks_work(options: JobOptions, mechanism: Mechanism, file: str) -> JobWork:
    return _html_work(verify_for_studio, mechanism, file)


def _own_equations_work(options: JobOptions, mechanism: Mechanism, file: str) -> JobWork:
    text = options.get("text", "")
    if not isinstance(text, str):
        raise ArgumentError("the equations are not a text", remedy="write equations")
    return _html_work(check_for_studio, mechanism, text)


def _html_work(function: Callable[..., object], *arguments: object) -> JobWork:
    """A call in the worker whose result is HTML."""
    return lambda worker, report: {
        "html": str(worker.call_within(function, *arguments, seconds=_JOB_SECONDS))
    }


def _simulation_work(options: JobOptions, mechanism: Mechanism, file: str) -> JobWork:
    seconds = options.get("seconds", 5.0)
    if not _is_number(seconds) or not 0 < float(seconds) <= _MAX_DURATION:  # type: ignore[arg-type]
        raise ArgumentError(
            "the duration is not a number of seconds", remedy=f"give 0 to {_MAX_DURATION:g}"
        )
    q, qd = (_numbers(options.get(key), key) for key in ("q", "qd"))
    parameters = _table(options.get("parameters"), "parameters", _is_number)
    efforts = _table(options.get("efforts"), "efforts", lambda x: isinstance(x, str))
    arguments = (mechanism, seconds, q, qd, parameters, efforts)
    return lambda worker, report: worker.call_within(
        simulate_for_studio, *arguments, seconds=_JOB_SECONDS
    )


def _formulations_work(options: JobOptions, mechanism: Mechanism, file: str) -> JobWork:
    def work(worker: TimedWorkerProcess, report: Callable[[str], None]) -> Mapping[str, object]:
        names = sorted(FORMULATIONS, key=lambda name: name == "approximate")
        smooth = mechanism_with_penalties(mechanism.without("friction"), names)
        begun: list[str] = []

        def tell(name: str) -> None:
            begun.append(name)
            report(f"{name}, {len(begun)} of {len(names)}")

        budget = _COMPARISON_BUDGET
        found = measure_comparison(worker, smooth, names, _COMPARED_SECONDS, budget, report=tell)
        command = f"linkwright compare {file} -t {_COMPARED_SECONDS:g} --budget {budget:g}"
        return {"html": str(comparison_section(found, command))}

    return work


def _is_number(value: object) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _numbers(value: object, name: str) -> Sequence[float] | None:
    """A list of finite numbers, or None."""
    if value is None:
        return None
    if not isinstance(value, list) or not all(map(_is_number, value)):
        raise ArgumentError(f"{name} is not a list of numbers", remedy="reset the picture")
    return value


def _table(value: object, name: str, is_right: Callable[[object], bool]) -> dict[str, object]:
    """A table by name whose values are right."""
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(map(is_right, value.values())):
        raise ArgumentError(f"{name} have values of a wrong type", remedy="write them again")
    return value
