"""The decorator of methods that are declared for editors and run as compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

DeclaredFunction = TypeVar("DeclaredFunction", bound=Callable[..., object])


class FunctionCompiler(Protocol):
    """A model: it has a compiled function for every declared one."""

    def compiled_function(self, name: str) -> Callable[..., object]:
        """The compiled function; AttributeError where the mechanism has none of this name."""


class CompiledMethod:
    """A method whose body is never run: a model answers with its own compiled function, which it
    keeps in its `__dict__`, so that this descriptor is asked only once."""

    def __init__(self, declared: Callable[..., object]) -> None:
        self.declared = declared
        self.__name__, self.__doc__ = declared.__name__, declared.__doc__

    def __get__(
        self, model: FunctionCompiler | None, owner: type | None = None
    ) -> Callable[..., object]:
        if model is None:
            return self.declared
        return model.compiled_function(self.declared.__name__)


def compiled_method(declared: DeclaredFunction) -> DeclaredFunction:
    """Declare a compiled function: type checkers and editors see the method as it is written."""
    return CompiledMethod(declared)  # type: ignore[return-value]
