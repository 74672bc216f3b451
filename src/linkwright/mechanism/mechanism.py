"""The mechanism: frozen data without mathematics."""

from __future__ import annotations

import hashlib
import warnings as python_warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..displays import NotebookTable
from ..errors import MechanismError, NameNotFoundError, UnphysicalWarning, suggest_remedy
from ..expressions import (
    ZERO,
    ExactNumber,
    parse_expression,
)
from ..live_displays import LiveDisplayed
from .actuators import Actuator
from .approximate_choices import ApproximateChoices
from .bodies import GROUND, Body, Frame
from .constraints import Constraint
from .contacts import Contact
from .force_elements import ChosenCoordinates, ForceElement
from .joint_placement import PlacedJoints
from .joints import Joint
from .lengths import Length
from .locked_joints import lock_mimicking_joints, parts_of_moving_joints
from .parts import (
    MechanismPart,
    PartNumberField,
    PartTable,
    Scalar,
    Vector,
    replace_part_fields,
)
from .payloads import fields_with_payload
from .poses import Pose
from .removable_effects import strip_effects
from .shapes import Shape
from .validate import check_mechanism, evaluate_mechanism_parameters, unphysical_body_messages

_STANDARD_GRAVITY: Vector = (ZERO, ZERO, parse_expression("-9.81"))


class Mechanism(LiveDisplayed, MechanismPart):
    """Bodies and joints between them, frames, gravity, parameters; loops, constraints, forces.

    Numbers are exact: decimals are rationals, `"30 deg"` is π/6, and any number may be an
    expression of the named parameters, such as `"m1*l1^2/12"`.

    Examples
    --------
    A particle of 2 kg on a massless rod of 0.8 m has the mass matrix m l² = 1.28 kg m²:

    >>> import linkwright as lw
    >>> pendulum = lw.Mechanism(
    ...     name="pendulum",
    ...     parameters={"m": 2, "l": "800 mm"},
    ...     bodies={"rod": lw.Body(mass="m", center=[0, 0, "-l"])},
    ...     joints={"q": lw.Joint(type="revolute", child="rod", axis=[0, 1, 0])},
    ... )
    >>> round(float(lw.compile(pendulum).mass_matrix([0.3])[0, 0]), 12)
    1.28
    """

    name: str = "mechanism"
    gravity: Annotated[Vector, PartNumberField("m/s^2", 3)] = Field(
        default=_STANDARD_GRAVITY, description="acceleration of free fall, ground axes"
    )
    parameters: PartTable[Scalar] = Field(
        default_factory=PartTable, description="named numbers, or expressions of other parameters"
    )
    bodies: PartTable[Body] = Field(default_factory=PartTable)
    ground_shapes: tuple[Shape, ...] = Field(
        default=(), description="shapes of the fixed world: floors, walls"
    )
    joints: PlacedJoints = Field(default_factory=PartTable)
    frames: PartTable[Frame] = Field(default_factory=PartTable)
    loops: PlacedJoints = Field(default_factory=PartTable, description="joints that close a loop")
    constraints: PartTable[Constraint] = Field(default_factory=PartTable)
    constraint_order: tuple[str, ...] = Field(
        default=(),
        exclude=True,
        repr=False,
        description="loops and constraints by name, in the order of their equations; those that "
        "are not named follow, loops first. Readers of files set it to the order of the file",
    )
    assembly: PartTable[Scalar] = Field(
        default_factory=PartTable,
        description="rough values of coordinates, near which loops and constraints close",
    )
    independent: tuple[str, ...] = Field(
        default=(),
        description="independent velocities, where constraints exist; default: automatic",
    )
    closure: float = Field(
        default=1e-6,
        gt=0,
        le=1e-2,
        description="rows of constraints that others imply to within this share are redundant, and "
        "may stay open by this share of their size (metres, radians)",
    )
    lengths: PartTable[Length] = Field(
        default_factory=PartTable, description="lengths of paths, or combinations of coordinates"
    )
    forces: PartTable[ForceElement] = Field(default_factory=PartTable)
    contacts: PartTable[Contact] = Field(default_factory=PartTable)
    actuators: PartTable[Actuator] = Field(default_factory=PartTable)
    poses: PartTable[Pose] = Field(
        default_factory=PartTable, description='named configurations: q0="home"'
    )
    coordinates: ChosenCoordinates | None = Field(
        default=None, description="in place of the joints' variables"
    )
    speeds: PartTable[Scalar] = Field(
        default_factory=PartTable,
        description="generalized speeds of the formulation kane, as expressions in coordinates, "
        'their rates and t: u1 = "dq1*cos(q3) + dq2*sin(q3)"',
    )
    approximate: ApproximateChoices | None = Field(
        default=None, description="options of the formulation `approximate`"
    )
    unused: tuple[str, ...] = Field(
        default=(),
        exclude=True,
        repr=False,
        description="content of the source file that is not used",
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _check_consistency(self) -> Mechanism:
        """Raise a `MechanismError` where the parts contradict each other."""
        check_mechanism(self)
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same content; the file they were read from does not
        matter."""
        if not isinstance(other, Mechanism):
            return NotImplemented
        if self is other or self._content_hash != other._content_hash:
            return self is other
        return all(
            getattr(self, key) == getattr(other, key)
            for key in type(self).model_fields
            if key not in ("unused", "constraint_order")
        ) and list(self.loops_and_constraints()) == list(other.loops_and_constraints())

    def __hash__(self) -> int:
        return self._content_hash

    @cached_property
    def _content_hash(self) -> int:
        """The hash by which tables of mechanisms tell variants apart, computed once."""
        own = (self.name, self.gravity, self.parameters, self.bodies, self.joints)
        return hash((*own, self.loops, self.constraints, self.lengths, self.forces))

    def __repr__(self) -> str:
        bodies, joints = len(self.bodies), len(self.joints)
        words = f"{bodies} {'body' if bodies == 1 else 'bodies'}"
        return f"<Mechanism {self.name}: {words}, {joints} joint{'s' * (joints != 1)}>"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        rows: list[tuple[object, ...]] = [
            (name, one.type, one.parent, one.child, len(one.dofs) if one.moves else 0)
            for name, one in self.joints.items()
        ]
        rows += [
            (name, one.type, one.parent, one.child, "closes a loop")
            for name, one in self.loops.items()
        ]
        table = NotebookTable(("joint", "type", "parent", "child", "degrees of freedom"), rows)
        return table.to_html(repr(self).strip("<>"))

    def __copy__(self) -> Mechanism:
        return self  # nothing in it can change

    def __deepcopy__(self, memo: object = None) -> Mechanism:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the given data, which is checked again; nothing computed is pickled."""
        return (_rebuild_mechanism, ({key: getattr(self, key) for key in self.model_fields_set},))

    @cached_property
    def values(self) -> Mapping[str, ExactNumber]:
        """The exact value of every parameter."""
        return MappingProxyType(evaluate_mechanism_parameters(self.parameters))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings on legal data that no real body has: unphysical inertia."""
        return tuple(unphysical_body_messages(self))

    @cached_property
    def digest(self) -> str:
        """A hash of the mechanism's content."""
        said = self.model_dump_json()
        if self.constraint_order:
            said += f"\n{list(self.loops_and_constraints())}"
        return hashlib.sha256(said.encode()).hexdigest()

    def loops_and_constraints(self) -> dict[str, Joint | Constraint]:
        """Return loops and constraints by name, in the order of their equations (file order)."""
        known: dict[str, Joint | Constraint] = {**self.loops, **self.constraints}
        first = [name for name in self.constraint_order if name in known]
        return {name: known[name] for name in (*first, *known)}

    def joints_depth_first(self) -> Iterator[tuple[str, Joint]]:
        """Return the tree's joints from ground outward, depth first, in file order."""
        below: dict[str, list[str]] = {}
        for name, joint in self.joints.items():
            below.setdefault(joint.parent, []).append(name)
        stack = below.get(GROUND, [])[::-1]
        while stack:
            name = stack.pop()
            yield name, self.joints[name]
            stack.extend(below.get(self.joints[name].child, [])[::-1])

    def with_parameters(self, **values: object) -> Mechanism:
        """The same mechanism with other values of some named parameters.

        Parameters
        ----------
        **values : number, or text with a unit or an expression
            New values by name. Parameters that are expressions of these follow.

        Returns
        -------
        Mechanism
            A copy; the mechanism itself does not change.

        Examples
        --------
        >>> import linkwright as lw
        >>> arm = lw.gallery("elbow").with_parameters(m2=2.5, l1="800 mm")
        >>> lw.compile(arm).potential_energy([0.0, 0.0]).round(3)
        np.float64(0.0)
        """
        for name in values:
            if name not in self.parameters:
                raise NameNotFoundError(
                    f"'{name}' is not a parameter of {self.name}",
                    remedy=suggest_remedy(name, list(self.parameters)),
                )
        return replace_part_fields(self, parameters={**self.parameters, **values})

    def with_closure(self, closure: float | None) -> Mechanism:
        """Return a copy with another tolerance `closure` of nearly redundant constraints.

        None keeps the tolerance.
        """
        return self if closure is None else replace_part_fields(self, closure=closure)

    def without(self, *effects: str) -> Mechanism:
        """The same mechanism without some effects: for comparisons with programs that ignore them.

        Parameters
        ----------
        *effects : str
            Any of "friction", "damping", "springs", "motors" (rotor inertia and gears), "limits",
            "gravity", "forces" (the table of forces, and the laws of lengths) and "contacts".

        Returns
        -------
        Mechanism
            A copy; the mechanism itself does not change.

        Examples
        --------
        >>> import linkwright as lw
        >>> weightless = lw.gallery("elbow").without("gravity", "friction")
        >>> lw.compile(weightless).gravity([0.3, 0.4])
        array([0., 0.])
        """
        return strip_effects(self, effects)

    def reduced(self, lock: Mapping[str, object]) -> Mechanism:
        """The same mechanism with some joints held at given positions: they lose their coordinates.

        Parameters
        ----------
        lock : mapping of joint names to positions
            rad or m, text with a unit, or a list for joints with several coordinates. Joints that
            mimic a locked one are locked with it. Generalized speeds are left out.

        Returns
        -------
        Mechanism
            A copy with fewer degrees of freedom.

        Examples
        --------
        >>> import linkwright as lw
        >>> lw.compile(lw.gallery("elbow").reduced(lock={"q2": "90 deg"})).q_names
        ('q1',)
        """
        joints = dict(self.joints)
        for name, position in lock.items():
            if name not in joints:
                raise NameNotFoundError(
                    f"{self.name} has no joint '{name}'", remedy=suggest_remedy(name, list(joints))
                )
            joints[name] = replace_part_fields(joints[name], ["mimic"], locked=position)
        joints = lock_mimicking_joints(joints)
        return replace_part_fields(
            self, ["speeds"], joints=joints, **parts_of_moving_joints(self, joints)
        )

    def with_payload(
        self,
        frame: str,
        mass: object,
        center: Sequence[object] = (0, 0, 0),
        inertia: object = (0, 0, 0),
        name: str = "payload",
    ) -> Mechanism:
        """The same mechanism with one more body, fixed to a frame or body: what a gripper holds.

        Parameters
        ----------
        frame : str
            A frame or body of the mechanism.
        mass : number or text
            kg, or text with a unit or an expression of parameters.
        center : three numbers
            The centre of mass of the payload in the axes of the frame, m.
        inertia : table, three or nine numbers
            About the payload's centre of mass, axes of the frame, kg m² (default: a point mass).
        name : str
            The name of the new body, and of the fixed joint that holds it.

        Returns
        -------
        Mechanism
            A copy; the mechanism itself does not change.

        Examples
        --------
        >>> import linkwright as lw
        >>> loaded = lw.gallery("elbow").with_payload("tool", mass="500 g")
        >>> lw.compile(loaded).gravity([0.0, 0.0]).round(3)
        array([29.43,  9.81])
        """
        body = Body(mass=mass, center=list(center), inertia=inertia)
        return replace_part_fields(self, **fields_with_payload(self, frame, body, name))

    def checked(self, strict: bool) -> Mechanism:
        """Return the mechanism itself after a warning about unphysical inertia.

        It is an error if `strict`, and if the mechanism has no bodies.
        """
        if not self.bodies:
            raise MechanismError("has no bodies", where=self.name, remedy="add [bodies.…]")
        if self.warnings and strict:
            raise MechanismError(
                self.warnings[0], where=self.name, remedy="correct it, or load without strict=True"
            )
        if self.warnings:
            count = len(self.warnings)
            more = f" ({count - 1} more in mechanism.warnings)" if count > 1 else ""
            message = f"{self.name}: {self.warnings[0]}{more}"
            python_warnings.warn(message, UnphysicalWarning, stacklevel=3)
        return self


def _rebuild_mechanism(fields: dict[str, Any]) -> Mechanism:
    """Return a mechanism from pickled fields."""
    return Mechanism(**fields)
