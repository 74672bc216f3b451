"""Shapes of bodies: kept from every format, and inertia from them, against MuJoCo and by hand."""

from __future__ import annotations

import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.expressions import expression_to_float
from linkwright.mechanism import Body, ShapeOfBody
from linkwright.mechanism.shape_inertia import placement_numbers
from linkwright.writers import write_mechanism_text

CORNERS = np.array([[x, y, z] for x in (0.0, 0.2) for y in (0.0, 0.3) for z in (0.0, 0.5)])
"""A box with one corner at the origin."""
FACES = (
    (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
    (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
)  # fmt: skip


@pytest.fixture
def box_file(tmp_path: Path) -> Path:
    """A box as binary STL."""
    data = b"\0" * 80 + struct.pack("<I", len(FACES))
    for face in FACES:
        data += struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0)
    path = tmp_path / "meshes" / "box.stl"
    path.parent.mkdir()
    path.write_bytes(data)
    return path


def numbers(vector: tuple[object, ...]) -> np.ndarray:
    return np.array([expression_to_float(entry) for entry in vector])


def spatial(body: Body) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia in the body's axes."""
    tensor = body.inertia
    own = np.array(
        [
            [expression_to_float(getattr(tensor, "".join(sorted(a + b)))) for a in "xyz"]
            for b in "xyz"
        ]
    )
    place = {
        key: getattr(tensor, key) for key in ("rpy", "quaternion") if key in tensor.model_fields_set
    }
    R, _ = placement_numbers(lw.load(ONE).frames["f"].origin.model_copy(update=place))
    return expression_to_float(body.mass), numbers(body.center), R @ own @ R.T


ONE = """
[bodies.a]
[joints.q]
type = "revolute"
child = "a"
[frames.f]
body = "a"
"""


def mujoco_body(geoms: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and inertia that MuJoCo computes from geoms."""
    text = f"<mujoco><worldbody><body><freejoint/>{geoms}</body></worldbody></mujoco>"
    m = mujoco.MjModel.from_xml_string(text)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, m.body_iquat[1])
    R = R.reshape(3, 3)
    return m.body_mass[1], m.body_ipos[1].copy(), R @ np.diag(m.body_inertia[1]) @ R.T


sizes = st.floats(0.05, 2.0)
angles = st.floats(-3, 3)


@st.composite
def shape_and_geom(draw: st.DrawFn) -> tuple[dict[str, object], str]:
    """A primitive at a random place, as ours and as MuJoCo's."""
    kind = draw(st.sampled_from(["box", "sphere", "cylinder", "capsule", "ellipsoid"]))
    a, b, c = draw(sizes), draw(sizes), draw(sizes)
    fields, size = {
        "box": ({"size": [2 * a, 2 * b, 2 * c]}, f"{a} {b} {c}"),
        "sphere": ({"radius": a}, f"{a}"),
        "cylinder": ({"radius": a, "length": 2 * b}, f"{a} {b}"),
        "capsule": ({"radius": a, "length": 2 * b}, f"{a} {b}"),
        "ellipsoid": ({"radii": [a, b, c]}, f"{a} {b} {c}"),
    }[kind]
    xyz = [draw(st.floats(-1, 1)) for _ in range(3)]
    q = np.array([draw(st.floats(-1, 1)) for _ in range(4)])
    q = q / np.linalg.norm(q) if np.linalg.norm(q) > 0.1 else np.array([1.0, 0, 0, 0])
    origin = {"xyz": xyz, "quaternion": q.tolist()}
    place = f'pos="{" ".join(map(str, xyz))}" quat="{" ".join(map(str, q))}"'
    return (
        {"type": kind, "origin": origin, **fields},
        f'<geom type="{kind}" size="{size}" density="700" {place}/>',
    )


@given(st.lists(shape_and_geom(), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_inertia_of_primitives_is_that_of_mujoco(
    shapes: list[tuple[dict[str, object], str]],
) -> None:
    """One primitive by formulas, several by numbers."""
    ours = spatial(Body(density=700, shapes=[shape for shape, _ in shapes]))
    theirs = mujoco_body("".join(geom for _, geom in shapes))
    scale = np.trace(theirs[2])
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-12)
    np.testing.assert_allclose(ours[2], theirs[2], atol=1e-11 * scale)


def test_a_cone_by_hand() -> None:
    """Volume π r² l/3, centre a quarter of the length above the base."""
    mass, center, tensor = spatial(
        Body(density=300, shapes=[{"type": "cone", "radius": 0.2, "length": 0.6}])
    )
    m = 300 * np.pi * 0.04 * 0.6 / 3
    assert mass == pytest.approx(m, rel=1e-14)
    np.testing.assert_allclose(center, [0, 0, -0.3 + 0.15], atol=1e-15)
    side = 3 / 20 * m * 0.04 + 3 / 80 * m * 0.36
    np.testing.assert_allclose(tensor, np.diag([side, side, 0.3 * m * 0.04]), rtol=1e-13)


def test_parameters_stay_parameters() -> None:
    """The mass of a bar follows its length, also in the equations."""
    arm = lw.load(
        """
[parameters]
rho = "2700 kg/m^3"
l = "400 mm"
b = "20 mm"
[bodies.bar]
density = "rho"
shapes = [{ type = "box", size = ["l", "b", "b"], origin = ["l/2", 0, 0] }]
[joints.q]
type = "revolute"
axis = [0, 0, 1]
child = "bar"
"""
    )
    for length in (0.4, 0.7):
        m = 2700 * length * 4e-4
        M = lw.compile(arm.with_parameters(l=length)).mass_matrix([0.3])
        assert M[0, 0] == pytest.approx(m * (length**2 + 4e-4) / 12 + m * length**2 / 4, rel=1e-14)
    assert arm.bodies["bar"].inertia_from == "1 box of density rho"


@pytest.mark.parametrize("scale", [[1, 1, 1], [0.5, 2, 1], [-1, 1, 1]])
def test_inertia_of_a_mesh_by_hand(box_file: Path, scale: list[float]) -> None:
    """A box of 0.2 × 0.3 × 0.5 with its corner at the origin, scaled, also mirrored."""
    pytest.importorskip("trimesh", reason="the extra [mesh] is not installed")
    body = Body(density=500, shapes=[{"type": "mesh", "file": str(box_file), "scale": scale}])
    mass, center, tensor = spatial(body)
    x, y, z = edges = np.abs(scale) * [0.2, 0.3, 0.5]
    assert mass == pytest.approx(500 * x * y * z, rel=1e-6)  # STL has single precision
    np.testing.assert_allclose(center, np.sign(scale) * edges / 2, rtol=1e-6)
    wanted = mass / 12 * np.diag([y**2 + z**2, x**2 + z**2, x**2 + y**2])
    np.testing.assert_allclose(tensor, wanted, rtol=1e-6, atol=1e-8)
    assert body.inertia_from == "1 mesh of density 500 kg/m^3"


def test_an_open_mesh_counts_by_its_convex_hull(box_file: Path) -> None:
    """And the body says so."""
    pytest.importorskip("trimesh", reason="the extra [mesh] is not installed")
    data = bytearray(box_file.read_bytes())
    data[80:84] = struct.pack("<I", len(FACES) - 1)
    (box_file.parent / "open.stl").write_bytes(data[: 84 + 50 * (len(FACES) - 1)])
    body = Body(density=500, shapes=[{"type": "mesh", "file": str(box_file.parent / "open.stl")}])
    assert spatial(body)[0] == pytest.approx(500 * 0.03, rel=1e-6)
    assert "convex hull of open.stl, not closed" in body.inertia_from


def write_faces(path: Path, faces: list[tuple[int, ...]]) -> Body:
    """A body that is a mesh of these faces of the box, as OBJ."""
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS.tolist()]
    lines += ["f " + " ".join(str(corner + 1) for corner in face) for face in faces]
    path.write_text("\n".join(lines))
    return Body(density=500, shapes=[{"type": "mesh", "file": str(path)}])


@pytest.mark.parametrize("turned", [{0, 3, 6, 9}, set(range(7)), {11}, set(range(12))])
def test_faces_may_be_oriented_both_ways(tmp_path: Path, turned: set[int]) -> None:
    """Programs write closed meshes in which some faces point inward."""
    pytest.importorskip("trimesh", reason="the extra [mesh] is not installed")
    faces = [face[::-1] if k in turned else face for k, face in enumerate(FACES)]
    body = write_faces(tmp_path / "mixed.obj", faces)
    mass, center, tensor = spatial(body)
    assert mass == pytest.approx(500 * 0.03, rel=1e-12)
    np.testing.assert_allclose(center, [0.1, 0.15, 0.25], rtol=1e-12)
    np.testing.assert_allclose(tensor, 15 / 12 * np.diag([0.34, 0.29, 0.13]), atol=1e-12)
    assert "convex hull" not in body.inertia_from


@pytest.mark.parametrize("faces", [FACES[:1], [FACES[0], FACES[0][::-1]]])
def test_flat_meshes_are_refused(tmp_path: Path, faces: list[tuple[int, ...]]) -> None:
    pytest.importorskip("trimesh", reason="the extra [mesh] is not installed")
    with pytest.raises(LinkwrightError, match=r"'flat\.obj' is flat, and so has no volume; use"):
        write_faces(tmp_path / "flat.obj", faces)


URDF = """
<robot name="r">
  <material name="blue"><color rgba="0 0 1 0.5"/></material>
  <link name="base">
    <visual name="plate"><origin xyz="0 0 0.1" rpy="0 0 1"/><geometry><box size="1 2 3"/></geometry>
      <material name="blue"/></visual>
    <collision><geometry><cylinder radius="0.2" length="0.4"/></geometry></collision>
    <visual><geometry><mesh filename="package://r_description/meshes/box.stl" scale="2 2 2"/></geometry></visual>
    <visual><geometry><sphere radius="-1"/></geometry></visual>
    <visual><geometry><torus/></geometry><material name="m"><texture filename="a.png"/></material></visual>
  </link>
</robot>
"""


def test_shapes_of_urdf(box_file: Path) -> None:
    """Primitive, mesh, colour by the material's name; what is not understood is listed."""
    home = box_file.parents[1]
    package = home / "r_description"
    (package / "meshes").mkdir(parents=True)
    (package / "meshes" / "box.stl").write_bytes(box_file.read_bytes())
    (package / "urdf").mkdir()
    path = package / "urdf" / "r.urdf"
    path.write_text(URDF, encoding="utf-8")
    robot = lw.load(path)
    plate, can, mesh = robot.bodies["base"].shapes
    assert [shape.use for shape in (plate, can, mesh)] == ["visual", "collision", "visual"]
    assert (plate.label, plate.type, can.type) == ("plate", "box", "cylinder")
    np.testing.assert_array_equal(numbers(plate.color), [0, 0, 1, 0.5])
    np.testing.assert_array_equal(numbers(plate.origin.rpy), [0, 0, 1])
    assert Path(mesh.file) == package / "meshes" / "box.stl"
    np.testing.assert_array_equal(numbers(mesh.scale), [2, 2, 2])
    assert robot.unused == (
        "link base: a <visual>, because its radius is negative",
        "link base: a <visual>, because <torus> is not a known geometry",
    )
    assert expression_to_float(robot.bodies["base"].mass) == 0
    heavy = lw.load(path, density=1000).bodies["base"]
    assert expression_to_float(heavy.mass) == pytest.approx(1000 * np.pi * 0.04 * 0.4)
    assert heavy.inertia_from == "1 cylinder of density 1000 kg/m^3"  # that for collision


def test_shapes_go_through_toml(box_file: Path) -> None:
    """Written and read, they are the same; mesh paths are relative to the file."""
    robot = lw.load(URDF.replace("package://r_description", "."))
    text = write_mechanism_text(robot, "toml")[0]
    assert lw.load(text) == robot
    path = box_file.parents[1] / "r.toml"
    path.write_text(text, encoding="utf-8")
    assert Path(lw.load(path).bodies["base"].shapes[2].file) == box_file


def test_shapes_go_through_urdf(box_file: Path) -> None:
    """Written to URDF and read again, they are the same; what URDF lacks is named."""
    shapes = [
        {"type": "box", "size": [1, 2, 3], "origin": {"xyz": [1, 2, 3], "rpy": [0.1, 0.2, 0.3]}},
        {"type": "sphere", "radius": "5 cm", "use": "visual", "color": [1, 0.5, 0, 1]},
        {"type": "capsule", "radius": 1, "length": 2, "use": "collision", "label": "pill"},
        {"type": "mesh", "file": str(box_file), "scale": [1, 2, 1], "use": "visual"},
        {"type": "cone", "radius": 1, "length": 2},
    ]
    joints = {"q": {"type": "continuous", "child": "a", "axis": [0, 0, 1]}}
    arm = lw.Mechanism(bodies={"a": {"mass": 1, "shapes": shapes}}, joints=joints)
    text, lost = write_mechanism_text(arm, "urdf")
    assert lost == ["body a: its shape, a cone"]
    found = lw.load(text).bodies["a"].shapes
    uses = [(shape.type, shape.use) for shape in found]
    assert uses == [("box", "visual"), ("box", "collision"), ("sphere", "visual"),
                    ("capsule", "collision"), ("mesh", "visual")]  # fmt: skip
    np.testing.assert_allclose(numbers(found[0].origin.rpy), [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_array_equal(numbers(found[2].color), [1, 0.5, 0, 1])
    assert expression_to_float(found[2].radius) == 0.05
    assert (found[3].label, found[4].file) == ("pill", str(box_file))


def test_shapes_of_mjcf(box_file: Path) -> None:
    """MuJoCo moves meshes to their centres: here they lie where the file has them."""
    path = box_file.parents[1] / "r.xml"
    path.write_text(
        """
<mujoco><asset><mesh name="b" file="meshes/box.stl" scale="1 2 1"/>
<material name="red" rgba="1 0 0 1"/></asset><worldbody>
<geom name="floor" type="plane" size="0 0 1"/>
<body name="a" pos="0 0 1"><freejoint/>
<geom type="mesh" mesh="b" pos="0.1 0.2 0.3" quat="1 2 0.5 1" material="red"/>
<geom name="pill" type="capsule" size="0.1" fromto="0 0 0 0 0 1" contype="0" conaffinity="0"/>
</body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    robot = lw.load(path)
    (floor,) = robot.ground_shapes
    mesh, pill = robot.bodies["a"].shapes
    assert (floor.type, floor.label, floor.size) == ("plane", "floor", None)
    assert (pill.label, pill.use, mesh.use) == ("pill", "visual", "both")
    assert expression_to_float(pill.length) == pytest.approx(1.0)
    assert Path(mesh.file) == box_file
    np.testing.assert_array_equal(numbers(mesh.color), [1, 0, 0, 1])
    model = mujoco.MjModel.from_xml_path(str(path))
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, model.geom_quat[1])
    theirs = model.geom_pos[1] + model.mesh_vert @ turn.reshape(3, 3).T
    R, p = placement_numbers(mesh.origin)
    ours = p + (CORNERS * numbers(mesh.scale)) @ R.T
    gaps = np.linalg.norm(theirs[:, None] - ours[None], axis=2)
    assert gaps.min(axis=1).max() < 1e-6
    assert gaps.min(axis=0).max() < 1e-6
    assert robot.bodies["a"].inertia_from == "geoms, by MuJoCo's compiler"


SDF = """
<sdf version="1.11"><model name="m"><link name="a">
<inertial auto="true">{more}</inertial>
<collision name="c"><pose>0 0 0.5 0 0 0</pose><density>200</density>
  <geometry><box><size>0.2 0.3 0.4</size></box></geometry></collision>
<collision name="d"><pose relative_to="f">0 0 0 0 0 0</pose>
  <geometry><sphere><radius>0.1</radius></sphere></geometry></collision>
<visual name="v"><geometry><mesh><uri>model://x/y.dae</uri></mesh></geometry>
  <material><diffuse>0 1 0</diffuse><script/></material><cast_shadows>0</cast_shadows></visual>
<visual name="w"><geometry><heightmap/></geometry></visual>
</link><frame name="f" attached_to="a"><pose>0.4 0 0 0 0 0</pose></frame></model></sdf>
"""


def test_shapes_and_automatic_inertia_of_sdf() -> None:
    """Densities of the shapes, and 1000 kg/m³ where a shape gives none."""
    body = lw.load(SDF.format(more="")).bodies["a"]
    geoms = (
        '<geom type="box" size=".1 .15 .2" pos="0 0 .5" density="200"/>'
        '<geom type="sphere" size=".1" pos=".4 0 0" density="1000"/>'
    )
    for ours, theirs in zip(spatial(body), mujoco_body(geoms), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    assert [shape.label for shape in body.shapes] == ["c", "d", "v"]
    np.testing.assert_array_equal(numbers(body.shapes[2].color), [0, 1, 0, 1])
    notes = lw.load(SDF.format(more="")).unused
    assert any("'w', because <heightmap> is not a known geometry" in note for note in notes)
    assert any("<script> of the visual 'v'" in note for note in notes)
    scaled = lw.load(SDF.format(more="<mass>3</mass>")).bodies["a"]
    assert spatial(scaled)[0] == 3
    np.testing.assert_allclose(spatial(scaled)[2] / 3, spatial(body)[2] / spatial(body)[0])
    light = lw.load(SDF.format(more="<density>1</density>")).bodies["a"]
    assert spatial(light)[0] == pytest.approx(200 * 0.024 + 4 / 3 * np.pi * 1e-3)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"density": 1}, "density: is given, but the body has no shape with a volume"),
        ({"density": 1, "mass": 1, "shapes": []}, "has both density and mass"),
        ({"density": 1, "shapes": [{"type": "sphere", "radius": -1}]}, "shapes[0].radius: is -1 m"),
        ({"density": "1 kg", "shapes": [{"type": "sphere", "radius": 1}]}, "density: is in kg"),
        ({"shapes": [{"type": "sphere"}]}, "shapes[0].radius: is missing"),
        ({"shapes": [{"type": "torus"}]}, "'torus' is not a type here; use type = 'box'"),
        ({"density": 1, "shapes": [{"type": "mesh", "file": "no.stl"}]}, "'no.stl' is not found"),
        (
            {"density": 1, "shapes": [{"type": "sphere", "radius": "r"}] * 2},
            "needs plain numbers, and these depend on r",
        ),
    ],
)
def test_errors_name_the_place(fields: dict[str, object], words: str) -> None:
    with pytest.raises(LinkwrightError) as caught:
        Body(**fields)
    assert words in str(caught.value)


def test_shapes_are_checked_with_the_mechanism() -> None:
    """Units of a shape, and names of parameters."""
    for shape, words in (
        ('{ type = "sphere", radius = "1 kg" }', "bodies.a.shapes[0].radius: is in kg"),
        ('{ type = "sphere", radius = "r" }', "bodies.a.shapes[0].radius: "),
        ('{ type = "sphere", radius = -1 }', "bodies.a.shapes[0].radius: is negative"),
    ):
        with pytest.raises(LinkwrightError) as caught:
            lw.load(ONE.replace("[bodies.a]", f"[bodies.a]\nshapes = [{shape}]"))
        assert words in str(caught.value)


def test_every_kind_of_shape_has_its_numbers() -> None:
    """All classes of shapes are primitives with formulas, or planes and meshes."""

    def leaves(kind: type[ShapeOfBody]) -> list[type[ShapeOfBody]]:
        below = kind.__subclasses__()
        return [leaf for one in below for leaf in leaves(one)] or [kind]

    without = {one.__name__ for one in leaves(ShapeOfBody) if one.solid is None}
    assert without == {"PlaneShape", "MeshShape"}
