"""Model numbers, boxes and meshes of movable actors, by blueprint id."""

import difflib
from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np

from headless_simulator.models.bodies import BODIES
from headless_simulator.models.catalogue import (
    MESHES,
    OTHERS,
    PROPS,
    VEHICLES,
    WALKERS,
    PropSpec,
    Vector,
)
from headless_simulator.models.flyers import FLYERS, flyer
from headless_simulator.models.hazard_lamps import with_hazard_lamps
from headless_simulator.models.open_doors import ALL_SIDE_DOORS, with_doors_open
from headless_simulator.models.pedestrians import person
from headless_simulator.models.props import prop
from headless_simulator.models.two_wheelers import TWO_WHEELERS
from headless_simulator.scene import PAINT, Mesh

_NAMES: Final[tuple[str, ...]] = (*VEHICLES, *WALKERS, *PROPS, *OTHERS, *FLYERS, *MESHES)
_STANDING: Final[dict[str, PropSpec]] = {**PROPS, **MESHES}
_WITH_DOORS: Final[tuple[str, ...]] = tuple(name for name, spec in VEHICLES.items() if spec.has_doors)
_WITH_LAMPS: Final[tuple[str, ...]] = tuple(name for name, spec in VEHICLES.items() if spec.shape in BODIES)
_HAZARD: Final = ALL_SIDE_DOORS + 1  # the bit above those of the doors
_OPEN: Final = [(name, doors) for name in _WITH_DOORS for doors in range(1, ALL_SIDE_DOORS + 1)]
_LIT: Final = [(name, _HAZARD | bits) for name, bits in [*((name, 0) for name in _WITH_LAMPS), *_OPEN]]
_VARIANTS: Final = {len(_NAMES) + k: pair for k, pair in enumerate([*_OPEN, *_LIT])}
_NUMBERS: Final = {name: number for number, name in enumerate(_NAMES)}
_NUMBERS_OF_VARIANTS: Final = {pair: number for number, pair in _VARIANTS.items()}
_FIRST_SCALED: Final = len(_NAMES) + len(_VARIANTS)
MAX_SIZES: Final = 1000
UNIT: Final[Vector] = (1.0, 1.0, 1.0)


@cache
def _build(blueprint: str) -> Mesh:
    if blueprint in VEHICLES:
        spec = VEHICLES[blueprint]
        return (TWO_WHEELERS if spec.shape in TWO_WHEELERS else BODIES)[spec.shape](spec)
    if blueprint in WALKERS:
        return person(WALKERS[blueprint])
    if blueprint in FLYERS:
        return flyer(FLYERS[blueprint])
    return prop(_STANDING[blueprint] if blueprint in _STANDING else OTHERS[blueprint])


@cache
def _variant(blueprint: str, bits: int) -> Mesh:
    spec = VEHICLES[blueprint]
    mesh = with_doors_open(_build(blueprint), spec, bits & ALL_SIDE_DOORS)
    return with_hazard_lamps(mesh, spec) if bits & _HAZARD else mesh


class ModelLibrary:
    """The models in a fixed order; meshes are built on first use and shared.

    A mesh is in the actor's frame, metres: the origin is the centre of the bottom for vehicles and props, the body's
    centre for walkers and flyers. Triangles of material PAINT take the mover's colour times ``colour_rgb / 255``.
    Every solid is closed and its normals (b - a) x (c - a) point outward.
    """

    def __init__(self) -> None:
        self._scaled: list[tuple[str, Vector]] = []
        self.flying_radius_m = np.zeros(_FIRST_SCALED)
        """Radius, metres, around the origin of each flying model, by number; 0 for all others."""
        for name, spec in FLYERS.items():
            self.flying_radius_m[_NUMBERS[name]] = np.linalg.norm(spec.half_extent_m)

    def __len__(self) -> int:
        return _FIRST_SCALED + len(self._scaled)

    @property
    def blueprints(self) -> tuple[str, ...]:
        """Blueprint ids, indexed by model number."""
        return _NAMES

    def has_doors(self, blueprint: str) -> bool:
        """Return whether a blueprint's doors can be opened."""
        return blueprint in _WITH_DOORS

    def number(self, blueprint: str, *, doors: int = 0, hazard: bool = False) -> int:
        """Return a blueprint's model number; the bits of ``doors`` are its open side doors.

        ``hazard`` selects the model with hazard lights; vehicles without them, such as bicycles, have one model.

        Raises:
            ValueError: unknown blueprint; the message has the nearest id.
        """
        try:
            bits = doors | (_HAZARD if hazard and blueprint in _WITH_LAMPS else 0)
            return _NUMBERS_OF_VARIANTS[blueprint, bits] if bits else _NUMBERS[blueprint]
        except KeyError:
            near = difflib.get_close_matches(blueprint, _NAMES, n=1, cutoff=0.0)
            raise ValueError(f"no model for blueprint {blueprint!r}; the nearest is {near[0]!r}") from None

    def scaled_number(self, blueprint: str, scale: Vector) -> int:
        """Return the number of a model scaled along its axes; a new scale gets a new number.

        Raises:
            ValueError: unknown blueprint, or too many scales.
        """
        number = self.number(blueprint)
        if scale == UNIT:
            return number
        if (blueprint, scale) in self._scaled:
            return _FIRST_SCALED + self._scaled.index((blueprint, scale))
        if len(self._scaled) >= MAX_SIZES:
            raise ValueError(f"{MAX_SIZES} model sizes already exist; use one of them")
        radius_m = np.linalg.norm(np.multiply(self.half_extent(blueprint), scale)) * (blueprint in FLYERS)
        self.flying_radius_m = np.append(self.flying_radius_m, radius_m)
        self._scaled.append((blueprint, scale))
        return len(self) - 1

    def mesh(self, number: int) -> Mesh:
        """Return the mesh of a model; its bounds equal its bounding box, unless doors are open."""
        if number >= _FIRST_SCALED:
            blueprint, scale = self._scaled[number - _FIRST_SCALED]
            mesh = _build(blueprint)
            return replace(mesh, vertices_m=mesh.vertices_m * np.asarray(scale, dtype=np.float32))
        if number in _VARIANTS:
            return _variant(*_VARIANTS[number])
        return _build(_NAMES[number])

    def painted(self, number: int, colour_rgb: tuple[int, int, int]) -> Mesh:
        """Return the mesh in one body colour, for parked vehicles of a town."""
        mesh = self.mesh(number)
        tint = mesh.colour_rgb.astype(np.uint16) * np.asarray(colour_rgb, dtype=np.uint16) // 255
        colour = np.where((mesh.material == PAINT)[:, None], tint, mesh.colour_rgb).astype(np.uint8)
        return replace(mesh, colour_rgb=colour)

    def half_extent(self, blueprint: str) -> Vector:
        """Return the half size of the bounding box, metres."""
        if blueprint in VEHICLES:
            return VEHICLES[blueprint].half_extent_m
        if blueprint in WALKERS:
            return WALKERS[blueprint].half_extent_m
        if blueprint in FLYERS:
            return FLYERS[blueprint].half_extent_m
        return (_STANDING[blueprint] if blueprint in _STANDING else OTHERS[self._known(blueprint)]).half_extent_m

    def box_offset(self, blueprint: str) -> Vector:
        """Return the box centre in the actor's frame, metres."""
        if blueprint in VEHICLES:
            return VEHICLES[blueprint].box_offset_m
        if blueprint in WALKERS or blueprint in OTHERS or blueprint in FLYERS:
            return (0.0, 0.0, 0.0)
        return (0.0, 0.0, _STANDING[self._known(blueprint)].half_extent_m[2])

    def _known(self, blueprint: str) -> str:
        return _NAMES[self.number(blueprint)]
