"""Object numbers of AirSim's segmentation: their colours, and their assignment to objects.

AirSim gives every object a number 0..255, visible as a colour. The palette is measured once a session, because neither the
colours nor their channel order are certain: all objects get one number after the other. Numbers 1..28 are the classes of
static objects, the others single vehicles and walkers; further movers share their class's number and have no instance masks.

Each call may cost a merged build a tick, and a town has thousands of objects: static objects are numbered by one pattern a
class, and queries of single objects are spread over the drones' connections, each of which gets an answer a tick.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import numpy as np

from uavsim.errors import MissedTick, SimulatorError
from uavsim.records.ingredients import actor_kind
from uavsim.records.plan import ScenePlan
from uavsim.records.recording import ActorInfo
from uavsim.simulate.airsim.link import AirSimLink
from uavsim.simulate.airsim.readers import AirSimReader
from uavsim.simulate.merged_engine import MergedEngine
from uavsim.simulate.names import vehicle_name
from uavsim.simulate.ports import SceneTraffic, TickState
from uavsim.typing import AnyArray, FloatArray, UInt8Array, UInt16Array

LAST_NUMBER: Final = 254
_MANY_CALLS_S: Final = 1800.0  # of ticks, for all of them
_FIRST_INSTANCE: Final = 29  # after CARLA's 28 semantic tags
_NEAR_ACTOR_M: Final = 1.0  # maximum distance of an object from the origin of the actor that it belongs to
_STATIC_TAGS: Final = (  # patterns of CARLA's Unreal object names, first match wins; others have tag 0
    (r"road_?line|marking", 24),
    (r"side_?walk|kerb|curb", 2),
    (r"traffic_?light", 7),
    (r"sign", 8),
    (r"pole|lamp|light", 6),  # before streets, because of street lights
    (r"road|street|asphalt", 1),
    (r"veg|tree|bush|grass|plant", 9),
    (r"build|house|apartment|skyscraper|tower", 3),
    (r"wall", 4),
    (r"fence", 5),
    (r"terrain|landscape|ground", 10),
    (r"water", 23),
)


class ObjectNumbers:
    """Measures and assigns numbers through the swarm's links, each in the engine's thread of its name."""

    def __init__(self, engine: MergedEngine, *, main: str, main_link: Callable[[], AirSimLink]) -> None:
        """Use ``engine``; ``main`` is the thread of ``main_link``."""
        self._engine, self._main, self._main_link = engine, main, main_link
        self._fixed: set[str] = set()  # static objects of the town, numbered once
        self._fixed_town = ""

    def palette(self, image: AirSimReader, *, vehicle: str, camera: str) -> UInt16Array:
        """Measure the palette: (2^24,) uint16 number of each colour code, 65535 for unused colours.

        Raises:
            SimulatorError: two numbers have one colour, or images do not show the numbers.
            MissedTick: an image is missing.
        """
        return self._engine.ask(
            {self._main: lambda: _measured_palette(self._main_link(), image, vehicle=vehicle, camera=camera)},
            doing="measuring the segmentation palette",
            within_s=_MANY_CALLS_S,
        )[self._main]

    def give(
        self, plan: ScenePlan, traffic: SceneTraffic, state: TickState, *, link_of: Callable[[int], AirSimLink]
    ) -> tuple[UInt16Array, UInt8Array]:
        """Number every object; returns the (256,) mask ids and (256,) semantic tags of the numbers.

        Args:
            plan: plan of the scene.
            traffic: actors of the scene.
            state: poses of the actors.
            link_of: returns a drone's connection; called in the drone's thread.
        """
        fresh = self._fixed_town != plan.town.name
        if fresh:
            self._fixed, self._fixed_town = set(), plan.town.name
        listed = self._engine.ask(
            {self._main: lambda: _listed(self._main_link(), fresh=fresh)},
            doing="listing objects",
            within_s=_MANY_CALLS_S,
        )[self._main]
        names = [name for name in listed if name not in self._fixed]
        spread = {drone: names[k :: len(plan.swarm.drone_ids)] for k, drone in enumerate(plan.swarm.drone_ids)}
        found = self._spread({drone: partial(_places, link_of, drone, some) for drone, some in spread.items()})
        owners = _owners({name: found[name] for name in names}, state)
        bodies = sorted(info.instance_id for info in traffic.actors if actor_kind(info.kind).is_drone)
        owners |= dict(zip(map(vehicle_name, plan.swarm.drone_ids), bodies, strict=False))
        numbers, ids, tags = _assigned(names, owners, {info.instance_id: info for info in traffic.actors})
        to_set = {name: number for name, number in numbers.items() if name in owners or not fresh}
        self._spread(
            {
                drone: partial(_give_all, link_of, drone, {name: to_set[name] for name in some if name in to_set})
                for drone, some in spread.items()
            }
        )
        self._fixed.update(name for name in names if name not in owners)
        return ids, tags

    def _spread(self, jobs: Mapping[int, Callable[[], dict[str, FloatArray]]]) -> dict[str, FloatArray]:
        parts = self._engine.ask(
            {vehicle_name(drone): job for drone, job in jobs.items()}, doing="numbering objects", within_s=_MANY_CALLS_S
        )
        return {name: position_m for part in parts.values() for name, position_m in part.items()}


def colour_code(colours: UInt8Array) -> AnyArray:
    """Pack (..., 3) uint8 colours into (...) int32, in their channel order."""
    wide = colours.astype(np.int32)
    return wide[..., 0] | (wide[..., 1] << 8) | (wide[..., 2] << 16)


def _measured_palette(link: AirSimLink, image: AirSimReader, *, vehicle: str, camera: str) -> UInt16Array:
    """Give all objects one number after the other and record the colour that images show."""
    request = link.image_requests([(camera, image)])
    palette = np.full(2**24, 65535, dtype=np.uint16)
    pixel: int | None = None
    before: AnyArray | None = None
    visible: set[int] = set()
    for number in (1, *range(256)):  # the first image only locates a pixel that changes with the number
        link.number_objects(".*", number, is_regex=True)
        replies = link.images(vehicle, request)
        colours = np.frombuffer(replies[0].image_data_uint8, np.uint8) if len(replies) == 1 else np.zeros(0, np.uint8)
        if not colours.size or colours.size % 3 or (before is not None and colours.size != before.size):
            raise MissedTick(f"{vehicle} answered no segmentation image while the palette was measured")
        colours = colours.reshape(-1, 3)
        if before is not None and pixel is None:
            changed = np.flatnonzero((colours != before).any(axis=1))
            if not changed.size:
                raise SimulatorError("AirSim's segmentation ignores the object numbers; use a stock build of AirSim")
            pixel = int(changed[len(changed) // 2])
        before = colours
        if pixel is not None:
            code = int(colour_code(colours[pixel]))
            palette[code] = number
            visible.add(code)
    if len(visible) != 256:
        raise SimulatorError("AirSim shows two object numbers in one colour; instance masks cannot be read")
    return palette


def _listed(link: AirSimLink, *, fresh: bool) -> list[str]:
    """List the scene's objects; number the static objects of a new town, in reverse order so that the first pattern wins."""
    if fresh:
        link.number_objects(".*", 0, is_regex=True)
        for pattern, number in reversed(_STATIC_TAGS):
            link.number_objects(f".*({pattern}).*", number, is_regex=True)  # AirSim matches whole names, in any case
    return link.object_names()


def _places(link_of: Callable[[int], AirSimLink], drone_id: int, names: Sequence[str]) -> dict[str, FloatArray]:
    link = link_of(drone_id)
    return {name: link.object_map_m(name) for name in names}


def _give_all(link_of: Callable[[int], AirSimLink], drone_id: int, numbers: Mapping[str, int]) -> dict[str, FloatArray]:
    link = link_of(drone_id)
    for name, number in numbers.items():
        link.number_objects(name, number, is_regex=False)
    return {}


def _owners(objects_m: Mapping[str, FloatArray], state: TickState) -> dict[str, int]:
    """Match scene objects to actors by position, because Unreal's names of CARLA's actors are unreliable."""
    instance_ids, actors_m = state.actors.instance_id, state.actors.map_SE3_actor.translation_m
    owners: dict[str, int] = {}
    for name, position_m in objects_m.items():
        if not len(instance_ids) or not np.isfinite(position_m).all():
            continue
        off_m = np.linalg.norm(actors_m - position_m, axis=1)
        nearest = int(off_m.argmin())
        if off_m[nearest] < _NEAR_ACTOR_M and not re.match(r"uav\d+$", name):
            owners[name] = int(instance_ids[nearest])
    return owners


def _assigned(
    names: Sequence[str], owners: Mapping[str, int], infos: Mapping[int, ActorInfo]
) -> tuple[dict[str, int], UInt16Array, UInt8Array]:
    """Return the numbers of objects, and the (256,) mask ids and (256,) semantic tags of numbers."""
    ids, tags = np.zeros(256, dtype=np.uint16), np.zeros(256, dtype=np.uint8)
    tags[1:_FIRST_INSTANCE] = np.arange(1, _FIRST_INSTANCE)
    numbers: dict[str, int] = {}
    number_of: dict[int, int] = {}
    for name in names:
        owner = owners.get(name)
        if owner is None:
            number = _static_number(name)
        else:
            info = infos[owner]
            number = number_of.get(owner, min(_FIRST_INSTANCE + len(number_of), LAST_NUMBER + 1))
            if number > LAST_NUMBER:
                number = info.semantic_tag
            else:
                number_of[owner] = number
                ids[number], tags[number] = info.simulator_actor_id & 0xFFFF, info.semantic_tag
        if number:
            numbers[name] = number
    return numbers, ids, tags


def _static_number(name: str) -> int:
    return next((tag for pattern, tag in _STATIC_TAGS if re.search(pattern, name, re.IGNORECASE)), 0)
