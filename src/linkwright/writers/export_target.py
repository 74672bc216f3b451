"""The parts of an export: the request, the target that answers it, and the files it writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..displays import SummarizedResult
from ..errors import FileError
from ..files.file_formats import format_of_file_name
from ..files.partial_files import partial_file_name
from ..mechanism import Mechanism
from ..readings.targets.exported_code import ExportedCode, ExportedFunction
from ..readings.targets.safe_names import make_safe_identifier
from .exported_functions import collect_exported_code, record_exported_functions
from .mechanism_files import FORMAT_WRITERS, check_written_file_name

if TYPE_CHECKING:
    from ..model.model import Model


@dataclass(frozen=True)
class ExportRequest:
    """What is exported, and the choices of the user.

    `make_model` compiles or derives nothing before it is called; `quantities` are names, with a
    frame after a colon (`placement:tool`); `precision` is "double" or "float".
    """

    mechanism: Mechanism
    make_model: Callable[[], Model]
    quantities: tuple[str, ...]
    precision: str = "double"

    @property
    def file_stem(self) -> str:
        """The mechanism's name as a name of files and identifiers."""
        return make_safe_identifier(self.mechanism.name)

    @cached_property
    def model(self) -> Model:
        """The model whose functions are exported."""
        return self.make_model()

    @cached_property
    def functions(self) -> tuple[ExportedFunction, ...]:
        """The functions of the quantities, as tapes with their documentation."""
        return record_exported_functions(self.model, self.quantities, self.precision)

    @cached_property
    def code(self) -> ExportedCode:
        """The functions with all that a printer of source code needs."""
        return collect_exported_code(self.model, self.functions, self.precision)


@dataclass(frozen=True, repr=False)
class ExportedFiles(SummarizedResult):
    """The files of one export, what the target cannot hold, and how to use the files.

    `target` is the language or format. `files` maps names to texts or bytes; if `is_folder`, `save`
    writes them to a folder. `lost` lists what the target cannot hold. `usage` says how to compile
    or call the files. `operations` are the numbers of operations of one call of each function.

    Examples
    --------
    >>> import linkwright as lw
    >>> print(lw.export(lw.gallery("elbow"), to="urdf").files["elbow.urdf"][:21])
    <?xml version="1.0"?>
    """

    target: str
    files: Mapping[str, str | bytes]
    lost: tuple[str, ...] = ()
    usage: str = ""
    is_folder: bool = False
    operations: Mapping[str, int] = field(default_factory=dict)

    def summary(self) -> str:
        """Return one line: the target, and the names of the files."""
        return f"Export to {self.target}: {', '.join(self.files)}"

    def __str__(self) -> str:
        sizes = [f"  {name}: {len(content):,} characters" for name, content in self.files.items()]
        return "\n".join([self.summary(), *sizes, *([self.usage] if self.usage else [])])

    def save(self, path: str | Path) -> list[Path]:
        """Write the files, all of them or none.

        Parameters
        ----------
        path : str or Path
            The file to write; the folder where the target writes several files (it is created).

        Returns
        -------
        list of Path
            What was written.
        """
        target = Path(path)
        if not self.is_folder:
            name, content = next(iter(self.files.items()))
            if target.is_dir():
                remedy = f"name a file, such as {target / name}"
                raise FileError("is a folder", where=str(target), remedy=remedy)
            self._check_file_name(target)
            return _write_files_together({target: content})
        if target.exists() and not target.is_dir():
            raise FileError("is a file", where=str(target), remedy="name a folder")
        return _write_files_together({target / name: text for name, text in self.files.items()})

    def _check_file_name(self, path: Path) -> None:
        """Raise where `load` would read a file of this name as a mechanism of another format."""
        if self.target in FORMAT_WRITERS:
            check_written_file_name(path, self.target)
        elif format_of_file_name(path.name.lower()) is not None:
            ending = Path(next(iter(self.files))).suffix
            raise FileError(
                f"is not a file name for {self.target}",
                where=str(path),
                remedy=f"let it end in {ending}",
            )


def _write_files_together(contents: Mapping[Path, str | bytes]) -> list[Path]:
    """Write all files under hidden names first, then rename them."""
    for at in contents:
        if not at.name or os.path.isdir(at):
            raise FileError("is a folder", where=str(at), remedy="name a file")
    partials: dict[Path, Path] = {}
    at = next(iter(contents))
    try:
        for at, content in contents.items():
            if len(contents) > 1:
                at.parent.mkdir(parents=True, exist_ok=True)
            partials[at] = partial_file_name(at)
            data = content.encode() if isinstance(content, str) else content
            partials[at].write_bytes(data)
        for at, partial in partials.items():
            partial.replace(at)
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(at)) from None
    except ValueError:
        raise FileError("is not a valid file name", where=repr(str(at))) from None
    finally:
        for partial in partials.values():
            with suppress(OSError):
                partial.unlink(missing_ok=True)
    return list(contents)


@dataclass(frozen=True)
class ExportTarget:
    """A row of the table of targets.

    `write` answers a request; `options` are the options of `export` that the target uses (the
    others are refused); `is_folder` says whether it writes several files.
    """

    name: str
    description: str
    write: Callable[[ExportRequest], ExportedFiles]
    options: frozenset[str] = frozenset()
    is_folder: bool = False
