"""Exports of motions: WebAssembly modules and FMUs, which contain integrators."""
