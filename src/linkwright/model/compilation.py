"""`compile`: models on a processor or on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from ..conveniences import find_convenience
from ..errors import ArgumentError
from ..mechanism import Mechanism
from .model import Model
from .model import compile as compile_model

if TYPE_CHECKING:
    from ..equations import Equations
    from ..gpu.cuda_model import CudaModel
    from ..readings.llvm.target import MachineTarget


@overload
def compile(  # noqa: A001
    source: Mechanism | Equations,
    *,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    target: MachineTarget | None = None,
    device: Literal["cpu"] = "cpu",
) -> Model: ...


@overload
def compile(  # noqa: A001
    source: Mechanism | Equations,
    *,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    target: MachineTarget | None = None,
    device: Literal["cuda"],
) -> CudaModel: ...


def compile(  # noqa: A001 - the name that people call
    source: Mechanism | Equations,
    *,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    target: MachineTarget | None = None,
    device: Literal["cpu", "cuda"] = "cpu",
) -> Model | CudaModel:
    """Return a model of a mechanism: its functions as machine code.

    Parameters
    ----------
    source : Mechanism or Equations
        A mechanism, or equations that `derive` gave.
    parameters : sequence of str
        Parameters that become a last input p of every function, in this order; all other numbers
        are constants of the code.
    threads : int, optional
        Threads for large batches (default: one for each core).
    target : MachineTarget, optional
        The processor to compile for (default: this one).
    device : str
        "cpu", or "cuda" for arrays on a GPU (extra `cuda`, see docs/how-to/gpu.md).

    Returns
    -------
    Model, or CudaModel for a GPU
        Functions over arrays; each is compiled at its first use.

    Examples
    --------
    >>> import linkwright as lw
    >>> model = lw.compile(lw.gallery("elbow"), parameters=["m2"])
    >>> model.gravity([0.0, 0.0], [2.0]).round(3)
    array([34.335,  9.81 ])
    """
    if device not in ("cpu", "cuda"):
        raise ArgumentError(f"device cannot be {device!r}", remedy="use 'cpu' or 'cuda'")
    model = compile_model(source, parameters=parameters, threads=threads, target=target)
    if device == "cpu":
        return model
    on_device: CudaModel = find_convenience("compile.cuda")(model)
    return on_device
