"""Radio between vehicles (V2X): messages per tick and their received power.

Source: CARLA's ``V2XSensor``, ``CustomV2XSensor``, ``CaService`` and ``PathLossModel``; the equations are those of ETSI TR 103
257-1 (WINNER+), of two-ray ground reflection, and of knife-edge diffraction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from headless_simulator.carla.geolocation import geolocation
from headless_simulator.carla.sensors.moment import Body, Moment, Reading
from headless_simulator.carla.sensors.radio_wire import CAM, CUSTOM, CUSTOM_BYTES
from headless_simulator.carla.sensors.rays import generator, number, without
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Float64
from headless_simulator.world.actors import Actor
from headless_simulator.world.pose import rotation
from headless_simulator.world.table import VEHICLE
from headless_simulator.world.world import World

AWARENESS: Final = "sensor.other.v2x"
CUSTOM_RADIO: Final = "sensor.other.v2x_custom"
RADIOS: Final = frozenset({AWARENESS, CUSTOM_RADIO})

GRAVITY_MPS2: Final = 9.81  # specific force upwards at rest
_ABOVE_ROOF_M: Final = 0.02
_LIGHT_MPS: Final = 299_792_458.0
_GROUND_PERMITTIVITY: Final = 1.02
_FADING_DB: Final = {  # sigma by scenario: free line of sight, behind a building, behind vehicles
    "highway": (3.3, 6.8, 3.8), "rural": (4.25, 6.8, 4.55), "urban": (5.2, 6.8, 5.3),
}  # fmt: skip
_FREE, _BUILDING, _VEHICLES = range(3)
_MOST_VEHICLES: Final = 32  # between two antennas
_LOW_FREQUENCY_S: Final = 0.5
_TOUCHING_M: Final = 0.01
_EXTERIOR: Final = ((0, 2), (1, 4), (2, 32), (3, 16), (5, 64), (6, 128), (7, 1))  # position in ETSI's byte, CARLA's bit
_LARGEST_INTEGER: Final = 2**31 - 1
_MOST_DB: Final = 1e4
_LEAST, _MOST = 1e-6, 1e6  # of a frequency in GHz, and of a reference distance in metres
_YAW_RATE_UNKNOWN: Final = 32767
_MOST_WAITING: Final = 1000  # custom messages of one sensor in a tick
_STATIONS: Final = {"car": 5, "van": 5, "truck": 7, "bus": 6, "motorcycle": 4, "bicycle": 2}


@dataclass(frozen=True, slots=True)
class Heard:
    """A sender's (N,) messages of one tick for one receiver; antennas and vehicles' ``tops`` are (3,) world positions."""

    sender_id: int
    sender_antenna_m: Float64
    receiver_id: int
    receiver_antenna_m: Float64
    ground_m: float
    messages: Any
    fading_sigmas: float
    tops: dict[int, Float64]


def send(actor: Actor, text: str) -> None:
    """Queue a custom message for the next tick.

    Raises:
        CallRefused: the actor is not a radio for custom messages, or sends too much.
    """
    if actor.blueprint != CUSTOM_RADIO:
        raise CallRefused(f"actor {actor.actor_id} ({actor.blueprint}) sends no custom messages; use a {CUSTOM_RADIO}")
    waiting = actor.extra.setdefault("to send", [])
    if len(waiting) >= _MOST_WAITING:
        raise CallRefused(f"actor {actor.actor_id} has {_MOST_WAITING} messages queued, the maximum; tick first")
    waiting.append(text.encode(errors="surrogateescape")[: CUSTOM_BYTES - 1])


def transmit(world: World, radios: Sequence[Actor]) -> None:
    """Store the messages that each radio sends in this tick."""
    for actor in radios:
        if actor.blueprint == AWARENESS:
            actor.extra["sent"] = _awareness(world, actor)
            continue
        texts = actor.extra.pop("to send", [])
        sent = np.zeros(len(texts), CUSTOM)
        sent["power_dbm"] = _decibels(actor, "transmit_power", 21.5)
        sent["header"]["version"], sent["header"]["station"] = 2, actor.parent_id or actor.actor_id
        sent["text"] = texts
        actor.extra["sent"] = sent


def listen(world: World, actor: Actor, radios: Sequence[Actor]) -> list[Heard]:
    """Return the senders that a radio hears: same kind and channel, in range, on another parent."""
    receiver = _owner(world, actor)
    if receiver is None:
        return []
    bodies = [other for other in world.actors.values() if other.kind == VEHICLE]
    tops = {other.actor_id: _antenna(world, other) for other in bodies}
    receiver_antenna_m, heard = _antenna(world, receiver), []
    for other in radios:
        sender, messages = _owner(world, other), other.extra.get("sent", ())
        if sender is None or sender is receiver or not len(messages) or other.blueprint != actor.blueprint:
            continue
        if _text(other, "channel_id", "") != _text(actor, "channel_id", ""):
            continue
        sender_antenna_m = _antenna(world, sender)
        if np.linalg.norm(sender_antenna_m - receiver_antenna_m) >= number(actor, "filter_distance", 500.0):
            continue
        ground_m = float(min(world.table.c.pose[sender.row, 2], world.table.c.pose[receiver.row, 2]))
        sigmas, ends = float(generator(actor).normal()), (sender_antenna_m, receiver.actor_id, receiver_antenna_m)
        heard.append(Heard(sender.actor_id, *ends, ground_m, messages, sigmas, tops))
    return heard


def receive(reading: Reading, moment: Moment) -> list[Body]:
    """Return the messages that arrive with enough power, as one body of structures."""
    arrived = []
    for heard in reading.state:
        power_dbm = _decibels(reading.actor, "combined_antenna_gain", 10.0) - _loss_db(reading.actor, heard, moment)
        messages = heard.messages.copy()
        messages["power_dbm"] += power_dbm
        arrived.append(messages[messages["power_dbm"] >= number(reading.actor, "receiver_sensitivity", -99.0)])
    body = b"".join(messages.tobytes() for messages in arrived)
    return [(body,)] if body else []


def _text(actor: Actor, name: str, default: str) -> str:
    return actor.order.attributes.get(name, default)


def _decibels(actor: Actor, name: str, default: float) -> float:
    return float(min(max(number(actor, name, default), -_MOST_DB), _MOST_DB))


def _positive(actor: Actor, name: str, default: float) -> float:
    """Read an attribute used as a divisor; values not above zero count as the default."""
    value = float(number(actor, name, default))
    return min(max(value, _LEAST), _MOST) if value > 0 else default


def _integer(value: float) -> int:
    return round(min(max(value, -_LARGEST_INTEGER), _LARGEST_INTEGER))


def _owner(world: World, actor: Actor) -> Actor | None:
    """Return the actor that carries the antenna; a radio for custom messages may have none."""
    return world.actors.get(actor.parent_id) or (actor if actor.blueprint == CUSTOM_RADIO else None)


def _antenna(world: World, actor: Actor) -> Float64:
    above_m = 2 * actor.half_m[2] + _ABOVE_ROOF_M
    return np.asarray(world.table.c.pose[actor.row, :3] + np.array([0.0, 0.0, above_m]))


def _between(heard: Heard, moment: Moment) -> tuple[int, list[int]]:
    """Return the kind of obstruction between two antennas, and the ids of obstructing vehicles."""
    line_m = heard.sender_antenna_m - heard.receiver_antenna_m
    reach_m = float(np.linalg.norm(line_m))
    movers, vehicles = moment.movers, list[int]()
    hidden = [heard.sender_id, heard.receiver_id]
    if reach_m < _TOUCHING_M:
        return _FREE, []
    for _ in range(_MOST_VEHICLES):
        movers = without(movers, hidden)
        distance_m, ids, _, _ = moment.renderer.cast(
            heard.receiver_antenna_m[None], line_m[None] / reach_m, reach_m, movers
        )
        if not np.isfinite(distance_m[0]):
            break
        if int(ids[0]) not in heard.tops:
            return _BUILDING, vehicles
        vehicles.append(int(ids[0]))
        hidden = vehicles
    return (_VEHICLES if vehicles else _FREE), vehicles


def _loss_db(actor: Actor, heard: Heard, moment: Moment) -> float:
    state, vehicles = _between(heard, moment)
    scenario = _text(actor, "scenario", "highway")
    ghz = _positive(actor, "frequency_ghz", 5.9)
    wave_m = _LIGHT_MPS / (ghz * 1e9)
    far_m = max(float(np.linalg.norm(heard.sender_antenna_m - heard.receiver_antenna_m)), _TOUCHING_M)
    edge_db = max([_edge_db(heard, heard.tops[vehicle], wave_m) for vehicle in vehicles], default=0.0)
    if _text(actor, "path_loss_model", "winner") == "winner":
        loss_db = winner_db(far_m, ghz, blocked=state == _BUILDING, highway=scenario == "highway")
    elif state == _FREE:
        heights_m = heard.receiver_antenna_m[2] - heard.ground_m, heard.sender_antenna_m[2] - heard.ground_m
        loss_db = two_rays_db(far_m, *heights_m, wave_m)
    elif state == _BUILDING:
        reference_m = _positive(actor, "d_ref", 1.0)
        slope = _decibels(actor, "path_loss_exponent", 2.7)
        loss_db = free_space_db(reference_m, wave_m) + 10 * slope * math.log10(far_m / reference_m)
    else:
        loss_db = free_space_db(far_m, wave_m)
    if _text(actor, "use_etsi_fading", "true").lower() in ("true", "1"):
        sigma_db = _FADING_DB.get(scenario, _FADING_DB["highway"])[state]
    else:
        sigma_db = _decibels(actor, "custom_fading_stddev", 0.0)
    return loss_db + (edge_db if state == _VEHICLES else 0.0) + sigma_db * heard.fading_sigmas


def winner_db(far_m: float, ghz: float, *, blocked: bool, highway: bool) -> float:
    """Return the WINNER+ path loss, dB; ``blocked`` means by a building."""
    base, slope, pitch = (36.85, 30.0, 18.9) if blocked else (32.4, 20.0, 20.0) if highway else (38.77, 16.7, 18.2)
    return base + slope * math.log10(far_m) + pitch * math.log10(ghz)


def free_space_db(far_m: float, wave_m: float) -> float:
    """Return the free-space path loss, dB."""
    return 20 * math.log10(4 * math.pi * far_m / wave_m)


def two_rays_db(far_m: float, one_m: float, other_m: float, wave_m: float) -> float:
    """Return the two-ray ground-reflection loss, dB; antenna heights are above the ground."""
    ground_m = max(math.sqrt(max(far_m**2 - (one_m - other_m) ** 2, 0.0)), _TOUCHING_M)
    mirrored_m = math.sqrt(far_m**2 + 4 * one_m * other_m)
    sine, root = (one_m + other_m) / mirrored_m, math.sqrt(_GROUND_PERMITTIVITY - (ground_m / mirrored_m) ** 2)
    gamma, phase = (sine - root) / (sine + root), 2 * math.pi / wave_m * (far_m - mirrored_m)
    gain = math.hypot(1 + gamma * math.cos(phase), gamma * math.sin(phase))
    return free_space_db(ground_m, wave_m) - 20 * math.log10(max(gain, _LEAST))


def _edge_db(heard: Heard, top_m: Float64, wave_m: float) -> float:
    """Return the diffraction loss over a roof, dB; as in CARLA, from its height above the ground, not above the line."""
    antennas_m = heard.receiver_antenna_m, heard.sender_antenna_m
    one_m, other_m = (max(float(np.linalg.norm((top_m - end)[:2])), _TOUCHING_M) for end in antennas_m)
    v = (top_m[2] - heard.ground_m) * math.sqrt(2 * (one_m + other_m) / (wave_m * one_m * other_m))
    return float(6.9 + 20 * math.log10(math.sqrt((v - 0.1) ** 2 + 1) + v - 0.1)) if v >= -0.78 else 0.0


def _awareness(world: World, actor: Actor) -> Any:
    """Return a vehicle's CAM if one is due: after 4 m, 4 degrees, a change of 0.5 m/s, or the maximum interval."""
    owner, none = world.actors.get(actor.parent_id), np.zeros(0, CAM)
    if owner is None or owner.kind != VEHICLE:
        return none
    c, now_s = world.table.c, world.elapsed_s
    x, y, z, pitch, yaw, roll = c.pose[owner.row].tolist()
    axes = rotation(pitch, yaw, roll)
    speed_mps = float(axes[:, 0] @ c.velocity[owner.row])
    last_s, last_m, last_yaw, last_mps = actor.extra.get("last cam", (-math.inf, np.full(3, math.inf), 0.0, 0.0))
    longest_s = number(actor, "gen_cam_max", 1.0)
    waited_s = round(now_s - last_s, 6) if last_s > -math.inf else math.inf
    if waited_s < number(actor, "gen_cam_min", 0.1):
        return none
    position_m = np.array([x, y, z])
    changed = (
        np.linalg.norm(position_m - last_m) > 4.0
        or abs((yaw - last_yaw + 180.0) % 360.0 - 180.0) > 4.0
        or abs(speed_mps - last_mps) > 0.5
    )
    if changed and waited_s < math.inf:
        actor.extra["cam every"] = min(waited_s, longest_s)
        actor.extra["cams unchanged"] = 0
    elif not changed and _text(actor, "fixed_rate", "false").lower() not in ("true", "1"):
        if waited_s < actor.extra.get("cam every", longest_s):
            return none
        actor.extra["cams unchanged"] = actor.extra.get("cams unchanged", 0) + 1
        if actor.extra["cams unchanged"] >= 3:
            actor.extra["cam every"] = longest_s
    actor.extra["last cam"] = (now_s, position_m, yaw, speed_mps)
    return _cam(world, actor, owner, axes, speed_mps)


def _cam(world: World, actor: Actor, owner: Actor, axes: Float64, speed_mps: float) -> Any:
    c, rng = world.table.c, generator(actor)

    def noisy(value: float, name: str, axis: str = "", *, bias: bool = True) -> float:
        added = number(actor, f"noise_{name}_bias", 0.0) if bias else 0.0
        return float(value + added + number(actor, f"noise_{name}_stddev{axis}", 0.0) * rng.normal())

    cam = np.zeros(1, CAM)
    cam["power_dbm"] = _decibels(actor, "transmit_power", 21.5)
    cam["header"] = (2, 2, owner.actor_id)
    cam["cam"]["delta_ms"] = int(world.elapsed_s * 1000) % 65536
    x, y, z, _, yaw, _ = c.pose[owner.row].tolist()
    latitude_deg, longitude_deg = world.town.georeference
    latitude, longitude = geolocation(x, y, latitude_deg=latitude_deg, longitude_deg=longitude_deg)
    basic = cam["cam"]["basic"]
    basic["station_type"] = _station(owner)
    basic["position"]["latitude"] = _integer(noisy(latitude, "lat") * 1e6) * 10
    basic["position"]["longitude"] = _integer(noisy(longitude, "lon") * 1e6) * 10
    basic["position"]["ellipse"] = (4095, 4095, 3601)  # unknown
    basic["position"]["altitude"] = (_integer(noisy(z, "alt") * 100), 15)
    high_frequency = cam["cam"]["high_frequency"]
    high_frequency["present"] = 1
    vehicle = high_frequency["vehicle"]
    vehicle["heading"] = (_integer(noisy((yaw + 90.0) % 360.0, "head") * 10), 10)
    vehicle["speed"] = (min(_integer(max(noisy(speed_mps, "vel", "_x", bias=False), 0.0) * 100), 16382), 3)
    vehicle["direction"] = int(speed_mps < 0.0)
    vehicle["length"], vehicle["width"] = (round(owner.half_m[0] * 20), 4), round(owner.half_m[1] * 20)
    specific_force = axes.T @ (c.acceleration[owner.row] + np.array([0.0, 0.0, GRAVITY_MPS2]))
    for name, axis, value in zip(("longitudinal", "lateral", "vertical"), "xyz", specific_force.tolist(), strict=True):
        tenths = _integer(noisy(value, "accel", f"_{axis}", bias=False) * 10)
        vehicle[name] = (tenths if -160 <= tenths <= 161 else 161, 102)
    vehicle["has_lateral"] = vehicle["has_vertical"] = True
    vehicle["curvature"] = (30001, 7)
    hundredths = _integer(math.degrees(noisy(math.radians(float(c.angular[owner.row, 2])), "yawrate")) * 100)
    vehicle["yaw_rate"] = (hundredths if abs(hundredths) < _YAW_RATE_UNKNOWN else _YAW_RATE_UNKNOWN, 8)
    if world.elapsed_s - actor.extra.get("last low frequency", -math.inf) >= _LOW_FREQUENCY_S:
        actor.extra["last low frequency"] = world.elapsed_s
        low_frequency = cam["cam"]["low_frequency"]
        low_frequency["present"] = 1
        low_frequency["role"] = {6: 1, 10: 6}.get(_station(owner), 0)
        low_frequency["lights"] = _exterior_lights(int(c.lights[owner.row]))
    return cam


def _station(owner: Actor) -> int:
    attributes = owner.order.attributes
    return 10 if attributes.get("special_type") == "emergency" else _STATIONS.get(attributes.get("base_type", ""), 0)


def _exterior_lights(bits: int) -> int:
    """Convert CARLA's light bits to ETSI's, low beam first."""
    return sum(128 >> position for position, bit in _EXTERIOR if bits & bit)
