"""Bodies and frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ZERO, Expression
from .parts import ORIGIN, MechanismPart, PartNumberField, Vector
from .placements import Orientation, Placement
from .shape_inertia import inertia_fields_from_shapes
from .shapes import Shape

GROUND = "ground"


class Inertia(Orientation):
    """Inertia tensor about the centre of mass, kg·m², in the body's axes or axes turned by rpy.

    `xy` is the tensor's own entry, −∫xy dm, as in URDF files.
    """

    xx: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    yy: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    zz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    xy: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    xz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    yz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """A bare list is a diagonal, or the rows of the tensor."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        part = handler.resolve_ref_schema(found)
        row = {"type": "array", "items": part["items"], "minItems": 3, "maxItems": 3}
        part["items"] = {"anyOf": [part["items"], row]}
        return found

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_entries(cls, value: Any) -> Any:
        """Return a diagonal, or a symmetric 3×3 array, as a table of entries."""
        value = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(value, list | tuple) or len(value) != 3:
            return value
        if all(isinstance(row, list | tuple) and len(row) == 3 for row in value):
            return _inertia_entries(value)
        return dict(zip(("xx", "yy", "zz"), value, strict=True))


def _inertia_entries(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return the six entries of a symmetric tensor; asymmetry beyond rounding is an error."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = rows[i][j], rows[j][i]
        numbers = isinstance(a, int | float) and isinstance(b, int | float)
        if not (isclose(a, b, rel_tol=1e-9, abs_tol=1e-300) if numbers else a == b):
            raise MechanismError(
                f"is not symmetric: {'xyz'[i]}{'xyz'[j]} is {a}, {'xyz'[j]}{'xyz'[i]} is {b}",
                remedy="give a symmetric 3×3 array",
            )
    return {"xyz"[i] + "xyz"[j]: rows[i][j] for i in range(3) for j in range(i, 3)}


class Body(MechanismPart):
    """A rigid body.

    Parameters
    ----------
    mass : number or text
        kg, or text with a unit or an expression of parameters.
    center : three numbers
        Centre of mass in the body's frame, m.
    inertia : table, three or nine numbers
        About the centre of mass, axes of the body's frame, kg m².
    gravity_compensation : number or text
        The share of the weight that a force at the centre of mass carries.
    shapes : list of tables
        Primitives and meshes, for pictures and contacts: `{type="box", size=[…], origin=…}`.
    density : number or text
        kg/m³, in place of mass, center and inertia, which follow from the shapes.

    Examples
    --------
    A rod of 500 g and 0.8 m that turns about its end has the mass matrix m l²/3:

    >>> import linkwright as lw
    >>> rod = lw.Body(mass="500 g", center=[0.4, 0, 0], inertia=[0, 0, "0.5*0.8^2/12"])
    >>> joint = lw.Joint(type="revolute", child="rod")
    >>> model = lw.compile(lw.Mechanism(name="rod", bodies={"rod": rod}, joints={"q": joint}))
    >>> bool(abs(model.mass_matrix([0.0])[0, 0] - 0.5 * 0.8**2 / 3) < 1e-15)
    True
    """

    mass: Annotated[Expression, PartNumberField("kg")] = Field(default=ZERO, description="mass, kg")
    center: Annotated[Vector, PartNumberField("m", 3)] = Field(
        default=ORIGIN, description="centre of mass in the body's frame, m"
    )
    inertia: Inertia = Field(
        default_factory=Inertia,
        description="about the centre of mass, kg*m^2: {xx=…}, [xx, yy, zz] or symmetric 3×3",
    )
    gravity_compensation: Annotated[Expression, PartNumberField("1")] = Field(
        default=ZERO, description="the share of its weight that a force carries: 1 for all of it"
    )
    shapes: tuple[Shape, ...] = Field(
        default=(), description="primitives and meshes, for pictures, contacts and inertia"
    )
    density: Annotated[Expression | None, PartNumberField("kg/m^3", optional=True)] = Field(
        default=None,
        description="in place of mass, center and inertia, which follow from the shapes",
    )
    inertia_from: str = Field(
        default="", description="what mass, center and inertia were computed from, in words"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _replace_density(cls, value: Any) -> Any:
        """Return a table with a density as one with the mass, centre and inertia of the shapes."""
        if not isinstance(value, Mapping) or value.get("density") is None:
            return value
        for key in ("mass", "center", "inertia"):
            if key in value:
                raise MechanismError(f"has both density and {key}", remedy="give one of them")
        given = _ShapesWithDensity(shapes=value.get("shapes", ()), density=value["density"])
        others = {key: field for key, field in value.items() if key != "density"}
        found = inertia_fields_from_shapes(given.shapes, given.density)
        return others | {"shapes": given.shapes} | found


class _ShapesWithDensity(MechanismPart):
    """What the inertia of a body is computed from."""

    shapes: tuple[Shape, ...]
    density: Annotated[Expression, PartNumberField("kg/m^3")]

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...


class Frame(MechanismPart):
    """A named frame fixed to a body, such as a tool tip.

    Parameters
    ----------
    body : str
        The body.
    origin : table
        Placement of the frame in the body's frame: position (m) and rotation.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.gallery("elbow").frames["tool"].body
    'link2'
    """

    body: str = Field(description="the body that carries it, or ground")
    origin: Placement = Field(default_factory=Placement, description="where, in the body's frame")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...
