"""The page of a study in a browser: a picked design moves beside the charts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.studies import Study
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


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    text = write_mechanism_text(ELBOW, "toml")[0]
    arm = lw.load(text.replace('name = "elbow"', 'name = "<script>alert(1)</script>"'))
    assert arm.name != "elbow"
    study = lw.study(arm, {"m2": [1.0, 2.0]}, {"end": "q1[-1]"}, t=0.05, samples=3)
    text = study.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
