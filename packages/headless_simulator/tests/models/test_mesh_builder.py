"""Solids: closed, facing outwards, and filling their box."""

import numpy as np
import pytest
from headless_simulator.models.mesh_builder import MeshBuilder, Skin
from headless_simulator.scene import TAG

RED = Skin((200, 0, 0), tag=TAG["car"])


def volume_m3(mesh):
    """Signed volume by the divergence theorem; in a left-handed frame outward faces make it negative."""
    a, b, c = (mesh.vertices_m[mesh.triangles[:, k]].astype(float) for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def open_edges(mesh):
    edges = np.sort(mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return int((np.unique(edges, axis=0, return_counts=True)[1] % 2).sum())


def build(add, low=(-1.0, -2.0, 0.0), high=(3.0, 2.0, 1.0)):
    builder = MeshBuilder(TAG["car"])
    add(builder)
    return builder.mesh(low, high)


SOLIDS = {
    "box": lambda b: b.box((0, 0, 0), (1, 1, 1), RED),
    "roof": lambda b: b.box((0, 0, 0), (1, 1, 1), RED, top=0.5),
    "tube": lambda b: b.tube((0, 0, 0), (0, 0, 2), 0.5, RED, sides=7, taper=0.4),
    "lying tube": lambda b: b.tube((0, 0, 0), (0, 3, 0), 0.5, RED),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_and_fills_its_box(name):
    mesh = build(SOLIDS[name])
    assert open_edges(mesh) == 0
    np.testing.assert_array_equal(mesh.vertices_m.min(axis=0), [-1, -2, 0])
    np.testing.assert_array_equal(mesh.vertices_m.max(axis=0), [3, 2, 1])
    assert 0 < abs(volume_m3(mesh)) <= 16 + 1e-4


def test_a_box_has_twelve_triangles_and_the_volume_of_its_sides():
    mesh = build(SOLIDS["box"])
    assert len(mesh.triangles) == 12
    assert abs(volume_m3(mesh)) == pytest.approx(16)


def test_every_solid_faces_the_same_way():
    signs = {np.sign(volume_m3(build(add))) for add in SOLIDS.values()}
    assert len(signs) == 1


def test_roof_skin_and_default_tag():
    roof = Skin((0, 0, 9))
    mesh = build(lambda b: b.box((0, 0, 0), (1, 1, 1), RED, roof=roof))
    assert (mesh.colour_rgb == [0, 0, 9]).all(axis=1).sum() == 2
    assert set(mesh.tag.tolist()) == {TAG["car"]}


def test_a_face_without_area_is_left_out():
    builder = MeshBuilder(TAG["car"])
    builder.polygon([(0, 0, 0), (1, 0, 0), (1, 0, 0), (0, 1, 0)], RED, inside=(0, 0, -1))
    assert len(builder.faces) == 1


def test_mesh_in_box_fills_the_box():
    builder = MeshBuilder(TAG["car"])
    builder.ball((0, 0, 0), (1, 1, 1), RED)
    mesh = builder.mesh_in_box((2.0, 1.0, 0.5), (0.0, 0.0, 0.5))
    np.testing.assert_array_equal(mesh.vertices_m.max(axis=0), [2, 1, 1])
