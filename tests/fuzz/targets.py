"""What is fuzzed: for every kind of file its examples, and what is done with a mutated one.

A target returns numbers, all of which must be finite, or raises `LinkwrightError`.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import load
from linkwright.writers import write_mechanism_text

Numbers = list[Any]


class BadComplaintError(Exception):
    """A refusal that is not one line for a user."""


def gallery_texts(ending: str, most: int = 12_000) -> list[bytes]:
    folder = files("linkwright.mechanism.gallery_files")
    found = [f.read_bytes() for f in folder.iterdir() if f.name.endswith(ending)]
    return [text for text in found if len(text) < most]


def numbers_of(mechanism: lw.Mechanism) -> Numbers:
    """M and the bias at a state, evaluated without compiling."""
    eqs = lw.derive(mechanism, parameters="numeric")
    s = eqs.symbols
    state = {"q": np.array(eqs.home or eqs.neutral), "qd": np.full(eqs.nv, 0.1), "t": 0.0}
    found = []
    for name in ("mass_matrix", "bias"):
        with contextlib.suppress(LinkwrightError):
            values = ca.Function("f", [s["q"], s["qd"], s["t"]], [eqs.expressions(name)[0]])
            found.append(np.asarray(values(*state.values()), dtype=float))
    return found


def _load(data: bytes, name: str) -> Numbers:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        mechanism = load(path)
    write_mechanism_text(mechanism, "toml")
    return numbers_of(mechanism)


def read_toml(data: bytes) -> Numbers:
    return _load(data, "m.toml")


def read_urdf(data: bytes) -> Numbers:
    return _load(data, "m.urdf")


def read_mjcf(data: bytes) -> Numbers:
    return _load(data, "m.xml")


def read_dh_toml(data: bytes) -> Numbers:
    return _load(data, "m.dh.toml")


def read_dh_csv(data: bytes) -> Numbers:
    return _load(data, "m.dh.csv")


def read_run(data: bytes) -> Numbers:
    from linkwright.simulation import load_run

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(data)
        run = load_run(path)
    return [run.t, run.q, run.qd, run.kinetic, run.potential, run.work]


def read_run_attribute(data: bytes) -> Numbers:
    """An attribute of a run file: its name, a line break, its text."""
    import xarray

    from linkwright.simulation import load_run

    key, _, text = data.decode("utf-8", "replace").replace("\0", "").partition("\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(_run_bytes()[0])
        with xarray.open_dataset(path, engine="scipy") as opened:
            dataset = opened.load()
        changed = dataset.assign_attrs({key if key.isidentifier() else "next": text})
        changed.to_netcdf(path, engine="scipy")
        run = load_run(path)
    return [run.t, run.q, run.qd, run.audit]


@cache
def _attributes() -> list[bytes]:
    import xarray

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(_run_bytes()[0])
        with xarray.open_dataset(path, engine="scipy") as data:
            attributes = dict(data.attrs)
    keys = ("mechanism", "digest", "settings", "statistics", "events", "singular", "versions")
    return [f"{key}\n{attributes[key]}".encode() for key in keys] + [b"next\nrun.nc"]


def make_controller(data: bytes) -> Numbers:
    from linkwright.control import made_by
    from linkwright.files import read_toml_numbers

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "law.toml"
        path.write_bytes(data)
        recipe = read_toml_numbers(path)
    law = made_by(recipe, _elbow())
    tau, rate = law(0.1, np.array([0.1, 0.2]), np.zeros(2), np.array(law.start))
    return [tau, rate]


def read_expression(data: bytes) -> Numbers:
    from linkwright.expressions import expression_to_float, parse_expression

    return [expression_to_float(parse_expression(data.decode("utf-8", "replace")), {})]


def read_latex(data: bytes) -> Numbers:
    from linkwright.checking.statement_reader import read_statements

    read_statements(data.decode("utf-8", "replace"), _elbow())
    return []


def read_equations(data: bytes) -> Numbers:
    import linkwright as lw

    lw.check(_elbow(), data.decode("utf-8", "replace"))
    return []


def command_line(data: bytes) -> Numbers:
    """A command in this process: a status, and for a mistake one line on stderr."""
    from linkwright.cli.main import run_command

    words = [w for w in data.decode("utf-8", "replace").replace("\0", "").split("\n") if w]
    out, complaint, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv, status = ["linkwright", *words], 0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
                run_command()
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            sys.argv = before
    said = complaint.getvalue()
    if status not in (0, 1, 2) or (status == 2 and len(said.splitlines()) != 1 and words):
        raise BadComplaintError(f"status {status}: {said[:300]}")
    return []


@cache
def _elbow() -> lw.Mechanism:
    return lw.gallery("elbow")


@cache
def _run_bytes() -> list[bytes]:
    found = []
    for name in ("elbow", "four-bar"):
        run = lw.simulate(lw.gallery(name), 0.05, samples=3)
        with tempfile.TemporaryDirectory() as folder:
            run.save(Path(folder) / "run.nc")
            found.append((Path(folder) / "run.nc").read_bytes())
    return found


def _urdf_texts() -> list[bytes]:
    names = ("elbow", "six-axis", "cart-pole")
    return [write_mechanism_text(lw.gallery(name), "urdf")[0].encode() for name in names]


MJCF = b"""<mujoco model="arm"><compiler angle="degree"/><option gravity="0 0 -9.8"/>
<worldbody><body name="base" pos="0 0 0.5" euler="10 20 30">
<joint name="yaw" type="hinge" axis="0 0 1" damping="0.3" armature="0.01" range="-90 90"/>
<geom type="box" size="0.1 0.2 0.3" mass="2" pos="0.1 0 0"/>
<body name="arm" pos="0 0 1"><joint name="lift" type="slide" axis="1 0 1" ref="0.2"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0.4"/><site name="tip" pos="0.3 0 0.4"/></body>
</body></worldbody></mujoco>
"""
DH = b"""# convention: modified
type,theta,d,a,alpha,mass,cx,cy,cz,Ixx,Iyy,Izz
revolute, 0, 0.316, 0, 30 deg, 1.0, 0.1, 0, 0, 0.01, 0.02, 0.02
prismatic, 0.3, 316 mm, 0.1, 1.5707963, 2.0, 0, 0.1, 0, 0.01, 0.02, 0.02
"""
CONTROLLERS = [
    b'controller = "pd_gravity"\nreference = [0.1, 0.2]\nkp = 10\nkd = [1, 2]\n',
    b'controller = "computed_torque"\nreference = { start = [0, 0], end = [1, 1], time = 2.0 }\nkp = 100\nperiod = 0.01\n',
    b'controller = "pid"\nreference = [0.1, 0.2]\nkp = 10\nki = 1\nkd = [1, 2]\n',
    b'controller = "adaptive"\nreference = [0.1, 0.2]\nslope = 10\ngain = 5\nrate = 0.01\n',
]
EXPRESSIONS = [
    b"0.2*sin(30) + sqrt(3)/2^0.5", b"25 g*cm^2", b"5 mm/rev", b"-atan2(1, 2)*pi/12 - max(1, 2)",
    b"1/3*(4.5e-3 - 2)^3", b"30 deg", b"log(2)*exp(-1.5) + tanh(0.2)*floor(2.5)",
]  # fmt: skip
LATEX = [
    rb"\left(m_1 l_{c1}^2 + I_1\right) \ddot{q}_1 - \frac{1}{2} m_2 g \sin(q_1 + q_2)",
    rb"\dot{\theta}_1^2 \cos \theta_{12} \cdot \sqrt{l_1^2 + l_2^2}",
    rb"\frac{d}{dt} \left( a \, \dot q \right)",
    rb"\mathrm{Ixx} \tan^{2} \alpha",
]
COMMANDS = [
    b"evaluate\nelbow\nmass_matrix\nq=0.1,0.2", b"evaluate\nelbow\nbias\nq=30 deg,1\nqd=1,2 rad/s",
    b"info\nelbow", b"evaluate\nfour-bar\nmass_matrix\nq=0.1,0.2,0.3", b"info\ncart-pole\n--json",
    b"simulate\nelbow\n-t\n0.01\nq1=0.1\n--drive\nq2=sin(t)", b"gallery", b"export\nelbow\n--to\nurdf",
]  # fmt: skip

TARGETS: dict[str, tuple[Callable[[], list[bytes]], Callable[[bytes], Numbers]]] = {
    "toml": (lambda: gallery_texts(".toml", 4000), read_toml),
    "urdf": (_urdf_texts, read_urdf),
    "mjcf": (lambda: [MJCF], read_mjcf),
    "dh.toml": (lambda: gallery_texts(".dh.toml"), read_dh_toml),
    "dh.csv": (lambda: [DH], read_dh_csv),
    "run": (_run_bytes, read_run),
    "run attribute": (_attributes, read_run_attribute),
    "controller": (lambda: CONTROLLERS, make_controller),
    "expression": (lambda: EXPRESSIONS, read_expression),
    "latex": (lambda: LATEX, read_latex),
    "equations": (lambda: gallery_texts(".equations.txt"), read_equations),
    "command": (lambda: COMMANDS, command_line),
}
MAY_BE_CERTAIN = ("toml", "dh.toml", "controller")
"""Kinds in which a number that becomes NaN or infinite makes the file invalid for certain."""
