"""Cameras and lidars, verified by tick, pose and whole turns; a stub world delivers measurements."""

import threading
from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.capture.poses import planned_poses, planned_swarm
from tools.common.plans import rig, scene_plan, settled
from uavsim.capture.rig import sensor_poses
from uavsim.errors import MissedTick
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.ingredients.vehicles import VehiclesPlan
from uavsim.records.recording import ActorInfo, AgentState
from uavsim.records.sensors import Agent, CameraParams, LidarParams, SensorSpec
from uavsim.simulate.carla.sensors import CarlaSensors, origin_of_large_map
from uavsim.simulate.ports import SceneTraffic, SensorPose, TickState

BEAMS = LidarParams(2, 100.0, 8000, 20.0, -10.0, -90.0)
LIDAR = SensorSpec("", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), BEAMS, ("lidar",))
RAYS = "sensor.lidar.ray_cast_semantic"
PLAN = scene_plan(samples=2, cameras=(*rig(width=32, height=18)[:1], LIDAR))
STATE = TickState(frame=7, elapsed_s=1.5, lazy_actors=lambda: None)  # type: ignore[arg-type, return-value]


class World:
    """A stub world that records spawned actors and poses, and measures on demand."""

    generation = 1

    frame = 6  # of the last tick

    def __init__(self) -> None:
        self.sensors: list[tuple[Any, Any]] = []
        self.poses_by_sensor: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.carried: list[Any] = []
        self.moved: set[int] = set()
        self.listeners: dict[int, Any] = {}

    def spawn_sensor(self, blueprint, attributes, *, optional, carried=None):
        self.sensors.append((blueprint, attributes))
        self.carried.append(carried)
        self.poses_by_sensor[len(self.sensors) - 1] = (np.zeros(3), np.zeros(3))
        number = len(self.sensors) - 1
        listen, stop = partial(self.listeners.__setitem__, number), partial(self.listeners.pop, number)
        return SimpleNamespace(id=number, listen=listen, stop=stop)

    def move(self, ids, location, euler):
        self.moved |= set(ids)
        self.poses_by_sensor |= {i: (location[row], euler[row]) for row, i in enumerate(ids)}

    def measure(self, *, frame: int = 7, angle: float = 0.3, silent: Collection[int] = (), **changes) -> None:
        for number, on_measurement in self.listeners.items():
            if number in silent:
                continue
            blueprint, (t, e) = self.sensors[number][0], self.poses_by_sensor[number]
            shared: dict[str, Any] = {"frame": frame, "timestamp": 1.5, "transform": _transform(t, e)}
            if blueprint == RAYS:
                on_measurement(Turn(horizontal_angle=angle, **(shared | changes)))
            else:
                raw = np.full(32 * 18 * 4, number, np.uint8).tobytes()
                on_measurement(SimpleNamespace(**shared, width=32, height=18, fov=90.0, raw_data=raw))


def _transform(t: np.ndarray, e: np.ndarray) -> SimpleNamespace:
    return SimpleNamespace(
        location=SimpleNamespace(x=t[0], y=t[1], z=t[2]), rotation=SimpleNamespace(roll=e[0], pitch=e[1], yaw=e[2])
    )


@dataclass
class Turn:
    """A scan of two beams: one point ahead on the upper beam, two points on the lower beam."""

    frame: int
    timestamp: float
    transform: Any
    horizontal_angle: float
    channels: int = 2
    raw_data: bytes = np.array(
        [(3, 0, -1, 1.0, 0, 1), (0, 2, -4, 0.5, 0, 2), (0, 0, -5, -1.0, 91, 14)],
        dtype="<f4,<f4,<f4,<f4,<u4,<u4",
    ).tobytes()

    def get_point_count(self, channel: int) -> int:
        return (1, 2)[channel]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def cameras(world: World) -> CarlaSensors:
    cameras = CarlaSensors(world, deadline_s=0.2)  # type: ignore[arg-type]
    cameras.begin(PLAN, traffic=SceneTraffic())
    cameras.expect(0, planned_poses(PLAN))
    return cameras


def test_lidar_makes_a_whole_turn_each_step(world: World, cameras: CarlaSensors) -> None:
    attributes = [attributes for blueprint, attributes in world.sensors if blueprint == RAYS]
    assert len(attributes) == 5
    assert attributes[0]["rotation_frequency"] * PLAN.step_us / 1e6 == 1.0
    assert attributes[0]["horizontal_fov"] == 360.0
    assert attributes[0]["sensor_tick"] == 0.0


def test_points_are_in_the_sensor_frame_with_rings_from_below(world: World, cameras: CarlaSensors) -> None:
    world.measure()
    (returns, *_) = [r.data for r in cameras.collect(STATE).wait() if r.modality == "lidar"]
    assert returns["flu_m"].tolist() == [[3, 0, -1], [0, -2, -4], [0, 0, -5]]  # CARLA's y is to the right
    assert returns["ring"].tolist() == [1, 0, 0]
    assert returns["intensity"].tolist() == [255.0, 127.5, 255.0]
    assert returns["actor"].tolist() == [0, 0, 91]
    assert returns["tag"].tolist() == [1, 2, 14]


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"transform": _transform(np.zeros(3), np.zeros(3))}, "LIDAR_id_0 lidar was taken .* m and"),
        ({"channels": 3}, "LIDAR_id_0 lidar has 3 beams, not 2"),
        ({"timestamp": 1.45}, "LIDAR_id_0 lidar is stamped 1.45, not 1.5"),
    ],
)
def test_scan_with_other_pose_beams_or_time_is_refused(world, cameras, changes, error) -> None:
    world.measure(**changes)
    with pytest.raises(MissedTick, match=error):
        cameras.collect(STATE).wait()


def test_scans_of_other_ticks_are_ignored(world: World, cameras: CarlaSensors) -> None:
    world.measure(frame=6)
    with pytest.raises(MissedTick, match="images did not come within"):
        cameras.collect(STATE).wait()


def test_image_of_an_unrequested_tick_is_refused(world: World, cameras: CarlaSensors) -> None:
    world.measure(frame=8)
    with pytest.raises(MissedTick, match="of tick 8"):
        cameras.collect(STATE).wait()


def test_only_due_sensors_are_listened_to_and_read(world: World) -> None:
    plan = settled(replace(PLAN, sweep_cameras=()), ticks=2, first_ticks=3)
    cameras = CarlaSensors(world, deadline_s=0.2)  # type: ignore[arg-type]
    cameras.begin(plan, traffic=SceneTraffic())
    swarm = planned_swarm(plan)
    rgb = {n for n, (blueprint, _) in enumerate(world.sensors) if blueprint == "sensor.camera.rgb"}
    listened = {}
    for step in range(-5, 11):
        poses = sensor_poses(plan, swarm.advance(max(step, 0)))
        cameras.expect(step, poses)
        listened[step] = set(world.listeners)
        world.measure(frame=100 + step)
        if step in (0, 10):
            state = replace(STATE, frame=100 + step)
            assert len(cameras.collect(state).wait()) == len(world.sensors)
        world.frame = 100 + step
    everything = set(range(len(world.sensors)))
    assert {step for step, who in listened.items() if who == rgb} == {-3, -2, -1, 8, 9}
    assert {step for step, who in listened.items() if who == everything} == {0, 10}
    assert not any(who for step, who in listened.items() if step in (-5, -4, *range(1, 8)))
    assert cameras.images_drawn == 2 * len(rgb) * 2 + len(rgb) * 5
    cameras.stop()
    assert not world.listeners


@pytest.mark.parametrize("late", [(), range(10), [8]], ids=["none", "all", "one"])
def test_masks_are_listened_to_early_if_first_images_lag(world: World, late: Collection[int]) -> None:
    """A single camera without an image in the tick after ``listen()`` suffices."""
    plan = settled(PLAN, ticks=2, first_ticks=3)
    cameras = CarlaSensors(world, deadline_s=0.2)  # type: ignore[arg-type]
    cameras.begin(plan, traffic=SceneTraffic())
    swarm = planned_swarm(plan)
    counts, since = {}, {}
    for step in range(-5, 1):
        cameras.expect(step, sensor_poses(plan, swarm.advance(0)))
        since = {n: since.get(n, step) for n in world.listeners}
        counts[step] = len(world.listeners)
        world.measure(frame=100 + step, silent=[n for n in world.listeners if step == since[n] and n in late])
        world.frame = 100 + step
    rgb, everything = len(plan.sensors) // 2, len(world.sensors)
    assert counts == {-5: 0, -4: 0, -3: rgb, -2: rgb, -1: everything if late else rgb, 0: everything}


def test_incomplete_turn_is_reported(world: World, cameras: CarlaSensors) -> None:
    """After a tick of another length, the head's angle differs."""
    world.measure()
    cameras.collect(STATE).wait()
    world.frame = 16
    cameras.expect(10, planned_poses(PLAN))
    world.measure(frame=17, angle=0.3 + np.radians(36))
    with pytest.raises(MissedTick, match=r"is 36\.0 degrees off a whole number of turns"):
        cameras.collect(replace(STATE, frame=17)).wait()


def test_sensor_is_stopped_after_its_image_arrives(world: World, cameras: CarlaSensors) -> None:
    pending = cameras.collect(STATE)
    timer = threading.Timer(0.05, world.measure)
    timer.start()

    cameras.expect(1, [])  # nothing is due

    assert not world.listeners
    assert len(pending.wait()) == len(world.sensors)
    timer.join()


def test_images_of_two_ticks_in_flight(world: World, cameras: CarlaSensors) -> None:
    """If no sensor stops in between, the next tick is requested before the last images arrive."""
    plan = replace(PLAN, keyframe_every_steps=1)
    cameras.begin(plan, traffic=SceneTraffic())
    swarm = planned_swarm(plan)
    cameras.expect(0, sensor_poses(plan, swarm.advance(0)))
    first, poses_by_sensor = cameras.collect(STATE), dict(world.poses_by_sensor)
    world.frame = 7
    cameras.expect(1, sensor_poses(plan, swarm.advance(1)))
    second, moved = cameras.collect(replace(STATE, frame=8)), dict(world.poses_by_sensor)
    assert all((moved[number][0] != position_m).any() for number, (position_m, _) in poses_by_sensor.items())

    for frame, world.poses_by_sensor in ((7, poses_by_sensor), (8, moved)):
        world.measure(frame=frame)

    assert len(second.wait()) == len(first.wait()) == len(world.sensors)


def _ridden(world: World) -> tuple[CarlaSensors, list[SensorPose]]:
    """Return sensors, one agent's attached to an actor, and their poses in a tick."""
    agent = Agent(0, "vehicle")
    spec = SensorSpec("FRONT", (1.0, 0.5, 2.0), (0.0, -10.0, 90.0), CameraParams(32, 18, 90.0), ("rgb", "instance"))
    plan = replace(PLAN, ingredients={"vehicles": VehiclesPlan((agent,), (spec,), "own", labels_itself=False)})
    car = ActorInfo(3, 71, "vehicle", "vehicle.audi.a2", "car", (2, 1, 1), SE3.identity(()), 14, {})
    sensors = CarlaSensors(world, deadline_s=0.2)  # type: ignore[arg-type]
    sensors.begin(plan, traffic=SceneTraffic((car,), {}, {agent: car}))
    sensors.expect(0, planned_poses(plan))
    state = AgentState(agent, SE3(quaternion.from_yaw(0.4), np.array([5.0, 6.0, 0.1])), np.zeros(3), 3)
    return sensors, sensor_poses(plan, [state])


def test_carried_sensor_is_attached_and_never_moved(world: World) -> None:
    _ridden(world)
    carried = [number for number, mount in enumerate(world.carried) if mount]
    assert [world.carried[n][0] for n in carried] == [71, 71]
    mount = world.carried[carried[0]][1]
    assert (mount.location.x, mount.location.y, mount.location.z) == (1.0, -0.5, 2.0)  # CARLA's y is to the right
    assert (mount.rotation.pitch, mount.rotation.yaw) == (-10.0, 90.0)
    assert not set(carried) & world.moved


@pytest.mark.parametrize("off_m", [0.0, 0.01])
def test_carried_sensor_is_compared_with_its_actors_pose(world: World, off_m: float) -> None:
    sensors, (pose,) = _ridden(world)
    for number in (n for n, mount in enumerate(world.carried) if mount):
        world.poses_by_sensor[number] = (pose.ue_location_m + (off_m, 0, 0), np.array(pose.ue_euler_deg))
    world.measure()
    pending = sensors.collect(replace(STATE, carried=(pose,)))
    if not off_m:
        assert "CAM_FRONT_id_v0" in {reading.channel for reading in pending.wait()}
        return
    with pytest.raises(MissedTick, match=r"CAM_FRONT_id_v0 rgb was taken 0\.010 m and"):
        pending.wait()


@pytest.mark.parametrize(
    ("off_m", "origin_m"),
    [
        ([[1000.0004, -4999.9996, 0.0], [1000.0, -5000.0, 0.0001]], [1000, -5000, 0]),
        ([[0.25, 0.0, 0.0], [0.25, 0.0, 0.0]], [0, 0, 0]),  # all cameras are a tick late
        ([[5.0, 0.0, 0.0], [5.0, 0.0, 0.0]], [0, 0, 0]),
        ([[1000.25, -5000.0, 0.0], [1000.25, -5000.0, 0.0]], [1000, -5000, 0]),  # late, and from another origin
    ],
)
def test_origin_of_large_map(off_m, origin_m):
    np.testing.assert_array_equal(origin_of_large_map(np.array(off_m)), origin_m)
