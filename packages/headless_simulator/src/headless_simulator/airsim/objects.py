"""Scene objects of AirSim's API: names, poses, segmentation ids.

Three kinds share one namespace: static objects of the town (``StaticObject.name``), CARLA actors
(``vehicle_tesla_model3_142``), and objects spawned by AirSim. Ground and sky have a name per surface
(``Ground_Road``, ``Ground_Terrain``, ``SkySphere``), because segmentation images need their ids.
"""

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from headless_simulator.airsim.host import AirSimHost, Pose6
from headless_simulator.airsim.obstacles import actor_name
from headless_simulator.airsim.patterns import Pattern
from headless_simulator.airsim.pixels import ids_into
from headless_simulator.errors import CallRefused
from headless_simulator.scene import TAG, Int32, Movers, UInt8, UInt32

FIRST_SPAWNED_ID: Final = 0x4000_0000  # far above any actor id of CARLA's
HIDDEN: Final = -1
UNIT: Final = (1.0, 1.0, 1.0)
SMALLEST: Final = 0.001
SKY: Final = "SkySphere"
SURFACES: Final = {
    number: "Ground_" + "".join(part.title() for part in tag.split("_")) for tag, number in TAG.items()
} | {
    TAG["unlabeled"]: "Ground",
    TAG["sky"]: SKY,
}
Tables = tuple[Int32, UInt32, Int32, Int32]  # see SceneObjects.lookup


@dataclass(slots=True)
class Spawned:
    """An object that an AirSim client spawned; only AirSim's images show it."""

    name: str
    number: int
    blueprint: str
    pose: Pose6
    scale: tuple[float, float, float]


def initial_id(name: str) -> int:
    """Return the id that AirSim assigns at start-up: 5 plus the letter codes of the lower-cased name, modulo 256."""
    return (5 + sum(ord(letter) for letter in name.lower() if ord(letter) >= 97)) % 256


class SceneObjects:
    """Names, poses and segmentation ids of everything in the scene; called under the server's object lock."""

    def __init__(self, host: AirSimHost, *, initial_ids: bool) -> None:
        self._host, self._initial_ids = host, initial_ids
        self._statics = {item.name: item for item in host.town.objects}
        self._ids: dict[str, int] = {}
        self._rules: list[tuple[Pattern, int]] = []  # for actors that do not exist yet
        self.spawned: dict[str, Spawned] = {}
        self.drones: dict[str, int] = {}  # actor id of each AirSim vehicle's body
        self._next = FIRST_SPAWNED_ID
        biggest = max((item.object_id for item in host.town.objects), default=0)
        self._static_id = np.zeros(biggest + 1, dtype=np.int32)
        for item in host.town.objects:
            self._static_id[item.object_id] = self.segmentation_id(item.name)

    # ---- names -------------------------------------------------------------------------------------------------------

    def actors(self) -> dict[str, int]:
        """Return the names and ids of CARLA's actors that have a body."""
        types = self._host.actor_types()
        return {actor_name(types[n], n): n for n in self._host.movers().actor_id.tolist() if n in types}

    def names(self) -> list[str]:
        """Return every name, static objects first."""
        return [*self._statics, *SURFACES.values(), *self.actors(), *self.spawned, *self.drones]

    # ---- poses -------------------------------------------------------------------------------------------------------

    def pose(self, name: str) -> Pose6 | None:
        """Return an object's pose (Unreal's axes, metres, degrees), or None if it does not exist."""
        if name in self.spawned:
            return self.spawned[name].pose
        if name in self._statics:
            return self._statics[name].pose
        number = self.actors().get(name)
        if number is not None:
            movers = self._host.movers()
            rows = np.flatnonzero(movers.actor_id == number)
            if len(rows):
                x, y, z, pitch, yaw, roll = (float(value) for value in movers.pose[rows[0]])
                return x, y, z, pitch, yaw, roll
        return (0.0,) * 6 if name in SURFACES.values() else None

    def set_pose(self, name: str, pose: Pose6) -> bool:
        """Move an object (Unreal's axes, metres, degrees); False for static objects of the town."""
        if name in self.spawned:
            self.spawned[name].pose = pose
            return True
        number = self.actors().get(name)
        return number is not None and self._host.place_actor(number, pose)

    def spawn(self, name: str, blueprint: str, pose: Pose6, scale: tuple[float, float, float]) -> str:
        """Spawn a model in AirSim's images and return its name; a taken name gets a number.

        Raises:
            CallRefused: no such model or size is drawn.
        """
        self.drawn_number(blueprint, scale)
        taken = {other for other in self.names() if name in other}
        numbers = [int(found[0]) for other in taken if (found := re.search(r"(\d+)$", other))]
        final = f"{name}{max(numbers, default=0) + 1}" if taken else name
        self.spawned[final] = Spawned(final, self._next, blueprint, pose, scale)
        self._next += 1
        return final

    def scale(self, name: str) -> tuple[float, float, float] | None:
        """Return an object's scale, or None if it does not exist."""
        if name in self.spawned:
            return self.spawned[name].scale
        return UNIT if self.pose(name) else None

    def resize(self, name: str, scale: tuple[float, float, float]) -> bool:
        """Change an object's scale; only objects spawned by AirSim can have a scale other than 1.

        Raises:
            CallRefused: no such size is drawn.
        """
        if name not in self.spawned:
            return scale == UNIT and self.pose(name) is not None
        self.drawn_number(self.spawned[name].blueprint, scale)
        self.spawned[name].scale = scale
        return True

    def drawn_number(self, blueprint: str, scale: tuple[float, float, float]) -> int:
        """Return the number of a model at a scale.

        Raises:
            CallRefused: no such model or size is drawn.
        """
        if not all(SMALLEST <= part <= 1 / SMALLEST for part in scale):
            raise CallRefused(f"a scale must be from {SMALLEST} to {1 / SMALLEST:.0f} along each axis")
        try:
            return self._host.models.scaled_number(blueprint, scale)
        except ValueError as unknown:  # the text names the nearest model
            raise CallRefused(str(unknown)) from None

    def destroy(self, name: str) -> bool:
        """Remove an object spawned by AirSim; False for the town's objects and CARLA's actors."""
        return self.spawned.pop(name, None) is not None

    # ---- segmentation ------------------------------------------------------------------------------------------------

    def segmentation_id(self, name: str) -> int:
        """Return an object's segmentation id, -1 if hidden."""
        if name in self._ids:
            return self._ids[name]
        for rule, number in reversed(self._rules):
            try:
                if rule.fits(name):
                    return number
            except CallRefused:  # the pattern takes too long
                self._rules.remove((rule, number))
        return initial_id(name) if self._initial_ids else 0

    def set_segmentation(self, pattern: str, number: int, *, is_regex: bool) -> bool:
        """Set the segmentation id (0 to 255, -1 hides) of one object, or of all that match, later actors included.

        Raises:
            CallRefused: the id or the regular expression is invalid, or matching takes too long.
        """
        if not HIDDEN <= number <= 255:
            raise CallRefused(f"object id {number} must be from -1 to 255")
        earlier = next(((rule, n) for rule, n in self._rules if rule.text == pattern), None) if is_regex else None
        rule = earlier[0] if earlier else Pattern(pattern) if is_regex else None
        hits = [n for n in self.names() if (rule.fits(n) if rule else n == pattern)]
        for name in hits:
            self._ids[name] = number
            if name in self._statics:
                self._static_id[self._statics[name].object_id] = number
        if rule:
            if earlier:  # the latest rule counts
                self._rules.remove(earlier)
            self._rules.append((rule, number))
            del self._rules[:-1000]
        return bool(hits)

    def lookup(self, movers: Movers) -> Tables:
        """Return the tables that map an image's ids and tags to segmentation ids.

        Returns:
            ids of static objects by object id; sorted numbers of movers and their ids; ids of surfaces by semantic tag.
        """
        names = {number: name for name, number in self.actors().items()}
        names |= {item.number: item.name for item in self.spawned.values()}
        names |= {number: name for name, number in self.drones.items()}
        numbers = np.sort(movers.actor_id).astype(np.uint32)
        mover_ids = np.array([self.segmentation_id(names.get(int(n), "")) for n in numbers], dtype=np.int32)
        surfaces = np.zeros(256, dtype=np.int32)
        for tag, name in SURFACES.items():
            surfaces[tag] = self.segmentation_id(name)
        return self._static_id.copy(), numbers, mover_ids, surfaces


def image_ids(ids: UInt32, tag: UInt8, tables: Tables) -> Int32:
    """Return the (H, W) int32 segmentation id of every pixel, -1 where hidden.

    Args:
        ids: (H, W) as in ``RenderedImage.ids``.
        tag: (H, W) semantic tags.
        tables: from ``SceneObjects.lookup``.
    """
    out = np.empty(ids.shape, dtype=np.int32)
    ids_into(ids.reshape(-1), tag.reshape(-1), *tables, out.reshape(-1))
    return out
