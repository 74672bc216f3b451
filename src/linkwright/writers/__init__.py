"""Writers of files: mechanisms in file formats, and their functions as source code."""

from .code_sizes import CodeSize, measure_code_sizes
from .export_target import ExportedFiles
from .exporting import export
from .mechanism_files import (
    FORMAT_WRITERS,
    check_written_file_name,
    save,
    write_mechanism_text,
)

__all__ = [
    "FORMAT_WRITERS",
    "CodeSize",
    "ExportedFiles",
    "check_written_file_name",
    "export",
    "measure_code_sizes",
    "save",
    "write_mechanism_text",
]
