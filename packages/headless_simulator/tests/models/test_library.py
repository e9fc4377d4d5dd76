import numpy as np
import pytest
from headless_simulator.models import ModelLibrary
from headless_simulator.models.catalogue import VEHICLES, WALKERS

LIBRARY = ModelLibrary()
ALL = LIBRARY.blueprints


@pytest.mark.parametrize("blueprint", ALL)
def test_mesh_fills_its_box_exactly(blueprint: str) -> None:
    mesh = LIBRARY.mesh(LIBRARY.number(blueprint))
    centre, half = np.array(LIBRARY.box_offset(blueprint)), np.array(LIBRARY.half_extent(blueprint))

    np.testing.assert_allclose(mesh.vertices_m.min(axis=0), centre - half, atol=2e-7)
    np.testing.assert_allclose(mesh.vertices_m.max(axis=0), centre + half, atol=2e-7)
    assert (half > 0).all()


@pytest.mark.parametrize("blueprint", [*VEHICLES, *WALKERS])
def test_bodies_have_100_to_360_triangles(blueprint: str) -> None:
    mesh = LIBRARY.mesh(LIBRARY.number(blueprint))

    assert 100 <= len(mesh.triangles) <= 360
    assert len(mesh.triangles) == len(mesh.colour_rgb) == len(mesh.tag) == len(mesh.material) == len(mesh.object_id)
    assert mesh.triangles.min() == 0
    assert mesh.triangles.max() == len(mesh.vertices_m) - 1


def test_back_faces_are_hidden_from_outside() -> None:
    """From any point outside the box, a ray meets a face turned towards it first: so back faces may be culled."""
    rng = np.random.default_rng(5)
    for blueprint in (
        "vehicle.tesla.model3",
        "vehicle.carlamotors.firetruck",
        "walker.pedestrian.0003",
        "vehicle.bh.crossbike",
    ):
        mesh = LIBRARY.mesh(LIBRARY.number(blueprint))
        a, b, c = (mesh.vertices_m[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
        normal = np.cross(b - a, c - a)
        half = np.array(LIBRARY.half_extent(blueprint))
        wrong = tried = 0
        for _ in range(150):
            eye = rng.normal(size=3)
            eye = eye / np.linalg.norm(eye) * 20 + np.array(LIBRARY.box_offset(blueprint))
            target = np.array(LIBRARY.box_offset(blueprint)) + rng.uniform(-0.8, 0.8, size=3) * half
            direction = target - eye
            distance = _hits(eye, direction, a, b, c)
            if np.isfinite(distance).any():
                tried += 1
                wrong += np.dot(normal[np.argmin(distance)], direction) > 0
        assert tried > 60
        assert wrong == 0, blueprint


def _hits(eye: np.ndarray, direction: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Distances at which a ray meets triangles (Moeller-Trumbore), inf where it misses."""
    edge1, edge2 = b - a, c - a
    p = np.cross(direction, edge2)
    det = np.einsum("ij,ij->i", edge1, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", eye - a, p) / det
        q = np.cross(eye - a, edge1)
        v = (q @ direction) / det
        t = np.einsum("ij,ij->i", edge2, q) / det
        hit = (np.abs(det) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
    return np.where(hit, t, np.inf)


def test_unknown_blueprint_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"vehicle\.tesla\.model3"):
        LIBRARY.number("vehicle.tesla.modell3")


def test_colour_applies_to_paint_only() -> None:
    number = LIBRARY.number("vehicle.tesla.model3")
    plain, painted = LIBRARY.mesh(number), LIBRARY.painted(number, (200, 10, 20))

    changed = (plain.colour_rgb != painted.colour_rgb).any(axis=1)
    assert changed.any()
    assert set(plain.material[changed]) == {4}
    assert (painted.colour_rgb[changed] == [200, 10, 20]).all()


def test_scaled_model_is_the_stretched_mesh() -> None:
    library = ModelLibrary()
    plain = library.number("static.prop.bird")
    assert library.scaled_number("static.prop.bird", (1.0, 1.0, 1.0)) == plain
    number = library.scaled_number("static.prop.bird", (2.0, 3.0, 0.5))
    assert number == library.scaled_number("static.prop.bird", (2.0, 3.0, 0.5)) == len(library) - 1
    np.testing.assert_allclose(library.mesh(number).vertices_m, library.mesh(plain).vertices_m * (2, 3, 0.5), rtol=1e-6)
    assert library.flying_radius_m[number] == pytest.approx(np.linalg.norm((0.6, 1.95, 0.0625)))
    for size in range(2, 1001):
        library.scaled_number("static.prop.bird", (float(size), 1.0, 1.0))
    with pytest.raises(ValueError, match="sizes already"):
        library.scaled_number("static.prop.bird", (0.5, 1.0, 1.0))
