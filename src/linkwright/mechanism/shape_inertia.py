"""Mass, centre of mass and inertia of a body from its shapes and a density.

One primitive keeps its formulas, so that parameters stay parameters. Several shapes, and meshes
(by trimesh, extra `[mesh]`), become numbers; overlaps of shapes count twice, as in MuJoCo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ExpressionError, MechanismError
from ..expressions import (
    ZERO,
    Expression,
    Name,
    Number,
    NumberWithUnit,
    Product,
    check_expression_dimension,
    evaluate_expression_exactly,
    expression_text,
    expression_to_float,
    expression_without_unit,
    names_in_expression,
    parse_unit,
)
from ..expressions.tree import rebuild_expression
from .mesh_inertia import is_closed_mesh, measure_mesh
from .parts import part_numbers
from .shapes import SHAPE_LENGTHS, MeshShape, ShapeOfBody

if TYPE_CHECKING:
    from ..types import Floats
    from .placements import Placement

_MOMENTS = ("xx", "yy", "zz")
_ROUNDING = 1e-15
"""Products of inertia below this share of the trace are rounding errors of zeros."""


def inertia_fields_from_shapes(
    shapes: Sequence[ShapeOfBody], density: Expression
) -> dict[str, object]:
    """Return the fields mass, center, inertia and inertia_from of a body with these shapes.

    Shapes for contacts count if there are any, otherwise those for pictures; planes do not.
    """
    solids = [shape for shape in shapes if shape.solid is not None or isinstance(shape, MeshShape)]
    solids = [shape for shape in solids if shape.use != "visual"] or solids
    _check_numbers(shapes, density)
    if not solids:
        raise MechanismError(
            "is given, but the body has no shape with a volume",
            where="density",
            remedy="add shapes, or give mass and inertia",
        )
    if len(solids) == 1 and _keeps_formulas(solids[0]):
        fields = _formula_fields(solids[0], density)
    else:
        _refuse_parameters(solids, density)
        fields = combine_solids(solids, [expression_to_float(density)] * len(solids))
    text = expression_text(density) + (" kg/m^3" if isinstance(density, Number) else "")
    return fields | {"inertia_from": f"{_solids_in_words(solids)} of density {text}"}


def _check_numbers(shapes: Sequence[ShapeOfBody], density: Expression) -> None:
    """Raise where a number that needs no parameter has a wrong unit or sign."""
    numbers = [("density", density, "kg/m^3")]
    for i, shape in enumerate(shapes):
        numbers += [
            (f"shapes[{i}].{key}", number, quantity.unit)
            for key, number, quantity in part_numbers(shape)
            if key.partition("[")[0] in SHAPE_LENGTHS
        ]
    for place, number, unit in numbers:
        if names_in_expression(number):
            continue
        if isinstance(number, NumberWithUnit):
            try:
                check_expression_dimension(number, parse_unit(unit).dimension, {})
            except ExpressionError as error:
                raise MechanismError(error.what, where=place, remedy=error.remedy) from None
        value = expression_to_float(number)
        if not value > 0:
            raise MechanismError(f"is {value:g} {unit}", where=place, remedy="give more than 0")


def _solids_in_words(solids: Sequence[ShapeOfBody]) -> str:
    """Return the shapes that count, in words: "1 box", "2 meshes (the convex hull of …)"."""
    kinds = {shape.type for shape in solids}
    what = kinds.pop() if len(kinds) == 1 else "shape"
    plural = {"box": "boxes", "mesh": "meshes"}.get(what, f"{what}s")
    words = f"{len(solids)} {what if len(solids) == 1 else plural}"
    open_meshes = [
        Path(shape.file).name
        for shape in solids
        if isinstance(shape, MeshShape) and not is_closed_mesh(shape.file)
    ]
    hulls = f" (the convex hull of {', '.join(open_meshes)}, not closed)" if open_meshes else ""
    return words + hulls


def _keeps_formulas(shape: ShapeOfBody) -> bool:
    """Return whether a body's fields can hold the formulas of a shape."""
    solid = shape.solid
    return solid is not None and solid.center_z == ZERO and shape.origin.z is None


def _formula_fields(shape: ShapeOfBody, density: Expression) -> dict[str, object]:
    """Return the fields of a body that is one primitive about its own centre."""
    assert shape.solid is not None
    values = _values_without_units(shape.formula_values() | {"rho": density})
    values["m"] = _fill_formula(Product((Name("rho"), shape.solid.volume)), values)
    moments = [_fill_formula(moment, values) for moment in shape.solid.moments]
    turn = {
        key: getattr(shape.origin, key)
        for key in ("rpy", "quaternion")
        if key in shape.origin.model_fields_set
    }
    tensor = dict(zip(_MOMENTS, moments, strict=True))
    return {"mass": values["m"], "center": shape.origin.xyz, "inertia": tensor | turn}


def _values_without_units(values: Mapping[str, Expression]) -> dict[str, Expression]:
    """Return numbers in SI units; a formula cannot contain units."""
    return {name: expression_without_unit(value) for name, value in values.items()}


def _fill_formula(formula: Expression, values: Mapping[str, Expression]) -> Expression:
    """Return a formula with its names replaced; a rational result becomes a number."""

    def fill(node: Expression) -> Expression:
        if isinstance(node, Name):
            return values.get(node.name, node)
        found = rebuild_expression(node, fill)
        return _flat_product(found) if isinstance(found, Product) else found

    found = fill(formula)
    value = None if names_in_expression(found) else evaluate_expression_exactly(found)
    return Number(value) if isinstance(value, Fraction) else found


def _flat_product(product: Product) -> Product:
    """Return a product whose factors are not products."""
    return Product(
        tuple(
            inner
            for factor in product.factors
            for inner in (factor.factors if isinstance(factor, Product) else (factor,))
        )
    )


def _refuse_parameters(solids: Sequence[ShapeOfBody], density: Expression) -> None:
    """Raise where numbers of shapes that must be computed now depend on parameters."""
    numbers = [density, *(number for shape in solids for _, number, _ in part_numbers(shape))]
    names = sorted({name for number in numbers for name in names_in_expression(number)})
    if names:
        raise MechanismError(
            f"of several shapes, a cone or a mesh needs plain numbers, and these depend on "
            f"{', '.join(names)}",
            where="density",
            remedy="give each shape a body of its own and fix the bodies together, or use numbers",
        )


def combine_solids(solids: Sequence[ShapeOfBody], densities: Sequence[float]) -> dict[str, object]:
    """Return mass, center and inertia of a body that consists of solids, each with its density."""
    import numpy as np

    masses, centers, tensors = [], [], []
    for shape, density in zip(solids, densities, strict=True):
        volume, center, tensor = _measure_solid(shape)
        R, p = placement_numbers(shape.origin)
        masses.append(density * volume)
        centers.append(p + R @ center)
        tensors.append(density * (R @ tensor @ R.T))
    mass = float(np.sum(masses))
    if mass <= 0:
        raise MechanismError("gives no mass", where="density", remedy="give sizes above 0")
    center = np.average(centers, axis=0, weights=masses)
    total = np.zeros((3, 3))
    for m, c, tensor in zip(masses, centers, tensors, strict=True):
        d = c - center
        total += tensor + m * (d @ d * np.eye(3) - np.outer(d, d))
    total = (total + total.T) / 2
    total[abs(total) < _ROUNDING * np.trace(total)] = 0.0
    return {"mass": mass, "center": center.tolist(), "inertia": total.tolist()}


def _measure_solid(shape: ShapeOfBody) -> tuple[float, Floats, Floats]:
    """Return volume, centre and inertia for density 1 of a shape in its own frame."""
    import numpy as np

    if isinstance(shape, MeshShape):
        return measure_mesh(shape.file, [expression_to_float(factor) for factor in shape.scale])
    assert shape.solid is not None
    values = _values_without_units(shape.formula_values() | {"rho": Number(Fraction(1))})
    values["m"] = volume = _fill_formula(shape.solid.volume, values)
    moments = [expression_to_float(_fill_formula(m, values)) for m in shape.solid.moments]
    height = expression_to_float(_fill_formula(shape.solid.center_z, values))
    return expression_to_float(volume), np.array([0.0, 0.0, height]), np.diag(moments)


def placement_numbers(origin: Placement) -> tuple[Floats, Floats]:
    """Return rotation matrix (3, 3) and position (3,) of a placement without parameters."""
    import numpy as np

    def numbers(vector: Sequence[Expression]) -> Floats:
        return np.array([expression_to_float(entry) for entry in vector])

    if origin.z is not None and origin.x is not None:
        z, x = numbers(origin.z), numbers(origin.x)
        z /= np.linalg.norm(z)
        x -= z * (z @ x)
        x /= np.linalg.norm(x)
        return np.column_stack([x, np.cross(z, x), z]), numbers(origin.xyz)
    if "quaternion" in origin.model_fields_set:
        w, *v = numbers(origin.quaternion) / np.linalg.norm(numbers(origin.quaternion))
        V = _cross_matrix(np.array(v))
        return np.eye(3) + 2 * w * V + 2 * V @ V, numbers(origin.xyz)
    R = np.eye(3)
    for axis, angle in zip(np.eye(3), numbers(origin.rpy), strict=True):
        K = _cross_matrix(axis)
        R = (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ R
    return R, numbers(origin.xyz)


def _cross_matrix(v: Floats) -> Floats:
    """Return the matrix of the vector product by v."""
    import numpy as np

    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
