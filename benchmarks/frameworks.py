"""Inverse and forward dynamics in JAX, in one run: `lw.jax`, plain jax.numpy code of the same tape,
and the peers that are installed: MJX (`pip install mujoco-mjx`) and frax (`pip install frax`).

    python benchmarks/frameworks.py                  # UR5 and Panda of example-robot-data
    python benchmarks/frameworks.py robot.urdf …     # files; frax takes part where they are URDF

JAX runs on its default device, which is a GPU where it has one. The values of all are compared.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import linkwright as lw

LARGEST_DIFFERENCE = 1e-3
"""Of values in float32, as a share of the largest."""


@dataclass(frozen=True)
class Subject:
    """A robot, and what peers need of it."""

    name: str
    model: lw.Model
    mujoco: Any = None
    urdf: str = ""


def subjects(files: list[str]) -> list[Subject]:
    """The robots of the given files, or UR5 and Panda. Peers know neither friction nor springs."""
    if not files:
        from robots import robots

        return [Subject(one.name, one.model, one.mujoco) for one in robots()[:2]]
    loaded = [(file, lw.load(file).without("friction", "damping", "springs")) for file in files]
    return [
        Subject(one.name, lw.compile(one), urdf=file if file.endswith(".urdf") else "")
        for file, one in loaded
    ]


def plain_function(subject: Subject, name: str) -> Callable[..., Any]:
    """The exported NumPy module with jax.numpy in its place, whose arrays cannot be assigned to."""
    exported = lw.export(subject.model, to="numpy", quantities=[name])
    text = str(next(iter(exported.files.values())))
    text = text.replace("import numpy as np", "import jax.numpy as np").replace(
        ", dtype=float)", ")"
    )
    text = re.sub(r"np\.empty\(\((.*)\)\)", r"np.zeros((\1), q.dtype)", text)
    text = re.sub(r"(?m)^    (\w+)(\[\.\.\., \d+\]) = (.*)$", r"    \1 = \1.at\2.set(\3)", text)
    found: dict[str, Any] = {"__name__": "plain"}
    exec(compile(text, "plain", "exec"), found)
    return found[name]  # type: ignore[no-any-return]


def mjx_function(subject: Subject, name: str) -> Callable[..., Any] | None:
    """MJX's inverse or forward dynamics of the same robot; None if it is not installed."""
    try:
        from mujoco import mjx
    except ImportError:
        return None
    if subject.mujoco is None:
        return None
    model = mjx.put_model(subject.mujoco)
    data = mjx.make_data(subject.mujoco)

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        return mjx.inverse(model, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    def forward(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(model, data.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc

    return jax.vmap(inverse if name == "inverse_dynamics" else forward)


def frax_function(subject: Subject, name: str) -> Callable[..., Any] | None:
    """Dynamics of the same URDF by frax, inverse dynamics as M q̈ + bias; None if not installed."""
    try:
        from frax.core.robot import Robot
    except ImportError:
        return None
    if not subject.urdf:
        return None
    robot = Robot(subject.urdf, joint_ordering=list(subject.model.q_names))

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        return robot.mass_matrix(q) @ qdd + robot.nonlinear_bias(q, qd)

    def forward(q: Any, qd: Any, tau: Any) -> Any:
        return robot.forward_dynamics(q, qd, tau, None)

    return jax.vmap(inverse if name == "inverse_dynamics" else forward)


def measure(function: Callable[..., Any], arrays: list[Any]) -> tuple[float, float, Any]:
    """Seconds of the first call, with compilation; states each second after it; and the values."""
    compiled = jax.jit(function)
    start = time.perf_counter()
    found = jax.block_until_ready(compiled(*arrays))
    first, times = time.perf_counter() - start, []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(8):
            last = compiled(*arrays)
        jax.block_until_ready(last)
        times.append((time.perf_counter() - start) / 8)
    return first, len(arrays[0]) / float(np.median(times)), np.asarray(found, float)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="mechanism files (default: UR5 and Panda)")
    files = parser.parse_args().files
    rng = np.random.default_rng(0)
    is_gpu = jax.devices()[0].platform == "gpu"
    states = 1 << 20 if is_gpu else 4096
    where = jax.devices()[0].device_kind if is_gpu else "processor, threads of the loop: 1"
    print(f"jax {jax.__version__}, float32, {states} states, {where}")
    print("| robot | function | code | first call, s | 1e6 states/s |")
    print("|---|---|---|---|---|")
    for subject in subjects(files):
        shape = (states, subject.model.nv)
        arrays = [jnp.asarray(rng.uniform(-1, 1, shape), jnp.float32) for _ in range(3)]
        for name in ("inverse_dynamics", "forward_dynamics"):
            functions = {
                "lw.jax": getattr(lw.jax(subject.model), name),
                "jax.numpy of the tape": plain_function(subject, name),
                "MJX": mjx_function(subject, name),
                "frax": frax_function(subject, name),
            }
            ours = None
            for label, function in functions.items():
                if function is None:
                    continue
                first, speed, found = measure(function, arrays)
                ours = found if ours is None else ours
                difference = np.abs(found - ours).max() / np.abs(ours).max()
                note = "" if difference < LARGEST_DIFFERENCE else f" (differs by {difference:.0e})"
                row = f"{name} | {label}{note} | {first:.2f} | {speed / 1e6:.4g}"
                print(f"| {subject.name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
