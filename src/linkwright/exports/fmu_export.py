"""The export of a mechanism as a functional mock-up unit (FMU)."""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import uuid
import zipfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import LinkwrightError
from ..expressions import names_in_expression
from ..formulations import derive
from ..mechanism import Mechanism
from ..readings.targets.safe_names import make_safe_identifier
from ..simulation.exported_motion import ExportedMotion
from ..simulation.start import home_state
from ..writers.export_target import ExportedFiles, ExportRequest
from .fmu_description import write_element, write_fmi2_description, write_fmi3_description
from .fmu_source import write_fmu_source
from .fmu_variables import FmuVariables

COMPILER_FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden")

COMPILER_SECONDS = 600
"""After this time the compiler is ended; the largest gallery mechanism takes some ten seconds."""

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
"""Date of the files inside an FMU, so that equal mechanisms have equal FMUs."""


@dataclass(frozen=True)
class FmuVersion:
    """A version of FMI: how its parts are named and written."""

    name: str
    number: str

    @property
    def is_third(self) -> bool:
        """Whether this is FMI 3.0."""
        return self.name == "fmi3"

    def binary_folder(self) -> str:
        """Return the folder of binaries for this machine."""
        machine = platform.machine().lower()
        is_arm = machine in ("arm64", "aarch64")
        system = {"darwin": "darwin", "win32": "windows"}.get(sys.platform, "linux")
        if self.is_third:
            return f"{'aarch64' if is_arm else 'x86_64'}-{system}"
        return {"darwin": "darwin64", "windows": "win64"}.get(system, "linux64")


FMI2, FMI3 = FmuVersion("fmi2", "2.0"), FmuVersion("fmi3", "3.0")


def write_fmu_export(request: ExportRequest, version: str) -> ExportedFiles:
    """Return the FMU of a mechanism; `version` is "fmi2" or "fmi3".

    Parameters of the FMU are those that the user chose (default: all on which the equations
    depend). Parameters that the mechanism computes from others change with them.
    """
    own = FMI3 if version == FMI3.name else FMI2
    mechanism = request.mechanism
    model = request.model
    parameters = model.parameters or _independent_parameters(mechanism)
    motion = ExportedMotion(mechanism, parameters, by=model.equations.by)
    variables = FmuVariables(mechanism, motion, home_state(mechanism, model))
    stem = make_safe_identifier(mechanism.name)
    token = _write_token(mechanism.digest, own, parameters)
    describe = write_fmi3_description if own.is_third else write_fmi2_description
    source = write_fmu_source(mechanism.name, token, variables, own.name)
    contents: dict[str, str | bytes] = {
        "modelDescription.xml": describe(mechanism.name, stem, token, variables),
        f"sources/{stem}.c": source,
    }
    if own.is_third:
        contents["sources/buildDescription.xml"] = _write_build_description(stem)
    binary = compile_fmu_source(source, stem)
    lost = []
    trial = "try it with: fmpy simulate FILE.fmu"
    if binary is None:
        lost.append("a binary: no C compiler was found (cc, or $CC); importers must compile it")
        trial = "where there is a C compiler: fmpy compile FILE.fmu"
    else:
        ending = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
        contents[f"binaries/{own.binary_folder()}/{stem}.{ending}"] = binary
    usage = f"FMI {own.number}, model exchange and co-simulation; {trial}\n"
    return ExportedFiles("fmu", {f"{stem}.fmu": _write_archive(contents)}, tuple(lost), usage)


def _independent_parameters(mechanism: Mechanism) -> tuple[str, ...]:
    """The parameters on which the equations of motion depend, and which depend on no others."""
    own = mechanism.parameters
    uses = {name: [x for x in names_in_expression(own[name]) if x in own] for name in own}
    pending = [name for name in derive(mechanism, by="recursive").parameters if name in own]
    effective: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in effective:
            effective.add(name)
            pending += uses[name]
    return tuple(name for name in own if name in effective and not uses[name])


def _write_token(digest: str, version: FmuVersion, parameters: tuple[str, ...]) -> str:
    """The identifier that ties the description to the code; the same for the same mechanism."""
    text = "\n".join([digest, version.name, *parameters])
    return f"{{{uuid.uuid5(uuid.NAMESPACE_URL, text)}}}"


def _write_build_description(stem: str) -> str:
    """The description from which importers compile the sources (FMI 3.0)."""
    files = write_element(
        "SourceFileSet", [write_element("SourceFile", name=f"{stem}.c")], language="C99"
    )
    configuration = write_element("BuildConfiguration", [files], modelIdentifier=stem)
    root = write_element("fmiBuildDescription", [configuration], fmiVersion="3.0")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'


def find_c_compiler() -> str | None:
    """Return the C compiler of this machine: $CC, or cc; None on Windows or if there is none."""
    if sys.platform == "win32":
        return None
    return shutil.which(os.environ.get("CC", "")) or shutil.which("cc")


def compile_fmu_source(source: str, stem: str) -> bytes | None:
    """Return the shared library of a source; None if no C compiler is found."""
    compiler = find_c_compiler()
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, f"{stem}.c").write_text(source, encoding="utf-8")
        command = [compiler, *COMPILER_FLAGS, f"{stem}.c", "-o", "model.bin", "-lm"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=COMPILER_SECONDS
        )
        if done.returncode:
            raise LinkwrightError(
                f"the C compiler {compiler} failed: {done.stderr.strip()[:300]}",
                remedy="set CC to a C99 compiler",
            )
        return Path(folder, "model.bin").read_bytes()


def _write_archive(contents: dict[str, str | bytes]) -> bytes:
    """Return the ZIP archive of an FMU."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            entry = zipfile.ZipInfo(name, _FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()
