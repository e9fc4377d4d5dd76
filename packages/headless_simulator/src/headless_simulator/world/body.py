"""An actor's model, bounding box and physical parameters."""

from typing import Final

import numpy as np

from headless_simulator.models.catalogue import MESH_PROP, MESHES, OTHERS, PROPS, VEHICLES, WALKERS
from headless_simulator.models.flyers import FLYERS
from headless_simulator.models.library import ModelLibrary
from headless_simulator.world import friction
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import Columns

_DRIVE_MPS2: Final = {"car": 5.0, "van": 4.0, "truck": 3.0, "bus": 3.0, "motorcycle": 6.0, "bicycle": 2.5}
_PEDESTRIAN: Final = 12
_FLOOR_M: Final = 0.21  # lower objects pass between a car's wheels: dirt, tiles, tins; scenarios place them in lanes
_EVERY_DOOR: Final = 6  # CARLA's VehicleDoor.All
_SIDE_DOORS: Final = 4
_DOORS: Final = "doors"
_HAZARD: Final = 16 | 32  # both of CARLA's blinkers


def model_name(blueprint: str, mesh_path: str) -> str | None:
    """Return a blueprint's model name, of ``static.prop.mesh`` by its asset's last word, or None."""
    if blueprint == MESH_PROP:
        word = mesh_path.rsplit("/", 1)[-1].partition(".")[0]
        named = (f"mesh.{word}", f"static.prop.{word}")
        return next((name for name in named if name in MESHES or name in FLYERS), None)
    return blueprint if any(blueprint in models for models in (VEHICLES, WALKERS, PROPS, OTHERS, FLYERS)) else None


def give_body(actor: Actor, c: Columns, models: ModelLibrary) -> None:
    """Set an actor's model, box, mass and drive."""
    row, attributes = actor.row, actor.order.attributes
    name = model_name(actor.blueprint, attributes.get("mesh_path", ""))
    if name is None:
        return
    actor.half_m, actor.offset_m = models.half_extent(name), models.box_offset(name)
    c.half[row], c.offset[row] = actor.half_m, actor.offset_m
    c.model[row] = models.number(name)
    c.physics[row] = c.gravity[row] = c.solid[row] = 1
    c.colour[row] = _colour(attributes.get("color", ""))
    if name in VEHICLES:
        spec = VEHICLES[name]
        actor.tag = spec.tag
        c.mass[row], c.wheelbase[row] = spec.mass_kg, 1.2 * actor.half_m[0]
        c.max_steer[row], c.drive[row] = np.radians(70.0), _DRIVE_MPS2[spec.base_type]
        c.grip[row] = c.own_grip[row] = friction.USUAL
        c.drag[row], c.sticky[row] = 1.0, actor.has_sticky_control
    elif name in WALKERS:
        actor.tag = _PEDESTRIAN
        c.mass[row] = 75.0
    else:
        c.solid[row] = 2.0 * actor.half_m[2] > _FLOOR_M
        actor.tag = {**PROPS, **MESHES, **OTHERS, **FLYERS}[name].tag
        c.mass[row] = 20.0


def show_doors(actor: Actor, c: Columns, models: ModelLibrary, *, door: int, opened: bool) -> bool:
    """Open or close one or all side doors of a vehicle; returns whether it has such a door."""
    if not models.has_doors(actor.blueprint) or not (0 <= door < _SIDE_DOORS or door == _EVERY_DOOR):
        return False
    bits = 0b1111 if door == _EVERY_DOOR else 1 << door
    doors = int(actor.extra.get(_DOORS, 0))
    actor.extra[_DOORS] = doors = doors | bits if opened else doors & ~bits
    _dress(actor, c, models)
    return True


def show_lights(actor: Actor, c: Columns, models: ModelLibrary, *, bits: int) -> None:
    """Set a vehicle's light bits, and show hazard lights if both blinkers are on."""
    c.lights[actor.row] = bits
    if actor.blueprint in VEHICLES and c.model[actor.row] >= 0:
        _dress(actor, c, models)


def _dress(actor: Actor, c: Columns, models: ModelLibrary) -> None:
    """Select a vehicle's model with its open doors and hazard lights."""
    hazard = int(c.lights[actor.row]) & _HAZARD == _HAZARD
    c.model[actor.row] = models.number(actor.blueprint, doors=int(actor.extra.get(_DOORS, 0)), hazard=hazard)


def _colour(text: str) -> tuple[int, int, int]:
    parts = [int(part) for part in text.split(",") if part.strip().isdigit()]
    return (parts[0] & 255, parts[1] & 255, parts[2] & 255) if len(parts) == 3 else (128, 128, 128)
