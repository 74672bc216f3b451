"""Every target on the same tapes: what its code computes is what ball arithmetic gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.readings.targets.exported_code import ExportedCode
from linkwright.readings.targets.tape_statements import used_tape_operations
from linkwright.tape import Op
from tests.export.target_runs import C_VARIANTS, TARGETS
from tests.export.target_tapes import (
    FAST_GALLERY,
    gallery_code,
    graphs_code,
    operations_code,
    with_wrong_reference,
)

SLOW_TARGETS = ("matlab", "rust", "cpp")
"""Targets whose compiler or interpreter takes seconds."""

each_target = pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in SLOW_TARGETS else name
        for name in TARGETS
    ],
)


@each_target
def test_every_operation(target: str, tmp_path: Path) -> None:
    TARGETS[target](operations_code(), tmp_path)


@each_target
def test_random_graphs(target: str, tmp_path: Path) -> None:
    TARGETS[target](graphs_code(), tmp_path)


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in SLOW_TARGETS])
def test_some_mechanisms(target: str, tmp_path: Path) -> None:
    TARGETS[target](gallery_code(FAST_GALLERY), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_whole_gallery(target: str, tmp_path: Path) -> None:
    quantities = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
    TARGETS[target](gallery_code(tuple(lw.gallery()), quantities), tmp_path)


@each_target
def test_a_wrong_value_is_noticed(target: str, tmp_path: Path) -> None:
    """The same run fails where one reference value is off by 0.01."""
    code = with_wrong_reference(graphs_code())
    with pytest.raises(AssertionError):
        TARGETS[target](code, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("variant", C_VARIANTS)
def test_c_with_other_options(variant: str, tmp_path: Path) -> None:
    """ASan and UBSan, all widths of vectors, plain loops, and Clang: without a warning."""
    C_VARIANTS[variant](graphs_code(), tmp_path)


def test_graphs_have_every_operation() -> None:
    """So that tests of random graphs alone see all of them."""
    assert used_tape_operations([one.tape for one in graphs_code().functions]) == set(Op)


@pytest.mark.parametrize(
    "target", ["c", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rust", "cpp"))]
)
@pytest.mark.parametrize("make", [operations_code, graphs_code])
def test_single_precision(target: str, make: Callable[..., ExportedCode], tmp_path: Path) -> None:
    TARGETS[target](make("float"), tmp_path)
