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
_LIGHTS_IN_ORDER: Final = (0, 1, 2, 3, 4, 5, 6, 8, 7, 9, 10)  # interior before fog, as CARLA has it
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


def _rows(data: bytes, dtype: np.dtype[np.void], what: str) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = layout.rows_of(data, dtype, what).tolist()
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


def _positions(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.POSITION_ROW, "a position packet")
    yield f" Positions: {len(rows)}"
    for actor_id, place, turn in rows:
        yield f"  Id: {actor_id} Location: {_listed(place)} Rotation: {_listed(turn)}"


def _lights(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.STATE_ROW, "a traffic-light packet")
    yield f" State traffic lights: {len(rows)}"
    for actor_id, frozen, elapsed_s, state in rows:
        yield f"  Id: {actor_id} state: {chr(0x30 + state)} frozen: {frozen} elapsedTime: {elapsed_s:g}"


def _vehicles(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.VEHICLE_ROW, "a vehicle-animation packet")
    yield f" Vehicle animations: {len(rows)}"
    for actor_id, steer, throttle, brake, hand_brake, gear in rows:
        pedals = f"Steering: {steer:g} Throttle: {throttle:g} Brake: {brake:g}"
        yield f"  Id: {actor_id} {pedals} Handbrake: {hand_brake} Gear: {gear}"


def _walkers(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.WALKER_ROW, "a walker-animation packet")
    yield f" Walker animations: {len(rows)}"
    for actor_id, speed in rows:
        yield f"  Id: {actor_id} speed: {speed:g}"


def _vehicle_lights(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.LIGHT_ROW, "a vehicle-light packet")
    yield f" Vehicle light animations: {len(rows)}"
    for actor_id, bits in rows:
        on = [_LIGHTS[bit] for bit in _LIGHTS_IN_ORDER if bits >> bit & 1]
        yield f"  Id: {actor_id} {' '.join(on) or 'None'}"


def _kinematics(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.KINEMATICS_ROW, "a kinematics packet")
    yield f" Dynamic actors: {len(rows)}"
    for actor_id, velocity, angular in rows:
        yield f"  Id: {actor_id} linear_velocity: {_listed(velocity)} angular_velocity: {_listed(angular)}"


def _boxes(what: str) -> Show:
    def show(data: bytes) -> Iterator[str]:
        rows = _rows(data, layout.BOX_ROW, "a box packet")
        yield f" Actor {what}: {len(rows)}"
        for actor_id, centre, half in rows:
            yield f"  Id: {actor_id} origin: {_listed(centre)} extension: {_listed(half)}"

    return show


def _platform_time(data: bytes) -> Iterator[str]:
    (seconds,) = layout.Cursor(data, "a platform-time packet").unpack(layout.SECONDS)
    yield f" Current platform time: {seconds:g}"


def _light_times(data: bytes) -> Iterator[str]:
    rows = _rows(data, layout.TIMES_ROW, "a traffic-light-time packet")
    yield f" Traffic Light time events: {len(rows)}"
    for actor_id, green_s, yellow_s, red_s in rows:
        yield f"  Id: {actor_id} green_time: {green_s:g} yellow_time: {yellow_s:g} red_time: {red_s:g}"


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
    layout.POSITION: _positions,
    layout.STATE: _lights,
    layout.ANIM_VEHICLE: _vehicles,
    layout.ANIM_WALKER: _walkers,
    layout.VEHICLE_LIGHT: _vehicle_lights,
    layout.KINEMATICS: _kinematics,
    layout.BOUNDING_BOX: _boxes("bounding boxes"),
    layout.TRIGGER_VOLUME: _boxes("trigger volumes"),
    layout.PLATFORM_TIME: _platform_time,
    layout.PHYSICS_CONTROL: _engines,
    layout.TRAFFIC_LIGHT_TIME: _light_times,
}
