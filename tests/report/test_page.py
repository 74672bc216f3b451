"""The page as text: escaped, complete, honest about what is left out."""

from __future__ import annotations

import json
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.report import document, page, parts
from linkwright.report.description import describe
from linkwright.report.document import Commands
from linkwright.report.markup import Html, html, joined, table
from linkwright.report.parts import LeftOut, Moved, Parts, beginning, motion_of, written_out
from linkwright.report.sections import equations_section, mechanism_section, motion_section
from tests.commands import ok, run

HOSTILE = "<script>alert('x')</script>&\"'"


def test_everything_filled_in_is_escaped() -> None:
    assert html("<b>{}</b>", HOSTILE) == (
        "<b>&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;&#x27;</b>"
    )
    assert html("<b>{}</b>", Html("<i>")) == "<b><i></b>"
    assert "<script" not in table([HOSTILE], [[HOSTILE]]) + joined([HOSTILE])


class Tags(HTMLParser):
    """Elements that are open at the end, and all addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "input", "img", "br"):
            self.open.append(tag)
        for key, value in attributes:
            if key in ("href", "src", "xlink:href"):
                self.addresses.append(value or "")
            if key.startswith("on"):
                self.bad.append(key)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}>")


@pytest.fixture(scope="module")
def hostile() -> str:
    """All text that a file can choose freely is markup, and so are the reasons of what is missing."""
    arm = lw.gallery("elbow").model_copy(update={"name": HOSTILE, "unused": (HOSTILE,)})
    missing = LeftOut(HOSTILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(document, "made", lambda *_: Parts(missing, missing, missing, missing))
        return page(arm, f"my {HOSTILE}.toml")


def test_hostile_names(hostile: str) -> None:
    assert "<script>alert" not in hostile
    tags = Tags()
    tags.feed(hostile)
    assert tags.bad == []
    assert tags.open == []


def test_no_network_reference(hostile: str) -> None:
    tags = Tags()
    tags.feed(hostile)
    assert all(address.startswith("#") for address in tags.addresses)
    assert "default-src 'none'" in hostile.replace("&#x27;", "'")
    assert not re.search(r"@import|url\((?!#)", hostile)


@pytest.mark.slow
def test_what_takes_too_long_is_left_out_and_said() -> None:
    text = page(lw.gallery("elbow"), "elbow", duration=0.1, budget=0.05)
    assert text.count('class="left-out"') >= 3
    assert "took more than 0.05 s" in text
    assert "linkwright verify elbow" in text


def test_the_base_and_no_folder_are_in_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = LeftOut("why")
    monkeypatch.setattr(document, "made", lambda *_: Parts(missing, missing, missing, missing))
    text = page(lw.gallery("elbow"), "/home/me/my robot.urdf", base="free")
    assert "linkwright verify &#x27;my robot.urdf&#x27; --base free" in text
    assert "/home/me" not in text


def test_how_to_make_it_again(hostile: str) -> None:
    arm = lw.gallery("elbow").model_copy(update={"name": HOSTILE, "unused": (HOSTILE,)})
    assert arm.digest in hostile
    for word in (lw.__version__, "casadi", "numpy", "linkwright report", "linkwright compare"):
        assert word in hostile


FREE = pytest.param("quadruped", marks=pytest.mark.slow)


@pytest.mark.parametrize("name", ["four-bar", "sharp-edged-disk", FREE])
def test_motions_of_all_kinds(name: str) -> None:
    """Loops, rolling, free bases; what would stand still is given speeds, and that is said."""
    moved = motion_of(lw.gallery(name), 0.3, {})
    assert moved.run.finished
    assert abs(moved.run.q - moved.run.q[0]).max() > 1e-3
    text = motion_section(moved, name)
    assert text.count("<svg") == 4
    assert "lw-motion" in text
    assert ("at rest;" in text) == (not moved.run.qd[0].any())


@pytest.mark.parametrize(
    ("name", "q0"), [("six-axis", {}), ("four-bar", {"theta1": 1.1}), ("elbow", {"q1": -0.3})]
)
def test_the_printed_command_makes_the_motion(
    name: str, q0: dict[str, float], tmp_path: Path
) -> None:
    moved = motion_of(lw.gallery(name), 0.05, q0)
    command = Commands.of(name, moved, 0.05, q0, 20.0, None).simulate
    again = json.loads(ok(*shlex.split(command)[1:], "--json", cwd=tmp_path))
    assert again["q"] == pytest.approx(moved.run.q[-1], rel=1e-12, abs=1e-12)
    assert again["qd"] == pytest.approx(moved.run.qd[-1], rel=1e-9, abs=1e-12)


def test_removed_friction_is_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no friction is the only attempt that succeeds here."""
    arm = lw.gallery("six-axis")
    smooth = arm.without("friction").digest

    class Impatient:
        def call(self, make: Any, source: Any, *rest: Any, seconds: float) -> Moved:
            if source.digest != smooth:
                raise LinkwrightError("it took long")
            return Moved(None, (), " -t 1")  # type: ignore[arg-type]

    found = parts._moved(Impatient(), arm, 1.0, {}, 10.0)  # type: ignore[arg-type]
    assert isinstance(found, Moved)
    assert found.words == " -t 1 --without friction"


def test_what_was_asked_for_is_in_the_commands() -> None:
    found = Commands.of("x.toml", None, 2.5, {"q1": 0.1}, 7.0, ["lagrange", "kane"])
    assert found.report == (
        "linkwright report x.toml q1=0.1 -t 2.5 --by lagrange,kane --budget 7 -o report.html"
    )
    assert found.simulate == "linkwright simulate x.toml q1=0.1 -t 2.5 --stops impact -o run.nc"
    assert found.compare == "linkwright compare x.toml --by lagrange,kane -t 1 --budget 3.5"


def test_what_would_rest_where_it_starts_moves() -> None:
    moved = motion_of(lw.gallery("elbow").without("gravity"), 0.1, {"q1": 0.3})
    assert "with speeds (0.5, 0.5)" in moved.notes[0]
    assert moved.words.startswith(" q1=0.3 --speed q1=0.5 --speed q2=0.5")


def test_the_picture_is_where_the_motion_starts() -> None:
    arm = lw.gallery("elbow")
    text = mechanism_section(arm, describe(arm), [0.3, 0.0], beginning({"q1": 0.3}))
    assert "At q1 = 0.3, the rest at home, drawn to scale" in text
    assert "At home, drawn" in mechanism_section(arm, describe(arm))


def test_a_motion_that_stopped_at_once_is_no_motion() -> None:
    run = lw.simulate(lw.gallery("elbow"), 0.1, samples=2)
    from dataclasses import replace

    short = replace(run, t=run.t[:1], status="stopped at t = 0 s: why")
    assert "stopped at t = 0 s" in motion_section(Moved(short, ()), "elbow")


def test_equations_are_mathml_and_latex() -> None:
    found = written_out(lw.gallery("elbow"))
    assert [one.name for one in found][:3] == ["mass_matrix", "coriolis_matrix", "gravity"]
    text = equations_section(found, False, "elbow")
    assert text.count('<math display="block"') == len(found)
    symbols = {name for one in found for name, *_ in one.symbols}
    assert symbols == {"l1", "lc1", "lc2", "m1", "m2", "I1", "I2", "g"}
    assert "\\cos" in text
    assert "\\begin{align*}" in text
    assert "left-out" not in text


def test_long_equations_fold_or_are_left_out() -> None:
    found = {one.name: one for one in written_out(lw.gallery("six-axis"))}
    assert found["mass_matrix"].is_long
    assert not found["coriolis_matrix"].mathml
    text = equations_section(tuple(found.values()), False, "six-axis")
    assert "Show all of it" in text
    for name, value, what in (
        ("gz", "-9.81", "gravity"), ("m3", "9", ""),
        ("F_q6", "0.4", "dry friction of q6"),
    ):  # fmt: skip
        assert f"<td>{name}</td><td>{value}</td><td>{what}</td>" in text
    assert "--what coriolis_matrix" in text
    assert len(text) < 800_000
    assert "Left out: why" in equations_section(LeftOut("why"), True, "x")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing.toml",), "nothing.toml"),
        (("elbow", "-o", "a.pdf"), "is no .html file"),
        (("elbow", "q7=1"), "no coordinate 'q7'"),
        (("elbow", "--by", "magic"), "no formulation 'magic'"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = run("report", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_cannot_move_has_no_page() -> None:
    with pytest.raises(UnsupportedError, match="cannot move"):
        page(lw.gallery("elbow").reduced({"q1": 0, "q2": 0}))
    with pytest.raises(LinkwrightError, match="seconds above 0"):
        page(lw.gallery("elbow"), duration=float("nan"))
