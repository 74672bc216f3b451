"""Linkwright: from the description of a mechanism to its equations of motion, checked,
readable, and compiled.

    >>> import linkwright as lw
    >>> model = lw.compile(lw.gallery("elbow"))
    >>> model.gravity([0.0, 0.0]).round(3)
    array([19.62 ,  4.905])

Importing does no work: each name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.3.0"

_HOMES = {
    "load": "files",
    "save": "writers",
    "export": "writers",
    "gallery": "files",
    "Mechanism": "mechanism",
    "Body": "mechanism",
    "Joint": "mechanism",
    "Frame": "mechanism",
    "derive": "formulations",
    "Equations": "equations",
    "compile": "model",
    "jax": "frameworks",
    "torch": "frameworks",
    "Model": "model",
    "assemble": "kinematics.assembly",
    "assemble_velocities": "kinematics.assembly",
    "mobility": "kinematics.mobility_analysis",
    "simulate": "simulation",
    "rollout": "simulation",
    "load_run": "simulation",
    "solve_kinematics": "simulation",
    "solve_inverse": "simulation",
    "equilibria": "linearization",
    "linearize": "linearization",
    "study": "studies",
    "compare": "comparison",
    "verify": "verification",
    "check": "checking",
    "check_folder": "checking",
    "LinkwrightError": "errors",
}

_PACKAGES = (
    "control",
    "errors",
    "identify",
    "linearization",
    "linkages",
    "live",
    "motion",
    "report",
    "show",
    "simulation",
    "studies",
    "comparison",
)
"""Packages that load when they are first used as attributes: `lw.show.graph(arm)`."""

__all__ = [*_HOMES, "__version__"]

if TYPE_CHECKING:
    from . import comparison as comparison
    from . import control as control
    from . import errors as errors
    from . import identify as identify
    from . import linearization as linearization
    from . import linkages as linkages
    from . import motion as motion
    from . import report as report
    from . import show as show
    from . import simulation as simulation
    from . import studies as studies
    from .checking import check as check
    from .checking import check_folder as check_folder
    from .comparison import compare as compare
    from .equations import Equations as Equations
    from .errors import LinkwrightError as LinkwrightError
    from .files import gallery as gallery
    from .files import load as load
    from .formulations import derive as derive
    from .frameworks import jax as jax
    from .frameworks import torch as torch
    from .kinematics.assembly import assemble as assemble
    from .kinematics.assembly import assemble_velocities as assemble_velocities
    from .kinematics.mobility_analysis import mobility as mobility
    from .linearization import equilibria as equilibria
    from .linearization import linearize as linearize
    from .mechanism import Body as Body
    from .mechanism import Frame as Frame
    from .mechanism import Joint as Joint
    from .mechanism import Mechanism as Mechanism
    from .model.compilation import compile as compile  # noqa: A004
    from .model.model import Model as Model
    from .simulation import load_run as load_run
    from .simulation import rollout as rollout
    from .simulation import simulate as simulate
    from .simulation import solve_inverse as solve_inverse
    from .simulation import solve_kinematics as solve_kinematics
    from .studies import study as study
    from .verification import verify as verify
    from .writers import export as export
    from .writers import save as save


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        from .errors import suggest_remedy

        remedy = "" if name.startswith("_") else f"; {suggest_remedy(name, [*_HOMES, *_PACKAGES])}"
        raise AttributeError(f"module 'linkwright' has no attribute '{name}'{remedy}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
