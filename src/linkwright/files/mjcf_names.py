"""Names of the elements of an MJCF file, made unique where they are not here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..mechanism import GROUND
from .unique_names import make_unique_element_name

if TYPE_CHECKING:
    import mujoco


class MjcfNames:
    """The names of all elements: those of the file, unless another element has the name here."""

    def __init__(
        self,
        model: mujoco.MjModel,
        id2name: Callable[[mujoco.MjModel, int, int], str | None],
        kinds: type[mujoco.mjtObj],
    ) -> None:
        self.kinds = kinds
        self.notes: list[str] = []
        self.taken_names = {"BODY": {GROUND}, "JOINT": set[str]()}
        self.final_names = {("BODY", 0): GROUND}
        given: dict[tuple[str, int], str | None] = {}
        counts = {
            "BODY": model.nbody,
            "JOINT": model.njnt,
            "SITE": model.nsite,
            "TENDON": model.ntendon,
            "EQUALITY": model.neq,
            "ACTUATOR": getattr(model, "nactuator", model.nu),
            "KEY": model.nkey,
        }
        for kind, count in counts.items():
            for index in range(1 if kind == "BODY" else 0, count):
                key = getattr(kinds, f"mjOBJ_{kind}")
                given[kind, index] = id2name(model, key, index)
        for (kind, index), name in given.items():
            if name and name not in self.names_taken(kind):
                self.final_names[kind, index] = self.take_new_name(kind, name)
        for kind, index in sorted(given.keys() - self.final_names.keys()):
            self.final_names[kind, index] = self.substitute_name(kind, index, given[kind, index])

    def name(self, kind: str, index: int) -> str:
        """Return the name of an element of the compiled model."""
        return self.final_names[kind, index]

    def names_taken(self, kind: str) -> set[str]:
        """Return the names in use for a kind: sites (frames) share them with bodies, equalities
        with joints; tendons have other names than the joints."""
        shared = {"SITE": "BODY", "EQUALITY": "JOINT"}
        joints = self.taken_names["JOINT"] if kind == "TENDON" else set()
        return self.taken_names.setdefault(shared.get(kind, kind), set(joints))

    def take_new_name(self, kind: str, wanted: str) -> str:
        """Reserve and return a name for an element, lengthened where it is in use."""
        final = make_unique_element_name(wanted, self.names_taken(kind))
        self.names_taken(kind).add(final)
        return final

    def substitute_name(self, kind: str, index: int, name: str | None) -> str:
        """Return a name for an element that has none, or whose name is in use here."""
        what = kind.lower()
        final = self.take_new_name(kind, f"{name}_{what}" if name else f"{what}{index}")
        if name:
            self.notes.append(f"{what} {name}: its name, which is taken here; it is '{final}'")
        return final
