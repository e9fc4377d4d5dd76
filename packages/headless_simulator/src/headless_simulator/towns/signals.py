"""Traffic lights and signs: poses, controlled lanes, stages."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from headless_simulator.scene import SignalHead
from headless_simulator.towns.ground import ROAD, Land, label_of
from headless_simulator.towns.lanes_index import Lanes, Pose6, pose_on, wrapped_deg
from headless_simulator.towns.network import DRIVABLE, Network, Road, RoadSignal
from headless_simulator.towns.speeds import SPEED_SIGNS
from headless_simulator.towns.strips import Strip, road_points, yaw_deg_at

LIGHT = "1000001"
_BEFORE_M = 1.0  # distance of stopped cars before a junction with the light inside it
_TRIGGER_M = 3.0  # length of CARLA's trigger boxes
_LINE_M = 2.0  # and from the box to the stop line: about the stopping distance of cars
_CLEAR_M = 1.5  # CARLA's trigger boxes end this far before the junction, so that crossing cars do not touch them
_FARTHEST_M = 12.0  # from a stop line to its light's junction


@dataclass(frozen=True, slots=True)
class _Stop:
    """The stop position of one lane; ``ahead_m`` is the distance beyond it in which the light still applies."""

    pose: Pose6
    width_m: float
    ahead_m: float
    junction: str


@dataclass(slots=True)
class _Found:
    """One light while its references are collected."""

    number: str
    foot_m: tuple[float, float, float]
    yaw_deg: float
    stops: list[_Stop] = field(default_factory=list)
    junction: str = ""


def _approach(lanes: Lanes, road: Road, strip: Strip) -> Strip | None:
    """Return the lane that leads into a connecting road's lane."""
    link = road.predecessor if strip.forward > 0 else road.successor
    number = strip.record.predecessor if strip.forward > 0 else strip.record.successor
    if link is None or link.element != "road" or number is None:
        return None
    linked_road = lanes.network.roads[link.number]
    return lanes.find(linked_road.number, number, linked_road.length_m if link.contact == "end" else 0.0)


def _stops_of(lanes: Lanes, road: Road, signal: RoadSignal) -> list[_Stop]:
    """Return the stop positions of one occurrence of a signal."""
    stops = []
    for strip in lanes.on_road(road.number):
        if (
            strip.kind not in DRIVABLE
            or not strip.s[0] - 1e-3 <= np.clip(signal.s, 0, road.length_m) <= strip.s[-1] + 1e-3
        ):
            continue
        if signal.lanes is not None:  # then orientation is meaningless: road editors use both values
            if strip.lane not in signal.lanes:
                continue
        elif signal.orientation in "+-" and strip.forward != (1 if signal.orientation == "+" else -1):
            continue
        if not road.junction:
            width = float(np.interp(signal.s, strip.s, strip.width_m))
            junction = _junction_ahead(road, strip)
            mouth = (road.length_m - signal.s if strip.forward > 0 else signal.s) if junction else _CLEAR_M + 0.5
            ahead = min(float(mouth) - _CLEAR_M, _FARTHEST_M)
            stops.append(_Stop(pose_on(strip, signal.s), width, ahead, junction))
            continue
        before = _approach(lanes, road, strip)
        if before is not None:
            s = before.s[-1] - _BEFORE_M if before.forward > 0 else before.s[0] + _BEFORE_M
            width = float(before.width_m.mean())
            stops.append(_Stop(pose_on(before, float(s)), width, _BEFORE_M - _CLEAR_M, road.junction))
    return stops


def _junction_ahead(road: Road, strip: Strip) -> str:
    link = road.successor if strip.forward > 0 else road.predecessor
    return link.number if link is not None and link.element == "junction" else ""


def _collect(lanes: Lanes) -> list[_Found]:
    network = lanes.network
    found: dict[str, _Found] = {}
    for road in network.roads.values():
        for signal in road.signals:
            if signal.kind == LIGHT and signal.number not in found:
                at = road_points(road, np.array([signal.s]), np.array([signal.t]), signal.z_m)[0]
                yaw = yaw_deg_at(road, signal.s) - float(np.degrees(signal.heading_rad))
                found[signal.number] = _Found(signal.number, (float(at[0]), float(at[1]), float(at[2])), yaw)
    for road in network.roads.values():
        for signal in road.signals:
            light = found.get(signal.number)
            if light is None:
                continue
            for stop in _stops_of(lanes, road, signal):
                x, y = stop.pose[:2]
                if all(np.hypot(x - old.pose[0], y - old.pose[1]) > 0.5 for old in light.stops):
                    light.stops.append(stop)
                light.junction = light.junction or stop.junction
    return list(found.values())


def _stages(lights: list[_Found], network: Network) -> dict[str, tuple[str, int]]:
    """Return (group name, stage) by signal id: from the file's controllers, else by junction and direction of approach.

    Of several controllers, the one that lists a light most often has it: CARLA's Town10HD lists one light once too often,
    which would make it green with crossing traffic. A light without a controller follows after the others.
    """
    stages: dict[str, tuple[str, int]] = {}
    for junction, controllers in network.junction_controllers.items():
        turns = [Counter(network.controllers.get(controller, ())) for controller in controllers]
        for signal in dict.fromkeys(signal for turn in turns for signal in turn):
            stages.setdefault(signal, (junction, max(range(len(turns)), key=lambda stage: turns[stage][signal])))
    controlled = {group for group, _ in stages.values()}
    ways: dict[str, list[float]] = {}
    for light in lights:
        if light.number in stages:
            continue
        named = light.junction in controlled
        apart = f"junction {light.junction}" if light.junction else f"light {light.number}"
        group = light.junction if named else apart
        yaw = (light.stops[0].pose[4] if light.stops else light.yaw_deg) % 360.0
        known = ways.setdefault(group, [])
        near = [k for k, way in enumerate(known) if abs((yaw - way + 180) % 360 - 180) < 35]
        if not near:
            known.append(yaw)
        stage = near[0] if near else len(known) - 1
        stages[light.number] = (group, stage + (len(network.junction_controllers[group]) if named else 0))
    return stages


def _trigger(light: _Found) -> tuple[float, float, float, float, float, float, float]:
    """Return the trigger box from before the stop line to the junction: as in CARLA, it includes cars past the line."""
    if not light.stops:
        return (*light.foot_m, 0.1, 0.1, 0.1, 0.0)
    lead = light.stops[0].pose
    yaw = np.radians(lead[4])
    along, across = np.array([np.cos(yaw), np.sin(yaw)]), np.array([-np.sin(yaw), np.cos(yaw)])
    same = [stop for stop in light.stops if abs((stop.pose[4] - lead[4] + 180) % 360 - 180) < 40]
    at = np.array([stop.pose[:2] for stop in same])
    quarter = np.array([stop.width_m / 4 for stop in same])  # CARLA takes the middle half of each lane
    side, ahead = at @ across, at @ along
    low, high = float((side - quarter).min()), float((side + quarter).max())
    front = float((ahead + np.array([stop.ahead_m for stop in same])).max())
    back = min(front - _TRIGGER_M, float(ahead.min()) - _LINE_M)
    middle = along * (back + front) / 2 + across * (low + high) / 2
    return float(middle[0]), float(middle[1]), lead[2] + 1.0, (front - back) / 2, (high - low) / 2, 2.0, float(lead[4])


def _off_the_road(foot: tuple[float, float, float], land: Land) -> tuple[float, float, float]:
    """Return the base position, metres, moved off the road if the file places it on one."""
    if label_of(land, np.array(foot[:2])) != ROAD:
        return foot
    angle = np.arange(16) * np.pi / 8
    for radius in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0):
        around = np.array(foot[:2]) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        free = np.flatnonzero(label_of(land, around) != ROAD)
        if len(free):
            x, y = around[free[0]]
            return float(x), float(y), float(land.height_at(around[free[0]]))
    return foot


def signal_heads(lanes: Lanes, land: Land) -> list[SignalHead]:
    """Return all traffic lights of a network, without lamp triangles. Yaw faces the waiting traffic."""
    lights = _collect(lanes)
    stages = _stages(lights, lanes.network)
    groups = {name: number for number, name in enumerate(dict.fromkeys(group for group, _ in stages.values()))}
    heads = []
    for light in lights:
        foot = _off_the_road(light.foot_m, land)
        yaw = light.stops[0].pose[4] + 180.0 if light.stops else light.yaw_deg
        group, stage = stages[light.number]
        heads.append(
            SignalHead(
                pose=(*foot, 0.0, wrapped_deg(yaw), 0.0),
                opendrive_id=light.number,
                group=groups[group],
                stage=stage,
                stop_lines=np.array([stop.pose for stop in light.stops], dtype=np.float64).reshape(-1, 6),
                trigger=_trigger(light),
                lamp_triangles=np.empty(0, dtype=np.int32),
            )
        )
    return heads


_SIGNS = {"205": "traffic.yield", "206": "traffic.stop"}


def traffic_signs(lanes: Lanes, land: Land) -> list[tuple[str, Pose6, str]]:
    """Return stop, yield and speed signs (signals, or objects named speed_30): blueprint id, pose and the file's id."""
    rows: list[tuple[str, Pose6, str]] = []
    for road in lanes.network.roads.values():
        for signal in road.signals:
            blueprint = _SIGNS.get(signal.kind, "")
            if signal.kind == "274":
                blueprint = _speed_sign(signal.value)
            if blueprint:
                pose = _sign_pose(road, (signal.s, signal.t), signal.orientation == "-", land)
                rows.append((blueprint, pose, signal.number))
        for item in road.objects:
            if item.name.lower().startswith("speed_"):
                blueprint = _speed_sign(item.name[6:])
                if blueprint:
                    rows.append((blueprint, _sign_pose(road, (item.s, item.t), item.t > 0, land), item.number))
    return rows


def _speed_sign(value: str) -> str:
    digits = "".join(letter for letter in value.split(".")[0] if letter.isdigit())
    if not digits:
        return ""
    nearest = min(SPEED_SIGNS, key=lambda known: abs(known - int(digits)))
    return f"traffic.speed_limit.{nearest}"


def _sign_pose(road: Road, station_and_offset: tuple[float, float], backward: bool, land: Land) -> Pose6:
    point = road_points(road, np.array([station_and_offset[0]]), np.array([station_and_offset[1]]))[0]
    x, y, z = _off_the_road((float(point[0]), float(point[1]), float(point[2])), land)
    yaw = yaw_deg_at(road, station_and_offset[0]) + (0.0 if backward else 180.0)
    return x, y, z, 0.0, wrapped_deg(yaw), 0.0
