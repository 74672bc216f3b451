"""Exported C on a Cortex-M4 (QEMU), and the sizes that are reported for microcontrollers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.readings.targets.c_files import write_c_files
from linkwright.readings.targets.exported_code import ExportedCode
from linkwright.writers import measure_code_sizes
from tests.export.target_runs import STRICT, write_files
from tests.export.target_tapes import gallery_code, with_wrong_reference
from tests.export.tools import require_tool, run_tool, run_tool_unchecked

START = """\
#include <stdint.h>

extern void _start(void);
extern char stack_top[];

static void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* enables the FPU */
    _start();
}

__attribute__((section(".vectors"), used)) static const struct {
    char *stack;
    void (*reset)(void);
} vectors = {stack_top, reset};
"""
LINKER_SCRIPT = """\
MEMORY
{
    CODE (rx) : ORIGIN = 0x00000000, LENGTH = 4M
    DATA (rwx) : ORIGIN = 0x20000000, LENGTH = 4M
}
SECTIONS
{
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) KEEP(*(.init)) KEEP(*(.fini)) } > CODE
    .ARM.exidx : { *(.ARM.exidx*) } > CODE
    .data : { *(.data*) } > DATA
    .init_array : { __init_array_start = .; KEEP(*(.init_array*)) __init_array_end = .; } > DATA
    .bss : { __bss_start__ = .; *(.bss*) *(COMMON) __bss_end__ = .; end = .; __end__ = .; } > DATA
    stack_top = ORIGIN(DATA) + LENGTH(DATA);
}
"""
CORTEX_M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")


def run_on_cortex_m4(code: ExportedCode, folder: Path) -> str:
    """What the check prints on the board."""
    compiler, board = require_tool("arm-none-eabi-gcc"), require_tool("qemu-system-arm")
    write_files(folder, {**write_c_files(code)[0], "start.c": START, "board.ld": LINKER_SCRIPT})
    sources = ["start.c", *(f"{code.stem}{part}.c" for part in ("", "_batch", "_check"))]
    options = ["-std=c99", "-O2", *STRICT, *CORTEX_M4, "--specs=rdimon.specs", "-T", "board.ld"]
    run_tool(compiler, *options, *sources, "-lm", "-o", "check.elf", cwd=folder)
    words = ["-machine", "mps2-an386", "-nographic", "-kernel", "check.elf"]
    semihosting = ["-semihosting-config", "enable=on,target=native"]
    return run_tool_unchecked(board, *words, *semihosting, cwd=folder).stdout


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["double", "float"])
def test_code_runs_on_a_microcontroller(precision: str, tmp_path: Path) -> None:
    names = ("elbow", "six-axis", "four-bar")
    code = gallery_code(names, ("inverse_dynamics", "forward_dynamics", "mass_matrix"))
    printed = run_on_cortex_m4(replace(code, precision=precision), tmp_path)
    assert printed.count(": ok") == len(code.functions)
    assert "\n0 failures" in printed


@pytest.mark.slow
def test_a_wrong_value_is_noticed_there_too(tmp_path: Path) -> None:
    code = gallery_code(("elbow",), ("inverse_dynamics", "mass_matrix"))
    printed = run_on_cortex_m4(with_wrong_reference(code), tmp_path)
    assert "elbow_inverse_dynamics: FAILED" in printed
    assert "elbow_mass_matrix: ok" in printed


def test_sizes_grow_with_the_mechanism() -> None:
    """A longer chain has longer code; a function without loops and calls needs little stack."""
    require_tool("gcc")
    short, long = (
        lw.export(lw.gallery(name), to="c", quantities=["inverse_dynamics"])
        for name in ("elbow", "six-axis")
    )
    one, other = (
        next(s for s in measure_code_sizes(made) if s.processor == "this machine")
        for made in (short, long)
    )
    assert one.function == other.function == "inverse_dynamics"
    assert 50 < one.code_bytes < other.code_bytes < 50_000
    assert 0 <= one.stack_bytes <= other.stack_bytes < 5_000


def test_sizes_are_those_of_c() -> None:
    with pytest.raises(
        lw.errors.UnsupportedError, match="sizes can be measured for C, not for numpy"
    ):
        measure_code_sizes(lw.export(lw.gallery("elbow"), to="numpy"))
