"""Exported C beside the C that CasADi and Pinocchio write: part of `make bench`.

    python benchmarks/exported_code.py [--seconds 1]

Inverse dynamics of UR5 for a state, `gcc -O3 -march=native`: time in ns (best of many, candidates
in turn) and instructions that Callgrind counts (compiled for x86-64-v3, which Valgrind knows).
"casadi" is `casadi.Function.generate` of the same equations, "pinocchio" its rnea on `casadi::SX`,
written by CasADi too: the wheel of `pin` lacks `pinocchio.casadi`, but has the headers for it.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
from timing import best

import linkwright as lw
from robots import Robot, robots

CALLS = 1000
_CASADI_LOOP = """\
#include "{name}.c"
void run(const double *q, const double *qd, const double *qdd, double *tau, int calls)
{{
    const double *given[] = {{q, qd, qdd}};
    double *found[] = {{tau}}, work[{work} + 1];
    long long int whole[{whole} + 1];
    for (int k = 0; k < calls; k++)
        {name}(given, found, whole, work, 0);
}}
"""
_OUR_LOOP = """\
#include "{name}.c"
void run(const double *q, const double *qd, const double *qdd, double *tau, int calls)
{{
    for (int k = 0; k < calls; k++)
        {name}_inverse_dynamics(q, qd, qdd, tau);
}}
"""
_BATCH_LOOP = """\
#include "{name}.c"
#include "{name}_batch.c"
#define STATES 50
void run(const double *q, const double *qd, const double *qdd, double *tau, int calls)
{{
    static double many[4][STATES * {size}];
    for (int k = 0; k < STATES * {size}; k++) {{
        many[0][k] = q[k % {size}];
        many[1][k] = qd[k % {size}];
        many[2][k] = qdd[k % {size}];
    }}
    for (int k = 0; k < calls; k += STATES)
        {name}_inverse_dynamics_batch(STATES, many[0], many[1], many[2], many[3]);
    memcpy(tau, many[3], sizeof(double) * {size});
}}
"""
_MAIN = """\
#include <stdlib.h>
void run(const double *q, const double *qd, const double *qdd, double *tau, int calls);
int main(int count, char **words)
{{
    static const double q[] = {{{q}}}, qd[] = {{{qd}}}, qdd[] = {{{qdd}}};
    double tau[{size}];
    run(q, qd, qdd, tau, count > 1 ? atoi(words[1]) : 0);
    return 0;
}}
"""


def write_ours(robot: Robot, folder: Path) -> str:
    """The exported C, in a loop."""
    made = lw.export(robot.mechanism, to="c", quantities=["inverse_dynamics"])
    made.save(folder)
    name = next(iter(made.files)).removesuffix(".h")
    return _OUR_LOOP.format(name=name)


def write_our_batch(robot: Robot, folder: Path) -> str:
    """The exported C for batches, in a loop over batches of 50 states."""
    name = write_ours(robot, folder).split('"')[1].removesuffix(".c")
    return _BATCH_LOOP.format(name=name, size=robot.model.nv)


def write_casadi(robot: Robot, folder: Path) -> str:
    """The C that CasADi writes of the same equations, in a loop."""
    eqs = lw.derive(robot.mechanism, parameters="numeric")
    function = eqs.function_at_values("inverse_dynamics")
    function.generate(f"{function.name()}.c")
    shutil.move(f"{function.name()}.c", folder)
    return casadi_loop(function.name(), function.sz_w(), function.sz_iw())


def casadi_loop(name: str, work: int, whole: int) -> str:
    return _CASADI_LOOP.format(name=name, work=work, whole=whole)


def write_pinocchio(robot: Robot, folder: Path) -> str:
    """The C that CasADi writes of Pinocchio's rnea on `casadi::SX`, in a loop."""
    home = Path(ca.__file__).parent
    prefix = next(p for p in Path(pin.__file__).parents if p.name == "cmeel.prefix")
    source = Path(__file__).parent / "pinocchio_casadi.cpp"
    folders = [prefix / "include", "/usr/include/eigen3", home / "include"]
    libraries = [home, prefix / "lib"]
    words = ["g++", "-std=c++17", "-O0", "-w", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"]
    words += ["-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=10"]
    words += [*(f"-I{one}" for one in folders), str(source)]
    words += [f"-L{one}" for one in libraries] + [f"-Wl,-rpath,{one}" for one in libraries]
    words += ["-lcasadi", "-lpinocchio_default", "-Wl,--allow-shlib-undefined", "-o", "writer"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    subprocess.run(
        [folder / "writer"], cwd=folder, input=model_text(robot.pin), text=True, check=True
    )
    return casadi_loop("pinocchio_rnea", 100_000, 1)


def model_text(model: pin.Model) -> str:
    """The joints and bodies of a model of revolute joints, for pinocchio_casadi.cpp."""
    lines = []
    for joint in range(1, model.njoints):
        axis = "XYZ".index(model.joints[joint].shortname()[-1])
        place, body = model.jointPlacements[joint], model.inertias[joint]
        numbers = [*place.rotation.ravel(), *place.translation, body.mass]
        numbers += [*body.lever, *body.inertia.ravel()]
        lines.append(
            " ".join([str(model.parents[joint]), str(axis), *map(repr, map(float, numbers))])
        )
    return "\n".join(lines) + "\n"


WRITERS: dict[str, Callable[[Robot, Path], str]] = {
    "linkwright": write_ours,
    "linkwright, batches": write_our_batch,
    "casadi": write_casadi,
    "pinocchio": write_pinocchio,
}


def compile_loop(folder: Path, text: str) -> Callable[..., None]:
    """The loop as a function of arrays and the number of calls."""
    (folder / "loop.c").write_text(text)
    words = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", "loop.c", "-lm", "-o", "loop.so"]
    subprocess.run(words, cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "loop.so")).run
    array = np.ctypeslib.ndpointer(np.float64, flags="C")
    function.argtypes = [array] * 4 + [ctypes.c_int]
    function.restype = None
    return function


def count_instructions(folder: Path, state: dict[str, np.ndarray]) -> int | None:
    """Instructions of one call by Callgrind, or None without Valgrind."""
    if shutil.which("valgrind") is None:
        return None
    texts = {key: ", ".join(map(repr, value.tolist())) for key, value in state.items()}
    (folder / "main.c").write_text(_MAIN.format(**texts, size=len(state["q"])))
    words = ["gcc", "-O3", "-march=x86-64-v3", "main.c", "loop.c", "-lm", "-o", "main"]
    subprocess.run(words, cwd=folder, check=True)
    counts = []
    for calls in (0, CALLS):
        tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "./main"]
        done = subprocess.run([*tool, str(calls)], cwd=folder, capture_output=True, text=True)
        line = next(one for one in done.stderr.splitlines() if "Collected" in one)
        counts.append(int(line.split()[-1]))
    return (counts[1] - counts[0]) // CALLS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    seconds = parser.parse_args().seconds
    robot = next(one for one in robots() if "ur5" in one.name.lower())
    rng = np.random.default_rng(1)
    size = robot.model.nv
    assert robot.order == list(range(size)), "all have the same order of joints"
    state = {key: rng.uniform(-1, 1, size) for key in ("q", "qd", "qdd")}
    loops, rows, wanted = {}, {}, None
    with tempfile.TemporaryDirectory() as base:
        for name, write in WRITERS.items():
            folder = Path(base) / name
            folder.mkdir()
            try:
                text = write(robot, folder)
            except subprocess.CalledProcessError as error:
                print(f"{name}: left out, {error}", file=sys.stderr)
                continue
            run, tau = compile_loop(folder, text), np.empty(size)
            run(*state.values(), tau, 1)
            wanted = tau.copy() if wanted is None else wanted
            np.testing.assert_allclose(tau, wanted, rtol=1e-9, atol=1e-9)
            loops[name] = lambda run=run, tau=tau: run(*state.values(), tau, CALLS)
            rows[name] = count_instructions(folder, state)
        times = best(*loops.values(), seconds=seconds)
    print("UR5 inverse dynamics in C, a state: ns, instructions")
    for name, time in zip(loops, times, strict=True):
        print(f"  {name:20} {1e9 * time / CALLS:7.0f} {rows[name]}")


if __name__ == "__main__":
    main()
