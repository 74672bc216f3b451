"""Kinks of tables: the times at which a table continues with another polynomial."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from ..time_tables import SAME_TIME_SHARE, TimeTable


@dataclass(frozen=True)
class TableKinks:
    """The kinks of all tables of an input; they change neither the state nor the mode."""

    tables: tuple[TimeTable, ...]

    def next_time(self, t: float, end: float) -> float:
        """Return the first kink after t, or the end."""
        found = end
        for table in self.tables:
            k = bisect_right(table.times, t + SAME_TIME_SHARE * max(1.0, abs(t)))
            found = min(found, *table.times[k : k + 1], found)
        return found
