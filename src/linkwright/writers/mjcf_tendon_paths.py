"""Lengths as tendons of MJCF: factors by coordinate, or paths over sites that pulleys join."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ..expressions import expression_to_float
from ..mechanism import Mechanism
from ..mechanism.lengths import Length


@dataclass
class TendonPaths:
    """What a length adds up: paths with their factors, and factors by coordinate."""

    paths: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    factors: dict[str, float] = field(default_factory=dict)

    @property
    def is_tendon(self) -> bool:
        """Whether one tendon can have this length: not paths and coordinates together, and no path
        that counts negatively."""
        return not (self.paths and self.factors) and all(factor > 0 for factor, _ in self.paths)


def read_tendon_paths(mechanism: Mechanism, length: Length) -> TendonPaths:
    """Return the paths and coordinates that a length combines, through other lengths too."""
    found = TendonPaths()
    for factor, name in _path_shares(mechanism, length, 1.0, found):
        found.factors[name] = found.factors.get(name, 0.0) + factor
    return found


def _path_shares(
    mechanism: Mechanism, length: Length, share: float, found: TendonPaths
) -> Iterator[tuple[float, str]]:
    """Yield the coordinates of a length with their factors, and add its paths to `found`."""
    if length.path:
        found.paths.append((share, tuple(length.path)))
    for name, factor in length.factors.items():
        number = share * expression_to_float(factor, mechanism.values)
        if name in mechanism.lengths:
            yield from _path_shares(mechanism, mechanism.lengths[name], number, found)
        else:
            yield number, name


def names_of_bare_branches(mechanism: Mechanism) -> set[str]:
    """Return the paths that are just branches of a combined length, as the reader of MJCF names
    them (rope:1), without an effect or use of their own."""
    used = {actuator.length for actuator in mechanism.actuators.values()}
    for part in (*mechanism.constraints.values(), *mechanism.forces.values()):
        used |= {getattr(part, key, None) for key in ("length", "other", "along")}
    owners: dict[str, set[str]] = {}
    for name, length in mechanism.lengths.items():
        for part_name in length.factors:
            owners.setdefault(part_name, set()).add(name)
    return {
        name
        for name, length in mechanism.lengths.items()
        if length.path
        and length == Length(path=length.path)
        and name not in used
        and owners.get(name) == {name.rpartition(":")[0]}
    }
