"""Designs of a block that one ensemble can make: they differ in numbers only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..control import made_by
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Mechanism, mechanism_names
from ..simulation.feedback import Feedback
from ..types import Floats, Integers
from .factors import STARTS, FactorValue
from .study_recipe import StudyRecipe


@dataclass(frozen=True, eq=False)
class DesignGroup:
    """Designs with the same texts: rows of a block, and their numbers by table and key.

    `lanes` are places in the block, `texts` the common texts and `numbers` columns, one value for
    each lane.
    """

    recipe: StudyRecipe
    lanes: Integers
    texts: Mapping[tuple[str, str], str]
    numbers: Mapping[tuple[str, str], Floats]

    def __len__(self) -> int:
        """Return the number of designs."""
        return len(self.lanes)

    @cached_property
    def parameters(self) -> dict[str, Floats]:
        """The parameters that differ, one column each."""
        return {key: x for (table, key), x in self.numbers.items() if table == "parameters"}

    @property
    def run_settings(self) -> dict[str, object]:
        """The arguments of `simulate` that all lanes share."""
        given: dict[str, object] = dict(self.recipe.settings.get("run", {}))
        given.pop("control", None)
        chosen = {table: text for (table, key), text in self.texts.items() if not key}
        return {**given, **chosen}

    def start(self, what: str, lane: int | None = None) -> object:
        """Return q0 or qd0: of one lane, or with columns for all."""
        given = self.recipe.settings.get("run", {}).get(what)
        own = self._own(what, lane)
        if not own:
            return given
        mechanism = self.recipe.mechanism
        if isinstance(given, str):
            given = (read_pose if what == "q0" else read_pose_velocities)(mechanism, given).tolist()
        if isinstance(given, list):
            names = mechanism_names(mechanism)
            given = dict(zip(names.q if what == "q0" else names.qd, given, strict=True))
        return {**(given or {}), **own}  # type: ignore[dict-item]

    def _own(self, table: str, lane: int | None) -> dict[str, object]:
        """Return what a table has of its own: texts, and columns or the numbers of one lane."""
        texts: dict[str, object] = {
            k: x for (one, k), x in self.texts.items() if one == table and k
        }
        columns = {k: x for (one, k), x in self.numbers.items() if one == table and k}
        if lane is None:
            return {**texts, **columns}
        return {**texts, **{k: float(x[lane]) for k, x in columns.items()}}

    def torque(self, lane: int | None = None) -> object:
        """Return the inputs: of one lane, or with columns for all."""
        given = self.recipe.settings.get("run", {})
        if given.get("control") is not None:
            if lane is not None:
                return self.controller(lane)
            varies = any(table == "control" for table, _ in self.numbers)
            return [self.controller(k) for k in range(len(self))] if varies else self.controller(0)
        own = self._own("torque", lane)
        torque = given.get("torque")
        if not own:
            return _read_tables(torque)
        if isinstance(torque, list):
            torque = dict(zip(mechanism_names(self.recipe.mechanism).qd, torque, strict=True))
        base = _read_tables(torque)
        return {**(base if isinstance(base, Mapping) else {}), **own}

    def controller(self, lane: int) -> Feedback:
        """Return the controller of one lane; it knows the mechanism with its nominal parameters."""
        given = self.recipe.settings["run"]["control"]
        assert isinstance(given, Mapping)
        return made_by({**given, **self._own("control", lane)}, self.recipe.mechanism)

    def parameters_of(self, lane: int) -> dict[str, float]:
        """Return the parameters of one lane by name."""
        return {name: float(column[lane]) for name, column in self.parameters.items()}

    def mechanism_of(self, lane: int) -> Mechanism:
        """Return the mechanism of one lane."""
        mechanism = self.recipe.mechanism
        return (
            mechanism.with_parameters(**self.parameters_of(lane)) if self.parameters else mechanism
        )

    def factors_of(self, lane: int) -> dict[str, FactorValue]:
        """Return the values of all factors of one lane by name."""
        found: dict[str, FactorValue] = {}
        for one in self.recipe.factors:
            place = one.table, one.key
            found[one.name] = (
                self.texts[place] if place in self.texts else float(self.numbers[place][lane])
            )
        return found

    def slices(self, count: int) -> Iterator[DesignGroup]:
        """Yield the group in parts of at most `count` lanes."""
        for start in range(0, len(self), count):
            yield self.take(slice(start, start + count))

    def take(self, part: slice | Sequence[int]) -> DesignGroup:
        """Return some lanes of the group."""
        numbers = {place: column[part] for place, column in self.numbers.items()}
        return DesignGroup(self.recipe, self.lanes[part], self.texts, numbers)

    @property
    def differs_in_lanes(self) -> bool:
        """Whether something that an ensemble takes differs."""
        return any(
            table in ("parameters", "torque", "control", *STARTS) for table, _ in self.numbers
        )


def _read_tables(torque: object) -> object:
    """Return inputs by name with tables as `simulate` takes them: JSON has lists for tuples."""
    if not isinstance(torque, Mapping):
        return torque
    return {name: tuple(x) if isinstance(x, list) else x for name, x in torque.items()}


def split_groups(recipe: StudyRecipe, columns: Mapping[str, Floats]) -> Iterator[DesignGroup]:
    """Yield the groups of designs, given by the columns of their factors."""
    worded = [one for one in recipe.factors if one.has_text]
    numeric = [one for one in recipe.factors if not one.has_text]
    count = len(next(iter(columns.values())))
    keys = np.zeros((count, len(worded)))
    for k, one in enumerate(worded):
        keys[:, k] = columns[one.name]
    for key in np.unique(keys, axis=0) if worded else keys[:1]:
        lanes = np.flatnonzero((keys == key).all(axis=1))
        texts = {
            (one.table, one.key): str(one.levels[int(number)])
            for one, number in zip(worded, key, strict=True)
        }
        numbers = {(one.table, one.key): columns[one.name][lanes] for one in numeric}
        yield DesignGroup(recipe, lanes, texts, numbers)
