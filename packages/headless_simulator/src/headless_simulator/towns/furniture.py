"""Poles and street furniture: lights, signs, lamp posts, benches, bins, shelters."""

from typing import Final

import numpy as np

from headless_simulator.scene import GLASS, SIGNAL_GREEN, SIGNAL_RED, SIGNAL_YELLOW, TAG, Float64, SignalHead
from headless_simulator.towns.lanes_index import Pose6
from headless_simulator.towns.objects import Stock, single, to_world
from headless_simulator.towns.solids import add_box, add_cylinder, ring
from headless_simulator.towns.triangle_soup import RGB, Appearance, TriangleSoup, appearance_of

_LEAST_ARM_M: Final = 0.8
_LONGEST_ARM_M: Final = 7.5
_STEEL: Final[RGB] = (92, 96, 98)
_DARK: Final[RGB] = (42, 44, 44)
_LAMPS: Final = ((SIGNAL_RED, (150, 28, 24)), (SIGNAL_YELLOW, (170, 130, 24)), (SIGNAL_GREEN, (24, 130, 60)))
_SIGN_RGB: Final[dict[str, RGB]] = {"stop": (176, 28, 30), "yield": (210, 60, 50), "speed_limit": (214, 214, 210)}


def _lamps(x: float, y: float, foot: float) -> list[tuple[int, Float64, RGB]]:
    """Return round lamps of one head as (material, (6, 3, 3) triangles, colour), red on top, facing local x."""
    rows = []
    for row, (material, colour) in enumerate(_LAMPS):
        centre = np.array([x, y, foot + 0.95 - 0.32 * row])
        circle = ring((0.0, 0.0, 0.0), 0.13, 6)
        face = np.stack([np.full(6, centre[0]), centre[1] + circle[:, 0], centre[2] + circle[:, 1]], axis=1)
        fan = np.stack([np.broadcast_to(face[0], (4, 3)), face[1:-1], face[2:]], axis=1)
        rows.append((material, fan, colour))
    return rows


def _post_and_arm(reach: float) -> TriangleSoup:
    triangle_soup = TriangleSoup()
    pole, case = appearance_of(_STEEL, "pole"), appearance_of(_DARK, "traffic_light")
    add_cylinder(triangle_soup, (0.0, 0.0, -0.2), 0.11, 6.2, pole, sides=5, taper=0.8)
    if abs(reach) > _LEAST_ARM_M:
        low, high = sorted((0.0, reach))
        add_box(triangle_soup, (-0.06, low, 5.72), (0.06, high, 5.86), pole)
        add_box(triangle_soup, (-0.15, reach - 0.2, 5.0), (0.15, reach + 0.2, 6.15), case)
    add_box(triangle_soup, (-0.3, -0.2, 2.6), (-0.02, 0.2, 3.75), case)
    return triangle_soup


def lamp_places(head: SignalHead) -> list[tuple[float, float, float]]:
    """Return x, y and base z of a light's heads in its frame, metres: on the post, and on an arm over its lanes."""
    x, y, _, _, yaw, _ = head.pose
    turn = np.radians(yaw)
    across = np.array([-np.sin(turn), np.cos(turn)])
    reach = 0.0
    if len(head.stop_lines):
        reach = float(np.clip(((head.stop_lines[:, :2] - (x, y)) @ across).mean(), -_LONGEST_ARM_M, _LONGEST_ARM_M))
    return [(0.0, 0.0, 2.66), (0.17, reach, 5.06)] if abs(reach) > _LEAST_ARM_M else [(0.0, 0.0, 2.66)]


def lamp_boxes(head: SignalHead) -> list[tuple[Float64, Float64]]:
    """Return (3,) world centre and (3,) half size of each lamp housing: red, yellow and green of each head."""
    x, y, z, _, yaw, _ = head.pose
    half = np.array([0.14, 0.2, 0.16])
    return [
        (to_world(np.array([hx - half[0], hy, foot + 0.95 - 0.32 * lamp]), x, y, z, yaw), half)
        for hx, hy, foot in lamp_places(head)
        for lamp in range(len(_LAMPS))
    ]


def put_lights(stock: Stock, heads: list[SignalHead]) -> None:
    """Add every light's post, arm and lamps; lamp triangles of light k have label k + 1."""
    for number, head in enumerate(heads):
        x, y, z, _, yaw, _ = head.pose
        heads_at = lamp_places(head)
        triangle_soup = _post_and_arm(heads_at[-1][1])
        mesh = single(triangle_soup)
        points = mesh.vertices_m.astype(np.float64)
        owner = stock.add("TrafficLight", "traffic_light", (x, y, z, yaw), (points.min(axis=0), points.max(axis=0)))
        stock.triangle_soup.mesh_parts(mesh, to_world(points, x, y, z, yaw), owner)
        for hx, hy, foot in heads_at:
            for material, fan, colour in _lamps(hx, hy, foot):
                world = to_world(fan, x, y, z, yaw)
                stock.triangle_soup.triangles(
                    world, Appearance(colour, TAG["traffic_light"], material, owner, number + 1)
                )


def put_signs(stock: Stock, signs: list[tuple[str, Pose6, str]]) -> None:
    """Add a pole and plate for every sign."""
    for blueprint, (x, y, z, _, yaw, _), _ in signs:
        triangle_soup = TriangleSoup()
        add_cylinder(triangle_soup, (0.0, 0.0, -0.2), 0.05, 2.9, appearance_of(_STEEL, "pole"), sides=4)
        sides = {"traffic.stop": 8, "traffic.yield": 3}.get(blueprint, 10)
        circle = ring((0.0, 0.0, 0.0), 0.42, sides, np.pi / 8 if sides == 8 else -np.pi / 2)
        plate = np.stack([np.full(sides, 0.08), circle[:, 0], 2.4 + circle[:, 1]], axis=1)
        fan = np.stack([np.broadcast_to(plate[0], (sides - 2, 3)), plate[1:-1], plate[2:]], axis=1)
        triangle_soup.triangles(fan, appearance_of(_SIGN_RGB[blueprint.split(".")[1]], "traffic_sign"))
        stock.add_mesh("TrafficSign", "traffic_sign", single(triangle_soup), (x, y, z, yaw))


def lamp_post() -> TriangleSoup:
    """Return a lamp post with an arm along local x."""
    triangle_soup = TriangleSoup()
    steel = appearance_of((110, 114, 116), "pole")
    add_cylinder(triangle_soup, (0.0, 0.0, -0.2), 0.1, 7.9, steel, sides=4, taper=0.6)
    add_box(triangle_soup, (0.0, -0.06, 7.55), (1.8, 0.06, 7.66), steel)
    add_box(triangle_soup, (1.2, -0.15, 7.45), (2.0, 0.15, 7.55), appearance_of((216, 212, 190), "pole"))
    return triangle_soup


def bench() -> TriangleSoup:
    """Return a bench along local y."""
    triangle_soup = TriangleSoup()
    wood = appearance_of((122, 88, 56), "static")
    add_box(triangle_soup, (-0.25, -0.9, 0.4), (0.25, 0.9, 0.48), wood)
    add_box(triangle_soup, (-0.3, -0.9, 0.48), (-0.22, 0.9, 0.9), wood)
    return triangle_soup


def bin_() -> TriangleSoup:
    """Return a litter bin."""
    triangle_soup = TriangleSoup()
    add_cylinder(triangle_soup, (0.0, 0.0, 0.0), 0.3, 1.0, appearance_of((60, 84, 66), "static"), sides=6)
    return triangle_soup


def shelter() -> TriangleSoup:
    """Return a bus shelter, open towards local x."""
    triangle_soup = TriangleSoup()
    frame = appearance_of((74, 80, 86), "static")
    add_box(triangle_soup, (-0.7, -2.0, 2.35), (0.8, 2.0, 2.5), frame)
    triangle_soup.quads(
        np.array([[(-0.65, -1.9, 0.1), (-0.65, 1.9, 0.1), (-0.65, 1.9, 2.35), (-0.65, -1.9, 2.35)]]),
        appearance_of((120, 150, 160), "static", GLASS),
    )
    for y in (-1.9, 1.9):
        add_box(triangle_soup, (-0.7, y - 0.06, 0.0), (-0.58, y + 0.06, 2.35), frame)
    return triangle_soup


def kiosk() -> TriangleSoup:
    """Return a small kiosk."""
    triangle_soup = TriangleSoup()
    add_box(
        triangle_soup,
        (-1.1, -1.5, 0.0),
        (1.1, 1.5, 2.5),
        appearance_of((96, 112, 120), "static"),
        appearance_of((150, 60, 50), "static"),
    )
    return triangle_soup


FURNITURE: Final = {"Bench": bench, "Bin": bin_, "BusShelter": shelter, "Kiosk": kiosk}
