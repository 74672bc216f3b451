"""The layout of Zarr 3: metadata as JSON, and a block as one chunk of each array, plain numbers.

Any reader of Zarr opens the results; writing them needs no package, so that a worker has less to
install and a block less to wait for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES: dict[str, tuple[str, int | str]] = {
    "<f8": ("float64", "NaN"),
    "|u1": ("uint8", 0),
    "<u8": ("uint64", 0),
    "<i4": ("int32", -1),
}
"""By NumPy's type, Zarr's name and the value of what has not been written."""


@dataclass(frozen=True)
class ZarrArray:
    """One array of the store: its shape, its chunks and its names.

    Attributes
    ----------
    name : str
        The name of the variable.
    shape, chunks : tuple of int
        The shapes of the array and of a chunk.
    dimensions : tuple of str
        The names of its dimensions.
    kind : str
        NumPy's name of the type.
    attributes : mapping
        Units and descriptions.
    """

    name: str
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dimensions: tuple[str, ...]
    kind: str = "<f8"
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def metadata(self) -> dict[str, object]:
        """Return the content of the array's zarr.json."""
        kind, fill = _TYPES[self.kind]
        codec: dict[str, Any] = {"name": "bytes"}
        if self.kind != "|u1":
            codec["configuration"] = {"endian": "little"}
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": kind,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(self.chunks)}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": fill,
            "codecs": [codec],
            "attributes": dict(self.attributes),
            "dimension_names": list(self.dimensions),
            "storage_transformers": [],
        }

    def chunk_key(self, block: int) -> str:
        """Return the key of the chunk of a block."""
        rest = "/0" * (len(self.shape) - 1)
        return f"{self.name}/c/{block}{rest}"

    @property
    def fill(self) -> float | int:
        """The value of what has not been written."""
        value = _TYPES[self.kind][1]
        return value if isinstance(value, int) else float("nan")

    @property
    def chunk_bytes(self) -> int:
        """The size of a chunk."""
        return int(np.prod(self.chunks)) * np.dtype(self.kind).itemsize

    def encode(self, values: NDArray[Any]) -> bytes:
        """Return a chunk with these first rows; the rest of the last one is the fill value."""
        chunk = np.full(self.chunks, self.fill, self.kind)
        chunk[: len(values)] = values
        return chunk.tobytes()

    def decode(self, content: bytes, rows: int) -> NDArray[Any]:
        """Return the first rows of a chunk."""
        return np.frombuffer(content, self.kind).reshape(self.chunks)[:rows]


def group_metadata(arrays: list[ZarrArray], attributes: Mapping[str, object]) -> bytes:
    """Return the zarr.json of the group, with the metadata of all arrays."""
    inside = {one.name: one.metadata() for one in arrays}
    data = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": dict(attributes),
        "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": inside},
    }
    return json.dumps(data, indent=1, allow_nan=False).encode()
