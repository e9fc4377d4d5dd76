"""The served CARLA versions and their differences, in one table; other modules do not test the version.

Sources: the three clients' libraries (sensor registries, attribute types, call names and accepted values), CARLA's
``SensorRegistry.h``, ``ActorAttributeType.h``, ``VehiclePhysicsControl.h`` and ``WheelPhysicsControl.h`` of ue4-dev and
ue5-dev; issues and pull requests where a row names them. Packed layouts of streams are equal in all three.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from headless_simulator.carla.geolocation import geolocation, mercator
from headless_simulator.carla.physics_control import chaos_physics
from headless_simulator.scene import UInt32

_STATIC: Final = np.uint32(0x80000000)  # bit of ids in an image: part of the town, not an actor


def actor_ids(ids: UInt32) -> UInt32:
    """Return (H, W) ids unchanged: instance masks show actor ids."""
    return ids


def unreal_ids(ids: UInt32) -> UInt32:
    """Return ids that match no actor id, like Unreal's ``UObject`` numbers.

    Args:
        ids: (H, W) as in ``RenderedImage.ids``.

    Returns:
        (H, W) uint32 with a different unique id per actor; 0 and parts of the town are unchanged.
    """
    return np.where(
        (ids == 0) | (ids & _STATIC != 0), ids, (ids * np.uint32(7919) + np.uint32(4099)) & np.uint32(0x7FFF)
    )


def _towns_of_0_10(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith("Town10HD_Opt")]


@dataclass(frozen=True, slots=True)
class CarlaVersion:
    """One version of CARLA.

    Attributes:
        number: the answer of ``get_server_version``.
        world_observer: the snapshot's index in the client's compiled sensor registry.
        first_attribute_type: the number of the attribute type ``Bool``; the others follow.
        absent_sensors: blueprints that the version lacks.
        absent_calls: RPC names that the version lacks.
        calls_without_effect: RPC names that are answered without effect.
        vehicles: the simulator's vehicle per vehicle blueprint of the version; empty: all of the simulator's vehicles.
        mask_ids: converts ids of an image to those of its instance mask.
        geolocation: latitude and longitude of a position in the town, equal to the client's.
        spawn_command: fields of the batch command ``SpawnActor``.
        answers: converts the simulator's answer to this version's, by RPC name.
    """

    number: str
    world_observer: int
    first_attribute_type: int
    absent_sensors: frozenset[str] = frozenset()
    absent_calls: frozenset[str] = frozenset()
    calls_without_effect: frozenset[str] = frozenset()
    vehicles: Mapping[str, str] = field(default_factory=dict)
    mask_ids: Callable[[UInt32], UInt32] = actor_ids
    geolocation: Callable[..., tuple[float, float]] = mercator
    spawn_command: tuple[str, ...] = ("description", "pose", "parent", "then")
    answers: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)


_SENSORS_SINCE_16: Final = frozenset(
    {"sensor.camera.cosmos_visualization", "sensor.other.v2x", "sensor.other.v2x_custom"}
)
_CALLS_SINCE_16: Final = frozenset({
    "are_gbuffers_enabled", "clear_debug_shape", "clear_debug_string", "enable_gbuffers", "get_actor_bone_names",
    "get_actor_bone_relative_transforms", "get_actor_bone_world_transforms", "get_actor_bounding_box",
    "get_actor_component_names", "get_actor_component_relative_transform", "get_actor_component_world_transform",
    "get_actor_socket_names", "get_actor_socket_relative_transforms", "get_actor_socket_world_transforms",
    "get_imui_gravity", "get_telemetry_data", "get_vehicle_bone_world_transforms", "get_wheel_pitch_angle",
    "restore_physx_physics", "send", "set_annotations_traverse_translucency", "set_ignored_vehicles", "set_imui_gravity",
    "set_wheel_pitch_angle",
})  # fmt: skip
_SINCE_0_10: Final = frozenset({"is_weather_enabled"})
_VEHICLES_OF_0_10: Final = {  # Scenic, simulators/carla/_blueprintData.py, lists of 0.10
    "vehicle.ambulance.ford": "vehicle.ford.ambulance",
    "vehicle.carlacola.actors": "vehicle.carlamotors.carlacola",
    "vehicle.dodge.charger": "vehicle.dodge.charger_2020",
    "vehicle.dodgecop.charger": "vehicle.dodge.charger_police_2020",
    "vehicle.firetruck.actors": "vehicle.carlamotors.firetruck",
    "vehicle.fuso.mitsubishi": "vehicle.mitsubishi.fusorosa",
    "vehicle.lincoln.mkz": "vehicle.lincoln.mkz_2020",
    "vehicle.mini.cooper": "vehicle.mini.cooper_s_2021",
    "vehicle.nissan.patrol": "vehicle.nissan.patrol_2021",
    "vehicle.sprinter.mercedes": "vehicle.mercedes.sprinter",
    "vehicle.taxi.ford": "vehicle.ford.crown",
}

CARLA_0_9_16: Final = CarlaVersion(
    "0.9.16",
    world_observer=17,
    first_attribute_type=1,
    absent_calls=_SINCE_0_10,
    geolocation=geolocation,
    spawn_command=("description", "pose", "parent", "attachment", "socket", "then"),
)
VERSIONS: Final[Mapping[str, CarlaVersion]] = MappingProxyType({
    "0.9.15": CarlaVersion(
        "0.9.15",
        world_observer=16,
        first_attribute_type=0,
        absent_sensors=_SENSORS_SINCE_16,
        absent_calls=_CALLS_SINCE_16 | _SINCE_0_10,
        mask_ids=unreal_ids,  # carla issue 6636
    ),
    "0.9.16": CARLA_0_9_16,
    "0.10.0": CarlaVersion(
        "0.10.0",
        world_observer=16,
        first_attribute_type=0,
        absent_sensors=_SENSORS_SINCE_16,
        absent_calls=_CALLS_SINCE_16,
        calls_without_effect=frozenset({"set_weather_parameters"}),  # carla issue 8590
        vehicles=_VEHICLES_OF_0_10,
        mask_ids=unreal_ids,
        answers={"get_physics_control": chaos_physics, "get_available_maps": _towns_of_0_10},
    ),
})  # fmt: skip
