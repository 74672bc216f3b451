"""`linkwright evaluate`: numbers for one state, or for a file of states."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import model as models
from ..errors import FileError, LinkwrightError, NameNotFoundError, suggest
from ..expressions import parse, to_float
from ..mechanism import Mechanism
from ..model import Model
from ..quantities import FRAME_SIGNATURES, SIGNATURES, entry_names, ports
from ..tape import Port
from .show import write_file


def run(
    mechanism: Mechanism,
    quantity: str,
    words: list[str],
    states: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    known = [*SIGNATURES, *FRAME_SIGNATURES]
    if quantity not in known:
        raise NameNotFoundError(
            f"there is no quantity '{quantity}'", remedy=suggest(quantity, known)
        )
    given = dict(_assignments(words))
    frame = given.pop("frame", None)
    if (quantity in FRAME_SIGNATURES) != (frame is not None):
        raise LinkwrightError(
            f"{quantity} {'needs' if frame is None else 'has no'} frame",
            remedy="add frame=NAME" if frame is None else "leave it out",
        )
    model = models.compile(mechanism)
    wanted, found = ports(model.names, quantity)
    inputs = _from_file(model, wanted, states) if states else _from_words(model, wanted, given)
    function = getattr(model, quantity)(frame) if frame else getattr(model, quantity)
    with np.errstate(all="ignore"):
        results = function(*inputs.values())
    several = results if isinstance(results, tuple) else (results,)
    named = {port.name: np.asarray(r) for port, r in zip(found, several, strict=True)}
    if output is not None:
        _write(model, found, named, output)
    elif as_json:
        print(json.dumps({key: value.tolist() for key, value in named.items()}))
    else:
        _print(named)


def _assignments(words: list[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise LinkwrightError(f"'{word}' is no input", remedy="write q=0.1,0.2 and the like")
        yield key, value


def _from_words(model: Model, wanted: list[Port], given: dict[str, str]) -> dict[str, Any]:
    known = [port.name for port in wanted]
    for key in given:
        if key not in known:
            raise NameNotFoundError(f"'{key}' is no input", remedy=suggest(key, known))
    inputs = {}
    for port in wanted:
        if port.name not in given:
            raise LinkwrightError(
                f"the input {port.name} is missing",
                remedy=f"add {port.name}= and {port.size} numbers",
            )
        numbers = [to_float(parse(_spaced(n))) for n in given[port.name].split(",")]
        if len(numbers) != port.size:
            names = ", ".join(entry_names(model.names)[port.name])
            raise LinkwrightError(
                f"{port.name} has {len(numbers)} numbers", remedy=f"give {port.size}: {names}"
            )
        inputs[port.name] = np.array(numbers).reshape(port.shape)
    return inputs


def _spaced(number: str) -> str:
    """`90deg` as `90 deg`."""
    head = number.rstrip("abcdefghijklmnopqrstuvwxyz")
    tail = number[len(head) :]
    return f"{head} {tail}" if head and head[-1].isdigit() and tail not in ("", "e") else number


def _from_file(model: Model, wanted: list[Port], path: Path) -> dict[str, Any]:
    names = entry_names(model.names)
    columns = _read_npz(path) if path.suffix == ".npz" else _read_csv(path)
    inputs = {}
    for port in wanted:
        if port.name in columns:
            array = columns[port.name]
            if array.shape[array.ndim - len(port.shape) :] != port.shape:
                raise FileError(
                    f"{port.name} has the shape {array.shape}", where=str(path),
                    remedy=f"give (…, {', '.join(map(str, port.shape))})",
                )  # fmt: skip
            inputs[port.name] = array
            continue
        missing = [name for name in names[port.name] if name not in columns]
        if missing:
            raise FileError(
                f"there is no column '{missing[0]}'", where=str(path),
                remedy=f"{port.name} needs {', '.join(names[port.name])}",
            )  # fmt: skip
        stacked = np.stack([columns[name] for name in names[port.name]], axis=-1)
        inputs[port.name] = stacked.reshape(stacked.shape[:-1] + port.shape)
    return inputs


def _read_npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: np.asarray(archive[key], dtype=float) for key in archive.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise FileError(f"cannot be read as NPZ: {error}", where=str(path)) from None


def _read_csv(path: Path) -> dict[str, Any]:
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"cannot be read: {error}", where=str(path)) from None
    rows = [row for row in rows if row]
    if len(rows) < 2:
        raise FileError("has no rows", where=str(path), remedy="give a header and a row a state")
    head = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head):
            raise FileError(f"has {len(row)} cells, not {len(head)}", where=f"{path}, row {number}")
    try:
        data = np.array(rows[1:], dtype=float)
    except ValueError as error:
        raise FileError(f"has a cell that is no number: {error}", where=str(path)) from None
    return {name: data[:, k] for k, name in enumerate(head)}


def _write(model: Model, outputs: list[Port], named: dict[str, Any], path: Path) -> None:
    if path.suffix == ".npz":
        buffer = io.BytesIO()
        np.savez(buffer, **named)
        write_file(path, buffer.getvalue())
        return
    if path.suffix != ".csv":
        raise FileError(
            f"'{path.suffix}' cannot be written", where=str(path), remedy="use .csv or .npz"
        )
    names = entry_names(model.names)
    head: list[str] = []
    for port in outputs:
        indices = [",".join(str(i + 1) for i in index) for index in np.ndindex(*port.shape)]
        head += names.get(port.name) or [f"{port.name}[{i}]" if i else port.name for i in indices]
    table = np.hstack([named[port.name].reshape(-1, port.size) for port in outputs])
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([[repr(float(x)) for x in row] for row in table])
    write_file(path, text.getvalue())


def _print(named: dict[str, Any]) -> None:
    for key, value in named.items():
        text = np.array2string(value, precision=10, suppress_small=False, max_line_width=120)
        print(f"{key} =\n{text}" if "\n" in text else f"{key} = {text}")
