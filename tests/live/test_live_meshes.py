"""Mesh files on live pages: OBJ, DAE, GLB and STL arrive in their size, place and colour."""

from __future__ import annotations

import base64
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw

trimesh = pytest.importorskip("trimesh")

RED = [230, 40, 20, 255]
SIZES = np.array([0.2, 0.1, 0.3])
needs_collada = pytest.mark.skipif(
    find_spec("collada") is None, reason="left out: pycollada is not installed"
)
FORMATS = ["stl", "obj", pytest.param("dae", marks=needs_collada), "glb"]


def _colored_box(color: list[int]) -> Any:
    """A box with one corner at the origin of its file."""
    box = trimesh.creation.box(SIZES)
    box.apply_translation(SIZES / 2)
    box.visual.face_colors = color
    return box


def _arm_with(file: Path, more: str = "") -> lw.Mechanism:
    return lw.load(f"""
name = "arm"
[bodies.link]
mass = 1.0
center = [0.5, 0, 0]
[[bodies.link.shapes]]
type = "mesh"
file = "{file}"
origin = {{ xyz = [1, 2, 3] }}
{more}
[joints.turn]
type = "revolute"
parent = "ground"
child = "link"
axis = [0, 0, 1]
""")


def _drawn_parts(mechanism: lw.Mechanism) -> list[tuple[list[float], np.ndarray]]:
    """Colour and corners (n, 3) of the parts in the data of a page, as its viewer unpacks them."""
    data = lw.live.scene(mechanism).data
    assert data["meshes"] is not None, data["notes"]
    meshes: Any = data["meshes"]
    raw = np.frombuffer(base64.b64decode(meshes["positions"]), dtype="<u2").reshape(-1, 3)
    found, at = [], 0
    for part in meshes["parts"]:
        own = raw[at : at + part["corners"]]
        at += part["corners"]
        found.append((part["color"], part["low"] + own * np.array(part["step"])))
    return found


def test_meshes_that_are_missing_are_one_note(tmp_path: Path) -> None:
    """A robot whose packages are not installed would fill the page with notes."""
    bodies = "".join(
        f'<link name="l{k}"><visual><geometry><mesh filename="package://far/m{k % 5}.stl"/></geometry></visual></link>'
        for k in range(12)
    )
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="r">{bodies}{_fixed_joints(12)}</robot>')
    (note,) = [one for one in lw.live.scene(lw.load(file)).notes if "mesh" in one]
    assert note == "5 meshes are not found, and not drawn: m0.stl, m1.stl, m2.stl and 2 others."


def test_a_package_may_follow_three_slashes(tmp_path: Path) -> None:
    """As in talos_full_v2.urdf of example-robot-data."""
    (tmp_path / "pack/meshes").mkdir(parents=True)
    _colored_box(RED).export(str(tmp_path / "pack/meshes/box.stl"))
    file = tmp_path / "pack/robot.urdf"
    mesh = '<visual><geometry><mesh filename="package:///pack/meshes/box.stl"/></geometry></visual>'
    file.write_text(
        f'<robot name="r"><link name="l0"/><link name="l1">{mesh}</link>{_fixed_joints(2)}</robot>'
    )
    assert lw.live.scene(lw.load(file)).data["meshes"] is not None


def _fixed_joints(links: int) -> str:
    """Joints that turn each link about the one before."""
    return "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/></joint>'
        for k in range(1, links)
    )


@pytest.mark.parametrize("ending", FORMATS)
def test_a_mesh_has_its_size_place_and_colour(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"box.{ending}"
    _colored_box(RED).export(str(file))
    ((color, corners),) = _drawn_parts(_arm_with(file, "scale = [2, 1, 1]"))
    np.testing.assert_allclose(corners.min(axis=0), [1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(np.ptp(corners, axis=0), SIZES * [2, 1, 1], atol=1e-5)
    if ending != "stl":  # which has no colours
        np.testing.assert_allclose(color, np.array(RED) / 255, atol=0.01)
    ((stated, _),) = _drawn_parts(_arm_with(file, "color = [1, 1, 1, 1]"))
    assert stated == [1.0, 1.0, 1.0, 1.0]


@pytest.mark.parametrize("ending", [pytest.param("dae", marks=needs_collada), "glb"])
def test_parts_of_a_file_keep_their_own_colours(ending: str, tmp_path: Path) -> None:
    other = _colored_box([10, 60, 200, 255])
    other.apply_translation([1, 0, 0])
    scene = trimesh.Scene([_colored_box(RED), other])
    file = tmp_path / f"pair.{ending}"
    if ending == "dae":
        file.write_bytes(trimesh.exchange.dae.export_collada([_colored_box(RED), other]))
    else:
        scene.export(str(file))
    parts = {round(color[0], 1): corners for color, corners in _drawn_parts(_arm_with(file))}
    assert set(parts) == {0.9, 0.0}
    np.testing.assert_allclose(parts[0.9].min(axis=0), [1, 2, 3], atol=1e-5)
    np.testing.assert_allclose(parts[0.0].min(axis=0), [2, 2, 3], atol=1e-5)


@needs_collada
def test_a_collada_file_states_its_unit(tmp_path: Path) -> None:
    """Exporters write centimetres or inches; trimesh only notes the unit."""
    file = tmp_path / "box.dae"
    _colored_box(RED).export(str(file))
    text = re.sub(r"<unit[^>]*/>", '<unit name="centimeter" meter="0.01"/>', file.read_text())
    file.write_text(
        text if "<unit" in text else text.replace("</asset>", '<unit meter="0.01"/></asset>')
    )
    ((color, corners),) = _drawn_parts(_arm_with(file))
    np.testing.assert_allclose(np.ptp(corners, axis=0), SIZES / 100, atol=1e-6)
    np.testing.assert_allclose(color, np.array(RED) / 255, atol=0.01)
