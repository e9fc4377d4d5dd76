"""Images from AirSim while the world is paused (topology ``merged``; a ``SensorPort``).

One call captures all images of a vehicle; each vehicle has its own client and thread. Where such calls wait for a tick, the
world is held at the captured one and ``proof.py`` verifies every image. ``object_numbers.py`` converts AirSim's segmentation
colours to CARLA's masks.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from uavsim.errors import MissedTick
from uavsim.geometry import unreal
from uavsim.records.modalities import INSTANCE, Modality, modality, ordered
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import DroneState
from uavsim.records.sensors import Agent
from uavsim.simulate.airsim.limits import image_sizes_px, images_limit_s
from uavsim.simulate.airsim.link import AirSimLink, pose_close
from uavsim.simulate.airsim.readers import AirSimReader, reader_of
from uavsim.simulate.airsim.swarm import MAIN, AirSimPoses
from uavsim.simulate.draw_schedule import DrawSchedule
from uavsim.simulate.merged.object_numbers import LAST_NUMBER, ObjectNumbers, colour_code
from uavsim.simulate.merged.proof import LastImages, TimedReading, agreed, refuse_other_times
from uavsim.simulate.names import sensor_name, vehicle_name
from uavsim.simulate.ports import Reading, ReadyReadings, SceneTraffic, SensorPose, TickState
from uavsim.typing import AnyArray, UInt8Array, UInt16Array


class AirSimSensors:
    """The rig's sensors, mounted on AirSim's vehicles by its settings.json."""

    def __init__(self, host: str, port: int, *, swarm: AirSimPoses) -> None:
        """Capture images of the vehicles of ``swarm``."""
        self._endpoint, self._swarm = (host, port), swarm
        self._links: dict[int, AirSimLink] = {}  # a client for each vehicle, created and used in its own thread
        self._engine = swarm.engine
        self._last = LastImages()
        self._numbers = ObjectNumbers(swarm.engine, main=MAIN, main_link=self._main)
        self._palette: UInt16Array | None = None  # colour code -> object number, 65535 where no number

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """See ``SensorPort``."""
        self._plan, self._traffic, self._schedule = plan, traffic, DrawSchedule(plan)
        self._images_drawn = 0
        ends = {vehicle_name(drone_id): link.close for drone_id, link in self._links.items()}
        self._engine.ask(ends, doing="closing", ticks=False)
        self._links = {}  # the origin may be another town's
        self._sizes_px = image_sizes_px(plan)
        self._meaning: tuple[UInt16Array, UInt8Array] | None = None

    @property
    def images_drawn(self) -> int:
        """See ``SensorPort``."""
        return self._images_drawn

    def expect(self, step: int, poses: Sequence[SensorPose]) -> None:
        """See ``SensorPort``; AirSim renders on request, and the swarm has set the vehicles' poses."""
        reading = self._schedule.reading.get(step, ())
        self._poses = [pose for pose in poses if pose.sensor in reading]

    def stop(self) -> None:
        """See ``SensorPort``; AirSim draws only on request."""

    def collect(self, state: TickState) -> ReadyReadings:
        """See ``SensorPort``; the world is paused until all readings have arrived."""
        return ReadyReadings(self._taken(state))

    def _taken(self, state: TickState) -> list[Reading]:
        with self._engine.proven():
            self._learn_numbers(state)
            if self._engine.way == "free":
                return [taken.reading for taken in self._take_all_images(state.frame)]
            began_ns = self._swarm.clock_ns()
            self._place_all()
            taken = agreed(partial(self._take_all_images, state.frame), frame=state.frame)
            refuse_other_times(taken, began_ns, self._swarm.clock_ns(), frame=state.frame)
        readings = [t.reading for t in taken]
        self._last.take(readings, self._poses, frame=state.frame)
        return readings

    def _place_all(self) -> None:
        jobs = {vehicle_name(drone.drone_id): partial(self._place, drone) for drone in self._swarm.drones}
        self._engine.ask(jobs, doing="placing the drones")

    def _place(self, drone: DroneState) -> None:
        self._swarm.show(drone, self._link_of(drone.drone_id))

    def _learn_numbers(self, state: TickState) -> None:
        readers = [reader_of(modality) for spec in self._plan.rig for modality in ordered(spec.modalities)]
        if any(reader.is_segmentation or reader.image_type is None for reader in readers):
            if self._palette is None:
                self._palette = self._numbers.palette(
                    reader_of(modality(INSTANCE)),
                    vehicle=vehicle_name(self._plan.swarm.drone_ids[0]),
                    camera=self._plan.cameras[-1].name,
                )
            if self._meaning is None:
                self._meaning = self._numbers.give(self._plan, self._traffic, state, link_of=self._link_of)

    def _main(self) -> AirSimLink:
        assert self._swarm.link is not None
        return self._swarm.link

    def _take_all_images(self, frame: int) -> list[TimedReading]:
        """Capture every vehicle's images, each in its own thread with its own client."""
        jobs = {
            vehicle_name(drone_id): partial(
                self._take_images, drone_id, [p for p in self._poses if p.sensor.agent == Agent(drone_id)], frame
            )
            for drone_id in self._plan.swarm.drone_ids
        }
        limit_s = images_limit_s(self._sizes_px, base_s=self._engine.deadlines.call_s)
        taken = self._engine.ask(jobs, doing="taking images", within_s=limit_s)
        images = [image for name in jobs for image in taken[name]]
        self._images_drawn += sum(image.time_ns is not None for image in images)  # a lidar's turn has no time
        return images

    def _take_images(self, drone_id: int, poses: Sequence[SensorPose], frame: int) -> list[TimedReading]:
        """Capture a vehicle's sensors: all images in one call, then each lidar's scan."""
        link, name = self._link_of(drone_id), vehicle_name(drone_id)
        requested = [(pose, m, reader_of(m)) for pose in poses for m in ordered(pose.sensor.spec.modalities)]
        images = [each for each in requested if each[2].image_type is not None]
        replies = link.images(name, link.image_requests([(pose.sensor.spec.name, image) for pose, _, image in images]))
        if len(replies) != len(images):
            raise MissedTick(f"tick {frame}: {name} answered {len(replies)} images of {len(images)}")
        readings = [
            TimedReading(self._image(link, *each, reply=reply, frame=frame), int(reply.time_stamp))
            for each, reply in zip(images, replies, strict=True)
        ]
        turns = [each for each in requested if each[2].image_type is None]
        return readings + [TimedReading(self._turn(link, *each, frame=frame), None) for each in turns]

    def _turn(
        self, link: AirSimLink, pose: SensorPose, sensor: Modality, reader: AirSimReader, *, frame: int
    ) -> Reading:
        """Read a scan of a vehicle's lidar; points carry the number of their object."""
        what = f"tick {frame}: {pose.channel}"
        reply = link.lidar(vehicle_name(pose.sensor.agent.number), sensor_name(pose.sensor.spec))
        _check_pose(link, pose, (reply.pose.position, reply.pose.orientation), what=what)
        flat = np.asarray(reply.point_cloud, dtype=np.float32)
        flat = flat if flat.size > 1 else flat[:0]  # AirSim sends one number for an empty scan
        numbers = np.asarray(reply.segmentation, dtype=np.int64)
        if flat.size != 3 * numbers.size:
            raise MissedTick(f"{what} has {flat.size} coordinates and {numbers.size} segmentation numbers")
        returns = reader.read(flat.reshape(-1, 3), pose.sensor.spec.params)
        assert self._meaning is not None
        id_of, tag_of = self._meaning
        known = np.where((numbers >= 0) & (numbers <= LAST_NUMBER), numbers, 0)
        returns["actor"], returns["tag"] = id_of[known], tag_of[known]
        return Reading(pose.channel, sensor.name, returns)

    def _link_of(self, drone_id: int) -> AirSimLink:
        if drone_id not in self._links:
            self._links[drone_id] = AirSimLink(
                *self._endpoint,
                origin_ue_m=self._plan.town.airsim_origin_ue_m,
                limit_s=images_limit_s(self._sizes_px, base_s=self._engine.deadlines.airsim_s),
            )
        return self._links[drone_id]

    def _image(
        self, link: AirSimLink, pose: SensorPose, sensor: Modality, reader: AirSimReader, *, reply: Any, frame: int
    ) -> Reading:
        what = f"tick {frame}: {pose.channel} {sensor.name}"
        camera = pose.sensor.spec.camera.rendered
        if (reply.width, reply.height) != (camera.width_px, camera.height_px):
            raise MissedTick(
                f"{what} came as {reply.width}x{reply.height}, the rig has {camera.width_px}x{camera.height_px}"
            )
        _check_pose(link, pose, (reply.camera_position, reply.camera_orientation), what=what)
        if reader.as_float:
            numbers = np.asarray(reply.image_data_float, dtype=np.float32)
            if numbers.size != camera.width_px * camera.height_px:
                raise MissedTick(f"{what} has {numbers.size} numbers, not {camera.width_px * camera.height_px}")
            return Reading(pose.channel, sensor.name, reader.read(numbers.reshape(camera.height_px, -1), camera))
        bgr = np.frombuffer(reply.image_data_uint8, dtype=np.uint8)
        if bgr.size != camera.width_px * camera.height_px * 3:
            raise MissedTick(f"{what} has {bgr.size} bytes, not {camera.width_px * camera.height_px * 3}")
        bgr = bgr.reshape(camera.height_px, camera.width_px, 3)
        if reader.is_segmentation:
            bgr = self._as_carla_mask(bgr, what)
        return Reading(pose.channel, sensor.name, reader.read(bgr, camera))

    def _as_carla_mask(self, colours: UInt8Array, what: str) -> AnyArray:
        """Convert (H, W, 3) palette colours to CARLA's instance encoding, (H, W, 3) blue first: id >> 8, id & 255, tag."""
        assert self._palette is not None
        assert self._meaning is not None
        numbers = np.take(self._palette, colour_code(colours))
        if (numbers > LAST_NUMBER + 1).any():
            raise MissedTick(f"{what} shows a colour without an object number")
        id_of, tag_of = self._meaning
        ids, tags = np.take(id_of, numbers), np.take(tag_of, numbers)
        return np.stack([(ids >> 8).astype(np.uint8), (ids & 255).astype(np.uint8), tags], axis=-1)

    def close(self) -> None:
        """See ``SensorPort``; the swarm ends the engine's threads."""
        self._links = {}


def _check_pose(link: AirSimLink, pose: SensorPose, reported: tuple[Any, Any], *, what: str) -> None:
    """Compare the (position, orientation) that AirSim reports with the requested pose.

    Raises:
        MissedTick: they differ: AirSim answered with an older measurement.
    """
    measured = link.world_pose(*reported, home=vehicle_name(pose.sensor.agent.number))
    map_SE3_sensor = unreal.map_SE3_flu_from_ue(pose.ue_location_m, ue_euler_deg=np.array(pose.ue_euler_deg))
    requested = link.from_map(map_SE3_sensor)
    if not pose_close(measured, requested):
        off_m = float(np.linalg.norm(measured.translation_m - requested.translation_m))
        raise MissedTick(f"{what} was taken {off_m:.3f} m from the requested pose, or turned")
