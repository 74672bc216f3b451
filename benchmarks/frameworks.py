"""Inverse and forward dynamics in JAX on a processor, in one run: `lw.jax`, plain jax.numpy code of
the same tape, and MJX (`pip install mujoco-mjx`).

    python benchmarks/frameworks.py
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import linkwright as lw
from robots import Robot, robots

STATES = 4096


def plain_function(robot: Robot, name: str) -> Callable[..., Any]:
    """The exported NumPy module with jax.numpy in its place, whose arrays cannot be assigned to."""
    exported = lw.export(robot.model, to="numpy", quantities=[name])
    text = str(next(iter(exported.files.values())))
    text = text.replace("import numpy as np", "import jax.numpy as np").replace(
        ", dtype=float)", ")"
    )
    text = re.sub(r"np\.empty\(\((.*)\)\)", r"np.zeros((\1), q.dtype)", text)
    text = re.sub(r"(?m)^    (\w+)(\[\.\.\., \d+\]) = (.*)$", r"    \1 = \1.at\2.set(\3)", text)
    found: dict[str, Any] = {"__name__": "plain"}
    exec(compile(text, "plain", "exec"), found)
    return found[name]  # type: ignore[no-any-return]


def mjx_function(robot: Robot, name: str) -> Callable[..., Any] | None:
    """MJX's inverse or forward dynamics of the same robot; None if it is not installed."""
    try:
        from mujoco import mjx
    except ImportError:
        return None
    model = mjx.put_model(robot.mujoco)
    data = mjx.make_data(robot.mujoco)

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        return mjx.inverse(model, data.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    def forward(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(model, data.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc

    return jax.vmap(inverse if name == "inverse_dynamics" else forward)


def measure(function: Callable[..., Any], arrays: list[Any]) -> tuple[float, float]:
    """Seconds of the first call, with compilation, and states each second after it."""
    compiled = jax.jit(function)
    start = time.perf_counter()
    jax.block_until_ready(compiled(*arrays))
    first, times = time.perf_counter() - start, []
    for _ in range(9):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arrays))
        times.append(time.perf_counter() - start)
    return first, STATES / float(np.median(times))


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"jax {jax.__version__}, float32, {STATES} states, threads of the loop: 1")
    print("| robot | function | code | first call, s | 1e6 states/s |")
    print("|---|---|---|---|---|")
    for robot in robots()[:2]:
        arrays = [
            jnp.asarray(rng.uniform(-1, 1, (STATES, robot.model.nv)), jnp.float32) for _ in range(3)
        ]
        for name in ("inverse_dynamics", "forward_dynamics"):
            functions = {
                "lw.jax": getattr(lw.jax(robot.model), name),
                "jax.numpy of the tape": plain_function(robot, name),
                "MJX": mjx_function(robot, name),
            }
            for label, function in functions.items():
                if function is not None:
                    first, speed = measure(function, arrays)
                    print(
                        f"| {robot.name} | {name} | {label} | {first:.2f} | {speed / 1e6:.3g} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
