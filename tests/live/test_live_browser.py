"""Live pages in Chromium, used as a person would: mouse, keyboard, typed values, files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.live.person import VIEWER, Person
from tests.report.browser import Browser, found

PROGRAM = found()
if PROGRAM is None and os.environ.get("LINKWRIGHT_BROWSER") != "required":
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    assert PROGRAM is not None, "no Chromium is installed, and LINKWRIGHT_BROWSER=required"
    one = Browser(PROGRAM, tmp_path_factory.mktemp("profile"), graphics=True)
    yield Person(one, tmp_path_factory.mktemp("pages"))
    one.close()


def test_sliders_keys_and_typed_values(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("elbow")))
    person.type_value("q1, value with unit", "30 deg")
    assert person.state["q"][0] == pytest.approx(np.pi / 6)
    person.browser.evaluate("document.querySelector('input[aria-label=\"q2, degrees\"]').focus()")
    before = person.state["q"][1]
    person.key("ArrowRight", 3)
    assert person.state["q"][1] == pytest.approx(before + 3 * 2 * np.pi / 200)
    person.type_value("l1, value with unit", "1200 mm")
    assert person.state["parameters"]["l1"] == pytest.approx(1.2)
    person.type_value("l1, value with unit", "3 kg")
    assert person.state["parameters"]["l1"] == pytest.approx(1.2)
    field = "document.querySelector('input[aria-label=\"l1, value with unit\"]')"
    assert person.browser.evaluate(f"{field}.getAttribute('aria-invalid')") == "true"
    assert person.browser.evaluate(f"{field}.validationMessage") == "kg does not fit; use m"
    assert person.browser.complaints() == []
    assert len(person.browser.requests()) == 1


def test_a_body_is_dragged_by_the_mouse(person: Person) -> None:
    """Inverse kinematics: the grabbed point stays under the pointer."""
    person.read(lw.live.scene(lw.gallery("elbow")))
    person.type_value("q1, value with unit", "40 deg")
    person.type_value("q2, value with unit", "50 deg")
    person.place(".lw-stage")
    name = str(list(lw.gallery("elbow").bodies)[-1])
    x, y = person.browser.evaluate(f"{VIEWER}.whereIs({name!r})")
    person.drag([(x, y), *((x - 5 * k, y + 2 * k) for k in range(1, 9))])
    after = person.browser.evaluate(f"{VIEWER}.whereIs({name!r})")
    np.testing.assert_allclose(after, [x - 40, y + 16], atol=1.5)
    assert not person.state["playing"]


def test_running_pausing_stepping_and_reset(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("elbow")))
    start = person.state
    person.click(".lw-toolbar button")
    person.wait(f"{VIEWER}.state.t > 0.15", "the motion")
    person.browser.evaluate("document.querySelector('.lw-stage').focus()")
    person.key(" ")
    person.wait(f"!{VIEWER}.state.playing", "the pause")
    paused = person.state
    assert sum(paused["energy"]) == pytest.approx(sum(start["energy"]), abs=1e-9)
    person.key("s")
    stepped = person.state
    assert stepped["t"] == pytest.approx(paused["t"] + 0.01, abs=1e-9)
    run = lw.simulate(
        lw.gallery("elbow"), stepped["t"], q0=start["q"], samples=2, rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(stepped["q"], run.q[-1], atol=1e-9)
    person.key("r")
    assert person.state["t"] == 0
    assert person.state["q"] == start["q"]


def test_a_hand_moves_the_running_mechanism(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("elbow").without("gravity")))
    name = str(list(lw.gallery("elbow").bodies)[-1])
    person.place(".lw-stage")
    person.browser.evaluate(f"{VIEWER}.play()")
    x, y = person.browser.evaluate(f"{VIEWER}.whereIs({name!r})")
    person.mouse("mousePressed", x, y, buttons=1)
    person.mouse("mouseMoved", x, y - 60, buttons=1)
    person.wait(f"{VIEWER}.whereIs({name!r})[1] < {y - 8}", "that the body follows")
    person.mouse("mouseReleased", x, y - 60)
    assert person.state["playing"]
    assert np.abs(person.state["qd"]).max() > 1e-3
    person.browser.evaluate(f"{VIEWER}.pause()")


def test_lengths_that_cannot_close_keep_the_last_good_state(person: Person) -> None:
    bar = lw.gallery("four-bar")
    model = lw.compile(bar, parameters=["l2"])
    person.read(lw.live.scene(bar))
    x, y = person.place('input[aria-label="theta1, degrees"]')
    person.drag([(x, y), *((x + 4 * k, y) for k in range(1, 10))])
    state = person.state
    assert abs(state["q"][0] - model.home()[0]) > 0.3
    assert (
        np.abs(model.constraint_residual(np.array(state["q"]), [state["parameters"]["l2"]])).max()
        < 1e-9
    )
    person.type_value("l2, value with unit", "60 m")
    message = person.browser.evaluate("document.querySelector('.lw-message').textContent")
    assert message == "The loops cannot close with this value; the last good one stays."
    state = person.state
    assert (
        np.abs(model.constraint_residual(np.array(state["q"]), [state["parameters"]["l2"]])).max()
        < 1e-9
    )
    assert state["parameters"]["l2"] < 10


def test_a_field_shows_what_was_reached_not_what_was_typed(person: Person) -> None:
    """A value that a loop cannot reach, and a wrong one, do not stay in their fields."""
    bar = lw.gallery("four-bar").with_parameters(m2="1500 g")
    person.read(lw.live.scene(bar))
    person.browser.evaluate(
        "document.querySelectorAll('details.lw-panel').forEach((one) => { one.open = true; })"
    )
    field = "document.querySelector('input[aria-label=\"%s, value with unit\"]')"
    person.type_value("m2, value with unit", "2.125 kg")
    assert person.state["parameters"]["m2"] == pytest.approx(2.125)
    person.wait(f"{field % 'm2'}.value === '2125'", "the value in the unit of the file")
    person.type_value("m2, value with unit", "-1 kg")
    assert "negative" in person.browser.evaluate(f"{field % 'm2'}.validationMessage")
    assert person.state["parameters"]["m2"] == pytest.approx(2.125)
    person.browser.evaluate(f"{field % 'm2'}.blur()")
    assert person.browser.evaluate(f"{field % 'm2'}.value") == "2125"
    person.type_value("l2, value with unit", "80 m")
    reached = person.state["parameters"]["l2"]
    assert reached < 10
    person.wait(f"Math.abs({field % 'l2'}.value - {reached}) < 0.01", "the length that was reached")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (400, 800)])
def test_the_picture_stays_in_view_beside_plots_and_symbols(
    person: Person, width: int, height: int
) -> None:
    """On a laptop and on a phone: somebody who points at a time or a symbol sees the mechanism."""
    arm = lw.gallery("elbow")
    scene = lw.live.scene(
        arm, lw.simulate(arm, 0.5, samples=51), equations=lw.live.equations_of(arm)
    )
    person.read(scene)
    person.browser.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
        mobile=width < 600,
    )  # fmt: skip
    person.browser.evaluate(
        "document.querySelectorAll('details.lw-panel').forEach((one) => { one.open = true; })"
    )
    for selector in (".lw-plot canvas", ".lw-values tr[data-symbol=m2]"):
        x, y = person.place(selector)
        person.mouse("mouseMoved", x, y)
        top, bottom = person.browser.evaluate(
            "(() => { const b = document.querySelector('.lw-stage').getBoundingClientRect(); return [b.top, b.bottom]; })()"
        )
        assert top >= -1, selector
        assert bottom <= height, selector
        hit = f"document.elementFromPoint({x}, {y}).closest({json.dumps(selector)}) !== null"
        assert person.browser.evaluate(hit), selector


def test_plots_show_poses_and_are_saved(person: Person, tmp_path: Path) -> None:
    arm = lw.gallery("elbow")
    run = lw.simulate(arm, 1.0, samples=101)
    person.read(lw.live.scene(arm, run))
    x, y = person.place(".lw-plot canvas", (0.6, 0.5))
    kept = person.state["q"]
    person.mouse("mouseMoved", x, y)
    seen = person.state
    assert 0.3 < seen["t"] < 0.8
    expected = [np.interp(seen["t"], run.t, run.q[:, k]) for k in range(2)]
    np.testing.assert_allclose(seen["q"], expected, atol=1e-3)
    x, y = person.place(".lw-stage")
    person.mouse("mouseMoved", x, y)
    assert person.state["q"] == kept
    person.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for label, ending in (
        ("numbers as CSV", "csv"),
        ("plot as SVG", "svg"),
        ("plot as PNG", "png"),
    ):
        person.click(f'button[aria-label="save the {label}"]')
        path = tmp_path / f"elbow-coordinates.{ending}"
        for _ in range(100):
            if path.exists() and path.stat().st_size:
                break
            time.sleep(0.05)
        assert path.stat().st_size > 500, ending
    rows = (tmp_path / "elbow-coordinates.csv").read_text().split("\n")
    table = np.array([[float(x) for x in row.split(",")] for row in rows[1:102]])
    np.testing.assert_allclose(table, np.column_stack([run.t, run.q]), atol=1e-6)


def test_a_dark_page_is_printed_in_the_colours_of_paper(person: Person) -> None:
    """Lines of plots and their legend, which are lighter on the dark page."""
    arm = lw.gallery("elbow")
    color = "getComputedStyle(document.querySelector('.lw-swatch')).backgroundColor"
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    person.browser.call("Emulation.setEmulatedMedia", features=[dark])
    try:
        person.read(lw.live.scene(arm, lw.simulate(arm, 0.5, samples=51)))
        person.wait(f"{color} === 'rgb(74, 163, 245)'", "the blue of a dark page")
        person.browser.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert person.browser.evaluate(color) == "rgb(0, 114, 178)"
    finally:
        person.browser.call("Emulation.setEmulatedMedia", features=[])


def test_what_if_is_drawn_beside_the_recorded_run(person: Person) -> None:
    arm = lw.gallery("elbow")
    person.read(lw.live.scene(arm, lw.simulate(arm, 0.5, samples=51)))
    assert person.state["mode"] == "recorded"
    before = person.picture(".lw-plot canvas")
    person.type_value("m2, value with unit", "4 kg")
    assert person.state["mode"] == "live"
    person.browser.evaluate(f"{VIEWER}.play()")
    person.wait(f"{VIEWER}.state.t > 0.1", "the other motion")
    person.browser.evaluate(f"{VIEWER}.pause()")
    time.sleep(0.3)
    assert person.picture(".lw-plot canvas") != before


def test_symbols_light_up_their_bodies(person: Person) -> None:
    arm = lw.gallery("elbow")
    person.read(lw.live.scene(arm, equations=lw.live.equations_of(arm)))
    person.browser.evaluate(
        "document.querySelectorAll('.lw-side details').forEach(d => { d.open = true; })"
    )
    for _ in range(3):  # opened panels move what is below them
        person.browser.evaluate("new Promise(requestAnimationFrame)")
        x, y = person.place('.lw-formula [data-symbol="m2"]')
    person.mouse("mouseMoved", x, y)
    last = list(arm.bodies)[-1]
    person.wait(f"{VIEWER}.state.lit.join() === '{last}'", "a body that lights up")
    person.wait(
        "[...document.querySelectorAll('.lw-values tr')].some(r => r.textContent.startsWith('m₂1 kg'))",
        "the value of m2",
    )


def test_folded_entries_open_light_up_and_follow_the_state(person: Person) -> None:
    """Of a six-axis arm: M[4,4] contains q5, and its value changes with it."""
    arm = lw.gallery("six-axis")
    person.read(lw.live.scene(arm, equations=lw.live.equations_of(arm)))
    person.browser.evaluate(
        "document.querySelectorAll('.lw-side > details').forEach(d => { d.open = d.matches(':last-child'); });"
        "document.querySelector('details.lw-formula').open = true"
    )
    rows = "[...document.querySelectorAll('details.lw-entry')]"
    entry = f"{rows}.find(d => d.querySelector('summary math').textContent === 'M44')"
    shown = f"{entry}.querySelector('.lw-value').textContent"
    person.wait(f"{shown} !== ''", "a value of M44")
    first = person.browser.evaluate(shown)
    mass = lw.compile(arm).mass_matrix(lw.compile(arm).home())
    assert float(first.removeprefix("= ")) == pytest.approx(mass[3, 3], rel=1e-3)
    assert not person.browser.evaluate(f"{entry}.open")
    person.browser.evaluate(f"{entry}.querySelector('summary').id = 'fourth'; 0")
    person.click("#fourth")
    person.wait(f"{entry}.querySelector('.lw-scroll [data-symbol=\"q5\"]') !== null", "the formula")
    person.browser.evaluate(f"{entry}.querySelector('[data-symbol=\"q5\"]').id = 'fifth'; 0")
    person.mouse("mouseMoved", *person.place("#fifth"))
    person.wait(f"{VIEWER}.state.lit.length > 0", "a body that lights up")
    assert person.state["lit"] == [list(arm.bodies)[-2]]
    person.browser.evaluate(f"{VIEWER}.set({{ q: {{ q5: 1.2 }} }})")
    person.wait(f"{shown} !== {json.dumps(first)}", "another value")
    assert person.browser.complaints() == []


def test_space_is_drawn_turned_and_picked(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("stewart")))
    person.place(".lw-stage")
    x, y = person.browser.evaluate(f"{VIEWER}.whereIs('platform')")
    person.drag([(x, y + 30)])  # the plate is seen below its centre of mass
    assert person.state["picked"] == "platform"
    shot = person.browser.call("Page.captureScreenshot")["data"]
    person.browser.evaluate("document.querySelector('.lw-stage').focus()")
    person.key("ArrowRight", 5)
    person.browser.evaluate("new Promise(requestAnimationFrame)")
    assert person.browser.call("Page.captureScreenshot")["data"] != shot
    assert person.browser.complaints() == []


HOSTILE = "<img src=x onerror=window.hacked=1>"


def test_no_text_of_a_file_becomes_code(person: Person) -> None:
    text = f"""
name = '{HOSTILE}</script><script>window.hacked=2</script>'
[bodies."{HOSTILE}"]
mass = 1.0
center = [0.5, 0, 0]
[joints."{HOSTILE}"]
type = "revolute"
parent = "ground"
child = "{HOSTILE}"
axis = [0, -1, 0]
[frames."{HOSTILE} tool"]
body = "{HOSTILE}"
origin.xyz = [1, 0, 0]
"""
    arm = lw.load(text)
    run = lw.simulate(arm, 0.2, samples=11)
    equation = lw.live.LiveEquation(
        HOSTILE,
        f"<math><mi>{HOSTILE}</mi><script>window.hacked=3</script><a href='javascript:hacked=4'>x</a></math>",
    )
    person.read(lw.live.scene(arm, run, equations=[equation]))
    person.browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    person.browser.evaluate(
        "document.querySelectorAll('.lw-switches input').forEach(b => { if (!b.checked) b.click(); })"
    )
    person.browser.evaluate(f"{VIEWER}.play()")
    person.wait(f"{VIEWER}.state.t > 0.05", "the motion")
    assert person.browser.evaluate("window.hacked") is None
    assert (
        person.browser.evaluate(
            "document.querySelectorAll('img, .lw-live a, .lw-live math script').length"
        )
        == 0
    )
    assert person.browser.complaints() == []
    blocked = (
        "(() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 5';"
        "document.body.append(s); const i = document.createElement('img'); i.setAttribute('onerror', 'window.hacked = 6');"
        "i.src = 'data:,x'; document.body.append(i); return new Promise(r => setTimeout(() => r(window.hacked ?? null), 200)); })()"
    )
    assert person.browser.evaluate(blocked) is None


def test_phone_dark_page_and_labels_for_screen_readers(person: Person) -> None:
    browser = person.browser
    browser.call(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}]
    )
    try:
        person.read(lw.live.scene(lw.gallery("four-bar")), width=390)
        assert browser.evaluate("document.documentElement.scrollWidth") <= 390
        corner = "Array.from(document.querySelector('.lw-ink').getContext('2d').getImageData(0, 0, 1, 1).data)"
        assert browser.evaluate(corner)[3] == 0
        ground = browser.evaluate(
            "getComputedStyle(document.querySelector('.lw-stage')).backgroundColor"
        )
        assert max(int(x) for x in ground.strip("rgb()").split(",")) < 60
        unnamed = (
            "[...document.querySelectorAll('.lw-live input, .lw-live select, .lw-live button, .lw-live canvas')].filter(e => "
            "!e.getAttribute('aria-label') && !e.closest('label') && !e.textContent.trim() && !e.getAttribute('aria-hidden')).length"
        )
        assert browser.evaluate(unnamed) == 0
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


NOTEBOOK = """
(async () => {
  const values = window.given, listeners = new Map();
  window.model = {
    saved: null, changed: {},
    get: (name) => values[name],
    set(name, value) { values[name] = value; this.changed[name] = value; },
    save_changes() { this.saved = { ...this.saved, ...this.changed }; this.changed = {}; },
    on: (name, act) => listeners.set(name, [...listeners.get(name) ?? [], act]),
    off: (name, act) => listeners.set(name, (listeners.get(name) ?? []).filter((one) => one !== act)),
    receive(name, value) { values[name] = value; for (const act of listeners.get(`change:${name}`) ?? []) act(); },
    listeners,
  };
  const address = URL.createObjectURL(new Blob([window.script], { type: "text/javascript" }));
  const widget = (await import(address)).default;
  window.endWidget = widget.render({ model: window.model, el: document.body });
})()
"""
"""A front end of notebooks, with the part of its model that widgets use."""


def test_a_notebook_and_its_picture_tell_each_other(person: Person, tmp_path: Path) -> None:
    view = lw.show.viewer(lw.gallery("elbow"))
    names = ("_scene", "q", "parameters", "picked", "t")
    given = json.dumps({name: getattr(view, name) for name in names})
    page = tmp_path / "notebook.html"
    page.write_text(f"<!doctype html><style>{view._css}</style><body></body>", encoding="utf-8")
    person.browser.open(page, 1280, 1000)
    person.browser.evaluate(f"window.given = {given}; window.script = {json.dumps(view._esm)}; 0")
    person.browser.evaluate(NOTEBOOK)
    person.wait(
        "document.querySelector('input[aria-label=\"q1, degrees\"]') !== null", "the sliders"
    )

    def tell_python(name: str) -> None:
        """Give what the front end saved to the widget, as a kernel does."""
        person.wait(f"model.saved !== null && {json.dumps(name)} in model.saved", f"a saved {name}")
        view.set_state(json.loads(person.browser.evaluate("JSON.stringify(model.saved)")))

    seen: list[str] = []
    view.observe(lambda change: seen.append(change["name"]), ["q", "parameters"])
    person.type_value("q1, value with unit", "30 deg")
    tell_python("q")
    assert view.q[0] == pytest.approx(np.pi / 6)
    person.type_value("m2, value with unit", "2.5 kg")
    tell_python("parameters")
    assert float(lw.derive(view.mechanism).parameters["m2"]) == 2.5
    assert set(seen) == {"q", "parameters"}

    person.browser.evaluate("model.saved = null")
    person.browser.evaluate("model.receive('q', [0.25, -0.5])")  # and the other direction
    slider = "document.querySelector('input[aria-label=\"q2, degrees\"]').value"
    person.wait(f"Number({slider}) === -0.5", "the slider at the value of Python")
    person.browser.evaluate("endWidget()")
    left = "[...model.listeners.values()].flat().length"
    assert person.browser.evaluate(left) == 0
    assert person.browser.complaints() == []
