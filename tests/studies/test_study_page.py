"""The page of a study in a browser: a picked design moves beside the charts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.studies import Study, design_motions
from linkwright.writers import write_mechanism_text
from tests.report.browser import Browser, found

ELBOW = lw.gallery("elbow")
PROGRAM = found()
pytestmark = pytest.mark.skipif(
    PROGRAM is None and os.environ.get("LINKWRIGHT_BROWSER") != "required",
    reason="no Chromium is installed",
)


@pytest.fixture(scope="module")
def study() -> Study:
    vary = {"m2": (0.5, 1.5), "l1": (0.5, 1.5), "q0.q2": (-0.5, 1.0), "torque.q1": (0.0, 2.0)}
    measure = {"peak": "max(abs(dq1))", "end": "q1[-1]", "path": "q2"}
    return lw.study(ELBOW, vary, measure, count=24, t=0.2, samples=11, q0={"q1": 0.3})


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None
    one = Browser(PROGRAM, tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_a_picked_design_moves(study: Study, browser: Browser, tmp_path: Path, width: int) -> None:
    page = study.report(tmp_path / "page.html")
    browser.open(page, width)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # the point of design 7 in the scatter plot of m2 and peak, as the page draws it
    browser.evaluate("linkedStudy.viewer.ready.then(() => 0)")
    browser.evaluate("linkedStudy.pick(7)")
    for _ in range(50):
        state = browser.evaluate("linkedStudy.viewer.state")
        if state and state["playing"] and state["t"] > 0:
            break
        time.sleep(0.1)
    factors = study.factors_of(7)
    assert state["parameters"]["m2"] == pytest.approx(factors["m2"], rel=1e-6)
    assert state["parameters"]["l1"] == pytest.approx(factors["l1"], rel=1e-6)
    assert state["efforts"]["q1"] == pytest.approx(factors["torque.q1"], rel=1e-5)
    assert state["playing"]
    assert state["t"] > 0
    said = browser.evaluate("document.getElementById('picked').textContent")
    assert said.startswith("Design 7: ")
    assert browser.complaints() == []
    assert browser.requests() == [page.as_uri()]


@pytest.mark.slow
def test_a_click_picks_the_nearest_point(study: Study, browser: Browser, tmp_path: Path) -> None:
    browser.open(study.report(tmp_path / "page.html"), 1280)
    script = """(() => { const c = document.getElementById("scatter"), b = c.getBoundingClientRect();
      for (let x = 70; x < b.width; x += 6) for (let y = 14; y < b.height - 42; y += 6) {
        c.dispatchEvent(new MouseEvent("click", {clientX: b.left + x, clientY: b.top + y}));
        if (linkedStudy.picked >= 0) return [linkedStudy.picked, x, y]; } })()"""
    picked, x, y = browser.evaluate(script)
    names = ["m2", "peak"]
    shares = []
    for name in names:
        values = study.numbers(name)
        shares.append((values - values.min()) / (values.max() - values.min()))
    box = browser.evaluate(
        "(() => { const b = document.getElementById('scatter').getBoundingClientRect();"
        "return [b.width, b.height]; })()"
    )
    at_x = 62 + shares[0] * (box[0] - 62 - 14)
    at_y = box[1] - 40 - shares[1] * (box[1] - 12 - 40)
    gaps = (at_x - x) ** 2 + (at_y - y) ** 2
    assert picked == int(gaps.argmin())


@pytest.mark.slow
def test_a_picked_linkage_moves_as_the_study_does(browser: Browser, tmp_path: Path) -> None:
    """Its loop is closed with its own lengths; the crank alone is given, and in degrees."""
    bars, vary = lw.gallery("four-bar"), {"l3": (2.2, 2.6), "qd0.theta1": (-2.0, 2.0)}
    given = {"q0": {"theta1": "60 deg"}, "t": 0.1, "samples": 3}
    study = lw.study(bars, vary, {"end": "theta1[-1]"}, count=8, **given)
    browser.open(study.report(tmp_path / "page.html"), 1280)
    browser.evaluate("linkedStudy.viewer.ready.then(() => 0)")
    browser.evaluate("linkedStudy.pick(5); 0")
    for _ in range(100):
        state = browser.evaluate("linkedStudy.viewer.state")
        if state["t"] > 0.2:
            break
        time.sleep(0.1)
    run = lw.simulate(
        study.mechanism_of(5), state["t"], {"theta1": "60 deg"},
        {"theta1": study.factors_of(5)["qd0.theta1"]}, samples=2,
    )  # fmt: skip
    assert state["q"] == pytest.approx(run.q[-1], abs=1e-4)  # the page has 7 digits of a factor
    assert browser.complaints() == []


CONTROL = {"controller": "pd_gravity", "reference": [0.8, -0.4], "kp": 200.0, "kd": 30.0}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["controlled", "driven in time", "prescribed", "one too many"])
def test_a_picked_design_moves_as_the_study_has_it(
    kind: str, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view has no controllers, no inputs over time and no drives: it moved without them."""
    given: dict[str, Any] = {"t": 0.5, "samples": 6}
    mechanism, measure = ELBOW, {"end": "q1[-1]"}
    vary: dict[str, Any] = {"control.kp": (50.0, 300.0), "l2": (0.7, 1.3)}
    if kind == "driven in time":
        vary = {"torque.q1": ["20*sin(3*t)", "10*t", "5"], "l2": [0.7, 1.3]}
    elif kind == "prescribed":
        mechanism, vary, measure = lw.gallery("four-bar"), {"l3": (2.2, 2.6)}, {
            "torque": "max(abs(inverse.tau1))"
        }  # fmt: skip
        given = {"inverse": {"motion": {"theta1": "2*pi*t"}, "t": 0.5, "samples": 6}}
    else:
        given["control"] = CONTROL
    if kind == "one too many":
        monkeypatch.setattr(design_motions, "MAX_NUMBERS", 5 * design_motions.FRAMES * 5)
    study = lw.study(mechanism, vary, measure, count=None if "time" in kind else 6, **given)
    page = study.report(tmp_path / "page.html")
    browser.open(page, 1280)
    browser.evaluate("linkedStudy.viewer.ready.then(() => 0)")
    picked = 4
    if kind == "one too many":
        kept = json.loads(page.read_text().split('id="designs">')[1].split("</script>")[0])
        picked = min({*range(6)} - {*kept["motions"]["rows"]})
        assert len(kept["motions"]["rows"]) == 5
    browser.evaluate(f"linkedStudy.pick({picked}); 0")
    for _ in range(10 if kind == "one too many" else 100):
        state = browser.evaluate("linkedStudy.viewer.state")
        if state["t"] >= 0.5:
            break
        time.sleep(0.1)
    if kind == "one too many":
        assert not state["playing"]
        assert state["t"] == 0
    elif kind == "prescribed":
        motion = lw.solve_kinematics(study.mechanism_of(picked), {"theta1": "2*pi*t"}, 0.5)
        assert state["q"] == pytest.approx(motion.q[-1], abs=1e-5)
    else:
        assert state["q"] == pytest.approx(study.run(picked).q[-1], abs=1e-5)
        assert state["qd"] == pytest.approx(study.run(picked).qd[-1], abs=1e-4)
        assert state["energy"][0] == pytest.approx(study.run(picked).kinetic[-1], rel=1e-4)
    assert state["parameters"]["l2" if mechanism is ELBOW else "l3"] == pytest.approx(
        study.factors_of(picked)["l2" if mechanism is ELBOW else "l3"], rel=1e-5
    )
    assert browser.complaints() == []


@pytest.mark.parametrize(
    "start",
    [[0.3, -0.2], {"q1": "0.3", "q2": "-0.2 rad"}, {"q1": 0.3, "q2": -0.2}, "bent"],
    ids=["list", "texts", "numbers", "pose"],
)
def test_the_view_begins_where_the_runs_do(start: object, tmp_path: Path) -> None:
    """A start that was a list or a pose was lost, and a text stopped the page."""
    text = write_mechanism_text(ELBOW, "toml")[0] + "\n[poses.bent]\nq1 = 0.3\nq2 = -0.2\n"
    arm, vary = lw.load(text), {"m2": [1.0, 2.0], "qd0.q1": [0.0, 0.5]}
    torque = [3.0, 0.0] if isinstance(start, list) else {"q1": "3 N*m", "q2": "sin(t)"}
    study = lw.study(arm, vary, {"end": "q1[-1]"}, t=0.05, samples=3, q0=start, torque=torque)
    page = study.report(tmp_path / "page.html").read_text(encoding="utf-8")
    data = json.loads(page.split('id="designs">')[1].split("</script>")[0])
    assert data["q"] == [[0.3, -0.2]]
    assert data["qd"] == [[0, 0], [0.5, 0], [0, 0], [0.5, 0]]
    assert data["torque"]["q1"] == 3
    assert ("q2" in data["torque"]) == isinstance(start, list)
    assert (data["motions"] is not None) != isinstance(start, list)
    assert ("repeats the motions of the study" in page) != isinstance(start, list)


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    text = write_mechanism_text(ELBOW, "toml")[0]
    arm = lw.load(text.replace('name = "elbow"', 'name = "<script>alert(1)</script>"'))
    assert arm.name != "elbow"
    study = lw.study(arm, {"m2": [1.0, 2.0]}, {"end": "q1[-1]"}, t=0.05, samples=3)
    text = study.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
