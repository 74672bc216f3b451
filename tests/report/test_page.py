"""The page as text: escaped, complete, honest about what is left out."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

import linkwright as lw
from linkwright.cli.commands.report_command import report
from linkwright.comparison import Comparison
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.mechanism import mechanism_names
from linkwright.report import page, page_parts, report_page, shown_motion
from linkwright.report.mechanism_facts import mechanism_page_facts
from linkwright.report.motion_starts import (
    _GALLERY_STARTS,
    PageMotionStart,
    default_page_motion_start,
)
from linkwright.report.page_figures import coordinates_hidden_on_page, motion_figures_html
from linkwright.report.page_parts import PageParts, write_page_equations, write_page_functions
from linkwright.report.page_sections import (
    checks_section,
    comparison_section,
    equations_section,
    mechanism_section,
    motion_section,
    page_header,
)
from linkwright.report.rendering import typeset_page_figures
from linkwright.report.report_page import PageCommands
from linkwright.report.shown_motion import LeftOutPagePart, PageMotion, simulate_page_motion
from linkwright.simulation import Happened
from linkwright.verification.verification_report import Check, VerificationReport
from tests.commands import ok, run

TEMPLATES = Path(report_page.__file__).parent / "templates"
HOSTILE = "<script>alert('x')</script>&\"'"


def test_everything_filled_in_is_escaped() -> None:
    checks = (Check(HOSTILE, HOSTILE, HOSTILE, HOSTILE),)
    text = checks_section(VerificationReport("x", "recursive", checks, 1.0), HOSTILE)
    text += checks_section(LeftOutPagePart(HOSTILE), HOSTILE)
    text += comparison_section(LeftOutPagePart(HOSTILE), HOSTILE) + motion_section(
        LeftOutPagePart(HOSTILE), HOSTILE
    )
    safe = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&#34;&#39;"
    assert text.count(safe) == 5 + 2 + 2 + 2
    assert "<script" not in text


def test_no_template_turns_escaping_off() -> None:
    for path in TEMPLATES.glob("*.html"):
        assert not re.search(r"\|\s*safe\b|autoescape", path.read_text(encoding="utf-8")), path.name


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


@contextlib.contextmanager
def left_out_parts(missing: LeftOutPagePart) -> Iterator[PageParts]:
    """Parts of a page that are all left out."""
    done: Future[Any] = Future()
    done.set_result(missing)
    yield PageParts(*[done] * 8)


@pytest.fixture(scope="module")
def hostile() -> str:
    """All text that a file can choose freely is markup, and so are the reasons of what is missing."""
    arm = lw.gallery("elbow").model_copy(update={"name": HOSTILE, "unused": (HOSTILE,)})
    missing = LeftOutPagePart(HOSTILE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report_page, "begin_page_parts", lambda *_: left_out_parts(missing))
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
    assert "default-src 'none'" in hostile.replace("&#39;", "'")
    assert not re.search(r"@import|url\((?!#|data:font/woff2;base64,)", hostile)


@pytest.mark.slow
def test_what_takes_too_long_is_left_out_and_said() -> None:
    text = page(lw.gallery("elbow"), "elbow", duration=0.1, budget=0.05)
    assert text.count('class="left-out"') >= 3
    assert "took more than 0.05 s" in text
    assert "linkwright verify elbow" in text


def test_every_part_is_made_within_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that say what they were asked for."""

    class Worker(contextlib.nullcontext[Any]):
        def __enter__(self) -> Any:
            return self

        def start_as_copy(self) -> None:
            pass

        def call_within(self, make: Any, *_: Any, seconds: float) -> str:
            return f"{make.__name__} in {seconds} s"

    def measure(_: Any, found: Any, names: Any, duration: float, *budgets: float, **__: Any) -> str:
        return f"{names} over {duration} s, each in {budgets[0]} s, all in {budgets[1]} s"

    monkeypatch.setattr(page_parts, "TimedWorkerProcess", Worker)
    monkeypatch.setattr(page_parts, "compute_page_motion", lambda worker, *_: "motion")
    monkeypatch.setattr(page_parts, "measure_comparison", measure)
    start, told = PageMotionStart(0.5), list[tuple[str, bool]]()
    with page_parts.begin_page_parts(
        lw.gallery("elbow"),
        start,
        8.0,
        ["kane"],
        lambda *stage: told.append((stage[0], bool(stage[1]))),
    ) as parts:
        found = {key: getattr(parts, key).result() for key in PageParts.__annotations__}
    assert found == {
        "equations": "write_page_equations in 8.0 s",
        "checks": "verify in 8.0 s",
        "motion": "motion",
        "comparison": "['kane'] over 0.1 s, each in 0.8 s, all in 8.0 s",
        "live": "make_page_scene in 8.0 s",
        "ranges": "find_page_ranges in 2.0 s",
        "bearings": "find_page_bearings in 2.0 s",
        "modes": "find_page_modes in 1.2 s",
    }
    stages = ["motion", "live mechanism", "equations", "ranges", "bearing forces", "modes"]
    others = ["verification", "formulations"]
    for several in (stages, others):  # each begins, then ends, before the next
        assert [one for one in told if one[0] in several] == [
            (stage, ended) for stage in several for ended in (False, True)
        ]


def test_the_command_says_how_large_the_page_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A page of 1,500 letters of two bytes each, made of what the options say."""
    elbow, asked = lw.gallery("elbow"), {}
    options: dict[str, Any] = {"by": ["kane"], "base": None, "closure": 1e-5, "budget": 7.0}
    monkeypatch.setattr(
        "linkwright.report.page",
        lambda *words, **options: asked.update({"words": words, **options}) or "ä" * 1500,
    )
    file = tmp_path / "elbow.html"
    outcome = report(
        elbow,
        "elbow",
        output=file,
        time=2.0,
        start={"q1": 1.0},
        speed={"q2": 3.0},
        drive={"q1": "t"},
        **options,
    )
    assert asked == {
        "words": (elbow, "elbow", 2.0),
        "q0": {"q1": 1.0},
        "qd0": {"q2": 3.0},
        "efforts": {"q1": "t"},
        **options,
        "progress": asked["progress"],
    }
    assert outcome.data == {"file": str(file), "bytes": 3000, "digest": elbow.digest}
    assert file.stat().st_size == 3000
    outcome.show()
    assert capsys.readouterr().out == f"{file} (3 kB)\n"


def test_the_base_and_no_folder_are_in_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = LeftOutPagePart("why")
    monkeypatch.setattr(report_page, "begin_page_parts", lambda *_: left_out_parts(missing))
    text = page(lw.gallery("elbow"), "/home/me/my robot.urdf", base="free")
    assert "linkwright verify &#39;my robot.urdf&#39; --base free" in text
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
    moved = simulate_page_motion(lw.gallery(name), PageMotionStart(0.3))
    assert moved.run.finished
    assert abs(moved.run.q - moved.run.q[0]).max() > 1e-3
    text = motion_section(moved, name)
    assert text.count("<svg") == 4
    assert "lw-motion" in text
    assert ("at rest," in text) == (not moved.run.qd[0].any())


@pytest.mark.parametrize(
    ("name", "q0"),
    [
        pytest.param("six-axis", {}, marks=pytest.mark.slow),
        ("four-bar", {"theta1": 1.1}),
        ("elbow", {"q1": -0.3}),
    ],
)
def test_the_printed_command_makes_the_motion(
    name: str, q0: dict[str, float], tmp_path: Path
) -> None:
    start = PageMotionStart(0.05, q0)
    moved = simulate_page_motion(lw.gallery(name), start)
    command = PageCommands.from_request(name, moved, start, start, 20.0, None).simulate
    again = json.loads(ok(*shlex.split(command)[1:], "--json", cwd=tmp_path))
    assert again["t"] == 0.05
    assert again["q"] == pytest.approx(moved.run.q[-1], rel=1e-12, abs=1e-12)
    assert again["qd"] == pytest.approx(moved.run.qd[-1], rel=1e-9, abs=1e-12)


def test_removed_friction_is_in_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has no friction is the only attempt that succeeds here."""
    arm = lw.gallery("six-axis")
    smooth = arm.without("friction").digest

    class Impatient:
        def call_within(self, make: Any, source: Any, *rest: Any, seconds: float) -> PageMotion:
            if source.digest != smooth:
                raise LinkwrightError("it took long")
            return PageMotion(None, (), " -t 1")  # type: ignore[arg-type]

    found = shown_motion.compute_page_motion(Impatient(), arm, PageMotionStart(1.0), 10.0)  # type: ignore[arg-type]
    assert isinstance(found, PageMotion)
    assert found.command_arguments == " -t 1 --without friction"


def test_what_was_asked_for_is_in_the_commands() -> None:
    start = PageMotionStart(2.5, {"q1": 0.1}, {"q2": 1.5}, {"q1": "sin(t)"})
    found = PageCommands.from_request("x.toml", None, start, start, 7.0, ["lagrange", "kane"])
    assert found.report == (
        "linkwright report x.toml q1=0.1 --speed q2=1.5 --drive 'q1=sin(t)' -t 2.5 --by lagrange,kane "
        "--budget 7 -o report.html"
    )
    assert found.simulate == (
        "linkwright simulate x.toml q1=0.1 --speed q2=1.5 --drive 'q1=sin(t)' -t 2.5 --stops impact "
        "-o run.nc"
    )
    assert found.compare == "linkwright compare x.toml --by lagrange,kane -t 0.1 --budget 0.7"


def test_what_would_rest_where_it_starts_moves() -> None:
    moved = simulate_page_motion(
        lw.gallery("elbow").without("gravity"), PageMotionStart(0.1, {"q1": 0.3})
    )
    assert "where it would rest, at speeds q1 = 0.5, q2 = 0.5" in moved.notes[0]
    assert moved.command_arguments.startswith(" q1=0.3 --speed q1=0.5 --speed q2=0.5")


def test_the_picture_is_where_the_motion_starts() -> None:
    arm = lw.gallery("elbow")
    text = mechanism_section(
        arm, mechanism_page_facts(arm), [0.3, 0.0], PageMotionStart(q0={"q1": 0.3}).place_text()
    )
    assert "At q1 = 0.3, the rest at home, drawn to scale" in text
    assert "At home, drawn" in mechanism_section(arm, mechanism_page_facts(arm))


def test_a_motion_that_stopped_at_once_is_no_motion() -> None:
    run = lw.simulate(lw.gallery("elbow"), 0.1, samples=2)
    short = replace(run, t=run.t[:1], status="stopped at t = 0 s: why")
    assert "stopped at t = 0 s" in motion_section(PageMotion(short, ()), "elbow")


def test_equations_are_mathml_and_latex() -> None:
    found = write_page_functions(lw.gallery("elbow"))
    assert [one.name for one in found][:3] == ["mass_matrix", "coriolis_matrix", "gravity"]
    arm = lw.gallery("elbow")
    text = equations_section(found, "elbow", mechanism_names(arm))
    assert text.count('<div class="equations">') == len(found)
    assert "Mass matrix M" in text
    assert "All entries are 0." in text
    symbols = {name for one in found for name, *_ in one.symbols}
    assert symbols == {"l1", "lc1", "lc2", "m1", "m2", "I1", "I2", "g"}
    assert "\\cos" in text
    assert "\\begin{align*}" in text
    assert "left-out" not in text


@pytest.mark.parametrize("name", ["triple-pendulum", "remote-elbow", "four-bar"])
def test_every_function_of_a_page_has_its_title(name: str) -> None:
    """Actuators bring an input matrix, loops their constraints: each has a heading of its own."""
    mechanism = lw.gallery(name)
    found = write_page_functions(mechanism)
    text = equations_section(found, name, mechanism_names(mechanism))
    assert text.count("<h3>") >= len(found)
    assert ("Input matrix B" in text) == (name != "remote-elbow")


def test_formulations_that_are_asked_for_show_their_own_forms() -> None:
    arm = lw.gallery("elbow")
    found = write_page_equations(arm, ["hamilton", "lagrange"])
    text = equations_section(found, "elbow", mechanism_names(arm))
    assert "By hamilton" in text
    assert "Generalized momenta (13)" in text
    assert text.index("By hamilton") < text.index("By lagrange")
    assert "\\dot{p}_1" in text
    assert "Mass matrix M" not in text
    assert "left-out" not in text


def test_long_equations_fold_or_are_left_out() -> None:
    found = {one.name: one for one in write_page_functions(lw.gallery("six-axis"))}
    assert found["mass_matrix"].is_long
    assert "with 235 abbreviations, x1 to x236" in found["coriolis_matrix"].size_text
    found["forces"] = replace(found["forces"], markup="")
    text = equations_section(
        tuple(found.values()), "six-axis", mechanism_names(lw.gallery("six-axis"))
    )
    assert "Show all of it" in text
    for name, value, what in (
        ("g", "9.81", "gravity"), ("m3", "9", ""),
        ("F_q6", "0.4", "dry friction of q6"),
    ):  # fmt: skip
        assert f"<td>{name}</td><td>{value}</td><td>{what}</td>" in text
    assert "longer than some pages" in text
    assert "--what forces" in text
    assert len(text) < 800_000
    left_out = equations_section(LeftOutPagePart("why"), "x", mechanism_names(lw.gallery("elbow")))
    assert "Left out: why" in left_out


def test_what_only_falls_is_followed_no_further() -> None:
    """Free fall: 2.5 times the size of 0.6 m or so after √(2 · 1.5 / 9.81) s, of the 5 s asked for."""
    trunk = lw.gallery("quadruped")
    moved = simulate_page_motion(trunk, PageMotionStart(5.0))
    assert 0.4 <= moved.run.t[-1] <= 0.9
    assert "it would only fall" in moved.notes[-1]
    assert f" -t {moved.run.t[-1]:g} " in moved.command_arguments
    arm = simulate_page_motion(lw.gallery("puma560"), PageMotionStart(1.0))
    assert arm.run.t[-1] == 1.0, "an arm falls too, but is held"


def test_the_gallery_has_motions_of_its_own() -> None:
    ball = lw.gallery("bouncing-ball")
    assert default_page_motion_start(ball).qd0 == {"fall.x": 0.4}
    assert not default_page_motion_start(ball.without("gravity")).is_given
    assert not default_page_motion_start(lw.gallery("elbow")).is_given
    assert "comes to rest" in page_header(ball, mechanism_page_facts(ball))
    assert "comes to rest" not in page_header(ball.without("gravity"), mechanism_page_facts(ball))


def test_wheels_do_not_hide_the_other_angles() -> None:
    bicycle = lw.gallery("bicycle")
    run = simulate_page_motion(
        bicycle, replace(default_page_motion_start(bicycle), seconds=1.5)
    ).run
    assert coordinates_hidden_on_page(run) == ["thetaR", "thetaF"]
    assert (
        "Coordinates, without thetaR and thetaF, which keep turning." in motion_figures_html(run)[0]
    )
    assert (
        coordinates_hidden_on_page(
            simulate_page_motion(lw.gallery("elbow"), PageMotionStart(0.2)).run
        )
        == []
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(_GALLERY_STARTS))
def test_their_motions_begin(name: str) -> None:
    """All names in them are known, and nothing rests."""
    start = default_page_motion_start(lw.gallery(name))
    moved = simulate_page_motion(lw.gallery(name), replace(start, seconds=0.5))
    assert moved.run.finished
    assert abs(moved.run.q - moved.run.q[0]).max() > 0.01
    assert "where it would rest" not in moved.notes[0]


def test_two_arms_swing_gently() -> None:
    """They fall and tumble, at hundreds of rad/s, where nothing holds them."""
    arms = lw.gallery("two-arms")
    run = simulate_page_motion(arms, default_page_motion_start(arms)).run
    assert run.t[-1] == default_page_motion_start(arms).seconds
    assert abs(run.qd).max() < 1.5
    moved = run.data["frame_positions"].to_numpy()
    assert 0.1 < (moved.max(axis=0) - moved.min(axis=0)).min() < 0.3


@pytest.mark.parametrize(("count", "marked"), [(12, 12), (13, 0)])
def test_many_events_are_no_forest_of_lines(
    count: int, marked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(
        "linkwright.report.page_figures.plot", lambda run, *_, **__: drawn.append(len(run.events))
    )
    monkeypatch.setattr("linkwright.report.page_figures.cyclograph", lambda *_, **__: None)
    monkeypatch.setattr("linkwright.report.page_figures.figure_html", lambda *_: Markup())
    run = lw.simulate(lw.gallery("elbow"), 0.2, samples=21)
    happened = tuple(Happened(0.01 * k, "q1", "hit") for k in range(count))
    motion_figures_html(replace(run, events=happened))
    assert drawn == [marked] * 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1 identity modulo 2^89 − 1, below 2^-60", "2<sup>89</sup> − 1, below 2<sup>−60</sup>"),
        ("1.3e-14 (allowed 1e-06)", "1.3 · 10<sup>−14</sup> (allowed 10<sup>−6</sup>)"),
        ("0.0e+00 of 4.85e-01", "0 of 0.485"),
        ("<b> & 2^3", "&lt;b&gt; &amp; 2<sup>3</sup>"),
    ],
)
def test_numbers_are_printed_as_such(text: str, shown: str) -> None:
    assert shown in typeset_page_figures(text)


def test_what_was_not_compared_in_time_has_a_command_that_is_patient() -> None:
    text = comparison_section(Comparison("x", (), {}, {}), "linkwright compare x -t 1 --budget 4")
    assert "linkwright compare x -t 0.1 --budget 600" in text


def test_costly_formulations_come_last_and_share_a_part_of_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[list[str], float]] = []
    monkeypatch.setattr(
        page_parts,
        "measure_comparison",
        lambda _, __, names, *rest, **___: asked.append((names, rest[2])),
    )
    for by in (None, ["approximate", "kane"]):
        page_parts._compare_page_formulations(
            None,
            lw.gallery("elbow"),
            by,
            0.1,
            20.0,
            lambda *_: None,  # type: ignore[arg-type]
        )
    assert asked[0][0][-3:] == ["influence", "newton_euler", "approximate"]
    assert sorted(asked[0][0]) == sorted(lw.formulations.FORMULATIONS)
    assert asked[0][1] == 4.0
    assert asked[1] == (["kane", "approximate"], 20.0)


def test_formulations_that_were_stopped_have_a_command_that_measures_them() -> None:
    found = lw.compare(lw.gallery("elbow"), by=["recursive"], duration=0.01)
    stopped = replace(found, stopped={"kane": "the others took 4 s"})
    command = "linkwright compare x -t 1 --budget 4"
    patient = "<code>linkwright compare x -t 0.1 --budget 600</code> measures those"
    assert patient in comparison_section(stopped, command)
    assert "kane: stopped, the others took 4 s" in comparison_section(stopped, command)
    assert "measures those" not in comparison_section(found, command)


def test_verdicts_are_explained() -> None:
    checks = tuple(Check(word, word, "", "") for word in ("proved", "passed", "noted"))
    text = checks_section(VerificationReport("x", "recursive", checks, 1.0), "x")
    assert "No check failed:</span> 1 proved, 1 passed, 1 noted." in text
    assert "proved: an identity" in text
    assert "no proof" in text
    assert "skipped:" not in text
    failed = checks_section(
        VerificationReport("x", "recursive", (Check("a", "failed", "", ""),), 1.0), "x"
    )
    assert "1 of 1 checks failed" in failed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing.toml",), "nothing.toml"),
        (("elbow", "-o", "a.pdf"), "'.pdf' cannot be written; use .html or .htm"),
        (("elbow", "q7=1"), "unknown coordinate 'q7'"),
        (("elbow", "--speed", "q7=1"), "unknown speed 'q7'"),
        (("elbow", "--drive", "nope=1"), "unknown velocity 'nope'; known: q1, q2"),
        (("elbow", "--drive", "q1=sin("), "missing at the end in 'sin('"),
        (("elbow", "--drive", "q1=foo"), "unknown name 'foo'"),
        (("elbow", "--drive", "q1=sqrt(-1)"), "'sqrt(-1)' has no finite real value"),
        (("two-arms", "--drive", "tau_b1=log(t)"), "'tau_b1' is not a finite number at the start"),
        (("four-bar", "theta1=1", "theta2=9"), "cannot be assembled"),
        (("elbow", "--by", "magic"), "unknown formulation 'magic'"),
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
