"""Controllers of joints and tools for `simulate`; each law is an expression that is compiled."""

from .adaptive_control import adaptive
from .controller_recipes import made_by
from .joint_control import computed_torque, coordinated, pd_gravity, pid
from .operational_control import operational

__all__ = [
    "adaptive",
    "computed_torque",
    "coordinated",
    "made_by",
    "operational",
    "pd_gravity",
    "pid",
]
