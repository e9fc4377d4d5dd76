"""RPC methods without a meaning here: those that a program can do without are accepted, the others say why not.

Every accepted call is counted, and reported when the server ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headless_simulator.carla import values
from headless_simulator.carla.registry import Handler, method
from headless_simulator.carla.values import CallFailed

if TYPE_CHECKING:
    from headless_simulator.carla.server import CarlaServer

_ACCEPTED: Final = (  # nothing happens
    "apply_color_texture_to_objects", "apply_float_color_texture_to_objects", "blend_pose", "clear_debug_shape",
    "clear_debug_string", "close_vehicle_door", "disable_sensor_for_ros", "draw_debug_shape",
    "enable_sensor_for_ros", "get_pose_from_animation", "open_vehicle_door", "set_annotations_traverse_translucency",
    "set_bones_transform", "set_wheel_pitch_angle", "set_wheel_steer_direction", "show_vehicle_debug_telemetry",
    "use_carsim_road",
)  # fmt: skip
_REFUSED: Final = {
    "get_gbuffer_token": "the headless simulator has no G-buffers",
    "enable_carsim": "the headless simulator has no CarSim",
    "enable_chrono_physics": "the headless simulator has no Chrono",
}
_NO_EFFECT_ON_PURPOSE: Final = frozenset({"draw_debug_shape"})  # nothing worth reporting


def _accepted(name: str) -> Handler:
    def handler(server: CarlaServer, *_arguments: Any) -> None:
        if name not in _NO_EFFECT_ON_PURPOSE:
            server.without_effect[name] += 1

    return handler


def _refused(reason: str) -> Handler:
    def handler(_server: CarlaServer, *_arguments: Any) -> None:
        raise CallFailed(reason)

    return handler


for _name in _ACCEPTED:
    method(_name, void=True)(_accepted(_name))
for _name, _reason in _REFUSED.items():
    method(_name)(_refused(_reason))


@method("is_sensor_enabled_for_ros")
def is_sensor_enabled_for_ros(_server: CarlaServer, *_token: Any) -> bool:
    """No ROS here."""
    return False


@method("are_gbuffers_enabled")
def are_gbuffers_enabled(_server: CarlaServer, *_actor: Any) -> bool:
    """No G-buffers here."""
    return False


@method("get_imui_gravity")
def get_imui_gravity(server: CarlaServer) -> float:
    """Gravity that IMUs add, m/s2."""
    return server.imu_gravity_mps2


@method("set_imui_gravity", void=True)
def set_imui_gravity(server: CarlaServer, gravity: float) -> None:
    """Change the gravity that IMUs add."""
    server.imu_gravity_mps2 = values.number(gravity)


@method("get_wheel_pitch_angle")
def get_wheel_pitch_angle(server: CarlaServer, actor_id: int, _wheel: int = 0) -> float:
    """Wheels do not pitch here."""
    server.world.actor(values.actor_id(actor_id))
    return 0.0
