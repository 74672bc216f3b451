"""What printers receive: functions as tapes, with the meaning of inputs and outputs in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...ports import Port
from ...tape import Op, Tape, count_tape_operations, largest_number_of_live_values
from .safe_names import make_safe_identifier, write_comment_text

REFERENCE_TOLERANCES = {"double": 1e-10, "float": 1e-3}
"""Allowed errors, as shares of an output's largest entry (or of 1): rounding errors grow by a
factor of at most 10⁵ (double) and 10⁴ (float) in well-conditioned states."""

CODE_ENDINGS = ("", "_batch", "_lanes")
"""What printers append to the name of a function for its variants."""


@dataclass(frozen=True)
class PortNote:
    """An input or output in words: its meaning, its units, and names of its entries."""

    port: Port
    name: str
    meaning: str
    units: str
    entries: tuple[str, ...] = ()

    @property
    def entry_names(self) -> list[str]:
        """Names of the entries; those that have none are numbered."""
        if self.entries or not self.port.shape:
            return list(self.entries) or [self.name]
        return [f"{self.name}_{k + 1}" for k in range(self.port.size)]

    @property
    def shape_text(self) -> str:
        """The shape in words: a number, 6 numbers, 6 x 6 matrix by rows."""
        shape = self.port.shape
        if not shape:
            return "a number"
        if shape == (1,):
            return "1 number"
        return f"{shape[0]} numbers" if len(shape) == 1 else f"{shape[0]} x {shape[1]}, by rows"


@dataclass(frozen=True)
class ReferenceValues:
    """One state and the outputs there, computed in ball arithmetic and rounded once."""

    inputs: tuple[tuple[float, ...], ...]
    outputs: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ExportedFunction:
    """A function to export: its quantity, its frame if it has one, its tape, and words about it."""

    quantity: str
    frame: str | None
    tape: Tape
    description: str
    units: str
    identifier: str
    inputs: tuple[PortNote, ...]
    outputs: tuple[PortNote, ...]
    reference: ReferenceValues | None = None

    @property
    def sentence(self) -> str:
        """One sentence for a comment: what the function computes."""
        of_frame = f" (frame {self.frame})" if self.frame else ""
        text = write_comment_text(f"{self.description.replace('`', '')}{of_frame}")
        return f"{text[0].upper()}{text[1:]}."

    @property
    def operation_count(self) -> int:
        """The number of floating-point operations of one call."""
        return count_tape_operations(self.tape)

    @property
    def live_value_count(self) -> int:
        """The largest number of values that are needed at the same time: the size of the stack."""
        return largest_number_of_live_values(self.tape)

    @property
    def used_inputs(self) -> set[int]:
        """The numbers of the inputs that the result depends on."""
        pairs = zip(self.tape.operations, self.tape.operands, strict=True)
        return {operands[0] for op, operands in pairs if op is Op.INPUT}

    @property
    def port_names(self) -> list[str]:
        """Names of inputs, then of outputs, in the code."""
        return [note.name for note in (*self.inputs, *self.outputs)]


@dataclass(frozen=True)
class ExportedCode:
    """Functions of one mechanism, and what the first comment of their files says.

    `stem` is the mechanism's name as an identifier; `origin` says what was derived and by what;
    `notes` are lines about coordinates and parameters.
    """

    stem: str
    origin: str
    notes: tuple[str, ...]
    functions: tuple[ExportedFunction, ...]
    precision: str = "double"

    @property
    def heading(self) -> list[str]:
        """The lines of the first comment of a file, safe in every language."""
        return [write_comment_text(line).rstrip() for line in (self.origin, "", *self.notes)]

    @property
    def tolerance(self) -> float:
        """The error that checks allow, as a share of an output's largest entry."""
        return REFERENCE_TOLERANCES[self.precision]


def name_code_ports(inputs: Sequence[Port], outputs: Sequence[Port]) -> list[str]:
    """Return names of inputs and outputs in the code, all different."""
    found: list[str] = []
    for port in (*inputs, *outputs):
        name = make_safe_identifier(port.name, "x")
        while name in found:
            name += "_"
        found.append(name)
    return found


def describe_port(note: PortNote) -> str:
    """Return one line of a comment about an input or output: meaning, shape, units."""
    meaning = f"{note.meaning}, " if note.meaning else ""
    return write_comment_text(f"{meaning}{note.shape_text} ({note.units})")


def describe_port_meaning(note: PortNote) -> str:
    """Return one sentence about an input or output whose shape is known: meaning and units."""
    meaning = note.meaning or "units"
    return write_comment_text(f"{meaning[0].upper()}{meaning[1:]}: {note.units}.")
