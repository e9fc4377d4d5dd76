"""Methods without effect here: calls that programs can do without are accepted, others are refused with a reason.

Accepted calls are counted and reported at the end of the server.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NoReturn

from headless_simulator.carla.method import CarlaMethod, Handler, call
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Anything
from headless_simulator.rpc.call_counts import CallCounts

_ACCEPTED: Final = (  # nothing happens
    "apply_float_color_texture_to_objects", "blend_pose", "clear_debug_shape",
    "clear_debug_string", "disable_sensor_for_ros", "draw_debug_shape",
    "enable_sensor_for_ros", "get_pose_from_animation", "restore_physx_physics",
    "set_annotations_traverse_translucency", "set_bones_transform", "set_ignored_vehicles", "set_wheel_pitch_angle",
    "set_wheel_steer_direction", "show_vehicle_debug_telemetry",
    "use_carsim_road",
)  # fmt: skip
_REFUSED: Final = {
    "enable_carsim": "the headless simulator has no CarSim",
    "enable_chrono_physics": "the headless simulator has no Chrono",
}
_NO_EFFECT_ON_PURPOSE: Final = frozenset({"draw_debug_shape"})  # nothing worth reporting


def _accepted(name: str) -> Handler[CallCounts]:
    def handler(counts: CallCounts, *_arguments: Anything) -> None:
        if name not in _NO_EFFECT_ON_PURPOSE:
            counts.add(counts.without_effect, name)

    return handler


def _refused(reason: str) -> Handler[CallCounts]:
    def handler(_counts: CallCounts, *_arguments: Anything) -> NoReturn:
        raise CallRefused(reason)

    return handler


def is_sensor_enabled_for_ros(_counts: CallCounts, *_token: Anything) -> bool:
    """Return False: there is no ROS."""
    return False


def without_effect(names: Iterable[str]) -> Iterator[CarlaMethod[CallCounts]]:
    """Describe calls that are answered without effect."""
    for name in names:
        yield call(_accepted(name), name=name)


def _methods() -> Iterator[CarlaMethod[CallCounts]]:
    yield from without_effect(_ACCEPTED)
    for name, reason in _REFUSED.items():
        yield call(_refused(reason), name=name)
    yield call(is_sensor_enabled_for_ros)


METHODS: Final[tuple[CarlaMethod[CallCounts], ...]] = tuple(_methods())
