"""Tapes and programs as WebAssembly modules, written as bytes without a toolchain."""

from .program_function import WasmWriter

__all__ = ["WasmWriter"]
