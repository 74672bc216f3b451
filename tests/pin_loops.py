"""Constrained accelerations by Pinocchio, of a mechanism whose loops are balls or welds."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import linkwright as lw
from linkwright.expressions import expression_to_float
from linkwright.mechanism import Joint, mechanism_names
from linkwright.writers import write_mechanism_text

_KINDS = {"spherical": pin.ContactType.CONTACT_3D, "fixed": pin.ContactType.CONTACT_6D}


class PinLoops:
    """The tree as the URDF that we write, and its loops as Pinocchio's rigid constraints."""

    def __init__(self, mechanism: lw.Mechanism) -> None:
        self.mechanism = mechanism
        self.model = pin.buildModelFromXML(write_mechanism_text(mechanism, "urdf")[0])
        self.data = self.model.createData()
        self.constraints = pin.StdVec_RigidConstraintModel()
        self.states = pin.StdVec_RigidConstraintData()
        for loop in mechanism.loops.values():
            self.constraints.append(self._constraint(loop))
            self.states.append(self.constraints[-1].createData())
        pin.initConstraintDynamics(self.model, self.data, self.constraints, self.states)
        self.settings = pin.ProximalSettings(1e-12, 0.0, 1)
        joints = [self.model.joints[self.model.getJointId(n)] for n in mechanism_names(mechanism).q]
        assert [joint.idx_v for joint in joints] == list(range(self.model.nv))
        self.joints = joints

    def _constraint(self, loop: Joint) -> pin.RigidConstraintModel:
        ends = []
        for body, origin in ((loop.parent, loop.origin), (loop.child, loop.child_origin)):
            frame = self.model.frames[self.model.getFrameId(body)]
            xyz = np.array([expression_to_float(x, self.mechanism.values) for x in origin.xyz])
            ends += [frame.parentJoint, frame.placement * pin.SE3(np.eye(3), xyz)]
        return pin.RigidConstraintModel(_KINDS[loop.type], self.model, *ends, pin.LOCAL)

    def q(self, q: np.ndarray) -> np.ndarray:
        """As Pinocchio has it: turns without limits as cosine and sine."""
        found = pin.neutral(self.model)
        for joint, x in zip(self.joints, q, strict=True):
            at = slice(joint.idx_q, joint.idx_q + joint.nq)
            found[at] = (np.cos(x), np.sin(x)) if joint.nq == 2 else x
        return found

    def accelerations(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """At Pinocchio's own q."""
        return pin.constraintDynamics(
            self.model, self.data, q, qd, tau, self.constraints, self.states, self.settings
        )
