"""Names of the bodies and frames that dual vectors belong to."""

from __future__ import annotations

from collections.abc import Iterable


class FrameNames(tuple[str, ...]):
    """Names that have axes and a velocity, with the mechanism's own names, which are not dual
    symbols: z_hook may be a length."""

    mechanism_names: frozenset[str]

    def __new__(cls, names: Iterable[str], mechanism_names: Iterable[str]) -> FrameNames:
        """The names of frames beside those of parameters, coordinates and actuators."""
        found = super().__new__(cls, tuple(names))
        found.mechanism_names = frozenset(mechanism_names)
        return found
