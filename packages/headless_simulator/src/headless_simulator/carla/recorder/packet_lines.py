"""Lines of ``show_recorder_file_info`` for each kind of packet."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from headless_simulator.carla.recorder import layout

Show = Callable[[bytes], Iterator[str]]
_LIGHTS: Final = (
    "Position", "LowBeam", "HighBeam", "Brake", "RightBlinker", "LeftBlinker", "Reverse", "Fog", "Interior", "Special1",
    "Special2",
)  # fmt: skip
_LIGHTS_IN_ORDER: Final = (0, 1, 2, 3, 4, 5, 6, 8, 7, 9, 10)  # interior before fog, as in CARLA
_ENGINE_NAMES: Final = (
    "max_rpm", "MOI", "damping_rate_full_throttle", "damping_rate_zero_throttle_clutch_engaged",
    "damping_rate_zero_throttle_clutch_disengaged", "use_gear_auto_box", "clutch_strength", "final_ratio", "mass",
    "drag_coefficient",
)  # fmt: skip
_WHEEL_NAMES: Final = (
    "tire_friction", "damping_rate", "max_steer_angle", "radius", "max_brake_torque", "max_handbrake_torque",
)  # fmt: skip


def _listed(values: Any) -> str:
    return "(" + ", ".join(f"{v:g}" for v in values) + ")"


def _rows(data: bytes, dtype: np.dtype[np.void], packet_name: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = layout.rows_of(data, dtype, packet_name).tolist()
    return rows


def _added(data: bytes) -> Iterator[str]:
    for new in layout.arrivals(data):
        yield f" Create {new.actor_id}: {new.blueprint} ({new.kind}) at {_listed(new.location_cm)}"
        for _, name, value in new.attributes:
            yield f"  {name} = {value}"


def _deleted(data: bytes) -> Iterator[str]:
    for (actor_id,) in _rows(data, layout.DEL_ROW, "an event-del packet"):
        yield f" Destroy {actor_id}"


def _parented(data: bytes) -> Iterator[str]:
    for child, parent in _rows(data, layout.PARENT_ROW, "an event-parent packet"):
        yield f" Parenting {child} with {parent} (parent)"


def _collided(data: bytes) -> Iterator[str]:
    for number, a, b, hero_a, hero_b in _rows(data, layout.COLLISION_ROW, "a collision packet"):
        first, second = (" (hero) " if hero else "" for hero in (hero_a, hero_b))
        yield f" Collision id {number} between {a}{first} with {b}{second}"


def _each(title: str, row: np.dtype[np.void], packet_name: str, text_of: Callable[..., str]) -> Show:
    """List a packet's rows below a title with their count, with ``text_of`` for the text after each actor's id."""

    def show(data: bytes) -> Iterator[str]:
        rows = _rows(data, row, packet_name)
        yield f" {title}: {len(rows)}"
        yield from (f"  Id: {actor_id} {text_of(*values)}" for actor_id, *values in rows)

    return show


def _vehicle(steer: float, throttle: float, brake: float, hand_brake: bool, gear: int) -> str:
    pedals = f"Steering: {steer:g} Throttle: {throttle:g} Brake: {brake:g}"
    return f"{pedals} Handbrake: {hand_brake} Gear: {gear}"


def _lights_on(bits: int) -> str:
    return " ".join(_LIGHTS[bit] for bit in _LIGHTS_IN_ORDER if bits >> bit & 1) or "None"


def _box(centre: Any, half: Any) -> str:
    return f"origin: {_listed(centre)} extension: {_listed(half)}"


def _platform_time(data: bytes) -> Iterator[str]:
    (seconds,) = layout.Cursor(data, "a platform-time packet").unpack(layout.SECONDS)
    yield f" Current platform time: {seconds:g}"


def _engines(data: bytes) -> Iterator[str]:
    found = layout.physics_controls(data)
    yield f" Physics Control events: {len(found)}"
    for control in found:
        yield f"  Id: {control.actor_id}"
        yield from _engine(control)


def _engine(control: layout.PhysicsControl) -> Iterator[str]:
    for name, value in zip(_ENGINE_NAMES, control.engine, strict=False):
        yield f"   {name} = {str(value).lower() if isinstance(value, bool) else f'{value:g}'}"
    yield f"   center_of_mass = {_listed(control.engine[-3:])}"
    for name, curve in (("torque_curve", control.torque), ("steering_curve", control.steering)):
        yield f"   {name} =" + "".join(f" {_listed(point)}" for point in curve.tolist())
    yield "   forward_gears:"
    for n, (ratio, down, up) in enumerate(control.gears.tolist()):
        yield f"    gear {n}: ratio {ratio:g} down_ratio {down:g} up_ratio {up:g}"
    yield "   wheels:"
    for n, row in enumerate(control.wheels.tolist()):
        named = " ".join(f"{name} {value:g}" for name, value in zip(_WHEEL_NAMES, row, strict=False))
        yield f"    wheel {n}: {named} position {_listed(row[-3:])}"


EVENTS: Final[dict[int, Show]] = {
    layout.EVENT_ADD: _added,
    layout.EVENT_DEL: _deleted,
    layout.EVENT_PARENT: _parented,
    layout.COLLISION: _collided,
}
ONLY_IN_FULL: Final[dict[int, Show]] = {
    layout.POSITION: _each(
        "Positions", layout.POSITION_ROW, "a position packet",
        lambda location, rotation: f"Location: {_listed(location)} Rotation: {_listed(rotation)}",
    ),
    layout.STATE: _each(
        "State traffic lights", layout.STATE_ROW, "a traffic-light packet",
        lambda frozen, elapsed_s, state: f"state: {chr(0x30 + state)} frozen: {frozen} elapsedTime: {elapsed_s:g}",
    ),
    layout.ANIM_VEHICLE: _each("Vehicle animations", layout.VEHICLE_ROW, "a vehicle-animation packet", _vehicle),
    layout.ANIM_WALKER: _each(
        "Walker animations", layout.WALKER_ROW, "a walker-animation packet", lambda speed: f"speed: {speed:g}"
    ),
    layout.VEHICLE_LIGHT: _each("Vehicle light animations", layout.LIGHT_ROW, "a vehicle-light packet", _lights_on),
    layout.KINEMATICS: _each(
        "Dynamic actors", layout.KINEMATICS_ROW, "a kinematics packet",
        lambda velocity, angular: f"linear_velocity: {_listed(velocity)} angular_velocity: {_listed(angular)}",
    ),
    layout.BOUNDING_BOX: _each("Actor bounding boxes", layout.BOX_ROW, "a box packet", _box),
    layout.TRIGGER_VOLUME: _each("Actor trigger volumes", layout.BOX_ROW, "a box packet", _box),
    layout.PLATFORM_TIME: _platform_time,
    layout.PHYSICS_CONTROL: _engines,
    layout.TRAFFIC_LIGHT_TIME: _each(
        "Traffic Light time events", layout.TIMES_ROW, "a traffic-light-time packet",
        lambda green_s, yellow_s, red_s: f"green_time: {green_s:g} yellow_time: {yellow_s:g} red_time: {red_s:g}",
    ),
}  # fmt: skip
