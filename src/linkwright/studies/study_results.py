"""`StudyResults`: the results of a study, and single designs made again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import ArgumentError, NameNotFoundError, suggest_remedy
from ..mechanism import Mechanism
from ..simulation.run import Run
from ..types import Booleans, Floats, Integers
from .design_analyses import DESIGN_ANALYSES
from .design_evaluation import FAILED, FINISHED, STOPPED
from .design_groups import DesignGroup, split_groups
from .design_seeds import design_seeds
from .factors import FactorValue
from .lane_models import start_lanes
from .study_recipe import StudyRecipe
from .study_store import MAX_EAGER_BYTES, StudyStore

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, eq=False, repr=False)
class StudyResults(NotebookDisplayed):
    """The results of a study and its single designs; `store` has them, and knows the recipe."""

    store: StudyStore

    @property
    def recipe(self) -> StudyRecipe:
        """The recipe: mechanism, factors, designs, measures, settings."""
        return self.store.recipe

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism with its nominal parameters."""
        return self.recipe.mechanism

    @property
    def factor_names(self) -> list[str]:
        """The names of the factors."""
        return [one.name for one in self.recipe.factors]

    @property
    def measure_names(self) -> list[str]:
        """The names of the measures."""
        return [one.name for one in self.recipe.measures]

    @cached_property
    def data(self) -> xarray.Dataset:
        """Factors, measures, status, seed and message of all designs, with names."""
        return self.store.dataset()

    @property
    def is_complete(self) -> bool:
        """Whether all designs have been made, and none is damaged; results beyond 1 GiB count by
        the markers of their blocks."""
        store, count = self.store, self.recipe.block_count
        if len(store.marked_blocks()) < count:
            return False
        is_large = store.bytes_per_block * count > MAX_EAGER_BYTES
        return is_large or all(map(store.is_sound, range(count)))

    @property
    def is_usable(self) -> Booleans:
        """Which designs have measures: those that finished or stopped, and those that failed in
        some measures only."""
        status = self.data["status"].to_numpy()
        usable = np.isin(status, (FINISHED, STOPPED))
        failed = np.flatnonzero(status == FAILED)
        for name in self.measure_names if failed.size else ():
            values = self.data[name][failed].to_numpy().reshape(failed.size, -1)
            usable[failed] |= np.isfinite(values).any(axis=1)
        return usable

    @property
    def failures(self) -> dict[int, str]:
        """Why designs failed, by index."""
        status, text = self.data["status"].to_numpy(), self.data["message"].to_numpy()
        return {int(k): str(text[k]) for k in np.flatnonzero(status == FAILED)}

    def summary(self) -> str:
        """Return the numbers of designs."""
        found = self.store.summary()
        text = f"Study of {self.mechanism.name}: {found['designs']} of {found['count']} designs"
        return f"{text}, {found['failed']} failed, {found['stopped']} stopped"

    def notebook_table(self) -> NotebookTable:
        """Return the ranges of factors and measures, for a notebook."""
        rows: list[tuple[object, ...]] = []
        for name in (*self.factor_names, *self.measure_names):
            values = self.data[name].to_numpy()
            if values.dtype.kind == "f" and values.ndim == 1 and np.isfinite(values).any():
                known = values[np.isfinite(values)]
                rows.append((name, known.min(), known.mean(), known.max()))
        return NotebookTable(("", "smallest", "mean", "largest"), rows)

    def __str__(self) -> str:
        """Return the numbers of designs, and the ranges of measures."""
        table = self.notebook_table()
        lines = [f"{row[0]}: {row[1]:.6g} … {row[3]:.6g}, mean {row[2]:.6g}" for row in table.rows]
        return "\n".join([self.summary(), *lines])

    # -- single designs --------------------------------------------------------------------------

    def factors_of(self, design: int) -> dict[str, FactorValue]:
        """Return the values of all factors of a `design`."""
        return self._group_of(design).factors_of(0)

    def run(self, design: int) -> Run:
        """Return the motion of a `design`, computed again with all details."""
        group = self._group_of(design)
        seed = int(design_seeds(self.recipe.sampling.seed, design, design + 1)[0])
        found = DESIGN_ANALYSES["run"](group, 0, seed)
        assert isinstance(found, Run)
        return found

    def starts_of(self, designs: Integers) -> tuple[Floats, Floats]:
        """Return q and q̇ where the motions of `designs` begin, one row each; NaN if they do not."""
        numbers = {
            (one.table, one.key): self.numbers(one.name)[designs]
            for one in self.recipe.factors
            if one.is_number
        }
        group = DesignGroup(self.recipe, designs, {}, numbers)
        start = start_lanes(group, group.start("q0"), group.start("qd0"))
        bad = list(start.failures)
        q, qd = np.array(start.q), np.array(start.qd)
        q[bad], qd[bad] = np.nan, np.nan
        return q, qd

    def mechanism_of(self, design: int) -> Mechanism:
        """Return the mechanism of a `design`, with its parameters."""
        return self._group_of(design).mechanism_of(0)

    def _group_of(self, design: int) -> DesignGroup:
        if not 0 <= design < self.recipe.count:
            raise ArgumentError(
                f"unknown design {design}", remedy=f"give one of 0 … {self.recipe.count - 1}"
            )
        return next(split_groups(self.recipe, self.recipe.columns(design, design + 1)))

    def numbers(self, name: str) -> Floats:
        """Return the numbers of the factor or measure `name`, one for each design."""
        if name not in (*self.factor_names, *self.measure_names):
            known = [*self.measure_names, *self.factor_names]
            raise NameNotFoundError(
                f"the study has no '{name}'", remedy=suggest_remedy(name, known)
            )
        values = self.data[name].to_numpy()
        if values.dtype.kind != "f" or values.ndim > 1:
            raise ArgumentError(
                f"'{name}' is not one number for each design", remedy="choose another measure"
            )
        return np.asarray(values, dtype=float)
