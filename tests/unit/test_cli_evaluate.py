"""`linkwright evaluate`: words, files of states, units, and results that are not finite."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.commands import ok, run


def test_evaluate_one_state() -> None:
    data = json.loads(
        ok("evaluate", "elbow", "inverse_dynamics", "q=0,90deg", "qd=0,0", "qdd=1,pi/4", "--json")
    )
    wanted = lw.compile(lw.gallery("elbow")).inverse_dynamics(
        [0, np.pi / 2], [0, 0], [1, np.pi / 4]
    )
    assert data["tau"] == pytest.approx(wanted.tolist())
    assert "T =" in ok("evaluate", "elbow", "placement", "q=0,0", "frame=tool")
    by_colon = ok("evaluate", "elbow", "placement:tool", "q=0,0")  # as in export and derive
    assert by_colon == ok("evaluate", "elbow", "placement", "q=0,0", "frame=tool")


def test_evaluate_files(tmp_path: Path) -> None:
    q, v, tau = np.random.default_rng(0).uniform(-1, 1, (3, 5, 2))
    head = "q1,q2,dq1,dq2,tau_q1,tau_q2"
    np.savetxt(
        tmp_path / "s.csv",
        np.hstack([q, v, tau]),
        delimiter=",",
        header=head,
        comments="",
        fmt="%.17g",
    )
    np.savez(tmp_path / "s.npz", q=q, qd=v, tau=tau)
    wanted = lw.compile(lw.gallery("elbow")).forward_dynamics(q, v, tau)
    ok("evaluate", "elbow", "forward_dynamics", "--states", "s.csv", "-o", "r.csv", cwd=tmp_path)
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text().splitlines()))
    assert [float(r["ddq2"]) for r in rows] == wanted[:, 1].tolist()
    ok("evaluate", "elbow", "forward_dynamics", "--states", "s.npz", "-o", "r.npz", cwd=tmp_path)
    assert (np.load(tmp_path / "r.npz")["qdd"] == wanted).all()
    ok("evaluate", "elbow", "mass_matrix", "--states", "s.csv", "-o", "m.csv", cwd=tmp_path)
    assert (tmp_path / "m.csv").read_text().startswith('"M[1,1]","M[1,2]"')


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("q1\n1\n", "missing column 'q2'"),
        ("q1,q2\n1\n", "row 2"),
        ("q1,q2\n\n1,2\n1,x\n", "row 4: 'x' under q2 is not a number"),
        ("q1,q2\n", "no rows"),
        ("", "no rows"),
        ("q1,q2\n1," + "2" * 200_000, "line 2: is not valid CSV: field larger than"),
        ("q1,q2,q1\n1,2,3\n", "has the column 'q1' twice"),
        ("q1,q2,zz\n1,2,3\n", "has the unknown column 'zz'; give q1, q2"),
        ("q1,q2,q\n1,2,3\n", "has the unknown column 'q'; give q1, q2"),
    ],
)
def test_broken_state_files(content: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(content)
    done = run("evaluate", "elbow", "gravity", "--states", "s.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert done.stderr.count("\n") == 1


Q, QD = np.ones((3, 2)), np.ones((4, 2))


def _npz(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _npy() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, Q)
    return buffer.getvalue()


def _corrupt() -> bytes:
    """An archive whose compressed bytes are broken behind an intact directory."""
    data = bytearray(_npz(q=np.random.default_rng(0).random((99, 2)), qd=Q))
    data[200:400] = bytes(200)
    return bytes(data)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "cannot be read as NPZ"),
        (b"PK\x03\x04", "cannot be read as NPZ"),
        (_npy(), "is a single array"),
        (_corrupt(), "cannot be read as NPZ"),
        (_npz(q=Q, qd=QD), "different numbers of states: (3,) of q, (4,) of qd"),
        (_npz(q=Q + 1j, qd=Q), "the array 'q' is of complex128; give real numbers"),
        (_npz(q=Q.astype(str), qd=Q), "the array 'q' is of <U32"),
        (_npz(q=np.array([None]), qd=Q), "cannot be read as NPZ"),
        (_npz(q=Q, qd=Q, zz=Q), "unknown array 'zz'; give q, qd, or q1, q2, dq1, dq2"),
        (_npz(q=Q), "missing array 'qd'; give q, qd, or q1"),
        (_npz(q=Q, qd=Q, q2=Q), "has 'q2' beside 'q'"),
        (_npz(q=np.ones(3), qd=Q), "q has the shape (3,); give (…, 2)"),
        (_npz(q=np.float64(1), qd=Q), "q has the shape ()"),
        (_npz(q1=np.ones(3), q2=np.ones(4), dq1=1, dq2=1), "'q2' has the shape (4,), 'q1' (3,)"),
    ],
)
def test_broken_npz_files(content: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / "s.npz").write_bytes(content)
    words = ["--states", "s.npz", "-o", "r.csv"]
    done = run("evaluate", "elbow", "coriolis_matrix", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert done.stderr.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["s.npz"]


def test_npz_files_hold_whole_arrays_or_columns(tmp_path: Path) -> None:
    """`q1` is an input of `difference`, and an entry of q: the rest of the file tells."""
    q, q1 = np.random.default_rng(1).uniform(-1, 1, (2, 4, 2))
    np.savez(tmp_path / "whole.npz", q=q, q1=q1[0])
    np.savez(tmp_path / "one.npz", q1=q[:, 0], q2=q[:, 1], q1_1=q1[:, 0], q2_1=q1[:, 1])
    for name, wanted in (("whole", q1[0] - q), ("one", q1 - q)):
        words = ["--states", f"{name}.npz", "-o", "r.NPZ", "--json"]
        said = json.loads(ok("evaluate", "elbow", "difference", *words, cwd=tmp_path))
        assert said == {"file": "r.NPZ", "states": 4}
        with np.load(tmp_path / "r.NPZ") as results:
            assert results["step"] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["elbow", "gravity", "q=5 kg,1"], "q1: is in kg; give it in radians or plain numbers"),
        (["elbow", "bias", "q=1,1", "qd=1 rad/s,2 deg"], "dq2: is in radians"),
        (["elbow", "forward_dynamics", "q=1,1", "qd=1,1", "tau=1 N,1"], "tau_q1: is in kg*m/s^2"),
        (["cart-pole", "gravity", "q=1 rad,1"], "give it in m"),
        (["quadruped", "gravity", f"q=0,0,0,1 rad{',0' * 15}"], "quaternions are plain numbers"),
    ],
)
def test_units_of_inputs_are_checked(words: list[str], what: str) -> None:
    done = run("evaluate", *words)
    assert done.returncode == 2
    assert what in done.stderr


def test_inputs_may_have_units() -> None:
    words = ["q=10 cm,90deg", "qd=36 km/h,60 rpm", "qdd=sin(1),1 rad/s^2"]
    data = json.loads(ok("evaluate", "cart-pole", "inverse_dynamics", *words, "--json"))
    model = lw.compile(lw.gallery("cart-pole"))
    wanted = model.inverse_dynamics([0.1, np.pi / 2], [10, 2 * np.pi], [np.sin(1), 1])
    assert data["tau"] == pytest.approx(wanted.tolist())
    base = ",".join(["1 m", "0", "0", "1", "0", "0", "0"] + ["0"] * 12)
    wrench = ",".join(["1 N*m"] * 3 + ["1 N"] * 3 + ["0"] * 72)
    words = [f"q={base}", f"qd=0{',0' * 17}", f"qdd=0{',0' * 17}"]
    assert ok(
        "evaluate", "quadruped", "inverse_dynamics_with_wrenches", *words, f"wrenches={wrench}"
    )


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("0,0,0,0\n0,nan,0,0\n", "bias: q2 is nan in state 2"),
        ("0,0,0,0\n0,0,0,0\n0,0,-inf,0\n", "bias: dq1 is -inf in state 3"),
        ("0,0,0,0\n0,1,1e300,1e300\n", "bias: b[1] is nan in state 2"),
    ],
)
@pytest.mark.parametrize("words", [["-o", "r.csv"], ["--json"], []])
def test_no_result_that_is_not_finite(
    rows: str, what: str, words: list[str], tmp_path: Path
) -> None:
    (tmp_path / "s.csv").write_text("q1,q2,dq1,dq2\n" + rows)
    done = run("evaluate", "elbow", "bias", "--states", "s.csv", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert what in done.stderr
    assert done.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["s.csv"]


def test_large_results_are_printed_whole(tmp_path: Path) -> None:
    np.savez(tmp_path / "s.npz", q=np.zeros((2000, 2)))
    text = ok("evaluate", "elbow", "gravity", "--states", "s.npz", cwd=tmp_path)
    assert text.count("\n") == 2001
    assert "..." not in text
