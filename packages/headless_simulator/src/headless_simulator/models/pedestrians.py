"""Meshes of pedestrians."""

from typing import Final

from headless_simulator.models.catalogue import WalkerSpec
from headless_simulator.models.mesh_builder import DARK, MeshBuilder, Point, Skin
from headless_simulator.scene import Mesh

PEDESTRIAN_TAG: Final = 12


def person(spec: WalkerSpec) -> Mesh:
    """Draw a person in mid-stride: head with hair, torso, arms, legs, shoes."""
    builder = MeshBuilder(tag=PEDESTRIAN_TAG)
    height_m = 2 * spec.half_extent_m[2]
    top, bottom, skin, hair = Skin(spec.top), Skin(spec.bottom), Skin(spec.skin), Skin(spec.hair)

    def at(x: float, y: float, z: float) -> Point:
        return (x * height_m, y * height_m, z * height_m)

    builder.ball(at(0.01, 0, 0.925), at(0.058, 0.050, 0.079), skin, cap=hair)
    builder.tube(at(0, 0, 0.82), at(0.005, 0, 0.88), 0.032 * height_m, skin)

    def ring(half_x: float, corner_y: float, middle_x: float, z: float) -> list[Point]:
        """Return the outline of the trunk at a height."""
        outline = ((-half_x, -corner_y), (half_x, -corner_y), (middle_x, 0.0), (half_x, corner_y), (-half_x, corner_y))
        return [at(x, y, z) for x, y in (*outline, (-middle_x, 0.0))]

    builder.rings([ring(0.05, 0.078, 0.062, 0.50), ring(0.05, 0.10, 0.06, 0.82)], top)
    builder.rings([ring(0.05, 0.085, 0.055, 0.45), ring(0.048, 0.075, 0.056, 0.51)], bottom)
    for side in (-1, 1):
        swing = 0.10 * side
        builder.tube(at(0, side * 0.05, 0.48), at(swing * 0.6, side * 0.052, 0.26), 0.050 * height_m, bottom, taper=0.8)
        builder.tube(
            at(swing * 0.6, side * 0.052, 0.27), at(swing, side * 0.055, 0.04), 0.040 * height_m, bottom, taper=0.7
        )
        builder.box(
            at(swing - 0.03, side * 0.055 - 0.026, 0.0), at(swing + 0.085, side * 0.055 + 0.026, 0.045), Skin(DARK)
        )
        builder.tube(at(0, side * 0.115, 0.80), at(-swing * 0.5, side * 0.135, 0.62), 0.032 * height_m, top)
        builder.tube(
            at(-swing * 0.5, side * 0.135, 0.62), at(-swing * 0.9 + 0.03, side * 0.13, 0.46), 0.026 * height_m, skin
        )
    return builder.mesh_in_box(spec.half_extent_m, (0.0, 0.0, 0.0))
