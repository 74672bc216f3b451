"""What editors and type checkers see: names, named arguments, shapes, units, types."""

from __future__ import annotations

import importlib.util
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import jedi
import pytest

import linkwright as lw
from linkwright.quantities import (
    ACTUATED_SIGNATURES,
    CONSTRAINED_SIGNATURES,
    FRAME_SIGNATURES,
    MOVING_SIGNATURES,
    SIGNATURES,
)

ROOT = Path(__file__).parents[2]
BEGIN = 'import linkwright as lw\narm = lw.gallery("elbow")\nmodel = lw.compile(arm)\n'


def generator() -> ModuleType:
    path = ROOT / "tools/write_model_functions.py"
    place = importlib.util.spec_from_file_location("write_model_functions", path)
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_declared_functions_are_those_of_the_table() -> None:
    written = generator()
    declared = [name for _, _, names in written.SUBJECTS.values() for name in names]
    tables = SIGNATURES | CONSTRAINED_SIGNATURES | MOVING_SIGNATURES | ACTUATED_SIGNATURES
    assert sorted(declared) == sorted(tables)
    for subject in written.SUBJECTS:
        text = (written.FOLDER / f"{subject}.py").read_text(encoding="utf-8")
        assert text == written.module_text(subject), "run tools/write_model_functions.py"
    for name in (*declared, *FRAME_SIGNATURES):
        assert "Units: " in inspect.getdoc(getattr(lw.Model, name)) or name in FRAME_SIGNATURES


def test_arguments_at_run_time_are_those_that_are_declared() -> None:
    """The declaration has t, p and lambda for all; a mechanism has those that it needs."""
    optional = {"t", "p", "lambda_"}
    for model in (lw.compile(lw.gallery("elbow")), lw.compile(lw.gallery("four-bar"))):
        for name in ("gravity", "inverse_dynamics", "forward_dynamics", "difference"):
            there = list(inspect.signature(getattr(model, name)).parameters)
            declared = list(inspect.signature(getattr(lw.Model, name)).parameters)[1:]
            assert there == [word for word in declared if word not in optional]
    kept = lw.compile(lw.gallery("elbow"), parameters=["m2"])
    assert list(inspect.signature(kept.gravity).parameters) == ["q", "p", "out", "check"]


def test_an_editor_completes_names_of_the_module_and_of_models() -> None:
    top = {one.name for one in jedi.Script("import linkwright as lw\nlw.").complete(2, 3)}
    public = {"solve_kinematics", "solve_inverse", "equilibria", "linearize", "load_run", "show"}
    assert public <= top
    found = {one.name for one in jedi.Script(f"{BEGIN}model.inverse").complete(4, 13)}
    assert {"inverse_dynamics", "inverse_dynamics_derivatives"} <= found


def test_an_editor_shows_arguments_shapes_and_units() -> None:
    (one,) = jedi.Script(f"{BEGIN}model.inverse_dynamics(").get_signatures(4, 23)
    assert [param.name for param in one.params][:3] == ["q", "qd", "qdd"]
    text = one.docstring()
    assert "(…, nv) array" in text
    assert "rad/s² or m/s²" in text
    (frame,) = jedi.Script(f'{BEGIN}model.jacobian("tool")(').get_signatures(4, 23)
    assert next(param.name for param in frame.params) == "q"


def test_help_has_the_names_shapes_and_units_of_the_mechanism() -> None:
    model = lw.compile(lw.gallery("cart-pole"))
    text = inspect.getdoc(model.inverse_dynamics) or ""
    assert "q : (…, 2) array" in text
    assert "Generalized velocities, m/s or rad/s: dx, dtheta." in text
    with pytest.raises(AttributeError, match="no function 'multipliers'"):
        model.multipliers  # noqa: B018 - of constrained mechanisms alone
    assert "multipliers" not in dir(model)
    assert "multipliers" in dir(lw.compile(lw.gallery("four-bar")))


SNIPPET = """
import casadi as ca
import linkwright as lw

arm = lw.gallery("elbow")
eqs = lw.derive(arm, by="lagrange")
model = lw.compile(arm)
reveal_type(eqs.M)
reveal_type(model.gravity({"q1": "30 deg"}))
reveal_type(model.jacobian("tool")(q=[0.0, 0.0]))
reveal_type(lw.simulate(arm).q)
reveal_type(lw.solve_kinematics(arm, {}))
reveal_type(lw.linearize(arm))
model.gravty([0, 0])
model.gravity(x=1)
lw.simulat(arm)
"""


@pytest.mark.slow
def test_a_type_checker_knows_results_and_finds_misspelled_names(tmp_path: Path) -> None:
    checker = shutil.which("basedpyright", path=str(Path(sys.executable).parent))
    assert checker is not None, "install the extra test"
    (tmp_path / "snippet.py").write_text(SNIPPET)
    source = Path(lw.__file__).parents[1]
    settings = {"typeCheckingMode": "standard", "extraPaths": [str(source)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [checker, "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    rows = json.loads(run.stdout)["generalDiagnostics"]
    told = [row["message"] for row in rows if row["severity"] == "information"]
    types = [message.split(" is ")[-1].strip('"') for message in told if "Type of" in message]
    assert types[0] == "SX"
    assert all("float64" in one for one in types[1:4])
    assert types[4:] == ["Kinematics", "Linear"]
    errors = [row["range"]["start"]["line"] for row in rows if row["severity"] == "error"]
    wrong = [
        k
        for k, line in enumerate(SNIPPET.splitlines())
        if "ravty" in line or "x=1" in line or "simulat(" in line
    ]
    assert sorted(set(errors)) == wrong
