"""Reader of xacro files through the package xacro (extra `[ros]`), which expands them to URDF.

xacro evaluates the Python expressions that a file contains: `${…}` with few functions, but
`$(eval …)` with all built-in ones. It runs here in a process of its own, which has a limited
processor time; that does not protect against a hostile file.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..errors import (
    FileError,
    LinkwrightError,
    MissingExtraError,
    NameNotFoundError,
    suggest_remedy,
)
from ..mechanism import Mechanism
from ..processes.timed_worker import BudgetExceededError, TimedWorkerProcess
from .urdf_reader import read_urdf
from .xml_reader import read_xml

_MAX_EXPANSION_SECONDS = 60.0
"""Processor time that xacro may take: large robots take a second."""


def read_xacro(
    path: Path,
    base: str = "fixed",
    density: object = None,
    arguments: Mapping[str, str] | None = None,
) -> Mechanism:
    """Return the mechanism in a xacro file; `arguments` are those that it declares by
    <xacro:arg>."""
    try:
        import xacro  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "xacro files are expanded by the package xacro, which is not installed",
            remedy="pip install 'linkwright[ros]', or expand the file elsewhere and load the URDF",
        ) from None
    values = {str(key): str(value) for key, value in (arguments or {}).items()}
    try:
        with TimedWorkerProcess() as worker:
            text = worker.call_within(
                expand_xacro, path.resolve(), values, seconds=_MAX_EXPANSION_SECONDS
            )
    except BudgetExceededError as error:
        raise FileError(
            f"xacro {error.what}", remedy="look for a macro that calls itself without end"
        ) from None
    return read_urdf(text, base, path, density)


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Return the URDF text of a xacro file. It changes modules: call it in a process of its own."""
    import xacro

    read_xml(path.read_bytes())  # no DTD, no entities, within limits
    _provide_package_folders(path.parent)
    try:
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            document = xacro.process_file(str(path), mappings=dict(arguments))
        _check_argument_names([path, *map(Path, xacro.all_includes)], arguments)
        return str(document.toxml())
    except Exception as error:  # its own errors, and all that expressions may raise
        own = next((e for e in _chain_of_errors(error) if isinstance(e, LinkwrightError)), None)
        if own is not None:
            raise own from None
        raise _refusal_of_xacro(error) from None


def _refusal_of_xacro(error: Exception) -> FileError:
    """Return an error of xacro as an error of Linkwright, with what to do about it."""
    causes = list(_chain_of_errors(error))
    missing = next((e.filename for e in causes if isinstance(e, FileNotFoundError)), None)
    if missing:
        return FileError(
            f"the included file '{missing}' is not found", remedy="correct its path in the file"
        )
    if any(isinstance(e, RecursionError) for e in causes):
        return FileError("a macro calls itself without end", remedy="give it a condition")
    what = " ".join(str(error).split()) or type(error).__name__
    undefined = re.search(r"Undefined substitution argument (\S+)", what)
    remedy = "correct the file; xacro names no line"
    if undefined:
        name = undefined[1]
        remedy = f"give it: load(…, arguments={{'{name}': …}}), or --arg {name}=…"
    return FileError(f"xacro refuses it: {what[:300]}", remedy=remedy)


_ARGUMENT_NAME = re.compile(
    r"""<xacro:arg\s[^>]*?name\s*=\s*["']([^"']+)["']|\$\(arg\s+([^)\s]+)"""
)
"""Where a file declares or uses an argument."""


def _check_argument_names(paths: Sequence[Path], arguments: Mapping[str, str]) -> None:
    """Raise an error if an argument is given that no file declares or uses; xacro ignores it."""
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
    known = sorted({a or b for text in texts for a, b in _ARGUMENT_NAME.findall(text)})
    for name in arguments:
        if name not in known:
            raise NameNotFoundError(
                f"the file has no argument '{name}'",
                where="arguments",
                remedy=suggest_remedy(name, known) if known else "leave it out: there are none",
            )


def _chain_of_errors(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those during which it was raised."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def find_ros_package(name: str, folder: Path) -> str:
    """Return the folder of a ROS package, searched in all folders above a file."""
    for above in (folder, *folder.parents):
        if above.name == name:
            return str(above)
        if (above / name).is_dir():
            return str(above / name)
        manifest = above / "package.xml"
        if manifest.is_file():
            own = read_xml(manifest.read_bytes()).first_child("name")
            if own is not None and own.text.strip() == name:
                return str(above)
    raise FileError(
        f"the ROS package '{name}' is not found in the folders above the file",
        remedy="put its folder beside that of this file's package",
    )


def _provide_package_folders(folder: Path) -> None:
    """Let `$(find package)` work without ROS: xacro asks a package that only ROS installs."""
    try:
        import ament_index_python.packages  # noqa: F401
    except ImportError:
        index = types.ModuleType("ament_index_python")
        packages = types.ModuleType("ament_index_python.packages")
        packages.get_package_share_directory = lambda name: find_ros_package(  # type: ignore[attr-defined]
            name, folder
        )
        index.packages = packages  # type: ignore[attr-defined]
        sys.modules |= {index.__name__: index, packages.__name__: packages}
