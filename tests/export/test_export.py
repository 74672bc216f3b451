"""`lw.export` and `linkwright export`: what is chosen, what is refused, what is written."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import ArgumentError, FileError, NameNotFoundError, UnsupportedError
from linkwright.live.live_mechanism import smooth_mechanism
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.writers import FORMAT_WRITERS
from linkwright.writers.export_target import ExportRequest
from linkwright.writers.export_targets import EXPORT_TARGETS
from tests.commands import ok, run
from tests.export.target_runs import TARGETS
from tests.export.tools import run_tool


def load_module(text: str | bytes, folder: Path, name: str = "exported") -> ModuleType:
    """A module of Python from its text."""
    path = folder / f"{name}.py"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_over_leading_axes(tmp_path: Path) -> None:
    """The exported module gives what the model gives, also for batches; wrong shapes are errors."""
    arm = lw.gallery("elbow")
    names = ["inverse_dynamics", "mass_matrix", "kinetic_energy", "placement:tool"]
    text = lw.export(arm, to="numpy", quantities=names).files["elbow.py"]
    found, model = load_module(text, tmp_path), lw.compile(arm)
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-3, 3, (3, 4, 5, 2))
    for name, given in (
        ("inverse_dynamics", (q, qd, qdd)),
        ("mass_matrix", (q,)),
        ("kinetic_energy", (q, qd)),
    ):
        np.testing.assert_allclose(
            getattr(found, name)(*given), getattr(model, name)(*given), rtol=1e-12, atol=1e-12
        )
    np.testing.assert_allclose(found.placement_of_tool(q), model.placement("tool")(q), atol=1e-14)
    assert found.kinetic_energy([0, 0], [1, 1]) == pytest.approx(
        model.kinetic_energy([0, 0], [1, 1])
    )
    with pytest.raises(ValueError, match=r"q has the shape \(3,\); its last axes must be \(2,\)"):
        found.mass_matrix([0, 0, 0])


def test_parameters_are_inputs(tmp_path: Path) -> None:
    """g of the elbow is linear in m2; the value of the mechanism gives its own gravity."""
    arm = lw.gallery("elbow")
    made = lw.export(arm, to="numpy", quantities=["gravity"], parameters=["m2"])
    found, model = load_module(made.files["elbow.py"], tmp_path), lw.compile(arm)
    q = [0.2, 0.4]
    nominal = float(lw.compile(arm, parameters=["m2"]).nominal_parameters[0])
    np.testing.assert_allclose(found.gravity(q, [nominal]), model.gravity(q), rtol=1e-14)
    zero, one, two = (found.gravity(q, [m]) for m in (0.0, 1.0, 2.0))
    np.testing.assert_allclose(two - one, one - zero, rtol=1e-12)


@pytest.mark.parametrize("by", ["lagrange", "newton_euler", "kane"])
def test_any_formulation(by: str, tmp_path: Path) -> None:
    arm = lw.gallery("triple-pendulum")
    made = lw.export(arm, to="numpy", quantities=["forward_dynamics"], by=by)
    text = str(made.files["triple_pendulum.py"])
    assert f"formulation '{by}'" in text
    found = load_module(text, tmp_path, f"by_{by}")
    state = [[0.1, -0.4, 0.8], [0.5, 0.2, -0.3], [0.1, 0.0, 0.2]]
    np.testing.assert_allclose(
        found.forward_dynamics(*state), lw.compile(arm).forward_dynamics(*state), rtol=1e-9
    )


def test_what_a_formulation_lacks_is_said() -> None:
    """Approximate equations have states of their own, and no accelerations of the coordinates."""
    with pytest.raises(NameNotFoundError, match="the formulation 'approximate' has no forward_dyn"):
        lw.export(lw.gallery("elbow"), to="c", by="approximate", quantities=["forward_dynamics"])


def test_equations_and_models_are_exported_as_they_are() -> None:
    arm = lw.gallery("elbow")
    eqs = lw.derive(arm, by="lagrange")
    options = {"to": "rust", "quantities": ["mass_matrix"]}
    text = str(lw.export(eqs, **options).files["elbow.rs"])
    assert "formulation 'lagrange'" in text
    model = lw.compile(arm, parameters=["m2"])
    assert "m2" in str(lw.export(model, **options).files["elbow.rs"])
    with pytest.raises(UnsupportedError, match="already derived"):
        lw.export(eqs, by="kane", **options)
    with pytest.raises(UnsupportedError, match="already compiled"):
        lw.export(model, parameters=["m1"], **options)


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"to": "cobol"}, FileError, "'cobol' cannot be written; use toml"),
        ({"to": "c", "quantities": ["mass"]}, NameNotFoundError, "unknown quantity 'mass'; did you"),
        ({"to": "c", "quantities": "bias"}, ArgumentError, "give a list of names"),
        ({"to": "c", "quantities": []}, ArgumentError, "quantities is empty"),
        ({"to": "c", "quantities": ["bias", "bias"]}, ArgumentError, "twice"),
        ({"to": "c", "quantities": ["placement"]}, UnsupportedError, "placement needs a frame"),
        ({"to": "c", "quantities": ["bias:tool"]}, UnsupportedError, "bias has no frame"),
        ({"to": "c", "quantities": ["placement:nose"]}, NameNotFoundError, "nose"),
        ({"to": "rust", "quantities": ["simulate"]}, UnsupportedError, "use c, wasm or fmu"),
        ({"to": "c", "parameters": ["m9"]}, NameNotFoundError, "m9"),
        ({"to": "c", "precision": "half"}, UnsupportedError, "precision cannot be 'half'; use 'double'"),
        ({"to": "numpy", "precision": "float"}, UnsupportedError, "does not apply to numpy"),
        ({"to": "urdf", "by": "kane"}, UnsupportedError, "by does not apply to urdf"),
        ({"to": "c", "by": "guess"}, NameNotFoundError, "guess"),
    ],
)  # fmt: skip
def test_mistakes_are_explained(
    options: dict[str, object], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        lw.export(lw.gallery("elbow"), **options)  # type: ignore[arg-type]


def test_empty_quantities_are_refused() -> None:
    """The wheels of a car constrain velocities only: no positions are left to close."""
    model = lw.compile(lw.gallery("car"))
    with pytest.raises(UnsupportedError, match="constraint_residual of car is empty; leave it out"):
        lw.export(model, to="numpy", quantities=["constraint_residual"])
    assert model.tape("constraint_residual").outputs[0].shape == (0,)
    assert model.operations("constraint_residual") == 0


def test_a_port_may_have_the_name_of_a_counter(tmp_path: Path) -> None:
    """independent_map has an output k; its batch loops over states."""
    bar = lw.gallery("four-bar")
    request = ExportRequest(bar, lambda: lw.compile(bar), ("independent_map",))
    assert "k" in request.functions[0].port_names
    TARGETS["c"](request.code, tmp_path)


def test_steps_of_loops_are_reliable_in_single_precision(tmp_path: Path) -> None:
    """Rounding leaves loops open by 1e-7: more than double precision calls closed."""
    bar = lw.gallery("four-bar")
    request = ExportRequest(bar, lambda: lw.compile(bar), ("step_rk4",), "float")
    reference = request.functions[0].reference
    assert reference is not None
    assert reference.outputs[-1] == (1.0,)
    TARGETS["c"](request.code, tmp_path)


def test_steps_are_typeset() -> None:
    """The length of the step is an input without names of entries."""
    made = lw.export(lw.gallery("cart-pole"), to="latex", quantities=["step_rk4"])
    assert "dt" in str(made.files["cart_pole.tex"])


def test_only_mechanisms_are_exported() -> None:
    with pytest.raises(TypeError):
        lw.export("elbow", to="c")  # type: ignore[arg-type]


def test_files_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    made = lw.export(lw.gallery("elbow"), to="c")
    written = made.save(tmp_path / "new" / "folder")
    assert sorted(path.name for path in written) == sorted(made.files)
    assert (tmp_path / "new/folder/elbow.h").read_text(encoding="utf-8") == made.files["elbow.h"]
    (tmp_path / "blocked" / "elbow_check.c").mkdir(parents=True)
    with pytest.raises(FileError, match="is a folder"):
        made.save(tmp_path / "blocked")
    assert [path.name for path in (tmp_path / "blocked").iterdir()] == ["elbow_check.c"]
    (tmp_path / "file").write_text("kept")
    with pytest.raises(FileError, match="is a file; name a folder"):
        made.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


def test_code_is_not_written_under_the_name_of_a_mechanism(tmp_path: Path) -> None:
    made = lw.export(lw.gallery("elbow"), to="numpy", quantities=["bias"])
    with pytest.raises(FileError, match=r"is not a file name for numpy; let it end in \.py"):
        made.save(tmp_path / "elbow.toml")
    assert made.save(tmp_path / "elbow.py") == [tmp_path / "elbow.py"]


def test_the_command(tmp_path: Path) -> None:
    printed = ok("export", "elbow", "--to", "c", "-o", "out", "--precision", "float", cwd=tmp_path)
    assert "cc -std=c99" in printed
    assert "void elbow_mass_matrix(const float *ELBOW_RESTRICT q" in (
        tmp_path / "out/elbow.h"
    ).read_text(encoding="utf-8")
    assert ok("export", "elbow", "--to", "rust").startswith("//! Mechanism elbow")
    words = ["export", "elbow", "--to", "c", "-o", "again", "--json", "--quantities", "bias"]
    found = json.loads(ok(*words, cwd=tmp_path))
    assert "again/elbow.h" in found["files"]
    refused = run("export", "elbow", "--to", "matlab")
    assert refused.returncode == 2
    assert refused.stderr == "linkwright: --to matlab writes 5 files; name a folder with -o\n"


def test_the_command_leaves_effects_out(tmp_path: Path) -> None:
    """A rigid contact with friction is refused in a motion; the message says how to leave it out."""
    words = ["export", "bouncing-ball", "--to", "c", "--quantities", "simulate", "-o", "out"]
    refused = run(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--without contacts" in refused.stderr
    assert "motion_check" in ok(*words, "--without", "contacts", cwd=tmp_path)
    assert (tmp_path / "out" / "bouncing_ball_motion.c").exists()


def test_help_names_every_target() -> None:
    """A new row of the table is in the help of the command and on the page."""
    text = " ".join(ok("export", "--help").split())
    page = (Path(__file__).parents[2] / "docs/how-to/export.md").read_text(encoding="utf-8")
    for name in EXPORT_TARGETS.keys() - FORMAT_WRITERS.keys():
        assert name in text, name
        assert f"`{name}`" in page, name


def test_the_optimal_control_script_moves_the_arm(tmp_path: Path) -> None:
    """The forces that it finds lead SciPy's integration of our model from q0 to q1."""
    lw.export(lw.gallery("cart-pole"), to="casadi", parameters=["mp"]).save(tmp_path)
    script = tmp_path / "cart_pole_optimal_control.py"
    assert "largest forces:" in run_tool(sys.executable, script, cwd=tmp_path)
    module = load_module(script.read_text(encoding="utf-8"), tmp_path, "problem")
    states, forces = module.solve()
    model, x, h = lw.compile(lw.gallery("cart-pole")), states[:, 0], 1.5 / 40
    for tau in forces.T:

        def rates(_: float, x: np.ndarray, tau: np.ndarray = tau) -> np.ndarray:
            return np.concatenate([x[2:], model.forward_dynamics(x[:2], x[2:], tau)])

        x = solve_ivp(rates, (0, h), x, rtol=1e-10, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(x, [0.5, 0.5, 0, 0], atol=1e-4)  # steps of order 4, 40 of them


@pytest.mark.parametrize("name", ["four-bar", "quadruped"])
def test_no_script_where_coordinates_are_not_free(name: str) -> None:
    made = lw.export(lw.gallery(name), to="casadi", quantities=["forward_dynamics"])
    assert not [file for file in made.files if file.endswith(".py")]
    assert "script of optimal control" in made.lost[0]


def test_loops_report_their_pivot(tmp_path: Path) -> None:
    made = lw.export(lw.gallery("four-bar"), to="numpy", quantities=["forward_dynamics"])
    found = load_module(made.files["four_bar.py"], tmp_path)
    model = lw.compile(lw.gallery("four-bar"))
    state = [model.home(), np.zeros(model.nv), np.ones(model.nv)]
    qdd, pivot = found.forward_dynamics(*state)
    np.testing.assert_allclose(qdd, model.forward_dynamics(*state), rtol=1e-9, atol=1e-9)
    assert 0 < pivot <= 1


BREAKING = """
name = "link"
[bodies.rod]
mass = 1.0
center = [0.5, 0, 0]
inertia = [0.01, 0.1, 0.1]
[joints.pin]
type = "revolute"
child = "rod"
axis = [0, 1, 0]
{key}
"""


@pytest.mark.parametrize(
    ("source", "what"),
    [
        (lambda: lw.gallery("bouncing-ball"), "rigid contacts"),
        (lambda: lw.load(BREAKING.format(key="breaks = { force = 1 }")), "members that break"),
        (
            lambda: lw.load(BREAKING.format(key="limits = { lower = 0, restitution = 0.5 }")),
            "stops with restitution",
        ),
    ],
)  # fmt: skip
def test_steps_refuse_what_acts_through_events(
    source: Callable[[], lw.Mechanism], what: str
) -> None:
    """A step that leaves them out would be wrong without a word: a ball falls through the floor."""
    with pytest.raises(UnsupportedError, match=f"fixed steps do not support {what}"):
        lw.export(source(), to="c", quantities=["step_rk4"])
    made = lw.export(source(), to="wasm")
    assert any(f"fixed steps do not support {what}" in text for text in made.lost)
    assert "step_rk4(" not in str(made.files[next(n for n in made.files if n.endswith(".mjs"))])


@pytest.mark.parametrize("options", [{"to": "fmu"}, {"to": "c", "quantities": ["simulate"]}])
def test_motions_refuse_members_that_break(options: dict[str, object]) -> None:
    link = lw.load(BREAKING.format(key="breaks = { force = 1 }"))
    with pytest.raises(UnsupportedError, match="'pin' breaks under a load"):
        lw.export(link, **options)  # type: ignore[arg-type]


def test_headers_name_rows_and_columns_with_their_units() -> None:
    """Order as in docs/explanation/conventions.md; units of the mechanism where they are the same."""
    names = ["regressor", "reactions", "multipliers", "mass_matrix", "input_matrix", "bias"]
    text = str(lw.export(lw.gallery("four-bar"), to="c", quantities=names).files["four_bar.h"])
    assert " * joints, then loops: q1, q2, q3, pin\n" in text
    assert " * rows of constraints: pin (5)\n" in text
    assert " * actuators: tau1\n" in text
    assert (
        "Ixz, Iyz, Izz about the body's origin, for each body in turn: crank, coupler, rocker\n"
        in text
    )
    assert "M  3 x 3, by rows (kg m²)" in text
    assert "b   3 numbers (N m)" in text
    slides = str(
        lw.export(lw.gallery("cartesian"), to="c", quantities=names[3:]).files["cartesian.h"]
    )
    assert "M  2 x 2, by rows (kg)" in slides
    assert "b   2 numbers (N)" in slides
    mixed = str(lw.export(lw.gallery("stanford"), to="c", quantities=["bias"]).files["stanford.h"])
    assert "6 numbers (N m or N)" in mixed
    assert "joints:" not in mixed


def test_typeset_notes_are_latex() -> None:
    made = lw.export(lw.gallery("elbow"), to="latex", quantities=["regressor"])
    assert r"inertial parameters $\pi$: m" in str(made.files["elbow.tex"])


def test_live_pages_say_that_members_do_not_break() -> None:
    """Their motion is an exported one."""
    link = lw.load(BREAKING.format(key="breaks = { force = 1 }"))
    smooth, notes = smooth_mechanism(mechanism_scene(link))
    assert "Members do not break here." in notes
    assert smooth.joints["pin"].breaks is None
    assert smooth_mechanism(mechanism_scene(smooth)) == (smooth, [])
