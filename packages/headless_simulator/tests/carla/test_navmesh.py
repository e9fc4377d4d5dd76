import struct

from headless_simulator.carla.navmesh import build_mesh


def square(x, y, size=4.0):
    return tuple((x + dx, y + dy, 0.0) for dx, dy in ((0, 0), (size, 0), (size, size), (0, size)))


def links_of(mesh):
    """Neighbour numbers of every polygon of the mesh's one tile."""
    head = struct.unpack_from("<9i", mesh, 48 + 24)
    count, vertices = head[0], head[1]
    start = 48 + 100 + 12 * vertices
    return [struct.unpack_from("<6H", mesh, start + 32 * n + 16) for n in range(count)]


def test_squares_with_common_edge_are_linked():
    mesh = build_mesh([(square(0, 0), "sidewalk"), (square(4, 0), "crosswalk"), (square(20, 0), "sidewalk")])

    assert [sorted(n for n in row if n) for row in links_of(mesh)] == [[2], [1], []]


def test_partial_common_edge_is_linked():
    mesh = build_mesh([(square(0, 0, 8.0), "sidewalk"), (square(8, 2, 2.0), "crosswalk")])

    assert [sorted(n for n in row if n) for row in links_of(mesh)] == [[2], [1]]


def test_mesh_without_polygons_is_empty():
    assert build_mesh([]) == b""
