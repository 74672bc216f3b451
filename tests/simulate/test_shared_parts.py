"""What runs share does not change; what belongs to one run stays with it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.simulation.events.event_tolerances import EVENT_TOLERANCES
from linkwright.simulation.events.scheduled_event import scheduled_event_of
from linkwright.simulation.events.zeno import (
    FRICTION_ADVICE,
    IMPACT_ADVICE,
    USER_ADVICE,
    ZenoDetector,
    choose_zeno_advice,
)
from linkwright.simulation.feedback import Feedback
from linkwright.simulation.inputs import read_force_law
from linkwright.simulation.preparation import Preparation, prepare_simulation
from linkwright.simulation.run_context import RunContext
from linkwright.simulation.settings import Settings
from linkwright.simulation.singularity_log import SingularityLog
from linkwright.simulation.steppers.singularity_crossing import SingularityCrossing
from linkwright.simulation.steppers.stepper import StepOptions, Stepper
from linkwright.simulation.steppers.stepper_choice import stepper_named


@pytest.fixture(scope="module")
def prepared() -> Preparation:
    return prepare_simulation(lw.gallery("four-bar"), "recursive", None, "projection")


def stepper_at_home(prepared: Preparation, speed: float, integrator: str) -> Stepper:
    """A stepper of a run of its own on the shared right-hand side."""
    context, model = RunContext(prepared.rhs), prepared.rhs.model
    q = model.home()
    G, _ = model.independent_map(q)
    y = context.space.start(q, speed * G[:, 0])
    return stepper_named(integrator)(context, 0.0, y, 1.0, StepOptions(rtol=1e-6, atol=1e-7))


@pytest.mark.parametrize("integrator", ["dop853", "radau", "bdf"])
def test_runs_side_by_side_do_not_touch_each_other(prepared: Preparation, integrator: str) -> None:
    """Steps of two runs in turn have the bits and counts of each run alone."""

    def alone(speed: float) -> list[tuple[float, bytes, int]]:
        stepper = stepper_at_home(prepared, speed, integrator)
        return [after_step(stepper) for _ in range(5)]

    def after_step(stepper: Stepper) -> tuple[float, bytes, int]:
        assert stepper.advance() is None
        assert isinstance(stepper, SingularityCrossing)
        return stepper.t, stepper.y.tobytes(), stepper.context.counts.evaluations

    pair = [stepper_at_home(prepared, speed, integrator) for speed in (1.0, 3.0)]
    rows = [[after_step(stepper) for stepper in pair] for _ in range(5)]
    for k, speed in enumerate((1.0, 3.0)):
        assert [row[k] for row in rows] == alone(speed)


def test_a_run_leaves_nothing_in_the_right_hand_side(prepared: Preparation) -> None:
    stepper_at_home(prepared, 1.0, "dop853").advance()
    known = {name: id(value) for name, value in vars(prepared.rhs).items()}
    known |= {f"space.{name}": id(value) for name, value in vars(prepared.rhs.space).items()}
    stepper = stepper_at_home(prepared, 2.0, "dop853")
    for _ in range(3):
        stepper.advance()
    found = {name: id(value) for name, value in vars(prepared.rhs).items()}
    found |= {f"space.{name}": id(value) for name, value in vars(prepared.rhs.space).items()}
    assert found == known


def test_settings_are_checked_at_once() -> None:
    for wrong, message in (
        ({"integrator": "euler2"}, "unknown integrator 'euler2'"),
        ({"coordinates": "some"}, "choice of coordinates"),
        ({"samples": 1}, "samples must be"),
        ({"rtol": -1.0}, "rtol"),
        ({"step": 0.1}, "chooses its steps itself"),
        ({"integrator": "rk4", "max_step": 0.1}, "does not use max_step"),
        ({"stops": "bounce"}, "stops = 'bounce' is not known"),
        ({"impacts": "later"}, "impacts = 'later' is not known"),
    ):
        with pytest.raises((LinkwrightError, UnsupportedError), match=message):
            Settings(**wrong)


def test_settings_are_kept_as_a_file_needs_them() -> None:
    """A file holds numbers, texts, lists and tables; infinite numbers are None."""
    settings = Settings(0.5, q0=np.array([1.0]), events={"low": "q1"}, max_step=math.inf)
    kept = json.loads(json.dumps(settings.serialized()))
    assert kept["q0"] == [1.0]
    assert kept["max_step"] is None
    assert kept["events"] == {"low": "q1"}
    assert "after" not in kept
    assert Settings(after="pin").serialized()["after"] == "pin"


def test_kinks_and_sampled_controllers_are_scheduled() -> None:
    arm = lw.derive(lw.gallery("elbow"), by="recursive", parameters="numeric")
    assert scheduled_event_of(read_force_law(arm, None)) is None
    tables = read_force_law(arm, {"q1": ([0, 0.5, 2], [0, 3, 1]), "q2": ([0.2, 1], [1, 2])})
    kinks = scheduled_event_of(tables)
    assert kinks is not None
    times = [0.0]
    while times[-1] < 3.0:
        times.append(kinks.next_time(times[-1], 3.0))
    assert times == [0.0, 0.2, 0.5, 1.0, 2.0, 3.0]
    control = lw.control.pid(lw.gallery("elbow"), [0.0, 0.0], kp=1.0, period=0.25)
    assert isinstance(control, Feedback)
    sampled = scheduled_event_of(read_force_law(arm, control))
    assert sampled is not None
    assert [sampled.next_time(t, 1.0) for t in (0.0, 0.25, 0.3, 0.75)] == [0.25, 0.5, 0.5, 1.0]


def test_events_without_end_are_counted() -> None:
    """Too many at one instant, or too many in a short time; not many over a long time."""
    at_once, spread, crowded = ZenoDetector(), ZenoDetector(), ZenoDetector()
    limit, many = EVENT_TOLERANCES.max_events_per_instant, EVENT_TOLERANCES.max_crowded_events
    assert [at_once.has_no_end(1.0) for _ in range(limit + 2)].index(True) == limit + 1
    assert not any(spread.has_no_end(0.01 * k) for k in range(3 * many))
    assert [crowded.has_no_end(1e-8 * k) for k in range(many)].index(True) == many - 1


def test_advice_by_kinds_of_events() -> None:
    assert choose_zeno_advice({USER_ADVICE, IMPACT_ADVICE}) == USER_ADVICE
    assert choose_zeno_advice({FRICTION_ADVICE}) == FRICTION_ADVICE
    assert choose_zeno_advice({FRICTION_ADVICE, IMPACT_ADVICE}) == IMPACT_ADVICE


def test_one_time_for_each_near_singular_passage() -> None:
    log = SingularityLog()
    for t, share in ((0.3, 0.005), (0.1, 0.5), (0.2, 0.008), (0.4, 0.6), (0.6, 0.009), (0.5, 1.0)):
        log.note(t, share)
    assert log.times() == (0.3, 0.6)
