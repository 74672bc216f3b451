"""The recipe of a study: everything that its results depend on, as data that travels.

A worker needs the recipe and the number of a block, nothing else. Machine code does not travel:
each machine derives and compiles the mechanism into its own cache.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..errors import ArgumentError, FileError, LinkwrightError
from ..files import load
from ..mechanism import Mechanism
from ..simulation.feedback import NOT_KEPT
from ..simulation.provenance import StoredSetting, stored_form
from ..types import Floats
from ..writers import write_mechanism_text
from .factors import Factor
from .measures import Measure
from .sampling_methods import Sampling

FORMAT = 1
"""The version of the layout of study folders."""

RunSettings = dict[str, StoredSetting]
"""Keyword arguments of an analysis."""


@dataclass(frozen=True)
class StudyRecipe:
    """A study as data.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    factors : tuple of Factor
        What differs.
    sampling : Sampling
        How designs are chosen.
    measures : tuple of Measure
        What is kept of each design.
    settings : mapping
        By analysis ("run", "linearize", …) the arguments that all designs share.
    sizes : mapping
        By measure the shape of its value: () of a number, (n,) of a vector or history.
    block : int
        Designs in a block.
    pilot : int
        A design that has all measures; the store does not keep it.
    """

    mechanism: Mechanism
    factors: tuple[Factor, ...]
    sampling: Sampling
    measures: tuple[Measure, ...]
    settings: Mapping[str, RunSettings]
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    histories: Mapping[str, list[float]] = field(default_factory=dict)
    """By measure that is a history, its times."""
    block: int = 0
    pilot: int = 0

    @property
    def count(self) -> int:
        """The number of designs."""
        return self.sampling.count

    @property
    def block_count(self) -> int:
        """The number of blocks."""
        return -(-self.count // self.block)

    def block_range(self, block: int) -> tuple[int, int]:
        """Return the first design of a block, and that after its last."""
        return block * self.block, min(self.count, (block + 1) * self.block)

    def columns(self, start: int, stop: int) -> dict[str, Floats]:
        """Return the values of the factors of some designs; for texts the numbers of levels."""
        return self.sampling.columns(self.factors, start, stop)

    def dimension_name(self, measure: str) -> str:
        """Return the name of the second dimension of a measure with several values."""
        return f"{measure}_time" if measure in self.histories else f"{measure}_entry"

    @cached_property
    def text(self) -> str:
        """The recipe as JSON, with its checksum."""
        data = self.to_json()
        data["checksum"] = _checksum_of(data)
        return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)

    @cached_property
    def digest(self) -> str:
        """The digest of all that results depend on; not of the size of blocks."""
        data = self.to_json()
        del data["block"]
        return _checksum_of(data)

    def to_json(self) -> dict[str, object]:
        """Return the recipe as data."""
        return {
            "format": FORMAT,
            "mechanism": write_mechanism_text(self.mechanism, "toml")[0],
            "digest": self.mechanism.digest,
            "factors": [one.to_json() for one in self.factors],
            "sampling": vars(self.sampling),
            "measures": [one.to_json() for one in self.measures],
            "settings": {name: dict(given) for name, given in self.settings.items()},
            "sizes": {name: list(size) for name, size in self.sizes.items()},
            "histories": dict(self.histories),
            "block": self.block,
        }

    @classmethod
    def from_text(cls, text: str, where: str) -> StudyRecipe:
        """Return the recipe of a study's file."""
        try:
            data = json.loads(text)
            checksum = data.pop("checksum", None)  # older versions wrote none
            if data["format"] != FORMAT:
                raise FileError(
                    f"the study has format {data['format']}, this version reads {FORMAT}",
                    where=where,
                    remedy="use the version of Linkwright that made it",
                )
            if type(data["block"]) is not int or data["block"] < 1:
                raise ValueError
            mechanism = load(data["mechanism"])
            recipe = cls(
                mechanism,
                tuple(map(Factor.from_json, data["factors"])),
                Sampling(**data["sampling"]),
                tuple(map(Measure.from_json, data["measures"])),
                data["settings"],
                {name: tuple(size) for name, size in data["sizes"].items()},
                data["histories"],
                data["block"],
            )
        except FileError:
            raise
        except (LinkwrightError, ValueError, KeyError, TypeError, AttributeError):
            raise FileError(
                "study.json is damaged",
                where=where,
                remedy="restore it, or begin the study again in another folder",
            ) from None
        if mechanism.digest != data["digest"]:
            raise FileError(
                "the mechanism in study.json is not the one of its digest: one of them was changed",
                where=where,
                remedy="restore study.json, or begin the study again in another folder",
            )
        if checksum not in (None, _checksum_of(data)):
            raise FileError(
                "study.json was changed after the study began: its checksum differs",
                where=where,
                remedy="restore study.json, or begin the study again in another folder",
            )
        return recipe


def _checksum_of(data: Mapping[str, object]) -> str:
    """Return the SHA-256 of all that study.json says."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def check_settings(name: str, given: Mapping[str, object]) -> RunSettings:
    """Return the arguments of an analysis as a file stores them, without Python functions."""
    found: RunSettings = {}
    for key, value in given.items():
        if value is None:
            continue
        kept = stored_form(value)
        if NOT_KEPT in json.dumps(kept):
            raise ArgumentError(
                f"{key} of the {name} cannot be sent to workers: {type(value).__name__}",
                remedy="give numbers, expressions, tables, or control={…} for a controller",
            )
        found[key] = kept
    return found
