"""Events of an ensemble: what it supports, and which runs must be made one by one.

One program makes all runs if parameters do not differ, and if those that differ concern the
equations of motion, contacts, stops and friction, and neither inputs nor the user's events.
Otherwise each run has equations and code of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..errors import UnsupportedError
from ..expressions import names_in_expression, parse_expression
from ..mechanism import Mechanism, part_numbers
from ..mechanism.strength import breaking_members
from ..types import Floats
from .compiled_motion import can_compile
from .ensemble_forces import depend_on_parameters
from .ensemble_inputs import EnsembleInputs
from .ensemble_parameters import first_varied_name
from .events.event_parts import EventParts
from .events.event_tolerances import EVENT_TOLERANCES
from .events.row_elements import start_beyond_error
from .events.rows import ModeRows
from .events.user_event import Event
from .preparation import Preparation
from .settings import Settings

EventsLike = Mapping[str, str | Callable[..., float] | Event]


def check_ensemble_events(mechanism: Mechanism, events: EventsLike | None) -> None:
    """Raise an error that names the first kind of event that ensembles do not support."""
    for name, event in (events or {}).items():
        when = event.when if isinstance(event, Event) else event
        if callable(when) or (isinstance(when, Mapping) and callable(when.get("when"))):
            raise UnsupportedError(
                f"ensembles do not support events that are Python functions ('{name}')",
                where=mechanism.name,
                remedy="write the event as an expression, or call simulate run by run",
            )
    for name in breaking_members(mechanism):
        raise UnsupportedError(
            f"ensembles do not support members that break ('{name}')",
            where=mechanism.name,
            remedy="remove 'breaks', or call simulate run by run: each part of a run has other "
            "coordinates",
        )


def needs_own_programs(
    mechanism: Mechanism, settings: Settings, inputs: EnsembleInputs, varied: Sequence[str]
) -> bool:
    """Whether parameters that differ from run to run concern what one program cannot have as
    inputs."""
    if inputs.has_own_law_for_each_run:
        return True
    if not varied:
        return False
    names = {*_input_names(inputs), *_event_names(settings.events), *_law_names(mechanism)}
    names |= {*_effort_names(mechanism)}
    names |= set() if settings.sensitivity is None else {*_limit_names(mechanism)}
    return first_varied_name(mechanism, names, varied) is not None


def can_share_program(prepared: Preparation, parts: EventParts | None, settings: Settings) -> bool:
    """Whether one program makes all runs, and Python needs no equations of a single run."""
    events = None if parts is None else parts.begin_run(prepared.rhs)
    rhs = prepared.rhs
    if not can_compile(rhs, settings.integrator, events):
        return False
    if not rhs.parameters:
        return True
    used = {*rhs.equations.parameters}
    if parts is not None:
        used |= parts.code.rows.used_parameters
        if any(event.change is not None for event in parts.given):
            return False
        is_numeric = settings.sensitivity is None and not depend_on_parameters(rhs.force_law)
        if has_modes_at_start(parts) and not is_numeric:
            return False
    return rhs.equations.state is None and used >= {*rhs.parameters}


def has_modes_at_start(parts: EventParts | None) -> bool:
    """Whether a run must find its mode before it begins."""
    return parts is not None and (_may_push(parts) or parts.code.rows.compliant_count > 0)


def _may_push(parts: EventParts) -> bool:
    rows = parts.code.rows
    return bool(rows.joint_frictions) or any(u.restitution is not None for u in rows.unilaterals)


def find_starts_beyond_limits(
    rows: ModeRows, q: Floats, qd: Floats, parameters: Floats
) -> dict[int, str]:
    """Return the runs that start beyond a stop or contact, and why they cannot start."""
    gaps = np.asarray(rows.watched(q, qd, 0.0, parameters)[0])
    failures = {}
    for run in np.flatnonzero((gaps < -EVENT_TOLERANCES.closed_gap).any(axis=-1)):
        worst = int(np.argmin(gaps[run]))
        error = start_beyond_error(rows.unilaterals[worst].name, gaps[run, worst])
        failures[int(run)] = f"cannot start: {error}"
    return failures


# -- names that expressions use ------------------------------------------------------------------


def _input_names(inputs: EnsembleInputs) -> Iterator[str]:
    """Yield the names in the inputs that are expressions."""
    table = inputs.shared if isinstance(inputs.shared, Mapping) else {}
    for value in table.values():
        if isinstance(value, str):
            yield from names_in_expression(parse_expression(value))


def _event_names(given: EventsLike | None) -> Iterator[str]:
    """Yield the names in the expressions and new values of the user's events."""
    for event in (given or {}).values():
        fields = event if isinstance(event, Event) else Event(event)
        when, action = fields.when, fields.action
        if isinstance(event, Mapping):
            when, action = event.get("when"), event.get("action", "record")
        texts = [when, *(action.values() if isinstance(action, Mapping) else ())]
        for text in texts:
            if isinstance(text, str):
                yield from names_in_expression(parse_expression(text))


def _effort_names(mechanism: Mechanism) -> Iterator[str]:
    """Yield the names in limits of efforts and in the laws of actuators."""
    for joint in mechanism.joints.values():
        for most in (joint.limits.effort, joint.limits.effort_backward):
            for expression in () if most is None else joint.each(most):
                yield from names_in_expression(expression)
    for actuator in mechanism.actuators.values():
        is_limited = actuator.control_range is not None or actuator.effort_range is not None
        for place, number, _ in part_numbers(actuator):
            if is_limited or place.startswith(("gain", "bias", "activation")):
                yield from names_in_expression(number)


def _law_names(mechanism: Mechanism) -> Iterator[str]:
    """Yield the names in the numbers that decide which friction sticks."""
    for joint in mechanism.joints.values():
        for number in (joint.smoothing, joint.stribeck):
            for expression in joint.each(number):
                yield from names_in_expression(expression)
    for length in mechanism.lengths.values():
        yield from names_in_expression(length.smoothing)


def _limit_names(mechanism: Mechanism) -> Iterator[str]:
    """Yield the names in the limits of joints; those of lengths depend on all dimensions."""
    if any("limits" in length.model_fields_set for length in mechanism.lengths.values()):
        yield from mechanism.parameters
    for joint in mechanism.joints.values():
        limits = [x for x in (joint.limits.lower, joint.limits.upper) if x is not None]
        for limit in limits:
            for expression in joint.each(limit):
                yield from names_in_expression(expression)
        if limits and joint.mimic is not None:
            yield from names_in_expression(joint.mimic.multiplier)
            yield from names_in_expression(joint.mimic.offset)
