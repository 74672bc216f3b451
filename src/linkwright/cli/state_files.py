"""Files of states and of results: CSV and NPZ."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..errors import FileError
from ..model.model import Model
from ..ports import Port
from ..quantities import INPUT_SHAPES, quantity_entry_names
from ..types import Floats
from .command_output import write_command_output


def read_states_option(model: Model, wanted: list[Port], path: Path) -> dict[str, Floats]:
    """Reads the inputs of a function from a file of states: whole arrays or columns of an .npz
    file, columns of a .csv file.

    Known inputs that are not wanted are ignored, so that one file serves several quantities.
    """
    columns = (
        _read_npz_option_columns(path) if _is_npz_option(path) else read_csv_option_columns(path)
    )
    inputs = _StatesOptionFile(
        quantity_entry_names(model.names), wanted, columns, path
    ).input_arrays()
    _check_states_option_counts(wanted, inputs, path)
    return inputs


class _StatesOptionFile:
    """Finds the wanted inputs among the named arrays of a file."""

    def __init__(
        self,
        names: dict[str, list[str]],
        wanted: list[Port],
        columns: dict[str, Floats],
        path: Path,
    ) -> None:
        self.names = {key: names[key] for key in INPUT_SHAPES}
        self.wanted = wanted
        self.columns = columns
        self.path = path
        self.npz = _is_npz_option(path)
        self.kind = "array" if self.npz else "column"
        self.entries = [name for port in wanted for name in self.names[port.name]]

    def state_file_error(self, what: str, remedy: str) -> FileError:
        """An error about the file."""
        return FileError(what, where=str(self.path), remedy=remedy)

    def input_arrays(self) -> dict[str, Floats]:
        """The arrays of all wanted inputs by name."""
        self.check_column_names()
        take = self.whole_array if self.has_whole_arrays() else self.stack_columns
        return {port.name: take(port) for port in self.wanted}

    def check_column_names(self) -> None:
        """Refuses names that are unknown or ambiguous."""
        if (twice := _first_repeated_option_column(self.entries)) and twice in self.columns:
            raise self.state_file_error(f"'{twice}' is the name of two inputs", "rename a joint")
        known = {name for names in self.names.values() for name in names}
        known |= set(self.names) if self.npz else set()
        for name in self.columns:
            if name not in known:
                raise self.state_file_error(
                    f"has the unknown {self.kind} '{name}'", self.needed_columns()
                )

    def needed_columns(self) -> str:
        """The remedy that lists the columns or arrays that the file must have."""
        either = f"{', '.join(port.name for port in self.wanted)}, or " if self.npz else ""
        return f"give {either}{', '.join(self.entries)}"

    def has_whole_arrays(self) -> bool:
        """Whether an NPZ file has arrays q, qd, … (and not a column q1 of q that is also q1)."""
        present = [port for port in self.wanted if port.name in self.columns]
        if not self.npz or not present:
            return False
        clear = any(port.name not in self.entries for port in present)
        return clear or (
            len(present) == len(self.wanted) and all(map(self.has_port_shape, present))
        )

    def has_port_shape(self, port: Port) -> bool:
        """Whether the last axes of an array have the shape of an input."""
        shape: tuple[int, ...] = self.columns[port.name].shape
        return shape[max(0, len(shape) - len(port.shape)) :] == port.shape

    def whole_array(self, port: Port) -> Floats:
        """The array of an input that the file has as a whole."""
        names = [port.name for port in self.wanted]
        beside = [n for n in self.names[port.name] if n in self.columns and n not in names]
        if port.name not in self.columns:
            raise self.state_file_error(f"missing array '{port.name}'", self.needed_columns())
        if beside:
            raise self.state_file_error(
                f"has '{beside[0]}' beside '{port.name}'", "give one of them"
            )
        if not self.has_port_shape(port):
            found, shape = self.columns[port.name].shape, ", ".join(map(str, port.shape))
            raise self.state_file_error(f"{port.name} has the shape {found}", f"give (…, {shape})")
        return self.columns[port.name]

    def stack_columns(self, port: Port) -> Floats:
        """The array of an input whose entries are columns of the file."""
        entries = self.names[port.name]
        for name in entries:
            if name not in self.columns:
                raise self.state_file_error(f"missing {self.kind} '{name}'", self.needed_columns())
        several = [self.columns[name] for name in entries]
        for name, one in zip(entries, several, strict=True):
            if one.shape != several[0].shape:
                raise self.state_file_error(
                    f"'{name}' has the shape {one.shape}, '{entries[0]}' {several[0].shape}",
                    "give all the same",
                )
        stacked = np.stack(several, axis=-1)
        return stacked.reshape(stacked.shape[:-1] + port.shape)


def _is_npz_option(path: Path) -> bool:
    """Whether a path has the ending .npz."""
    return path.suffix.lower() == ".npz"


def _first_repeated_option_column(names: Iterable[str]) -> str | None:
    """The first name that occurs twice; None if there is none."""
    return next((name for name, count in Counter(names).items() if count > 1), None)


def _check_states_option_counts(wanted: list[Port], inputs: dict[str, Floats], path: Path) -> None:
    """Refuses inputs with different numbers of states."""
    shapes = {p.name: inputs[p.name].shape[: inputs[p.name].ndim - len(p.shape)] for p in wanted}
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        said = ", ".join(f"{shape} of {name}" for name, shape in shapes.items())
        raise FileError(
            f"the inputs have different numbers of states: {said}",
            where=str(path),
            remedy="give all the same number, or one",
        ) from None


def _read_npz_option_columns(path: Path) -> dict[str, Floats]:
    """Reads the arrays of an .npz file by name."""
    try:
        archive = np.load(path, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise FileError("is a single array", remedy="write it with numpy.savez and names")
        with archive:
            return {key: _check_npz_option_array(key, archive[key]) for key in archive.files}
    except FileError as error:
        raise error.within(str(path)) from None
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    except Exception as error:  # whatever ZIP, zlib and NumPy make of broken bytes
        raise FileError(
            f"cannot be read as NPZ ({str(error) or type(error).__name__})",
            where=str(path),
            remedy="write it with numpy.savez",
        ) from None


def _check_npz_option_array(key: str, array: object) -> Floats:
    """Refuse an array that does not hold real numbers."""
    if getattr(array, "dtype", np.dtype(object)).kind not in "fiub":
        kind = getattr(array, "dtype", "no numbers")
        raise FileError(f"the array '{key}' is of {kind}", remedy="give real numbers")
    return np.asarray(array, dtype=float)


def read_csv_option_columns(path: Path) -> dict[str, Floats]:
    """Reads the columns of a .csv file by the names in its first row."""
    try:
        reader = csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline=""))
        rows = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", where=str(path)) from None
    except UnicodeDecodeError:
        raise FileError("is not UTF-8 text", where=str(path), remedy="give CSV or .npz") from None
    except csv.Error as error:
        where = f"{path}, line {reader.line_num}"
        raise FileError(f"is not valid CSV: {error}", where=where) from None
    if len(rows) < 2:
        raise FileError("has no rows", where=str(path), remedy="give a header and a row a state")
    head = [cell.strip() for cell in rows[0][1]]
    if twice := _first_repeated_option_column(head):
        raise FileError(f"has the column '{twice}' twice", where=str(path), remedy="give it once")
    for line, row in rows[1:]:
        if len(row) != len(head):
            raise FileError(f"has {len(row)} cells, not {len(head)}", where=f"{path}, row {line}")
    data = np.array(
        [_read_csv_option_row(row, head, f"{path}, row {line}") for line, row in rows[1:]]
    )
    return {name: data[:, k] for k, name in enumerate(head)}


def _read_csv_option_row(row: list[str], head: list[str], where: str) -> list[float]:
    """Reads the numbers of one row."""
    numbers = []
    for cell, name in zip(row, head, strict=True):
        try:
            numbers.append(float(cell))
        except ValueError:
            shown = cell if len(cell) < 40 else f"{cell[:39]}…"
            raise FileError(
                f"'{shown}' under {name} is not a number", where=where, remedy="give a number in SI"
            ) from None
    return numbers


def write_results_output(
    model: Model, outputs: list[Port], named: dict[str, Floats], path: Path
) -> None:
    """Write arrays by name to an .npz file, or a row for each state to a .csv file."""
    if _is_npz_option(path):
        buffer = io.BytesIO()
        np.savez(buffer, **named)  # type: ignore[arg-type]
        write_command_output(path, buffer.getvalue())
        return
    names = quantity_entry_names(model.names)
    head: list[str] = []
    for port in outputs:
        indices = [",".join(str(i + 1) for i in index) for index in np.ndindex(*port.shape)]
        head += names.get(port.name) or [f"{port.name}[{i}]" if i else port.name for i in indices]
    table = np.hstack([named[port.name].reshape(-1, port.size) for port in outputs])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([[repr(float(x)) for x in row] for row in table])
    write_command_output(path, text.getvalue())
