"""Reactions of joints as expressions of the motion and the multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..types import SX

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary


class CheckerReactionSymbols:
    """Forces and moments of the joints of one mechanism, those that close loops included."""

    def __init__(self, vocabulary: CheckerVocabulary) -> None:
        self.vocabulary = vocabulary

    def joint_moment(self, axis: int, joint: str) -> SX | None:
        """A component of the moment that a joint's parent exerts on its child, world axes."""
        wrench = self._joint_wrench(joint)
        return None if wrench is None else wrench[axis]

    def joint_force(self, axis: int, joint: str) -> SX | None:
        """A component of the force that a joint's parent exerts on its child, world axes."""
        wrench = self._joint_wrench(joint)
        return None if wrench is None else wrench[3 + axis]

    def joint_moment_in_link(self, axis: str, joint: str) -> SX | None:
        """A component of the same moment along an axis of the joint's last link."""
        return self._component_in_link(axis, joint, slice(0, 3))

    def joint_force_in_link(self, axis: str, joint: str) -> SX | None:
        """A component of the same force along an axis of the joint's last link."""
        return self._component_in_link(axis, joint, slice(3, 6))

    def force_along_motion(self, joint: str) -> SX | None:
        """The force or moment of a joint with one degree of freedom along it."""
        own = self.vocabulary.mechanism.joints[joint]
        if len(own.dofs) != 1:
            return None
        if own.dofs[0].is_rotation:
            return self.joint_moment_in_link("3", joint)
        return self.joint_force_in_link("3", joint)

    def _joint_wrench(self, joint: str) -> SX | None:
        """Moment and force of a joint, or of one that closes a loop; in the multipliers where there
        are constraints."""
        known = [*self.vocabulary.names.joints, *self.vocabulary.mechanism.loops]
        if joint not in known:
            return None
        rows = self.vocabulary.quantity_expression("reactions_of_motion")
        if self.vocabulary.names.constraints:
            old, new = (x.symbols["lambda"] for x in (self.vocabulary.eqs, self.vocabulary))
            rows = ca.substitute(rows, old, new)
        return rows[known.index(joint), :].T

    def _component_in_link(self, axis: str, joint: str, part: slice) -> SX | None:
        wrench, number = self._joint_wrench(joint), int(axis)
        if wrench is None or joint not in self.vocabulary.names.joints or not 1 <= number <= 3:
            return None
        R = self.vocabulary.body_values.link_rotation(self.vocabulary.mechanism.joints[joint].child)
        return ca.dot(R[:, number - 1], wrench[part])
