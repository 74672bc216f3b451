"""The live viewer as a widget of notebooks: coordinates, parameters, picked body, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from ..errors import ArgumentError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism, mechanism_names
from ..simulation.run import Run
from .live_page import viewer_script, viewer_style
from .live_scene import LiveScene, scene


def _widget_script() -> str:
    """The viewer with the functions that a widget needs."""
    own = (files(__package__) / "js" / "widget.js").read_text(encoding="utf-8")
    return viewer_script().replace("export { mountViewer };\n", "") + own


class MechanismViewer(anywidget.AnyWidget):  # type: ignore[misc]
    """A live view of a mechanism in a notebook.

    `q` are the coordinates, rad or m, `parameters` the parameters by name in SI units, `picked` the
    name of the picked body ("" if none). A change in the picture changes them, and a change of them
    changes the picture; `observe` of traitlets tells about both. `t` is the time that is shown.
    """

    _esm = _widget_script()
    _css = viewer_style()
    _scene = traitlets.Unicode().tag(sync=True)
    q = traitlets.List(traitlets.Float()).tag(sync=True)
    parameters = traitlets.Dict(value_trait=traitlets.Float()).tag(sync=True)
    picked = traitlets.Unicode("").tag(sync=True)
    t = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, mechanism: Mechanism, run: Run | None = None, **options: Any) -> None:
        self._mechanism = mechanism
        found: LiveScene = scene(mechanism, run, **options)
        self._names = mechanism_names(mechanism).q
        self._bodies = tuple(str(one["name"]) for one in found.data["bodies"])  # type: ignore[attr-defined]
        controls: Sequence[Mapping[str, Any]] = found.data["parameters"]  # type: ignore[assignment]
        values = {str(one["name"]): float(one["value"]) for one in controls}
        home = list(found.data["home"]) if run is None else run.q[0].tolist()  # type: ignore[call-overload]
        self._known_parameters = tuple(values)
        super().__init__(_scene=found.json, q=home, parameters=values)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with the parameters that the picture shows."""
        known = self._mechanism.parameters
        changed = {name: x for name, x in self.parameters.items() if name in known}
        return self._mechanism.with_parameters(**changed) if changed else self._mechanism

    @traitlets.validate("q")  # type: ignore[untyped-decorator]
    def _check_q(self, proposal: Any) -> list[float]:
        values = [float(x) for x in proposal["value"]]
        if len(values) != len(self._names):
            listed = ", ".join(self._names[:6]) + (", …" if len(self._names) > 6 else "")
            raise ArgumentError(
                f"q has {len(values)} numbers; {self._mechanism.name} has {len(self._names)}",
                remedy=f"give {listed}",
            )
        return values

    @traitlets.validate("parameters")  # type: ignore[untyped-decorator]
    def _check_parameters(self, proposal: Any) -> dict[str, float]:
        given = dict(proposal["value"])
        for name in given:
            if name not in self._known_parameters:
                raise NameNotFoundError(
                    f"the live view has no parameter '{name}'",
                    remedy=suggest_remedy(name, list(self._known_parameters)),
                )
        kept = dict(getattr(self, "parameters", {}))
        return {**kept, **{name: float(x) for name, x in given.items()}}

    @traitlets.validate("picked")  # type: ignore[untyped-decorator]
    def _check_picked(self, proposal: Any) -> str:
        name = str(proposal["value"])
        if name and name not in self._bodies:
            raise NameNotFoundError(
                f"unknown body '{name}'", remedy=suggest_remedy(name, list(self._bodies))
            )
        return name
