"""Rollouts in one kernel, on a processor that stands in for the GPU, against `lw.rollout`."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.gpu.adaptive_rollouts import AdaptiveProgram
from linkwright.gpu.cubin_compiler import compile_by_nvrtc, find_nvrtc
from linkwright.readings.cuda.cuda_options import CudaOptions
from linkwright.readings.cuda.state_function import CudaFunction
from linkwright.readings.cuda.step_kernels import write_step_source
from linkwright.simulation.exported_motion import ExportedMotion
from linkwright.simulation.fixed_steps.rollouts import cached_step

from .processor_device import install

BOUNDED = lw.Mechanism(
    name="slide",
    gravity=[0, 0, 0],
    bodies={"block": {"mass": 1}},
    joints={"s": {"type": "prismatic", "child": "block", "limits": {"effort": 1.5}}},
)
"""A block of 1 kg whose motor is bounded to 1.5 N."""


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


def compare(
    mechanism: lw.Mechanism, inputs: object = None, parameters: dict[str, object] | None = None,
    **options: object,
) -> None:  # fmt: skip
    """The same trajectories on the device and by `lw.rollout`, ends and histories, both layouts."""
    names = list(parameters or {})
    gpu = lw.compile(mechanism, device="cuda", parameters=names)
    model, rng = gpu.model, np.random.default_rng(1)
    q0 = np.tile(np.asarray(model.home()), (5, 1))
    qd0 = np.zeros((5, model.nv))
    if not model.names.constraints and model.nq == model.nv:
        q0, qd0 = rng.uniform(-0.5, 0.5, (2, 5, model.nv))
    p = None if not names else np.stack([np.broadcast_to(v, 5) for v in parameters.values()], 1)  # type: ignore[union-attr]
    for history in (False, True):
        common = {"dt": 1e-3, "steps": 20, "history": history, **options}
        wanted = lw.rollout(model, q0, qd0, inputs, parameters=p, **common)  # type: ignore[arg-type]
        found = gpu.rollout(q0, qd0, inputs, parameters=p, **common)  # type: ignore[arg-type]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)
        turn = (lambda x: x) if x_is_law(inputs) else (lambda x: np.moveaxis(x, 0, -1))
        columns = gpu.rollout(
            q0.T, qd0.T, inputs if inputs is None else turn(inputs), layout="columns",
            parameters=None if p is None else p.T, **common,
        )  # fmt: skip
        for a, b in zip(columns, wanted, strict=True):
            np.testing.assert_allclose(np.moveaxis(a, -1, 0), b, rtol=1e-9, atol=1e-11)


def x_is_law(inputs: object) -> bool:
    return not isinstance(inputs, np.ndarray)


def test_free_motion() -> None:
    compare(lw.gallery("elbow"))


def test_forces_of_each_trajectory_and_of_each_step() -> None:
    forces = np.random.default_rng(5).uniform(-3, 3, (5, 20, 2))
    compare(lw.gallery("elbow"), forces[:, 0])
    compare(lw.gallery("elbow"), forces)


def test_expressions_and_a_controller() -> None:
    compare(lw.gallery("elbow"), {"q1": "2*sin(3*t)"})
    arm = lw.gallery("elbow")
    compare(arm, lw.control.pid(arm, [0.3, 0.2], 30, 5, 3))
    compare(arm, lw.control.pid(arm, [0.3, 0.2], 30, 5, 3, period=0.004))


def test_parameters_of_each_trajectory() -> None:
    compare(lw.gallery("elbow"), parameters={"m2": np.linspace(0.5, 2, 5)})


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk"])
def test_loops_and_rolling(name: str) -> None:
    compare(lw.gallery(name))


def test_single_precision() -> None:
    gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    start = np.zeros((3, 2), np.float32)
    q, qd = gpu.rollout(start, start, steps=100)
    wanted = lw.rollout(gpu.model, np.zeros((3, 2)), np.zeros(2), steps=100)
    assert q.dtype == qd.dtype == np.float32
    assert np.abs(q - wanted[0]).max() < 1e-5


@pytest.mark.parametrize("name", ["elbow", "four-bar"])
def test_adaptive_steps(name: str) -> None:
    """The integrator's program in CUDA, against the same program in machine code."""
    compare(lw.gallery(name), method="dop853", rtol=1e-12, atol=1e-12)


def test_adaptive_steps_with_forces_and_parameters() -> None:
    forces = np.random.default_rng(5).uniform(-3, 3, (5, 2))
    compare(
        lw.gallery("elbow"),
        forces,
        {"m2": np.linspace(0.5, 2, 5)},
        method="rk45",
        rtol=1e-12,
        atol=1e-12,
    )


def test_adaptive_steps_take_no_controller() -> None:
    gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    with pytest.raises(UnsupportedError, match="takes constant forces only"):
        gpu.rollout(np.zeros((2, 2)), np.zeros((2, 2)), {"q1": "t"}, method="dop853")


@pytest.mark.slow
@pytest.mark.skipif(find_nvrtc() is None, reason="needs nvidia-cuda-nvrtc")
def test_nvrtc_compiles_the_program_of_an_integrator() -> None:
    motion = ExportedMotion(lw.gallery("four-bar").without("limits"), ())
    assert compile_by_nvrtc(AdaptiveProgram(motion, "dop853").source, "sm_90")[:4] == b"\x7fELF"


@pytest.mark.parametrize("method", ["rk4", "rk45"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_limits_of_efforts_hold(method: str, layout: str) -> None:
    """Forces of 5 N, 1 N and −9 N act for 1 s; the motor gives 1.5 N, 1 N and −1.5 N."""
    gpu = lw.compile(BOUNDED, device="cuda")
    forces, start = np.array([[5.0], [1.0], [-9.0]]), np.zeros((3, 1))
    given = (x if layout == "rows" else x.T for x in (start, start, forces))
    found = gpu.rollout(*given, dt=0.1, steps=10, method=method, layout=layout)
    np.testing.assert_allclose(found[0].ravel(), [0.75, 0.5, -0.75], rtol=1e-8)
    np.testing.assert_allclose(found[1].ravel(), [1.5, 1, -1.5], rtol=1e-8)


@pytest.mark.parametrize("layout", ["rows", "columns"])
@pytest.mark.parametrize("steps", [2, 3])
def test_limits_hold_for_forces_of_each_step_of_a_single_state(layout: str, steps: int) -> None:
    """Motors of 1 N and 4 N push 1 kg each with 3 N, and 3 N again: v = F·t, each for itself."""
    blocks = [(f"s{k}", f"block{k}", {"effort": most}) for k, most in ((1, 1.0), (2, 4.0))]
    pair = lw.Mechanism(
        name="pair",
        gravity=[0, 0, 0],
        bodies={block: {"mass": 1} for _, block, _ in blocks},
        joints={
            joint: {"type": "prismatic", "child": block, "limits": limits}
            for joint, block, limits in blocks
        },
    )
    gpu, still = lw.compile(pair, device="cuda"), np.zeros(2)
    _, qd = gpu.rollout(still, still, np.full((steps, 2), 3.0), dt=1, steps=steps, layout=layout)
    np.testing.assert_allclose(qd, [steps, 3 * steps])


@pytest.mark.parametrize("method", ["rk4", "rk45"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_a_single_state_is_one_trajectory(method: str, layout: str) -> None:
    gpu, q, qd = lw.compile(lw.gallery("elbow"), device="cuda"), np.array([0.3, 0.2]), np.ones(2)
    for history in (False, True):
        common = {"dt": 0.01, "steps": 5, "method": method, "history": history}
        wanted = lw.rollout(gpu.model, q, qd, np.ones(2), **common)  # type: ignore[arg-type]
        found = gpu.rollout(q, qd, np.ones(2), layout=layout, **common)  # type: ignore[arg-type]
        for a, b in zip(found, wanted, strict=True):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
    (ends, _), forces = gpu.rollout(q, np.ones((3, 2)), steps=4), np.ones((4, 2))
    assert ends.shape == (3, 2)
    np.testing.assert_allclose(
        gpu.rollout(q, qd, forces, steps=4)[0], lw.rollout(gpu.model, q, qd, forces, steps=4)[0]
    )


def test_no_steps_return_the_start() -> None:
    gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    q0 = np.array([[0.1, 0.2], [0.3, 0.4]])
    q, _ = gpu.rollout(q0, np.zeros((2, 2)), steps=0)
    np.testing.assert_array_equal(q, q0)
    assert gpu.rollout(q0, np.zeros((2, 2)), steps=0, history=True)[0].shape == (2, 1, 2)


def test_what_cannot_run_is_refused() -> None:
    gpu = lw.compile(lw.gallery("elbow"), device="cuda")
    start = np.zeros((2, 2))
    with pytest.raises(UnsupportedError, match="do not accept Python functions"):
        gpu.rollout(start, start, lambda t, q, qd: q)
    with pytest.raises(ValueError, match="inputs has shape"):
        gpu.rollout(start, start, np.zeros((3, 2)))
    with pytest.raises(LinkwrightError, match="layout cannot be 'x'"):
        gpu.rollout(start, start, layout="x")


@pytest.mark.skipif(find_nvrtc() is None, reason="needs nvidia-cuda-nvrtc")
@pytest.mark.parametrize("name", ["elbow", "four-bar"])
def test_nvrtc_compiles_step_kernels(name: str) -> None:
    step = cached_step(lw.compile(lw.gallery(name)), "rk4", None)
    for precision in ("float", "double"):
        source = write_step_source(
            CudaFunction("f", step.tape), step.ports[2], CudaOptions(precision)
        )
        assert compile_by_nvrtc(source, "sm_90")[:4] == b"\x7fELF"
