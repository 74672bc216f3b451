"""The compiled functions that people call: every quantity a NumPy generalized ufunc."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache as once
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import UnsupportedError, suggest_remedy
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..quantities import (
    FRAME_SIGNATURES,
    GUARDED_QUANTITIES,
    QUANTITY_NAMES,
    quantity_entry_names,
    quantity_inputs,
    quantity_ports,
    quantity_signatures,
)
from ..readings.llvm import compile_cached_tape, compile_tape
from ..tape import Tape, count_tape_operations
from .calls import (
    CallFacts,
    check_model_parameters,
    check_model_thread_count,
    explain_compiled_call,
    frame_function_call_error,
)
from .closing_methods import ClosingMethods
from .facts import load_model_facts
from .function_help import full_function_help, model_function_table, short_function_help
from .function_tapes import record_model_function_tape
from .functions import (
    ConstraintFunctions,
    DynamicsFunctions,
    FrameFunctions,
    MomentumFunctions,
    StateFunctions,
    TermFunctions,
)
from .guard import GuardedFunction, NumericFallback, check_input_states
from .model_properties import ModelProperties
from .named_inputs import read_named_inputs

if TYPE_CHECKING:
    from ..equations import Equations
    from ..readings.llvm.target import MachineTarget
    from .certify import Intervals


def compile(  # noqa: A001 - the name that people call
    source: Mechanism | Equations,
    *,
    parameters: Sequence[str] = (),
    threads: int | None = None,
    target: MachineTarget | None = None,
) -> Model:
    """Return a model of a mechanism: its functions as machine code of a processor.

    `linkwright.compile` also compiles for GPUs.

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

    Returns
    -------
    Model
        Functions over arrays; each is compiled at its first use.

    Examples
    --------
    >>> import linkwright as lw
    >>> model = lw.compile(lw.gallery("elbow"), parameters=["m2"])
    >>> model.gravity([0.0, 0.0], [2.0]).round(3)
    array([34.335,  9.81 ])
    """
    kept = check_model_parameters(parameters)
    check_model_thread_count(threads)
    if not isinstance(source, Mechanism):
        if not hasattr(source, "expressions"):
            require_mechanism(source)
        return Model(source.mechanism, kept, threads, target, lambda: source)

    def derived() -> Equations:
        from ..formulations import derive

        return derive(source, by="recursive", parameters=list(kept) or "numeric")

    return Model(source, kept, threads, target, derived, ("recursive", source.digest, kept))


class Model(
    DynamicsFunctions,
    TermFunctions,
    StateFunctions,
    MomentumFunctions,
    ConstraintFunctions,
    FrameFunctions,
    ClosingMethods,
    ModelProperties,
    NotebookDisplayed,
):
    """Compiled functions of a mechanism over leading axes, such as `(nq),(nv),(nv)->(nv)`.

    Each function is compiled at its first use. Inputs are arrays in the order of `q_names` and
    `qd_names`, or tables by name whose text may have units; they are given by position or by name.
    `ufunc(name)` is the NumPy gufunc behind a function. The functions come from the table
    `linkwright.quantities`.

    `identity` is the key of the model in the cache; models of equations that the user derived have
    none.

    Examples
    --------
    >>> import linkwright as lw
    >>> model = lw.compile(lw.gallery("elbow"))
    >>> model.gravity([0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    >>> model.gravity({"q1": "90 deg"}).round(3)
    array([0., 0.])
    """

    def __init__(
        self,
        mechanism: Mechanism,
        parameters: tuple[str, ...],
        threads: int | None,
        target: MachineTarget | None,
        derived: Callable[[], Equations],
        identity: tuple[object, ...] | None = None,
    ) -> None:
        self.mechanism = mechanism
        self.parameters = parameters
        self.threads = threads
        self.names = mechanism_names(mechanism)
        self._target = target
        self._derive_once = once(derived)
        self._identity = identity
        self._frame_functions: dict[tuple[str, str], Callable[..., Any]] = {}
        if self.names.nv == 0:
            raise UnsupportedError(
                f"{mechanism.name} cannot move: it has no degrees of freedom",
                remedy="add a joint, or unlock one",
            )
        self._facts = load_model_facts(identity, self._derive_once, parameters)
        self.names = replace(self.names, independent=tuple(self._facts.independent))

    @property
    def equations(self) -> Equations:
        """The equations that are compiled; derived when first needed."""
        return self._derive_once()

    # -- functions -----------------------------------------------------------------------

    def compiled_function(self, name: str) -> Callable[..., object]:
        """Return the compiled function `name`, which the model keeps as its own attribute."""
        if name not in quantity_signatures(self.names):
            raise AttributeError(name)
        self.__dict__[name] = function = self._explained_function(
            name, self._compile_quantity(name)
        )
        return function

    if not TYPE_CHECKING:  # so that type checkers find misspelled names

        def __getattr__(self, name: str) -> object:
            known = [] if name.startswith("_") else [k for k in dir(self) if k[0] != "_"]
            raise AttributeError(f"Model has no function '{name}'; {suggest_remedy(name, known)}")

    def ufunc(self, name: str, frame: str | None = None) -> np.ufunc:
        """Return the NumPy generalized ufunc behind a function.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix".
        frame : str, optional
            A frame or body, for functions of frames such as "jacobian".

        Returns
        -------
        numpy.ufunc
            It has `signature`, `nin`, `types` and NumPy's own messages. Under constraints its last
            output is the smallest pivot.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.compile(lw.gallery("elbow")).ufunc("gravity").signature
        '(2)->(2)'
        """
        function = getattr(self, name)
        found: np.ufunc = (function if frame is None else function(frame)).ufunc
        return found

    @cached_property
    def _twin(self) -> Model:
        """The same model with functions of its own: what functions ask for other functions. If they
        kept the model itself, all would be in a cycle, and the code of a model that nobody needs
        any more would wait for the garbage collector."""
        twin = object.__new__(Model)
        functions = {*quantity_signatures(self.names), "_twin"}
        twin.__dict__.update({k: v for k, v in self.__dict__.items() if k not in functions})
        twin._frame_functions = {}
        return twin

    def _explained_function(self, name: str, ufunc: Any, *frame: str) -> Callable[..., Any]:
        inputs, outputs = quantity_ports(self.names, name, self.parameters)
        entries = quantity_entry_names(self.names, self.parameters)
        guarded = isinstance(ufunc, GuardedFunction | NumericFallback)
        checks = None if guarded else partial(check_input_states, self._twin, name)
        function = explain_compiled_call(
            ufunc,
            CallFacts(
                name,
                self.mechanism.name,
                inputs,
                len(outputs),
                entries,
                has_poses=bool(self.mechanism.poses),
            ),
            check_states=checks,
            read_tables=partial(read_named_inputs, self._twin),
        )
        function.__doc__ = full_function_help(
            self.mechanism, self.names, name, self.parameters, *frame
        )
        return function

    def __dir__(self) -> list[str]:
        absent = QUANTITY_NAMES - quantity_signatures(self.names).keys()
        return [name for name in super().__dir__() if name not in absent]

    def tape(self, name: str, *frame: str) -> Tape:
        """Return the instructions behind a function.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix".
        *frame : str
            A frame or body, for functions of frames such as "jacobian".

        Returns
        -------
        Tape
            A straight-line program in single assignment.
        """
        return record_model_function_tape(
            self._derive_once, self.names, self.parameters, name, *frame
        )

    def operations(self, name: str, *frame: str) -> int:
        """Return the number of floating-point operations of one call of a function.

        Parameters
        ----------
        name : str
            A function, such as "mass_matrix".
        *frame : str
            A frame or body, for functions of frames such as "jacobian".

        Returns
        -------
        int
            Sums, products, quotients, roots, sines and cosines count 1 each.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.compile(lw.gallery("elbow")).operations("inverse_dynamics")
        28
        """
        return count_tape_operations(self.tape(name, *frame))

    def certified(
        self, name: str, *inputs: Any, digits: int = 30, frame: str | None = None
    ) -> Intervals:
        """Return a function at one state, as intervals that provably contain the exact values.

        Parameters
        ----------
        name : str
            The function.
        *inputs : numbers
            Floats, fractions, or decimals as text, which are taken exactly, as are the mechanism's
            numbers.
        digits : int
            Decimal digits of the arithmetic.
        frame : str, optional
            A frame or body, for functions of frames.

        Returns
        -------
        array of Interval, or a tuple of these
            One array for each output.

        Examples
        --------
        >>> import linkwright as lw
        >>> model = lw.compile(lw.gallery("elbow"))
        >>> print(model.certified("kinetic_energy", ["0.1", "0.2"], [1, 0], digits=10))
        1.3233666222539541488 ± 2E-19
        """
        from .certify import certify_function

        return certify_function(self, name, inputs, digits, frame)

    def frame_function(self, name: str, frame: str) -> Callable[..., Any]:
        """Return the compiled function `name` of a `frame` or body."""
        if not isinstance(frame, str):
            places = [*self.mechanism.frames, *self.names.bodies]
            inputs = quantity_inputs(FRAME_SIGNATURES[name], self.names)
            raise frame_function_call_error(name, places, inputs)
        key = (name, frame)
        if key not in self._frame_functions:
            self._frame_functions[key] = self._explained_function(
                name, self._compile_quantity(name, frame), frame
            )
        return self._frame_functions[key]

    def _compile_quantity(self, name: str, *frame: str) -> Any:
        if name in GUARDED_QUANTITIES and self.names.constraints:
            self._require_assembly()
        inputs, outputs = quantity_ports(self.names, name, self.parameters)
        documentation = short_function_help(self.names, name, self.parameters, *frame)
        guarded = bool(self.names.constraints) and name in GUARDED_QUANTITIES
        if any(port.size == 0 for port in outputs):
            return NumericFallback(name, self._twin, documentation)
        if self._identity is None:
            tape = self.tape(name, *frame)
            ufunc = compile_tape(tape, documentation, self._target, self.threads)
        else:
            ufunc = compile_cached_tape(
                name,
                documentation,
                inputs,
                outputs,
                partial(
                    record_model_function_tape,
                    self._derive_once,
                    self.names,
                    self.parameters,
                    name,
                    *frame,
                ),
                (*self._identity, name, *frame),
                target=self._target,
                threads=self.threads,
            )
        return GuardedFunction(name, ufunc, self._twin, documentation) if guarded else ufunc

    # -- as a value ----------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        options = {"parameters": self.parameters, "threads": self.threads, "target": self._target}
        if self._identity is not None:
            return _rebuild_model, (self.mechanism, None, None, options)
        if not self.equations.is_derived:
            raise UnsupportedError(
                "the model of equations that were changed after derive cannot be pickled",
                remedy="pickle what makes them, and compile them again",
            )
        eqs = self.equations
        return _rebuild_model, (self.mechanism, eqs.by, list(eqs.parameters) or "numeric", options)

    def summary(self) -> str:
        """Return one line: the mechanism and the sizes."""
        return f"Model of {self.mechanism.name}: nq={self.nq}, nv={self.nv}"

    def __str__(self) -> str:
        return model_function_table(self.mechanism, self.names, self.parameters)


def _rebuild_model(
    mechanism: Mechanism, by: str | None, derived: Any, options: dict[str, Any]
) -> Model:
    """A model from its recipe, as pickles keep it."""
    if by is None:
        return compile(mechanism, **options)
    from ..formulations import derive

    return compile(derive(mechanism, by=by, parameters=derived), **options)
