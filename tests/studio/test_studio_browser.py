"""The page of the studio in Chromium, used as a person would while a file is edited."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.live.person import VIEWER, Person
from tests.report.browser import Browser, found
from tests.studio.studio_process import Studio, run_studio

PROGRAM = found()
if PROGRAM is None and os.environ.get("LINKWRIGHT_BROWSER") != "required":
    pytest.skip("left out: no Chromium is installed", allow_module_level=True)
pytestmark = pytest.mark.slow

PENDULUM = """name = "pendulum"
gravity = [0, "-g", 0]
[parameters]
m = 2.0
l = 0.5
g = 9.81
[bodies.bob]
mass = "m"
center = ["l", 0, 0]
[joints.swing]
type = "revolute"
child = "bob"
"""
HOSTILE = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    assert PROGRAM is not None, "no Chromium is installed, and LINKWRIGHT_BROWSER=required"
    one = Browser(PROGRAM, tmp_path_factory.mktemp("profile"), graphics=True)
    yield one
    one.close()


@contextmanager
def open_studio(browser: Browser, file: Path) -> Iterator[tuple[Studio, Person]]:
    """A studio, and somebody in front of its page when the mechanism is drawn."""
    with run_studio(file) as studio:
        browser.open(studio.url, 1280, 1000)
        person = Person(browser, file.parent)
        wait_for_version(person, 1)
        yield studio, person
        browser.open("about:blank", 1280)  # else the page looks for a new start


def wait_for_version(person: Person, number: int) -> None:
    drawn = json.dumps(f"version {number}, drawn")
    person.wait(f"document.querySelector('#status').textContent === {drawn}", drawn)


def words(person: Person, selector: str) -> str:
    return str(person.browser.evaluate(f"document.querySelector({selector!r}).innerText"))


def ink(person: Person) -> str:
    """The picture, after it was drawn again."""
    person.browser.evaluate(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
    )
    return person.picture("#viewer .lw-ink")


def test_the_studio_is_dark_where_the_system_is(browser: Browser, tmp_path: Path) -> None:
    """Words are light on a dark page; results, whose figures are drawn for paper, stay on white."""
    file = tmp_path / "pendulum.toml"
    file.write_text(PENDULUM)
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    browser.call("Emulation.setEmulatedMedia", features=[dark])
    try:
        with open_studio(browser, file) as (_, person):
            person.click("#tab-equations")
            result = ".result[data-kind=equations]"
            person.wait(f"document.querySelector('{result}').innerText.length > 50", "equations")
            style = "getComputedStyle(document.querySelector('%s')).%s"
            looks = [
                person.browser.evaluate(style % (selector, name))
                for selector in ("body", result)
                for name in ("color", "backgroundColor")
            ]
            light, black = "rgb(232, 232, 232)", "rgb(16, 18, 21)"
            assert looks == [light, black, "rgb(32, 32, 32)", "rgb(255, 255, 255)"]
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_a_file_is_edited_beside_its_page(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "pendulum.toml"
    file.write_text(PENDULUM)
    with open_studio(browser, file) as (_, person):
        assert words(person, "h1") == "pendulum"
        assert words(person, "#summary") == "1 body, 1 joint, 1 degree of freedom, 2 kg"

        before = ink(person)  # the picture with its slider
        x, y = person.place('#viewer input[aria-label="swing, degrees"]')
        person.drag([(x, y), *((x + 5 * k, y) for k in range(1, 7))])
        moved = person.state["q"][0]
        assert abs(moved) > 0.1
        assert ink(person) != before

        person.click("#tab-equations")  # the equations, by another formulation, too
        result = "document.querySelector('.result[data-kind=equations]')"
        person.wait(f"{result}.querySelectorAll('math').length > 0", "equations")
        assert not browser.evaluate("document.querySelector('#panel-equations').hidden")
        assert browser.evaluate("document.querySelector('#panel-picture').hidden")
        general = words(person, ".result[data-kind=equations]")
        browser.evaluate("document.querySelector('#by').focus()")
        browser.evaluate(
            "(() => { const by = document.querySelector('#by'); by.value = 'lagrange';"
            "by.dispatchEvent(new Event('change', {bubbles: true})); })()"
        )
        person.wait(f"{result}.innerText !== {json.dumps(general)}", "the equation of Lagrange")
        person.wait(f"{result}.innerText.includes('lagrange')", "the name of the formulation")
        shown = words(person, ".result[data-kind=equations]")

        file.write_text(PENDULUM.replace('mass = "m"', 'mas = "m"'))  # an error while one types
        person.wait("!document.querySelector('#problem').hidden", "the error")
        assert words(person, "#problem p").startswith("Line 8, ")
        assert words(person, "#problem .remedy") == "did you mean 'mass'?"
        assert words(person, "#problem mark").split() == ["8", "mas", "=", '"m"']
        assert words(person, ".result[data-kind=equations]") == shown  # the last good state
        person.click("#tab-picture")
        assert person.state["q"][0] == moved

        file.write_text(PENDULUM.replace('"pendulum"', '"long pendulum"').replace("0.5", "0.8"))
        wait_for_version(person, 2)
        assert browser.evaluate("document.querySelector('#problem').hidden")
        assert words(person, "h1") == "long pendulum"
        assert person.state["parameters"]["l"] == 0.8
        assert person.state["q"][0] == pytest.approx(moved)  # the pose is kept
        assert browser.complaints() == []


def test_no_text_of_a_file_becomes_code_in_the_studio(browser: Browser, tmp_path: Path) -> None:
    text = (
        PENDULUM.replace('"pendulum"', f"'{HOSTILE}</script><script>window.hacked=2</script>'")
        .replace("bodies.bob", f'bodies."{HOSTILE}"')
        .replace('child = "bob"', f'child = "{HOSTILE}"')
        .replace("joints.swing", f'joints."{HOSTILE}"')
    )
    file = tmp_path / "hostile.toml"
    file.write_text(text)
    with open_studio(browser, file) as (studio, person):
        assert HOSTILE in words(person, "h1")
        person.click("#tab-equations")
        person.wait(
            "document.querySelectorAll('.result[data-kind=equations] math').length > 0", "equations"
        )
        file.write_text(
            text.replace("mass =", f'"{HOSTILE}" = 1\nmass =').replace("l = 0.5", "l =")
        )
        person.wait("!document.querySelector('#problem').hidden", "the error")
        file.write_text(text.replace("mass =", f'"{HOSTILE}" = 1\nmass ='))
        person.wait(
            f"document.querySelector('#problem').innerText.includes({json.dumps(HOSTILE)})",
            "the hostile key in the error",
        )
        assert browser.evaluate("document.querySelectorAll('main img, #problem img').length") == 0
        assert browser.evaluate("window.hacked ?? null") is None
        assert browser.complaints() == []
        blocked = (
            "(() => { const s = document.createElement('script'); s.textContent = 'window.hacked = 5';"
            "document.body.append(s); const i = document.createElement('img');"
            "i.setAttribute('onerror', 'window.hacked = 6'); i.src = 'data:,x'; document.body.append(i);"
            "return fetch('http://127.0.0.1:9/').then(() => 'fetched', () => new Promise(r =>"
            "setTimeout(() => r(window.hacked ?? null), 200))); })()"
        )
        assert browser.evaluate(blocked) is None
        assert any("Content Security Policy" in one for one in browser.complaints())
        hosts = {address.split("/")[2] for address in browser.requests()}
        assert hosts <= {f"127.0.0.1:{studio.port}", "127.0.0.1:9"}  # the page's, and ours above
        assert person.browser.evaluate(f"{VIEWER}.state.q.length") == 1
