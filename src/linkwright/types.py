"""Names for the types of arrays and symbolic values that signatures of every layer use.

Light modules that must not load NumPy import these names under ``TYPE_CHECKING``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import casadi as ca

Floats = NDArray[np.float64]
"""An array of numbers in double precision."""

Integers = NDArray[np.int64]
"""An array of integers: indices, signs, counts."""

Booleans = NDArray[np.bool_]
"""An array of truth values: masks, patterns of sparsity."""

Bytes = NDArray[np.uint8]
"""An array of bytes: pixels, images of compiled code."""

SX: TypeAlias = "ca.SX"
"""A matrix of CasADi expressions (CasADi 3.8 and newer have type stubs of their own)."""

VectorLike: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
"""Numbers in their order, or a table by name whose text may have units: {"q1": "30 deg"}."""

Output: TypeAlias = Floats | tuple[Floats | None, ...] | None
"""The arrays into which a compiled function writes its results."""

ForceLike: TypeAlias = ArrayLike | Mapping[str, object] | Callable[..., ArrayLike]
"""Generalized forces: numbers, a table by velocity or actuator of numbers, expressions of t, q and
q̇, and (times, values), or a function of (t, q, q̇)."""

# -- objects of packages without types ------------------------------------------------------

FlintRational: TypeAlias = Any
"""A `flint.fmpq`; python-flint has no type stubs."""

FlintPolynomial: TypeAlias = Any
"""A `flint.fmpq_mpoly`, or a coefficient of one; python-flint has no type stubs."""

FlintMatrix: TypeAlias = Any
"""A `flint.nmod_mat` or `flint.fmpz_mod_mat`; python-flint has no type stubs."""

FlintModulus: TypeAlias = Any
"""A `flint.fmpz_mod_ctx`; python-flint has no type stubs."""

Ball: TypeAlias = Any
"""A `flint.arb`: a ball that contains the exact value; python-flint has no type stubs."""

NotebookViewer: TypeAlias = Any
"""A `live.notebook_widget.MechanismViewer`; anywidget and traitlets have no types of traits."""

HeyokaExpression: TypeAlias = Any
"""A `heyoka.expression`; heyoka has no type stubs."""

HigherLayerFunction: TypeAlias = Callable[..., Any]
"""A function of a higher layer, whose types a lower layer cannot import (`conveniences`)."""

FormulationResult: TypeAlias = Any
"""A result that only one formulation has: an expression, a tuple or a table of expressions, dual
vectors, names. Its type depends on its name (`Equations.extra`)."""
