"""The functions of a model that are exported: tapes with names, meanings and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..quantities import FRAME_SIGNATURES, quantity_signatures
from ..tape import Tape

if TYPE_CHECKING:
    from ..model.model import Model

DEFAULT_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
"""What is exported if the user names no quantities."""


@dataclass(frozen=True)
class ExportedFunction:
    """A function to export: its quantity, the frame that it belongs to, and its tape."""

    quantity: str
    frame: str | None
    tape: Tape
    description: str
    units: str


def record_exported_functions(
    model: Model, quantities: Sequence[str]
) -> tuple[ExportedFunction, ...]:
    """Record the tapes of the quantities; those of frames are written `placement:tool`."""
    return tuple(_record_exported_function(model, text) for text in quantities)


def _record_exported_function(model: Model, text: str) -> ExportedFunction:
    """Record the tape of one quantity, after its name and its frame are checked."""
    quantity, colon, frame = text.partition(":")
    known = quantity_signatures(model.names)
    if quantity not in known and quantity not in FRAME_SIGNATURES:
        names = [*known, *(f"{name}:FRAME" for name in FRAME_SIGNATURES)]
        raise NameNotFoundError(f"unknown quantity '{text}'", remedy=suggest_remedy(text, names))
    if (quantity in FRAME_SIGNATURES) != bool(colon):
        raise UnsupportedError(
            f"{quantity} {'has no' if colon else 'needs a'} frame",
            remedy=f"write {quantity}" if colon else f"write {quantity}:NAME",
        )
    frames = (frame,) if colon else ()
    signature = (known | FRAME_SIGNATURES)[quantity]
    tape = model.tape(quantity, *frames)
    return ExportedFunction(quantity, frame or None, tape, signature.description, signature.units)
