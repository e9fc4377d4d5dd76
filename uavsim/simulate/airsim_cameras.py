"""Images from AirSim while everything is paused (topology ``merged``; a ``CameraPort``).

One call takes all images of a vehicle, one client and thread serve each vehicle. Where such calls wait for a tick, the world
is held at the captured one and every image is proven by ``merged_proof.py``. AirSim's segmentation gives every object a
number 0..255, shown as a colour. Neither the colours nor their channel order are assumed: the palette is measured once a
session by giving one number after the other to everything and looking. Numbers 1..28 stand for the classes of what does not
move, the rest for single vehicles and walkers; past those, movers share their class's number and have no instance masks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.geometry import unreal
from uavsim.records.modalities import INSTANCE, LIDAR, AirSimImage, AirSimLidar, Modality, camera_modalities, modality
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo, DroneState
from uavsim.simulate.airsim_link import AirSimLink, pose_close
from uavsim.simulate.airsim_swarm import MAIN, AirSimPoses
from uavsim.simulate.merged_proof import LastImages, TimedReading, agreed, refuse_other_times
from uavsim.simulate.names import LIDAR_NAME, vehicle_name
from uavsim.simulate.ports import CameraPose, Reading, SceneTraffic, TickState
from uavsim.typing import AnyArray, FloatArray, UInt8Array, UInt16Array

__all__ = ["AirSimCameras"]

_MANY_CALLS_S: Final = 1800.0  # a town has thousands of objects, and each may cost a tick
_FIRST_INSTANCE: Final = 29  # after CARLA's 28 semantic tags
_LAST_INSTANCE: Final = 254
_NEAR_ACTOR_M: Final = 1.0  # an object this near an actor's origin is that actor
_STATIC_TAGS: Final = (  # names of CARLA's Unreal objects, first match wins; what matches nothing has tag 0
    (r"road_?line|marking", 24),
    (r"side_?walk|kerb|curb", 2),
    (r"road|street|asphalt", 1),
    (r"traffic_?light", 7),
    (r"sign", 8),
    (r"pole|lamp|light", 6),
    (r"veg|tree|bush|grass|plant", 9),
    (r"build|house|apartment|skyscraper|tower", 3),
    (r"wall", 4),
    (r"fence", 5),
    (r"terrain|landscape|ground", 10),
    (r"water", 23),
)


class AirSimCameras:
    """The rig's cameras, mounted on AirSim's vehicles by its settings.json."""

    def __init__(self, host: str, port: int, *, swarm: AirSimPoses) -> None:
        """Read images from where ``swarm`` is placed."""
        self._endpoint, self._swarm = (host, port), swarm
        self._links: dict[int, AirSimLink] = {}  # one client a vehicle, made and used in that vehicle's own thread
        self._engine = swarm.engine
        self._last = LastImages()
        self._fixed: set[str] = set()  # the town's own objects: numbered once, for each may cost a merged build a tick
        self._fixed_town = ""
        self._palette: UInt16Array | None = None  # colour code -> object number, 65535 where no number
        self.notes: list[str] = []

    def begin(self, plan: ScenePlan, *, traffic: SceneTraffic) -> None:
        """See ``CameraPort``."""
        self._plan, self._traffic = plan, traffic
        ends = {vehicle_name(drone_id): link.close for drone_id, link in self._links.items()}
        self._engine.ask(ends, doing="closing", ticks=False)
        self._links = {}  # the origin may be another town's
        self._meaning: tuple[UInt16Array, UInt8Array] | None = None

    def place(self, poses: Sequence[CameraPose]) -> None:
        """See ``CameraPort``; the swarm has placed the vehicles, this is what their cameras must report."""
        self._poses = list(poses)

    def collect(self, state: TickState) -> list[Reading]:
        """See ``CameraPort``."""
        with self._engine.proven():
            self._learn_numbers(state)
            if self._engine.way == "free":
                return [taken.reading for taken in self._shoot_all(state.frame)]
            began_ns = self._swarm.clock_ns()
            self._place_all()
            taken = agreed(partial(self._shoot_all, state.frame), frame=state.frame)
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
        images = [_image_of(sensor) for spec in self._plan.rig for sensor in camera_modalities(spec.sensors)]
        if self._plan.lidar or any(image.is_segmentation for image in images):
            if self._palette is None:
                self._palette = self._engine.ask(
                    {MAIN: lambda: self._measure_palette(self._main())},
                    doing="measuring the segmentation palette",
                    within_s=_MANY_CALLS_S,
                )[MAIN]
            if self._meaning is None:
                self._meaning = self._engine.ask(
                    {MAIN: lambda: self._number_objects(self._main(), state)},
                    doing="numbering objects",
                    within_s=_MANY_CALLS_S,
                )[MAIN]

    def _main(self) -> AirSimLink:
        assert self._swarm.link is not None
        return self._swarm.link

    def _shoot_all(self, frame: int) -> list[TimedReading]:
        """Take every vehicle's images, each in its own thread with its own client."""
        jobs = {
            vehicle_name(drone_id): partial(
                self._shoot, drone_id, [p for p in self._poses if p.drone_id == drone_id], frame
            )
            for drone_id in self._plan.swarm.drone_ids
        }
        taken = self._engine.ask(jobs, doing="taking images")
        return [image for name in jobs for image in taken[name]]

    def _shoot(self, drone_id: int, poses: Sequence[CameraPose], frame: int) -> list[TimedReading]:
        """Take one vehicle's images."""
        link = self._link_of(drone_id)
        sensors = {spec.name: camera_modalities(spec.sensors) for spec in self._plan.rig}
        lidars = [pose for pose in poses if not pose.camera]
        wanted = [(pose, sensor) for pose in poses if pose.camera for sensor in sensors[pose.camera]]
        name = vehicle_name(drone_id)
        replies = link.images(name, link.image_requests([(pose.camera, _image_of(sensor)) for pose, sensor in wanted]))
        if len(replies) != len(wanted):
            raise MissedTick(f"tick {frame}: {name} answered {len(replies)} images of {len(wanted)}")
        readings = [
            TimedReading(self._reading(link, pose, sensor, reply=reply, frame=frame), int(reply.time_stamp))
            for (pose, sensor), reply in zip(wanted, replies, strict=True)
        ]
        return readings + [TimedReading(self._turn(link, pose, frame=frame), None) for pose in lidars]

    def _turn(self, link: AirSimLink, pose: CameraPose, *, frame: int) -> Reading:
        """Take one turn of a vehicle's lidar; points carry the number of the object that they are on."""
        name, spec, sensor = vehicle_name(pose.drone_id), self._plan.lidar, modality(LIDAR)
        assert spec is not None
        assert isinstance(sensor.airsim, AirSimLidar)
        what = f"tick {frame}: {pose.channel}"
        reply = link.lidar(name, LIDAR_NAME)
        _check_pose(link, pose, (reply.pose.position, reply.pose.orientation), what=what)
        flat = np.asarray(reply.point_cloud, dtype=np.float32)
        flat = flat if flat.size > 1 else flat[:0]  # AirSim tells "nothing" by one number
        numbers = np.asarray(reply.segmentation, dtype=np.int64)
        if flat.size != 3 * numbers.size:
            raise MissedTick(f"{what} has {flat.size} coordinates and {numbers.size} segmentation numbers")
        returns = sensor.airsim.read(flat.reshape(-1, 3), spec)
        assert self._meaning is not None
        id_of, tag_of = self._meaning
        known = np.where((numbers >= 0) & (numbers <= _LAST_INSTANCE), numbers, 0)
        returns["actor"], returns["tag"] = id_of[known], tag_of[known]
        return Reading(pose.channel, LIDAR, returns)

    def _link_of(self, drone_id: int) -> AirSimLink:
        if drone_id not in self._links:
            self._links[drone_id] = AirSimLink(*self._endpoint, origin_ue_m=self._plan.town.airsim_origin_ue_m)
        return self._links[drone_id]

    def _reading(self, link: AirSimLink, pose: CameraPose, sensor: Modality, *, reply: Any, frame: int) -> Reading:
        spec = next(s for s in self._plan.rig if s.name == pose.camera)
        what = f"tick {frame}: {pose.channel} {sensor.name}"
        image = _image_of(sensor)
        if (reply.width, reply.height) != (spec.width_px, spec.height_px):
            raise MissedTick(
                f"{what} came as {reply.width}x{reply.height}, the rig has {spec.width_px}x{spec.height_px}"
            )
        _check_pose(link, pose, (reply.camera_position, reply.camera_orientation), what=what)
        if image.as_float:
            numbers = np.asarray(reply.image_data_float, dtype=np.float32)
            if numbers.size != spec.width_px * spec.height_px:
                raise MissedTick(f"{what} has {numbers.size} numbers, not {spec.width_px * spec.height_px}")
            return Reading(pose.channel, sensor.name, image.read(numbers.reshape(spec.height_px, spec.width_px)))
        bgr = np.frombuffer(reply.image_data_uint8, dtype=np.uint8)
        if bgr.size != spec.width_px * spec.height_px * 3:
            raise MissedTick(f"{what} has {bgr.size} bytes, not {spec.width_px * spec.height_px * 3}")
        bgr = bgr.reshape(spec.height_px, spec.width_px, 3)
        if image.is_segmentation:
            bgr = self._as_carla_mask(bgr, what)
        return Reading(pose.channel, sensor.name, image.read(bgr))

    def _as_carla_mask(self, colours: UInt8Array, what: str) -> AnyArray:
        """Turn palette colours into CARLA's instance encoding, (H, W, 3) blue first: id >> 8, id & 255, tag."""
        assert self._palette is not None
        assert self._meaning is not None
        numbers = np.take(self._palette, _colour_code(colours))
        if (numbers > _LAST_INSTANCE + 1).any():
            raise MissedTick(f"{what} shows a colour that is of no object number")
        id_of, tag_of = self._meaning
        ids, tags = np.take(id_of, numbers), np.take(tag_of, numbers)
        return np.stack([(ids >> 8).astype(np.uint8), (ids & 255).astype(np.uint8), tags], axis=-1)

    def _measure_palette(self, link: AirSimLink) -> UInt16Array:
        """Give everything one number after the other and look at what colour that is."""
        drone_id, camera = self._plan.swarm.drone_ids[0], self._plan.rig[-1].name
        name = vehicle_name(drone_id)
        request = link.image_requests([(camera, _image_of(modality(INSTANCE)))])
        palette = np.full(2**24, 65535, dtype=np.uint16)
        pixel: int | None = None
        before: AnyArray | None = None
        for number in (1, *range(256)):  # the first image only tells which pixel changes with the number
            with link.translated("measuring the segmentation palette"):
                link.client.simSetSegmentationObjectID(".*", number, True)
            replies = link.images(name, request)
            colours = (
                np.frombuffer(replies[0].image_data_uint8, np.uint8) if len(replies) == 1 else np.zeros(0, np.uint8)
            )
            if not colours.size or colours.size % 3 or (before is not None and colours.size != 3 * before.size):
                raise MissedTick(f"{name} answered no segmentation image while the palette was measured")
            codes = _colour_code(colours.reshape(-1, 3))
            if before is not None and pixel is None:
                changed = np.flatnonzero(codes != before)
                if not changed.size:
                    raise SimulatorError(
                        "AirSim's segmentation does not follow the numbers given; is it a custom build?"
                    )
                pixel = int(changed[len(changed) // 2])
            before = codes
            if pixel is not None:
                palette[codes[pixel]] = number
        if len(np.unique(palette)) != 257:
            raise SimulatorError("AirSim shows two object numbers in one colour; instance masks cannot be read")
        return palette

    def _number_objects(self, link: AirSimLink, state: TickState) -> tuple[UInt16Array, UInt8Array]:
        """Number every object in AirSim's segmentation; returns (mask id, semantic tag) by number, (256,) each."""
        ids, tags = np.zeros(256, dtype=np.uint16), np.zeros(256, dtype=np.uint8)
        tags[1:_FIRST_INSTANCE] = np.arange(1, _FIRST_INSTANCE)
        infos = {info.instance_id: info for info in self._traffic.actors}
        origins_m = state.actors.map_SE3_actor.translation_m
        places = {int(i): t for i, t in zip(state.actors.instance_id, origins_m, strict=True)}
        if self._fixed_town != self._plan.town.name:
            self._fixed, self._fixed_town = set(), self._plan.town.name
            with link.translated("numbering objects"):
                link.client.simSetSegmentationObjectID(".*", 0, True)
        names = [name for name in link.object_names() if name not in self._fixed]
        owners = self._owners(link, names, places)
        self._fixed.update(name for name in names if name not in owners)
        free = _FIRST_INSTANCE
        number_of: dict[int, int] = {}
        for object_name in names:
            owner = owners.get(object_name)
            if owner is None:
                number = next(
                    (tag for pattern, tag in _STATIC_TAGS if re.search(pattern, object_name, re.IGNORECASE)), 0
                )
            else:
                number, free = self._number_of(infos[owner], number_of, free)
                if number >= _FIRST_INSTANCE:
                    ids[number], tags[number] = infos[owner].simulator_actor_id & 0xFFFF, infos[owner].semantic_tag
            if number:
                with link.translated(f"numbering {object_name}"):
                    link.client.simSetSegmentationObjectID(object_name, number, False)
        lost = len(infos) - len(set(owners.values()))
        if lost:
            self.notes.append(f"{lost} actors are no objects that AirSim lists: they have no masks")
        if len(set(owners.values())) > _LAST_INSTANCE - _FIRST_INSTANCE + 1:
            self.notes.append("more actors than segmentation numbers: the rest have class masks only")
        return ids, tags

    @staticmethod
    def _number_of(info: ActorInfo, number_of: dict[int, int], free: int) -> tuple[int, int]:
        if info.instance_id in number_of:
            return number_of[info.instance_id], free
        if free > _LAST_INSTANCE:
            return info.semantic_tag, free
        number_of[info.instance_id] = free
        return free, free + 1

    @staticmethod
    def _owners(link: AirSimLink, names: Sequence[str], places: dict[int, FloatArray]) -> dict[str, int]:
        """Match scene objects to actors by place: Unreal's names of CARLA's actors are not to be relied on."""
        if not places:
            return {}
        instance_ids = np.array(list(places))
        actors_m = np.stack(list(places.values()))
        owners: dict[str, int] = {}
        for name in names:
            here_m = link.object_map_m(name)
            if not np.isfinite(here_m).all():
                continue
            off_m = np.linalg.norm(actors_m - here_m, axis=1)
            nearest = int(off_m.argmin())
            if off_m[nearest] < _NEAR_ACTOR_M and not re.match(r"uav\d+$", name):
                owners[name] = int(instance_ids[nearest])
        return owners

    def close(self) -> None:
        """See ``CameraPort``; the swarm ends the engine's threads."""
        self._links = {}


def _check_pose(link: AirSimLink, pose: CameraPose, reported: tuple[Any, Any], *, what: str) -> None:
    """Hold the (position, orientation) that AirSim reports against the pose asked for.

    Raises:
        MissedTick: it is another: AirSim answered with an older measurement.
    """
    got = link.world_pose(*reported, home=vehicle_name(pose.drone_id))
    map_SE3_sensor = unreal.map_SE3_flu_from_ue(pose.ue_location_m, ue_euler_deg=np.array(pose.ue_euler_deg))
    wanted = link.from_map(map_SE3_sensor)
    if not pose_close(got, wanted):
        off_m = float(np.linalg.norm(got.translation_m - wanted.translation_m))
        raise MissedTick(f"{what} was taken {off_m:.3f} m from the pose asked for, or turned")


def _image_of(sensor: Modality) -> AirSimImage:
    """Say how AirSim gives a modality.

    Raises:
        SimulatorError: it does not.
    """
    if not isinstance(sensor.airsim, AirSimImage):
        raise SimulatorError(f"AirSim gives no {sensor.name} images")
    return sensor.airsim


def _colour_code(colours: UInt8Array) -> AnyArray:
    """Pack (..., 3) uint8 into one int32 each, channel order as it came."""
    wide = colours.astype(np.int32)
    return wide[..., 0] | (wide[..., 1] << 8) | (wide[..., 2] << 16)
