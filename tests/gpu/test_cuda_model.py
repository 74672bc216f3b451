"""`compile(…, device="cuda")`, on a processor that stands in for the GPU, against the model."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import ArgumentError, LinkwrightError, MissingExtraError
from linkwright.gpu import CudaModel, prepare_kernels, runtime

from .processor_device import install


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


def on_device(name: str, **options: object) -> CudaModel:
    return lw.compile(lw.gallery(name), device="cuda", **options)  # type: ignore[call-overload]


def states(model: lw.Model, *batch: int) -> list[np.ndarray]:
    return list(np.random.default_rng(0).uniform(-1, 1, (3, *batch, model.nv)))


def test_functions_are_those_of_the_model() -> None:
    gpu = on_device("puma560")
    model = gpu.model
    q, qd, qdd = states(model, 5, 7)
    np.testing.assert_allclose(
        gpu.inverse_dynamics(q, qd, qdd), model.inverse_dynamics(q, qd, qdd), rtol=1e-12, atol=1e-12
    )
    tool = model.body_names[-1]
    np.testing.assert_allclose(gpu.placement(tool)(q), model.placement(tool)(q), atol=1e-14)
    np.testing.assert_allclose(gpu.mass_matrix(q=q[0, 0]), model.mass_matrix(q[0, 0]), atol=1e-13)
    found = gpu.forward_dynamics(q, qd[0, 0], tau=qdd)
    np.testing.assert_allclose(found, model.forward_dynamics(q, qd[0, 0], qdd), rtol=1e-11)


def test_columns_hold_a_state_in_each_column() -> None:
    gpu = on_device("puma560")
    q, qd, qdd = states(gpu.model, 200)
    tau = gpu.inverse_dynamics(q.T, qd.T, qdd.T, layout="columns")
    np.testing.assert_allclose(
        tau.T, gpu.model.inverse_dynamics(q, qd, qdd), rtol=1e-11, atol=1e-12
    )
    M = gpu.mass_matrix(q.T, layout="columns")
    assert M.shape == (6, 6, 200)
    np.testing.assert_allclose(np.moveaxis(M, -1, 0), gpu.model.mass_matrix(q), atol=1e-13)


def test_single_precision_is_used_where_all_inputs_have_it() -> None:
    gpu = on_device("elbow")
    q, qd, qdd = (x.astype(np.float32) for x in states(gpu.model, 9))
    single = gpu.inverse_dynamics(q, qd, qdd)
    assert single.dtype == np.float32
    assert gpu.inverse_dynamics(q, qd.astype(float), qdd).dtype == np.float64
    exact = gpu.model.inverse_dynamics(q.astype(float), qd.astype(float), qdd.astype(float))
    assert np.abs(single - exact).max() < 1e-5 * np.abs(exact).max()


def test_empty_batches_and_one_state() -> None:
    gpu = on_device("elbow")
    assert gpu.gravity(np.zeros((0, 2))).shape == (0, 2)
    np.testing.assert_allclose(gpu.gravity([0.0, 0.0]), [19.62, 4.905], rtol=1e-12)


def test_parameters_are_a_last_input() -> None:
    gpu = on_device("elbow", parameters=["m2"])
    p = np.array([[1.0], [2.0]])
    np.testing.assert_allclose(gpu.gravity(np.zeros((2, 2)), p), gpu.model.gravity(np.zeros(2), p))


def test_states_with_small_pivots_are_solved_as_by_the_model() -> None:
    """A four-bar at a dead centre: elimination in the compiled order has a zero pivot there."""
    gpu = on_device("four-bar")
    model = gpu.model
    home = np.asarray(model.home())
    rng = np.random.default_rng(2)
    starts = np.concatenate([home[None], home + rng.uniform(-2.5, 2.5, (60, model.nq)) * [1, 0, 0]])
    closed = model.close(starts)
    closed = closed[model.closed(closed)]
    zero = np.zeros((len(closed), model.nv))
    pivots = model.ufunc("forward_dynamics")(closed, zero, zero)[1]
    assert len(closed) > 10
    for layout in ("rows", "columns"):
        given = [x if layout == "rows" else np.ascontiguousarray(x.T) for x in (closed, zero, zero)]
        found = gpu.forward_dynamics(*given, layout=layout)
        found = found if layout == "rows" else found.T
        wanted = model.forward_dynamics(closed, zero, zero)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7 / pivots.min() ** 2)


def test_weak_states_are_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    """All states count as weak: the processor solves them."""
    gpu = on_device("four-bar")
    q, zero = np.asarray(gpu.model.home()), np.zeros(gpu.nv)
    monkeypatch.setattr("linkwright.gpu.cuda_model.MIN_PIVOT_SHARE", np.inf)
    called = []
    solve = gpu.model.forward_dynamics
    monkeypatch.setitem(
        gpu.model.__dict__, "forward_dynamics", lambda *x: called.append(len(x[0])) or solve(*x)
    )
    found = gpu.forward_dynamics(np.stack([q, q]), zero, zero)
    assert called == [2]
    np.testing.assert_allclose(found[1], solve(q, zero, zero), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda gpu: gpu.gravity(np.zeros(3)), "give (…, 2)"),
        (lambda gpu: gpu.gravity(np.zeros(2), layout="diagonal"), "layout cannot be 'diagonal'"),
        (lambda gpu: gpu.gravity(np.zeros((3, 7)), layout="columns"), "give (2, B)"),
        (lambda gpu: gpu.gravity(), "gravity takes q"),
        (lambda gpu: gpu.gravity(np.zeros(2, complex)), "complex numbers are given"),
        (
            lambda gpu: gpu.forward_dynamics(np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2)),
            "leading axes of forward_dynamics do not agree: (3,) of q, (4,) of qd; give equal",
        ),
        (lambda gpu: gpu.gravity(np.zeros(2), z=1), "gravity takes q"),
        (lambda gpu: gpu.gravty, "did you mean 'gravity'"),
    ],
)
def test_mistakes_are_explained(call: object, text: str) -> None:
    gpu = on_device("elbow")
    with pytest.raises((ValueError, TypeError, AttributeError)) as caught:
        call(gpu)  # type: ignore[operator]
    assert text in str(caught.value)


class TensorWithGradient:
    """What PyTorch's tensors show of themselves."""

    requires_grad = True

    def __dlpack__(self) -> object:
        raise BufferError


def test_a_tensor_that_requires_gradients_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r"call the functions of lw\.torch\(model\)"):
        on_device("elbow").gravity(TensorWithGradient())


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(LinkwrightError, match="device cannot be 'tpu'"):
        lw.compile(lw.gallery("elbow"), device="tpu")  # type: ignore[call-overload]


def test_the_error_without_cupy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"linkwright\[cuda\]"):
        lw.compile(lw.gallery("elbow"), device="cuda")


def test_the_error_without_a_gpu_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """CuPy is installed, but the machine has no GPU; CuPy's error is a RuntimeError."""

    def find_device() -> None:
        raise RuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient")

    monkeypatch.setattr(sys.modules["cupy"].cuda, "Device", find_device)
    with pytest.raises(LinkwrightError, match="no GPU can be used: cudaErrorInsufficientDriver"):
        lw.compile(lw.gallery("elbow"), device="cuda")


def test_prepared_kernels_agree_with_their_reference_values(tmp_path: Path) -> None:
    model = lw.compile(lw.gallery("puma560"))
    folder = prepare_kernels(
        model, tmp_path / "kernels", ["inverse_dynamics", "mass_matrix"], states=3
    )
    kernels = runtime.load_prepared_kernels(folder)
    errors = kernels.check()
    assert len(errors) == 8
    for name, error in errors.items():
        assert error < (1e-5 if "float32" in name else 1e-12), name
    q, qd, qdd = states(model, 4)
    np.testing.assert_allclose(
        kernels.inverse_dynamics(q, qd, qdd), model.inverse_dynamics(q, qd, qdd), atol=1e-11
    )
    with pytest.raises(AttributeError, match="no function 'bias' was prepared"):
        kernels.bias  # noqa: B018
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert manifest["mechanism"] == "puma560"
    assert {path.suffix for path in folder.iterdir()} == {".cu", ".cubin", ".npz", ".json", ""}


def test_a_wrong_kernel_fails_its_check(tmp_path: Path) -> None:
    """The check sees an error of the size that it must see."""
    folder = prepare_kernels(lw.compile(lw.gallery("elbow")), tmp_path, ["gravity"], states=3)
    references = dict(np.load(folder / "reference.npz"))
    references["gravity g"] = references["gravity g"] * (1 + 1e-4)
    np.savez(folder / "reference.npz", **references)
    errors = runtime.load_prepared_kernels(folder).check()
    assert all(9e-5 < error < 1.1e-4 for error in errors.values())


RUNTIME = Path(runtime.__file__).parent


def test_the_runtime_imports_only_numpy_and_cupy() -> None:
    """So that it runs on machines that have neither Linkwright nor CasADi."""
    names = set()
    for path in RUNTIME.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                names |= set() if node.level else {str(node.module).split(".")[0]}
    assert names - set(sys.stdlib_module_names) == {"numpy", "cupy"}


def test_the_runtime_loads_alone(tmp_path: Path) -> None:
    shutil.copytree(RUNTIME, tmp_path / "linkwright_cuda")
    code = "import sys, linkwright_cuda; print([m for m in ('linkwright', 'casadi') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kept", [[], ["m2"]])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_prepared_rollouts_are_those_of_lw_rollout(
    tmp_path: Path, kept: list[str], layout: str
) -> None:
    model = lw.compile(lw.gallery("elbow"), parameters=kept)
    prepare_kernels(model, tmp_path, ["gravity"], states=2, rollouts=["rk4"])
    kernels = runtime.load_prepared_kernels(tmp_path)
    rng = np.random.default_rng(0)
    q, qd = rng.uniform(-1, 1, (2, 5, 2))
    p = rng.uniform(1, 2, (5, 1)) if kept else None

    def turn(x: np.ndarray) -> np.ndarray:
        return x if layout == "rows" else np.ascontiguousarray(np.moveaxis(x, 0, -1))

    for tau in (rng.uniform(-1, 1, (5, 2)), rng.uniform(-1, 1, (5, 30, 2))):
        for history in (False, True):
            common: dict[str, object] = {"dt": 1e-2, "steps": 30, "history": history}
            wanted = lw.rollout(model, q, qd, tau, parameters=p, **common)  # type: ignore[arg-type]
            found = kernels.rollout(
                turn(q), turn(qd), turn(tau), layout=layout,
                parameters=None if p is None else turn(p), **common,
            )  # type: ignore[arg-type]  # fmt: skip
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, turn(np.asarray(b)), rtol=1e-9, atol=1e-11)
    with pytest.raises(
        ValueError, match=r"no rollout by 'euler' was prepared; there are \['rk4'\]"
    ):
        kernels.rollout(turn(q), turn(qd), method="euler")


def test_prepared_rollouts_hold_limits_and_take_one_state(tmp_path: Path) -> None:
    """A motor of 1.5 N moves 1 kg for 1 s, whatever force is given."""
    slide = lw.Mechanism(
        name="slide",
        gravity=[0, 0, 0],
        bodies={"block": {"mass": 1}},
        joints={"s": {"type": "prismatic", "child": "block", "limits": {"effort": 1.5}}},
    )
    prepare_kernels(lw.compile(slide), tmp_path, ["mass_matrix"], states=2, rollouts=["rk4"])
    kernels, still = runtime.load_prepared_kernels(tmp_path), np.zeros(1)
    q, qd = kernels.rollout(still, still, np.array([-9.0]), dt=0.1, steps=10)
    np.testing.assert_allclose([q, qd], [[-0.75], [-1.5]])


def test_prepared_kernels_take_names_and_explain_mistakes(tmp_path: Path) -> None:
    model = lw.compile(lw.gallery("elbow"))
    prepare_kernels(model, tmp_path, ["inverse_dynamics"], states=2, rollouts=["rk4"])
    kernels, q = runtime.load_prepared_kernels(tmp_path), np.array([[0.1, 0.2]])
    np.testing.assert_allclose(
        kernels.inverse_dynamics(q, qdd=3 * q, qd=2 * q), model.inverse_dynamics(q, 2 * q, 3 * q)
    )
    with pytest.raises(TypeError, match="takes q, qd, qdd; 1 are given by position and v by name"):
        kernels.inverse_dynamics(q, v=q)
    with pytest.raises(ValueError, match="steps cannot be -1; give a whole number from 0"):
        kernels.rollout(q, q, steps=-1)
    with pytest.raises(FileNotFoundError, match="a folder that prepare_kernels has written"):
        runtime.load_prepared_kernels(tmp_path / "none")
    with pytest.raises(
        LinkwrightError, match="name a frame or body, in lists of quantities as plac"
    ):
        prepare_kernels(model, tmp_path, ["placement"])
    with pytest.raises(ArgumentError, match=r"give a list: \['gravity'\]"):
        prepare_kernels(model, tmp_path, "gravity")
    with pytest.raises(ArgumentError, match="a Mechanism is not a model; compile it first"):
        prepare_kernels(model.mechanism, tmp_path, ["gravity"])  # type: ignore[arg-type]


def test_errors_of_forward_dynamics_are_shares_of_the_condition_number(tmp_path: Path) -> None:
    model = lw.compile(lw.gallery("elbow"))
    prepare_kernels(model, tmp_path, ["forward_dynamics", "gravity"], states=3)
    known = np.load(tmp_path / "reference.npz")
    wanted = [np.linalg.cond(model.mass_matrix(q)) for q in known["forward_dynamics q"]]
    np.testing.assert_allclose(known["forward_dynamics condition"], wanted)
    np.testing.assert_array_equal(known["gravity condition"], np.ones(3))


def test_the_check_sees_an_error_in_any_state_of_the_batch(tmp_path: Path) -> None:
    """One wrong number in the last state, which fills the tail of a block."""
    prepare_kernels(lw.compile(lw.gallery("elbow")), tmp_path, ["gravity"], states=3)
    kernels = runtime.load_prepared_kernels(tmp_path)
    function = kernels.function("gravity")
    launch = function.launch

    def spoil(layout: str, precision: str, count: int, arrays: list[np.ndarray]) -> None:
        launch(layout, precision, count, arrays)
        arrays[-1][(-1, 0) if layout == "rows" else (0, -1)] += 1.0

    function.launch = spoil  # type: ignore[method-assign,assignment]
    assert all(error > 1e-3 for error in kernels.check().values())
