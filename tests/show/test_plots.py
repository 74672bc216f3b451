"""Histories: what is drawn is what the run holds, with names and units."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.errors import FileError, LinkwrightError, NameNotFoundError
from linkwright.mechanism import mechanism_names
from linkwright.show.figure_style import house_figure_style
from linkwright.show.histories import (
    HISTORY_PANELS,
    RUN_DATA_NAMES,
    HistoryLine,
    Panel,
    _component_history_lines,
    history_panels,
    plan_history_panels,
)

from . import runs


def drawn(figure: object) -> list[tuple[str, dict[str, np.ndarray]]]:
    """Of every panel the label of its axis and its lines by name."""
    return [
        (
            axes.get_ylabel().replace("\n", ""),
            {line.get_label(): line.get_xydata() for line in axes.get_lines()},
        )
        for axes in figure.axes  # type: ignore[attr-defined]
    ]


def test_lines_are_the_data_of_the_run() -> None:
    run = runs.elbow()
    (unit, lines), (joule, energies) = drawn(run.plot("q", "energy"))
    assert (unit, joule) == ("angle / rad", "energy / J")
    for k, name in enumerate(("$q_{1}$", "$q_{2}$")):
        np.testing.assert_array_equal(lines[name], np.column_stack([run.t, run.q[:, k]]))
    np.testing.assert_array_equal(energies["kinetic"][:, 1], run.kinetic)
    np.testing.assert_array_equal(energies["total"][:, 1], run.energy)


def test_angles_and_slides_have_panels_of_their_own() -> None:
    run = runs.cart_pole()
    (angle, turning), (length, sliding) = drawn(run.plot("q", degrees=True))
    assert (angle, length) == ("angle / °", "displacement / m")
    np.testing.assert_allclose(turning[r"$\theta$"][:, 1], np.degrees(run.q[:, 1]))
    np.testing.assert_array_equal(sliding["$x$"][:, 1], run.q[:, 0])
    assert [label for label, _ in drawn(run.plot("tau"))] == ["torque / N·m", "force / N"]


@pytest.mark.parametrize(("size", "label"), [(3e-5, "work / $10^{-6}$ J"), (2.0, "work / J")])
def test_powers_of_ten_stand_with_the_unit(size: float, label: str) -> None:
    """Numbers on the axis times the power are the data; nothing lies above the axis."""
    t = np.linspace(0.0, 1.0, 5)
    figure = show.history_plots.over_time(
        t, [Panel("work", "J", (HistoryLine("a", "a", size * t),))]
    )
    figure.draw_without_rendering()
    axis = figure.axes[0].yaxis
    assert figure.axes[0].get_ylabel() == label
    assert not (axis.get_offset_text().get_text() and axis.get_offset_text().get_visible())
    power = 1e-6 if "10" in label else 1.0
    for tick, text in zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True):
        shown = re.sub(r"\$|\\mathdefault|[{}]", "", text.get_text()).replace("−", "-")
        assert float(shown) * power == pytest.approx(tick)


@pytest.mark.parametrize("name", HISTORY_PANELS)
def test_every_history_of_a_loop_is_drawn(name: str) -> None:
    run = runs.four_bar()
    for panel in history_panels(run, name):
        assert panel.unit
        assert panel.lines
        for line in panel.lines:
            assert line.values.shape == run.t.shape
            assert np.isfinite(line.values).all()


def test_names_are_known_before_a_run() -> None:
    for run in (runs.elbow(), runs.four_bar(), runs.cart_pole()):
        assert set(map(str, run.data.data_vars)) <= set(RUN_DATA_NAMES)


@pytest.mark.parametrize("name", ["q", "qd", "tau", "power", "momenta", "reactions"])
def test_names_of_users_are_no_formulas(name: str, tmp_path: Path) -> None:
    """Neither a dollar nor an underscore means anything in a joint's name."""
    hostile = r"a$\frac{$_1"
    (tmp_path / "a.toml").write_text(
        f"[bodies.rod]\nmass = 1\n[joints.'{hostile}']\ntype = 'prismatic'\naxis = [1, 0, 0]\n"
        "child = 'rod'\n"
    )
    run = lw.simulate(lw.load(tmp_path / "a.toml"), 0.1, samples=3)
    run.plot(name, path=tmp_path / "a.svg")
    (line,) = history_panels(run, name)[0].lines
    assert line.label.replace(r"\$", "$").endswith(hostile)


def test_histories_of_a_rod_by_hand() -> None:
    """A uniform rod of 1 kg and 1 m about its end, falling: moment of inertia 1/3, reaction by
    Newton's second law from the motion of its middle."""
    run = lw.simulate(lw.gallery("chain-1"), t=0.6, q0=[0.2], samples=61)
    q, w, alpha, g = run.q[:, 0], run.qd[:, 0], run.qdd[:, 0], 9.81
    np.testing.assert_allclose(alpha, -1.5 * g * np.cos(q), rtol=1e-9)
    along, across = np.array([np.cos(q), np.sin(q)]), np.array([-np.sin(q), np.cos(q)])
    a = 0.5 * (alpha * across - w**2 * along)
    found = {
        p.quantity: p.lines[0].values
        for name in ("center_accelerations", "momenta", "reactions", "body_energy", "momentum")
        for p in history_panels(run, name)
    }
    np.testing.assert_allclose(found["$a_x$ of centres of mass"], a[0], atol=1e-12)
    np.testing.assert_allclose(found["$a_y$ of centres of mass"], a[1], atol=1e-12)
    np.testing.assert_allclose(found["momentum"], w / 3, rtol=1e-12)
    np.testing.assert_allclose(found["reaction force"], np.hypot(a[0], a[1] + g), rtol=1e-9)
    np.testing.assert_allclose(found["kinetic energy"], w**2 / 6, rtol=1e-12)
    np.testing.assert_allclose(found["potential energy"], g * np.sin(q) / 2, rtol=1e-12)
    np.testing.assert_allclose(found["angular momentum"], w / 12, rtol=1e-9)


def test_power_and_work_of_drives() -> None:
    """Work is the integral of power where nothing else does any."""
    run = runs.elbow()
    (power,), (work,) = history_panels(run, "power"), history_panels(run, "work")
    total = power.lines[-1].values
    gained = np.concatenate([[0], np.cumsum((total[1:] + total[:-1]) / 2 * np.diff(run.t))])
    np.testing.assert_allclose(work.lines[0].values, gained, atol=2e-3 * np.abs(gained).max())
    np.testing.assert_allclose(work.lines[1].values, work.lines[0].values, atol=1e-8)


def test_lines_can_be_chosen() -> None:
    ((_, lines),) = drawn(runs.elbow().plot("qd", only=["q2"]))
    assert list(lines) == [r"$\dot{q}_{2}$"]
    with pytest.raises(NameNotFoundError, match="unknown line 'q3'"):
        runs.elbow().plot("qd", only=["q3"])


def test_anything_in_the_data_is_drawn() -> None:
    run = runs.elbow()
    ((label, lines),) = drawn(run.plot("kinetic_energy"))
    assert label == "kinetic energy / J"
    np.testing.assert_array_equal(next(iter(lines.values()))[:, 1], run.kinetic)


def test_data_of_several_dimensions_have_names_and_units() -> None:
    run = runs.cart_pole()
    (panel,) = history_panels(run, "mass_centers")
    assert panel.unit == "m"
    tip = {line.name: line.values for line in panel.lines}
    angle = run.q[:, 1]
    np.testing.assert_allclose(tip["pole x"] - tip["cart x"], 0.5 * np.sin(angle), atol=1e-12)


def test_events_are_marked() -> None:
    """A rod that stops at a limit: its run ends there, with a line at that time."""
    rod = lw.gallery("chain-1")
    arm = lw.Mechanism(
        **{
            **rod.model_dump(exclude_unset=True),
            "joints": {"q1": {"type": "revolute", "child": "link1", "limits": {"lower": -1}}},
        }
    )
    run = lw.simulate(arm, t=2.0, q0=[0.0], samples=21)
    assert not run.finished
    times = [line.get_xdata()[0] for line in run.plot("q").axes[0].get_lines()[1:]]
    assert times == [event.t for event in run.events] != []


def test_rounding_errors_are_no_history() -> None:
    """A pendulum without losses does no work, and one in the plane has no momentum across it."""
    run = lw.simulate(lw.gallery("chain-2"), t=0.5, q0=[0.3, 0.2], samples=51)
    axes = run.plot("work").axes[0]
    assert axes.get_ylim()[1] > 1e-3 * abs(run.kinetic).max()
    panel = Panel("linear momentum", "kg·m/s", (HistoryLine("z", "z", 1e-13 * np.sin(run.t)),), 1.0)
    assert show.over_time(run.t, [panel]).axes[0].get_ylim() == (-1.0, 1.0)


def test_momenta_are_not_chosen_by_noise() -> None:
    """Free, and without momentum: nothing but rounding errors is left, of which none is chosen."""
    values = 1e-15 * np.random.default_rng(1).normal(size=(20, 3))
    values[:, 1] *= 1e-12
    assert [line.name for line in _component_history_lines("p", values, 1.0)] == ["x", "y", "z"]
    values[:, 2] += 1.0
    assert [line.name for line in _component_history_lines("p", values, 1.0)] == ["z"]


def test_phase_portrait() -> None:
    run = runs.cart_pole()
    figure = show.phase(run, "theta")
    np.testing.assert_array_equal(
        figure.axes[0].get_lines()[0].get_xydata(), np.column_stack([run.q[:, 1], run.qd[:, 1]])
    )
    with pytest.raises(NameNotFoundError, match="'thta' is not a coordinate"):
        show.phase(run, "thta")


def test_eigenvalues_over_a_parameter() -> None:
    """A hanging rod swings at √(3g/2l): ± i times that, for every length."""
    lengths = np.linspace(0.5, 2.0, 5)
    figure = show.eigenvalues(lw.gallery("chain-1"), "l1", lengths, q=[-np.pi / 2], unit="m")
    lower = figure.axes[1].get_lines()
    frequency = np.sqrt(1.5 * 9.81 / lengths)
    np.testing.assert_allclose(
        np.sort([line.get_ydata() for line in lower[:2]], axis=0),
        [-frequency, frequency],
        rtol=1e-9,
    )
    assert figure.axes[1].get_xlabel() == "$l_{1}$ / m"
    assert figure.axes[0].get_ylim()[1] > 1, "real parts of 1e-17 are no growth"


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_files_by_their_ending(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{ending}"
    runs.elbow().plot("q", path=path)
    head = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}[ending]
    assert path.read_bytes().startswith(head)
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_picture_is_the_same_file() -> None:
    one, other = (show.svg(runs.elbow().plot("q")) for _ in range(2))
    assert one == other
    assert one.startswith("<svg")
    assert show.data_uri(runs.elbow().plot("q")).startswith("data:image/svg+xml;base64,")


def test_mistakes_are_named(tmp_path: Path) -> None:
    run = runs.elbow()
    with pytest.raises(NameNotFoundError, match=r"no 'enrgy' to draw; did you mean 'energy'"):
        run.plot("enrgy")
    with pytest.raises(FileError, match=r"'.jpg' is not a format for pictures"):
        run.plot("q", path=tmp_path / "run.jpg")
    with pytest.raises(FileError, match="cannot be written"):
        run.plot("q", path=tmp_path / "no" / "run.svg")
    with pytest.raises(LinkwrightError, match="is not a view"):
        show.figure_of(run.mechanism, view="up")
    with pytest.raises(LinkwrightError, match="q is not 2 finite numbers"):
        show.figure_of(run.mechanism, [0.0])
    with pytest.raises(LinkwrightError, match="is not a valid interval"):
        run.cyclograph(every=-1.0)
    with pytest.raises(LinkwrightError, match="is not a valid interval"):
        run.cyclograph(every=0)
    with pytest.raises(LinkwrightError, match="no values of l1 are given"):
        show.eigenvalues(run.mechanism, "l1", [])
    with pytest.raises(NameNotFoundError, match="'tol' to trace; did you mean 'tool'"):
        run.cyclograph(trace=["tol"])
    assert not list(tmp_path.iterdir())


def test_small_numbers_have_their_power_of_ten_in_the_label() -> None:
    """Not at the head of the axis, where the names of the lines are."""
    t = np.linspace(0, 1, 5)
    for size, power, label in (
        (2e-5, -6, "speed / $10^{-6}$ m/s"),
        (3e6, 6, "speed / $10^{6}$ m/s"),
        (5.0, 0, "speed / m/s"),
    ):
        panel = show.Panel("speed", "m/s", (show.HistoryLine("v", "$v$", size * t),))
        axes = show.over_time(t, [panel]).axes[0]
        assert axes.get_ylabel() == label
        axes.figure.draw_without_rendering()
        assert not axes.yaxis.offsetText.get_visible()
        texts = [re.sub(r"[^\d.]", "", text.get_text()) for text in axes.get_yticklabels()]
        largest = max(float(text) for text in texts if text)
        assert size <= 10.0**power * largest <= 1.5 * size


def test_names_of_lines_fit_over_their_panel() -> None:
    """Six torques in one row; long names in several, read row by row."""
    from linkwright.show.figure_style import house_figure_style, legend_columns

    t = np.linspace(0, 1, 3)
    for count, word in ((6, "$\\tau_{{q{}}}$"), (7, "shoulder_{}")):
        lines = tuple(show.HistoryLine(f"{k}", word.format(k), k * t) for k in range(count))
        axes = show.over_time(t, [show.Panel("torque", "N·m", lines)]).axes[0]
        axes.figure.draw_without_rendering()
        key = axes.get_legend()
        assert key.get_window_extent().x1 <= axes.figure.bbox.x1
        with house_figure_style():
            columns = legend_columns([line.label for line in lines], 85)
        assert columns == (6 if count == 6 else 3)
        first_row = [text.get_text() for text in key.get_texts()][:: -(-count // columns)]
        assert first_row[0] == lines[0].label


def test_drives_of_actuators_alone() -> None:
    """A five-bar has torques at its two motors: the other joints have no lines."""
    from linkwright.motion import plan_to

    plan = plan_to(lw.gallery("five-bar"), "tool", [[0.45, 1.05]], 1.0, samples=21)
    (panel,) = plan.plot("tau").axes
    assert [text.get_text() for text in panel.get_legend().get_texts()] == [
        r"$\tau_{q1}$",
        r"$\tau_{q2}$",
    ]


def test_rates_of_all_names_are_signed() -> None:
    """Also of words; angular velocities of a free body are rates of no coordinates."""
    from linkwright.show.label_text import symbol_label

    assert [symbol_label("q1", 1), symbol_label("grip.rx", 1), symbol_label("u1.1", 2), symbol_label("u1.1")] == [
        r"$\dot{q}_{1}$", r"$\dot{q}$ grip.rx", r"$\ddot{q}$ u1.1", "u1.1",
    ]  # fmt: skip
    rows = np.zeros((2, 18))
    still = SimpleNamespace(mechanism=lw.gallery("quadruped"), qd=rows, qdd=rows)
    for name, spin, hip in (
        ("qd", "trunk.wx", r"$\dot{q}$ lf_hip"),
        ("qdd", "d trunk.wx/dt", r"$\ddot{q}$ lf_hip"),
    ):
        labels = {line.name: line.label for line in plan_history_panels(still, name)[0].lines}
        assert (labels["trunk.wx"], labels["lf_hip"]) == (spin, hip)


def test_lines_that_coincide_are_all_seen() -> None:
    t = np.linspace(0, 1, 5)
    lines = tuple(HistoryLine(n, n, x) for n, x in (("a", t), ("b", t + 1e-6), ("c", t**2)))
    first, second, third = show.over_time(t, [Panel("angle", "rad", lines)]).axes[0].get_lines()
    assert first.get_linestyle() == third.get_linestyle() == "-"
    assert second.get_linestyle() == "--"


@pytest.fixture(scope="module")
def platform() -> Any:
    from linkwright.motion import plan_to

    return plan_to(lw.gallery("stewart"), "platform", [[0.1, 0.0, 1.0]], 2.0, samples=21)


def test_the_plan_of_a_platform_fits_a_page(platform: Any) -> None:
    """Legs, which cylinders move, then the platform itself; how many lines are left out is said,
    and every name is on the paper."""
    figure = show.plan_figure(platform)
    figure.draw_without_rendering()
    wide, high = 25.4 * figure.get_size_inches()
    assert wide == pytest.approx(170)
    assert high < 297
    keys = {a.get_ylabel(): a.get_legend() for a in figure.axes if a.get_ylabel()}
    words = {label: [t.get_text() for t in key.get_texts()] for label, key in keys.items()}
    assert len(words) == 7
    legs = {f"$d_{{{k}}}$" for k in range(1, 7)}
    assert set(words["displacement / m"]) == legs | {"platform.x", "platform.z", "and 1 more"}
    turning = next(found for label, found in words.items() if label.startswith("angle"))
    assert set(turning) == {f"platform.r{c}" for c in "xyz"} | {"and 12 more"}
    for key in keys.values():
        assert key.get_window_extent().x1 <= figure.bbox.x1
    assert "plan.csv" in figure.get_supxlabel()


def test_a_legend_beside_a_label_of_two_lines(platform: Any) -> None:
    """Names fit over axes that a long label pushes to the right; all that are asked for."""
    figure = platform.plot(
        "qdd", only=[n for n in mechanism_names(platform.mechanism).q if "." in n]
    )
    figure.draw_without_rendering()
    for axes in figure.axes:
        key = axes.get_legend()
        assert key.get_window_extent().x1 <= figure.bbox.x1
        assert not any(text.get_text().startswith("and ") for text in key.get_texts())
    assert not figure.get_supxlabel()


@pytest.mark.parametrize("duration", [1e-3, 0.02, 0.04, 0.0999, 0.3, 2.0, 60.0, 1500.0])
def test_tick_labels_of_time_stand_apart(duration: float) -> None:
    panel = Panel("q", "rad", (HistoryLine("q1", "q1", np.zeros(2)),))
    figure = show.over_time([0.0, duration], [panel])
    with house_figure_style():  # in which pictures are drawn and saved
        figure.draw_without_rendering()
        labels = [label for label in figure.axes[0].get_xticklabels() if label.get_text()]
        boxes = [label.get_window_extent() for label in labels]
    assert len(boxes) >= 3
    assert all(left.x1 + 5 < right.x0 for left, right in itertools.pairwise(boxes))  # a letter
