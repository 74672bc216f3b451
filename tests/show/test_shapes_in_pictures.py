"""Shapes of bodies in pictures and films: where they are, how they are lit, what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.show.mechanism_scene import mechanism_scene
from linkwright.show.shape_surfaces import ShapeSurface
from tests.commands import ok

matplotlib = pytest.importorskip("matplotlib")

SHAPES = {
    "box": ({"type": "box", "size": [0.1, 0.2, 0.3]}, 0.006),
    "sphere": ({"type": "sphere", "radius": 0.1}, 4 / 3 * np.pi * 1e-3),
    "ellipsoid": ({"type": "ellipsoid", "radii": [0.1, 0.2, 0.3]}, 4 / 3 * np.pi * 6e-3),
    "cylinder": ({"type": "cylinder", "radius": 0.1, "length": 0.3}, np.pi * 3e-3),
    "capsule": (
        {"type": "capsule", "radius": 0.1, "length": 0.3},
        np.pi * (3e-3 + 4 / 3 * 1e-3),
    ),
    "cone": ({"type": "cone", "radius": 0.1, "length": 0.3}, np.pi * 1e-3),
}


def arm(*shapes: dict[str, object], ground: tuple[dict[str, object], ...] = ()) -> lw.Mechanism:
    return lw.Mechanism(
        name="arm",
        bodies={"a": {"mass": 1.0, "center": [0.5, 0, 0], "shapes": list(shapes)}},
        joints={"q": {"type": "revolute", "axis": [0, 1, 0], "child": "a"}},
        ground_shapes=list(ground),
    )


def surfaces(mechanism: lw.Mechanism) -> tuple[ShapeSurface, ...]:
    return mechanism_scene(mechanism).drawn_shapes.surfaces


def volume(triangles: np.ndarray) -> float:
    """Of a closed surface with normals outward: a sixth of the sum of determinants."""
    return float(np.linalg.det(triangles).sum() / 6)


@pytest.mark.parametrize("kind", SHAPES)
def test_surfaces_enclose_the_volume_of_their_shape(kind: str) -> None:
    shape, wanted = SHAPES[kind]
    place = {"xyz": [0.4, 0.1, 0.2], "rpy": [0.3, 0.2, 0.1]}
    (found,) = surfaces(arm(shape | {"origin": place}))
    centered = found.triangles - found.triangles.reshape(-1, 3).mean(axis=0)
    assert volume(centered) == pytest.approx(wanted, rel=0.05)
    assert volume(centered) <= wanted * (1 + 1e-12)


def test_shapes_are_where_the_body_is() -> None:
    """A box at 0.4 m along the arm, which stands upright."""
    mechanism = arm({"type": "box", "size": [0.1] * 3, "origin": {"xyz": [0.4, 0, 0]}})
    figure = lw.show.figure_of(mechanism, [-np.pi / 2], view="xz")
    (drawn,) = [one for one in figure.axes[0].collections if one.get_gid() == "shapes"]
    corners = np.concatenate([path.vertices for path in drawn.get_paths()])
    np.testing.assert_allclose(corners.min(axis=0), [-0.05, 0.35], atol=1e-12)
    np.testing.assert_allclose(corners.max(axis=0), [0.05, 0.45], atol=1e-12)
    assert figure.axes[0].get_ylim()[1] > 0.45
    bare = lw.show.figure_of(mechanism, shapes=False)
    assert not [one for one in bare.axes[0].collections if one.get_gid() == "shapes"]


def test_near_triangles_hide_far_ones() -> None:
    """A red box in front of a blue one, seen along y: the last triangles are red."""
    boxes = [
        {"type": "box", "size": [0.1] * 3, "origin": {"xyz": [0.4, y, 0]}, "color": color}
        for y, color in ((-0.5, [1, 0, 0, 1]), (0.5, [0, 0, 1, 1]))
    ]
    figure = lw.show.figure_of(arm(*boxes), view="xz")
    (drawn,) = [one for one in figure.axes[0].collections if one.get_gid() == "shapes"]
    first, last = drawn.get_facecolor()[0], drawn.get_facecolor()[-1]
    assert first[2] > first[0]
    assert last[0] > last[2]


def test_shapes_for_contacts_floors_and_planes_are_left_out() -> None:
    seen: dict[str, object] = {"type": "sphere", "radius": 0.1, "use": "visual"}
    touching: dict[str, object] = {"type": "box", "size": [1, 1, 1]}
    floor = ({"type": "box", "size": [50, 50, 0.1]}, {"type": "plane"})
    (found,) = surfaces(arm(seen, touching, ground=floor))
    assert np.abs(found.triangles).max() == pytest.approx(0.1)
    assert len(surfaces(arm(touching))) == 1
    assert len(surfaces(arm(touching | {"use": "collision"}))) == 1


def test_meshes_are_drawn_and_missing_ones_named(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(4, 0.1).export(tmp_path / "ball.stl")
    mesh: dict[str, object] = {
        "type": "mesh",
        "file": str(tmp_path / "ball.stl"),
        "scale": [1, 1, 2],
    }
    (found,) = surfaces(arm(mesh))
    assert volume(found.triangles) == pytest.approx(4 / 3 * np.pi * 2e-3, rel=0.02)
    assert len(found.triangles) > 4000, "mirrored triangles are all there"
    tiny = arm(mesh | {"scale": [1e-6] * 3})
    assert surfaces(tiny) == ()
    gone = mechanism_scene(arm(mesh | {"file": str(tmp_path / "none.stl")})).drawn_shapes
    assert gone.surfaces == ()
    assert "1 mesh not drawn: the mesh" in gone.notes[0]
    path = tmp_path / "arm.toml"
    lw.save(arm(mesh), path)
    ok("draw", str(path), "-o", str(tmp_path / "a.svg"))
    ok("draw", str(path), "--sticks", "-o", str(tmp_path / "b.svg"))
    assert "<image" in (tmp_path / "a.svg").read_text(), "many triangles are an image"
    assert "<image" not in (tmp_path / "b.svg").read_text()


@pytest.mark.slow
def test_films_draw_shapes(tmp_path: Path) -> None:
    from PIL import Image

    mechanism = arm(
        {"type": "box", "size": [0.3] * 3, "origin": {"xyz": [0.4, 0, 0]}, "color": [1, 0, 0, 1]}
    )
    run = lw.simulate(mechanism, 0.3)
    reds = []
    for shapes in (True, False):
        lw.show.animate(run, tmp_path / "a.gif", rate=5, shapes=shapes)
        with Image.open(tmp_path / "a.gif") as film:
            pixels = np.asarray(film.convert("RGB"), dtype=int)
        reds.append(int((pixels[..., 0] - pixels[..., 2] > 60).sum()))
    assert reds[0] > 20 * max(1, reds[1])


def test_the_remote_elbow_shows_the_belt_that_drives_its_second_link() -> None:
    found = surfaces(lw.gallery("remote-elbow").with_parameters(l1=0.5))
    links = [one.link for one in found]
    reach = [float(one.triangles[..., 0].max()) for one in found]
    assert links == [0, 0, 0, 1]  # the pulley of the motor and two strands, then the driven pulley
    assert reach == pytest.approx([0.04, 0.5, 0.5, 0.04], rel=1e-2)
