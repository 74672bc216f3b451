"""What a new user gets told after a mistake: what is wrong, with the value, and what to do."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ArgumentError, LinkwrightError, UnsupportedError, suggest_remedy
from linkwright.model.calls import CallFacts, explain_compiled_call
from linkwright.motion import inverse_kinematics
from linkwright.ports import Port
from linkwright.simulation import load_run

ARM = lw.gallery("six-axis")
MODEL = lw.compile(ARM, threads=1)
ELBOW = lw.gallery("elbow")
BAR = lw.gallery("four-bar")
Q = np.zeros(6)
FACTS = CallFacts("f", "arm", [Port("q", (2,))], 1, {})

CALLS: list[tuple[Callable[[], Any], str]] = [
    (lambda: MODEL.mass_matrix(np.zeros(5)), "q has 5 numbers; six-axis has 6: q1 … q6"),
    (lambda: MODEL.mass_matrix(np.zeros((3, 1))), "q has 1 number; six-axis has 6: q1 … q6"),
    (lambda: MODEL.mass_matrix(0.0), "q is one number without an axis; six-axis has 6: q1 … q6"),
    (lambda: MODEL.mass_matrix("abc"), "six-axis: q is 'abc'; give 6 numbers: q1 … q6"),
    (lambda: MODEL.mass_matrix(None), "six-axis: q is None; give 6 numbers: q1 … q6"),
    (lambda: MODEL.mass_matrix({"q9": 0}), "q: six-axis has no coordinate 'q9'; known: q1, q2, q3, q4, q5, q6"),
    (lambda: MODEL.mass_matrix({"q1": "30 mm"}), "q of 'q1': '30 mm' has the wrong unit; give it in rad"),
    (lambda: MODEL.mass_matrix({"q1": None}), "q of 'q1' is None; give a number"),
    (lambda: MODEL.bias({"q1": 0}, np.zeros(5)), "qd has 5 numbers; six-axis has 6: dq1 … dq6"),
    (lambda: MODEL.mass_matrix(x=Q), "mass_matrix has no argument 'x'; known: q, out, check"),
    (lambda: MODEL.mass_matrix(Q + 1j), "six-axis: q is complex; give 6 numbers: q1 … q6"),
    (lambda: MODEL.mass_matrix([[1, 2], [3]]), "six-axis: q is a list of rows of different lengths; give 6 numbers: q1 … q6"),
    (lambda: MODEL.mass_matrix(["1"] * 6), "six-axis: q is ['1', '1', '1', '1', '1', '1']; give 6 numbers: q1 … q6"),
    (lambda: MODEL.inverse_dynamics(Q, Q), "six-axis: inverse_dynamics takes 3 arguments: q, qd, qdd; it got 2; call inverse_dynamics(q, qd, qdd)"),
    (lambda: MODEL.inverse_dynamics(Q, Q, np.zeros(5)), "qdd has 5 numbers; six-axis has 6: ddq1 … ddq6"),
    (lambda: MODEL.inverse_dynamics(Q, Q, q=Q), "inverse_dynamics gets q twice; call inverse_dynamics(q, qd, qdd)"),
    (lambda: MODEL.inverse_dynamics(q=Q), "inverse_dynamics lacks qd, qdd; call inverse_dynamics(q, qd, qdd)"),
    (lambda: MODEL.bias(np.zeros((3, 6)), np.zeros((4, 6))), "six-axis: bias: the leading axes do not match: q (3,), qd (4,); give all inputs the same number of states, or one"),
    (lambda: MODEL.jacobian(Q), "jacobian takes the name of a frame or body, and gives a function of q; write model.jacobian('tool')(q)"),
    (lambda: MODEL.frame_velocity(Q), "frame_velocity takes the name of a frame or body, and gives a function of q, qd; write model.frame_velocity('tool')(q, qd)"),
    (lambda: MODEL.placement("tool")([1, 2]), "q has 2 numbers; six-axis has 6: q1 … q6"),
    (lambda: MODEL.close([1, 2]), "q has 2 numbers; six-axis has 6: q1 … q6"),
    (lambda: lw.compile(BAR).forward_dynamics(np.zeros(3), np.zeros(2), np.zeros(3)), "qd has 2 numbers; four-bar has 3: dtheta1, dtheta2, dtheta3"),
    (lambda: lw.derive("robot.urdf"), "a str is not a mechanism; write load('robot.urdf')"),
    (lambda: lw.derive("elbow"), "a str is not a mechanism; write gallery('elbow')"),
    (lambda: lw.derive(3), "an int is not a mechanism; give one made by load, gallery or Mechanism"),
    (lambda: lw.assemble("four-bar"), "a str is not a mechanism; write gallery('four-bar')"),
    (lambda: lw.mobility(None), "a NoneType is not a mechanism; give one made by load, gallery or Mechanism"),
    (lambda: lw.save("elbow", "x.toml"), "a str is not a mechanism; write gallery('elbow')"),
    (lambda: lw.check("elbow", "M = 1"), "a str is not a mechanism; write gallery('elbow')"),
    (lambda: lw.compile("elbow"), "a str is not a mechanism; write gallery('elbow')"),
    (lambda: lw.verify(3), "an int is not a mechanism; give one made by load, gallery or Mechanism"),
    (lambda: load_run(3), 'an int is not a file; write load_run("run.nc")'),
    (lambda: MODEL.closed([1, 2]), "q has 2 numbers; six-axis has 6: q1 … q6"),
    (lambda: MODEL.check_closed("abc"), "six-axis: q is 'abc'; give 6 numbers: q1 … q6"),
    (lambda: lw.show.graph("elbow"), "a str is not a mechanism; write gallery('elbow')"),
    (lambda: lw.show.plot(ELBOW), "a Mechanism is not a run; give one made by simulate"),
    (lambda: lw.load({"bodies": {}}), "a dict is not a file or its text; write Mechanism(**table)"),
    (lambda: lw.load(3), 'an int is not a file or its text; write load("robot.urdf")'),
    (lambda: lw.gallery(3), "3 is not the name of a gallery mechanism; call gallery() for the list of names"),
    (lambda: inverse_kinematics(ARM, [1, 2, 3]), 'targets are given by the names of frames; write {"tool": [x, y, z]}'),
    (lambda: inverse_kinematics(MODEL, {"tool": [1, 2, 3]}), "a Model is not a mechanism; give one made by load, gallery or Mechanism"),
    (lambda: lw.simulate(ELBOW, t=0.1, torque=lambda t: [1, 2]), "<lambda> cannot be called as torque(t, q, qd); let it take t, q and qd, and return 2 numbers"),
    (lambda: lw.simulate(ELBOW, t=0.1, q0=[1, 2, 3]), "q0 is not 2 finite numbers; give 2: q1, q2"),
    (lambda: lw.simulate(ELBOW, t=0.1, samples=1), "samples must be a whole number from 2 (got 1)"),
    (lambda: ELBOW.joints["q7"], "joints: unknown name 'q7'; known: q1, q2"),
    (lambda: ELBOW.bodies["lnk1"], "bodies: unknown name 'lnk1'; did you mean 'link1' or 'link2'?"),
    (lambda: ELBOW.poses["home"], "unknown name 'home'; the table is empty"),
    (lambda: lw.verify(ELBOW, by="lagrang"), "unknown formulation 'lagrang'; did you mean 'lagrange'?"),
    (lambda: lw.simulate(ELBOW, t=0.1, by=["lagrange"]), "unknown formulation ['lagrange']; did you mean 'lagrange'?"),
    (lambda: lw.Mechanism(bodies={"b": {"mass": "1 kilo"}}), "bodies.b.mass: 'kilo' is not a unit; use units such as m, mm, kg, s, rad, deg, N; a unit may only follow a plain number at the end of the whole expression, and * is needed between factors"),
    (lambda: lw.Mechanism(bodies={"b": {"inertia": [[1, 2, 0], [0, 3, 0], [0, 0, 3]]}}), "bodies.b.inertia: is not symmetric: xy is 2, yx is 0; give a symmetric 3×3 array"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), CALLS, ids=[str(k) for k in range(len(CALLS))])
def test_mistakes_get_a_sentence_of_our_own(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(LinkwrightError) as caught:
        call()
    assert str(caught.value) == message


def test_tables_of_parts_are_mappings() -> None:
    """An absent name raises a KeyError, as the protocol of mappings demands."""
    with pytest.raises(KeyError):
        ELBOW.joints["q7"]
    assert "q7" not in ELBOW.joints
    assert ELBOW.joints.get("q7") is None
    assert ChainMap({}, ELBOW.joints).get("q7") is None


def test_one_formulation_needs_no_list() -> None:
    one, many = lw.verify(ELBOW, by="kane"), lw.verify(ELBOW, by=["kane"])
    assert [c.verdict for c in one.checks] == [c.verdict for c in many.checks]
    assert lw.compare(ELBOW, by="kane", duration=0.01).rows[0].by == "kane"


def test_wrong_shapes_are_value_errors_and_type_errors() -> None:
    for kind in (ValueError, TypeError, ArgumentError):
        with pytest.raises(kind, match="q has 5 numbers"):
            MODEL.gravity(np.zeros(5))


def test_inputs_can_be_named() -> None:
    qd = np.arange(6.0)
    np.testing.assert_array_equal(MODEL.bias(q=Q, qd=qd), MODEL.bias(Q, qd))
    np.testing.assert_array_equal(MODEL.bias(Q, qd=qd), MODEL.bias(Q, qd))
    np.testing.assert_array_equal(MODEL.placement("tool")(q=Q), MODEL.placement("tool")(Q))
    out = np.zeros(6)
    assert MODEL.gravity(Q, out=out) is out
    np.testing.assert_array_equal(out, MODEL.gravity(Q))


def test_a_good_call_goes_straight_to_the_ufunc() -> None:
    """Nothing is looked at before the ufunc has been asked, so that checks cost no time."""

    class Untouchable:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"somebody looks at {name}")

    given = Untouchable()
    call = explain_compiled_call(lambda *inputs: inputs, FACTS)
    assert call(given)[0] is given


def test_errors_of_the_function_itself_are_kept() -> None:
    def fail(*inputs: Any) -> None:
        raise UnsupportedError("the mechanism is singular here")

    with pytest.raises(UnsupportedError, match="singular here"):
        explain_compiled_call(fail, FACTS)([1.0, 2.0])


def test_coordinates_are_given_with_units_in_python_as_in_files() -> None:
    run = lw.simulate(ELBOW, t=0.01, q0={"q1": "30 deg"}, qd0={"q2": "60 rpm"}, samples=2)
    np.testing.assert_allclose(run.q[0], [np.pi / 6, 0])
    np.testing.assert_allclose(run.qd[0], [0, 2 * np.pi])
    q = lw.assemble(BAR, {"theta1": "30 deg"}, ["theta1"])
    assert q[0] == pytest.approx(np.pi / 6)
    found = lw.simulate(BAR, t=0.01, q0={"theta1": "30 deg"}, samples=2)
    assert found.q[0, 0] == pytest.approx(np.pi / 6)


def test_unknown_names_list_what_there_is() -> None:
    many = [f"name{k}" for k in range(51)]
    said = suggest_remedy("K", many)
    assert said.startswith("known: name0, name1, ")
    assert said.endswith("… (51 in all)")
    assert suggest_remedy("K", ["a", "b"]) == "known: a, b"
    assert suggest_remedy("mass", ["mass_matrix", "gravity"]) == "did you mean 'mass_matrix'?"
    assert (
        suggest_remedy("MASS_MATRIX", ["mass_matrix", "gravity"]) == "did you mean 'mass_matrix'?"
    )
    with pytest.raises(LinkwrightError, match="unknown quantity 'Z'; known: "):
        lw.derive(ELBOW).closed_form("Z")


def test_the_module_names_what_it_has() -> None:
    assert callable(lw.show.graph)
    assert callable(lw.linearization.linearize)
    with pytest.raises(AttributeError, match="did you mean 'simulate'"):
        lw.simulat  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'mass_matrix'"):
        MODEL.massmatrix  # noqa: B018


def test_inertia_is_a_symmetric_array() -> None:
    tensor = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    joints = {"q": {"type": "spherical", "parent": "ground", "child": "b"}}
    made = lw.Mechanism(bodies={"b": {"mass": 1, "inertia": tensor}}, joints=joints)
    model = lw.compile(made)
    np.testing.assert_allclose(model.mass_matrix(model.neutral()), tensor, rtol=1e-12)


def test_refused_table_is_shown_as_its_author_wrote_it() -> None:
    with pytest.raises(lw.LinkwrightError, match=r"\{stick = 0\.3, slide = \[1, 2\.5\]\} is not a"):
        lw.load("[bodies.a]\nmass = { stick = 0.3, slide = [1, 2.5] }\n")
