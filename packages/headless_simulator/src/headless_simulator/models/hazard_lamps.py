"""Hazard lights of a vehicle: enlarged lamps at its four corners, the size of their glare in a camera."""

from typing import Final

from headless_simulator.models.catalogue import VehicleSpec
from headless_simulator.models.mesh_builder import MeshBuilder, Skin, joined
from headless_simulator.scene import TAIL_LIGHT, Mesh

_FROM: Final = (
    0.87,
    0.66,
    0.46,
)  # of the half box and of the height: the glare in a camera is wider than the lamp
_TO: Final = (0.985, 0.94, 0.62)
_AMBER: Final = (230, 92, 5)


def with_hazard_lamps(mesh: Mesh, spec: VehicleSpec) -> Mesh:
    """Return the vehicle with four lamps inside its box, visible from above and from the side."""
    builder = MeshBuilder(tag=spec.tag)
    half_m, offset_m = spec.half_extent_m, spec.box_offset_m
    for end in (-1, 1):
        for side in (-1, 1):
            x_m, y_m = (
                sorted(offset_m[axis] + sign * share * half_m[axis] for share in (_FROM[axis], _TO[axis]))
                for axis, sign in ((0, end), (1, side))
            )
            low, high = ((x_m[n], y_m[n], share[2] * 2 * half_m[2]) for n, share in enumerate((_FROM, _TO)))
            builder.box(low, high, Skin(_AMBER, TAIL_LIGHT))
    return joined(mesh, builder)
