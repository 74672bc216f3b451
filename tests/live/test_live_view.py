"""What is seen of a live page: the camera that follows, fingers, a browser without WebGL2, names."""

from __future__ import annotations

import os
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import linkwright as lw
from tests.live.person import VIEWER, Person
from tests.live.viewer_modules import run_modules
from tests.node import needs_node
from tests.report.browser import Browser, found

PROGRAM = found()
if PROGRAM is None and os.environ.get("LINKWRIGHT_BROWSER") != "required":
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)

BALL = """
name = "thrown"
gravity = [0, 0, -9.81]
[bodies.ball]
mass = 1.0
center = [0, 0, 0]
inertia = [0.1, 0.2, 0.25]
[joints.fly]
type = "free"
parent = "ground"
child = "ball"
"""
NEXT_FRAMES = "new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))"


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    assert PROGRAM is not None, "no Chromium is installed, and LINKWRIGHT_BROWSER=required"
    one = Browser(PROGRAM, tmp_path_factory.mktemp("profile"), graphics=True)
    yield Person(one, tmp_path_factory.mktemp("pages"))
    one.close()


def _place_in_stage(person: Person, name: str) -> tuple[float, float]:
    """Where a body is in the picture, as shares of its width and height."""
    box = "document.querySelector('.lw-stage').getBoundingClientRect()"
    x, y = person.browser.evaluate(
        f"(() => {{ const b = {box}, [x, y] = {VIEWER}.whereIs({name!r});"
        "return [(x - b.left) / b.width, (y - b.top) / b.height]; })()"
    )
    return x, y


def test_the_camera_follows_a_body_that_falls_and_runs(person: Person) -> None:
    """Five seconds of fall are 123 m: the ball stays in the picture, and leaves it without the
    switch; then F brings it back."""
    person.read(lw.live.scene(lw.load(BALL)))
    switch = "[data-switch=follow] input"
    assert person.browser.evaluate(f"document.querySelector('{switch}').checked")
    person.browser.evaluate(f"{VIEWER}.set({{ qd: [0, 0, 0, 3, 0, 0], speed: 10 }})")
    person.click(".lw-toolbar button")
    person.wait(f"{VIEWER}.state.t > 5", "the fall")
    person.click(".lw-toolbar button")
    person.browser.evaluate(NEXT_FRAMES)
    fallen = person.state
    assert sum(fallen["energy"]) == pytest.approx(0.5 * 9.0, abs=1e-6)
    assert fallen["energy"][0] > 1000
    assert all(0.3 < share < 0.7 for share in _place_in_stage(person, "ball"))
    person.click(switch)
    person.browser.evaluate("document.querySelector('.lw-stage').focus()")
    person.key("Home")
    person.browser.evaluate(NEXT_FRAMES)
    assert not all(0 < share < 1 for share in _place_in_stage(person, "ball"))
    person.key("f")
    person.browser.evaluate(NEXT_FRAMES)
    np.testing.assert_allclose(_place_in_stage(person, "ball"), [0.5, 0.5], atol=0.02)
    person.key("r")
    person.click(switch)
    person.key("Home")
    person.browser.evaluate(NEXT_FRAMES)
    assert all(0.3 < share < 0.7 for share in _place_in_stage(person, "ball"))
    assert person.browser.complaints() == []


def test_a_mechanism_on_the_ground_is_not_followed_unless_asked(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("elbow")))
    assert not person.browser.evaluate(
        "document.querySelector('[data-switch=follow] input').checked"
    )
    start = _place_in_stage(person, "link1")
    person.click('button[aria-label="show all that moves (F)"]')
    person.browser.evaluate(NEXT_FRAMES)
    for name in ("link1", "link2"):
        assert all(0.05 < share < 0.95 for share in _place_in_stage(person, name))
    assert _place_in_stage(person, "link1") != start


FOLLOWED = {"bicycle", "bouncing-ball", "car", "quadruped", "rattleback", "rolling-disk"}


@needs_node
@pytest.mark.parametrize("name", sorted(FOLLOWED | {"stewart", "four-bar", "six-axis"}))
def test_only_bodies_that_can_leave_are_followed(name: str) -> None:
    """The platform of a Stewart mechanism has a free joint, but its legs hold it."""
    (found,) = run_modules("follow", "return [m.canLeave(scene)]", lw.live.scene(lw.gallery(name)))
    assert found == (name in FOLLOWED)


@pytest.mark.parametrize("flag", ["--disable-3d-apis", "--disable-gpu"])
def test_without_webgl_the_mechanism_is_drawn_as_lines(tmp_path: Path, flag: str) -> None:
    """And stays usable: dragged, run, reset, with the sentence still there."""
    assert PROGRAM is not None
    flags = (flag, "--disable-3d-apis", "--disable-software-rasterizer")
    browser = Browser(PROGRAM, tmp_path / "profile", flags=flags)
    sentence = "This browser has no WebGL2: the mechanism is drawn as lines."
    try:
        person = Person(browser, tmp_path)
        person.read(lw.live.scene(lw.gallery("stewart")))
        assert not browser.evaluate("!!document.createElement('canvas').getContext('webgl2')")
        words = "document.querySelector('.lw-message').textContent"
        assert browser.evaluate(words) == sentence
        assert browser.evaluate("document.querySelector('.lw-message').offsetHeight") > 10
        inked = "document.querySelector('.lw-ink').getContext('2d').getImageData(0, 0, 700, 400).data.filter((v, i) => i % 4 === 3 && v).length"
        assert browser.evaluate(inked) > 3000
        before = person.state["q"]
        person.place(".lw-stage")
        x, y = browser.evaluate(f"{VIEWER}.whereIs('platform')")
        person.drag([(x, y), *((x + 3 * k, y) for k in range(1, 9))])
        assert np.abs(np.subtract(person.state["q"], before)).max() > 1e-3
        person.key("r")
        assert browser.evaluate(words) == sentence
    finally:
        browser.close()


def _touch(person: Person, kind: str, points: list[tuple[float, float]]) -> None:
    """Fingers on the screen, as Chromium gets them of a touch screen."""
    listed = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)]
    person.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=listed)


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_two_fingers_zoom_and_shift(person: Person, name: str) -> None:
    """Two fingers that part hold what is between them; two that run together carry it along."""
    person.browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    try:
        person.read(lw.live.scene(lw.gallery(name)), width=390)
        person.place(".lw-stage")
        bodies = list(lw.gallery(name).bodies)
        where = f"[{VIEWER}.whereIs({bodies[0]!r}), {VIEWER}.whereIs({bodies[-1]!r})]"
        seen = np.array(person.browser.evaluate(where))
        middle = seen.mean(axis=0)
        _touch(person, "touchStart", [tuple(middle - [30, 0]), tuple(middle - [-30, 0])])
        for half in range(32, 61, 2):
            _touch(person, "touchMove", [tuple(middle - [half, 0]), tuple(middle - [-half, 0])])
        person.browser.evaluate(NEXT_FRAMES)
        zoomed = np.array(person.browser.evaluate(where))
        for k in range(1, 11):
            shift = np.array([3.0 * k, 2.0 * k])
            pair = [tuple(middle - [60, 0] + shift), tuple(middle - [-60, 0] + shift)]
            _touch(person, "touchMove", pair)
        _touch(person, "touchEnd", [])
        person.browser.evaluate(NEXT_FRAMES)
        shifted = np.array(person.browser.evaluate(where))
        # in perspective what is nearer moves more: the mean of both bodies, and a rougher factor
        flat = name == "four-bar"
        np.testing.assert_allclose(zoomed.mean(axis=0), middle, atol=0.5 if flat else 10)
        growth = np.linalg.norm(zoomed[1] - zoomed[0]) / np.linalg.norm(seen[1] - seen[0])
        assert growth == pytest.approx(2.0, abs=0.01 if flat else 0.5)
        way = np.mean(shifted - zoomed, axis=0)
        assert way[0] / way[1] == pytest.approx(1.5, abs=0.05)
        assert way[0] == pytest.approx(30, abs=0.5 if flat else 12)
        assert person.state["picked"] is None
        assert person.browser.complaints() == []
    finally:
        person.browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


CONTROLS = {
    "button", "slider", "checkbox", "combobox", "textbox", "searchbox", "application", "toolbar",
    "math", "region", "image", "listbox", "radio", "spinbutton",
}  # fmt: skip


def test_a_screen_reader_hears_a_name_for_every_control(person: Person) -> None:
    """Of Chromium's accessibility tree: no control without a name, no two buttons with the same."""
    arm = lw.gallery("elbow")
    run = lw.simulate(arm, 0.2, samples=11)
    person.read(lw.live.scene(arm, run, equations=lw.live.equations_of(arm)))
    person.browser.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    person.browser.evaluate(NEXT_FRAMES)
    person.browser.call("Accessibility.enable")
    nodes = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in person.browser.call("Accessibility.getFullAXTree")["nodes"]
        if not node["ignored"]
    ]
    roles = {role for role, _ in nodes}
    assert {"button", "slider", "checkbox", "textbox", "application", "region"} <= roles
    unnamed = [role for role, name in nodes if role.lower() in CONTROLS and not name]
    assert unnamed == []
    for kind in ("button", "slider", "checkbox", "textbox"):
        names = [name for role, name in nodes if role == kind]
        assert sorted(set(names)) == sorted(names), kind


def test_a_picture_in_space_is_printed_in_light_colours(person: Person) -> None:
    """In dark mode too: the corner of the canvas that is printed is nearly white, and transparent
    over the dark picture of WebGL2 again after the print."""
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    person.browser.call("Emulation.setEmulatedMedia", features=dark)
    person.read(lw.live.scene(lw.gallery("six-axis")))
    corner = "Array.from(document.querySelector('.lw-ink').getContext('2d').getImageData(3, 3, 1, 1).data)"
    assert person.browser.evaluate(corner)[3] == 0
    printed = person.browser.evaluate(f"(dispatchEvent(new Event('beforeprint')), {corner})")
    assert min(printed) > 240
    person.browser.evaluate(f"(dispatchEvent(new Event('afterprint')), {NEXT_FRAMES})")
    assert person.browser.evaluate(corner)[3] == 0
    person.browser.call("Emulation.setEmulatedMedia", features=[])


def test_what_sinks_through_the_ground_is_seen_pale(person: Person) -> None:
    """The third link of a turned Bricard linkage is below the ground: it is coloured there."""
    person.read(lw.live.scene(lw.gallery("bricard")))
    person.browser.evaluate(f"{VIEWER}.set({{ q: {{ q1: 0.97 }}, look: {{ centers: false }} }})")
    person.browser.evaluate(NEXT_FRAMES)
    x, y = person.browser.evaluate(f"{VIEWER}.whereIs({list(lw.gallery('bricard').bodies)[2]!r})")
    shot = person.browser.call("Page.captureScreenshot", format="png")["data"]
    picture = plt.imread(BytesIO(b64decode(shot)))
    near = picture[round(y) - 12 : round(y) + 13, round(x) - 12 : round(x) + 13, :3]
    color = near.reshape(-1, 3)[np.argmax(np.ptp(near, axis=2))]
    assert 0.08 < np.ptp(color) < 0.5, color  # grey before; unshaded, a link has more than 0.5


def test_the_legend_of_a_plot_keeps_its_colours_in_print(person: Person) -> None:
    person.read(lw.live.scene(lw.gallery("elbow")))
    found = person.browser.evaluate(
        "getComputedStyle(document.querySelector('.lw-swatch')).printColorAdjust"
    )
    assert found == "exact"
