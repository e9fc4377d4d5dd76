"""The static things of a town: programs hide some of them and unload whole map layers."""

import threading
from collections.abc import Iterable, Mapping
from enum import IntFlag
from typing import Final, Generic, Protocol, Self, TypeAlias, TypeVar

from headless_simulator.scene import TAG, StaticObject, Tile, Town
from headless_simulator.world.crashes import Walls
from headless_simulator.world.street_lights import StreetLight, StreetLights

RGB: TypeAlias = tuple[int, int, int]


class MapLayer(IntFlag):
    """CARLA's layers of a town (``carla.MapLayer``) that something here belongs to; other bits mean nothing here."""

    BUILDINGS = 0x1
    FOLIAGE = 0x4
    GROUND = 0x8
    PARKED_VEHICLES = 0x10
    PROPS = 0x40
    STREET_LIGHTS = 0x80
    WALLS = 0x100
    ALL = 0xFFFF


_LAYER_OF_TAG: Final = {
    TAG["building"]: MapLayer.BUILDINGS,
    TAG["vegetation"]: MapLayer.FOLIAGE,
    TAG["pole"]: MapLayer.STREET_LIGHTS,
    TAG["wall"]: MapLayer.WALLS,
    TAG["fence"]: MapLayer.WALLS,
    TAG["guard_rail"]: MapLayer.WALLS,
    TAG["static"]: MapLayer.PROPS,
    TAG["dynamic"]: MapLayer.PROPS,
    TAG["other"]: MapLayer.PROPS,
}


def layer_of(thing: StaticObject) -> MapLayer | None:
    """Return the layer that a thing belongs to; None: to the town itself, as traffic lights and signs do."""
    return MapLayer.PARKED_VEHICLES if thing.blueprint else _LAYER_OF_TAG.get(thing.tag)


class Drawable(Protocol):
    """A renderer that can leave out some of its town's things."""

    def without(self, object_ids: frozenset[int]) -> Self:
        """Give a renderer of the same town without them."""
        ...

    def painted(self, colours: Mapping[int, RGB], lamps: Mapping[int, float]) -> Self:
        """Give a renderer of the same town in which they have these colours, and lamps these shares of their light."""
        ...

    def streamed(self, tiles: frozenset[Tile]) -> Self:
        """Give a renderer of the same town of which only some tiles are there."""
        ...


R = TypeVar("R", bound=Drawable)


class Scenery(Generic[R]):
    """A town's static things.

    What is hidden or unloaded is neither drawn nor met by rays and vehicles. Hidden things stay listed, as in CARLA; those
    of an unloaded layer do not.

    Args:
        town: as it was built.
        renderer: draws all of it.
    """

    def __init__(self, town: Town, renderer: R) -> None:
        self._objects, self._whole = town.objects, renderer
        self._layers = {thing.object_id: layer_of(thing) for thing in town.objects}
        self._lock = threading.Lock()
        self._hidden: frozenset[int] = frozenset()
        self._unloaded: frozenset[int] = frozenset()
        self._colours: dict[int, RGB] = {}
        self._tiles: frozenset[Tile] | None = None  # all
        self.street_lights = StreetLights(town.objects)
        self._renderer: R | None = renderer
        self._walls: Walls | None = Walls.of(town.objects)

    @property
    def listed(self) -> tuple[StaticObject, ...]:
        """Return what ``get_environment_objects`` lists."""
        return self._but(self._unloaded)

    @property
    def present(self) -> tuple[StaticObject, ...]:
        """Return what can be seen."""
        return self._but(self._unloaded | self._hidden)

    @property
    def renderer(self) -> R:
        """Draws what is present; built when first asked for after a change, since programs hide one thing at a time."""
        with self._lock:
            if self._renderer is None:
                whole = self._drawn().without(self._unloaded | self._hidden)
                self._renderer = whole if self._tiles is None else whole.streamed(self._tiles)
            return self._renderer

    @property
    def walls(self) -> Walls:
        """Return what of it stops a vehicle."""
        with self._lock:
            if self._walls is None:
                self._walls = Walls.of(self.present)
            return self._walls

    def hide(self, object_ids: Iterable[int]) -> None:
        """Take things out of sight and out of the way; numbers of nothing are passed over, as in CARLA."""
        self._change(hidden=self._hidden | (frozenset(object_ids) & self._layers.keys()))

    def show(self, object_ids: Iterable[int]) -> None:
        """Undo ``hide``."""
        self._change(hidden=self._hidden - frozenset(object_ids))

    def paint(self, names: Iterable[str], rgb: RGB) -> None:
        """Give things another colour until the town is opened anew; names of nothing are passed over, as in CARLA."""
        wanted = frozenset(names)
        with self._lock:
            self._colours |= {thing.object_id: rgb for thing in self._objects if thing.name in wanted}
            self._renderer = None

    def switch(self, lights: Iterable[StreetLight]) -> None:
        """Take over lamps' new states, by their ids, until the town is opened anew; those of nothing are passed over."""
        with self._lock:
            self.street_lights.take(lights)
            self._renderer = None

    def stream(self, tiles: frozenset[Tile]) -> None:
        """Draw only some tiles of a large map."""
        with self._lock:
            if tiles != self._tiles:
                self._tiles, self._renderer = tiles, None

    def unload(self, layers: MapLayer) -> None:
        """Take out all things of some layers."""
        self._change(unloaded=self._unloaded | self._of(layers))

    def load(self, layers: MapLayer) -> None:
        """Bring back all things of some layers, hidden ones too: CARLA builds a layer anew."""
        back = self._of(layers) & self._unloaded
        self._change(unloaded=self._unloaded - back, hidden=self._hidden - back)

    def _drawn(self) -> R:
        return self._whole.painted(dict(self._colours), self.street_lights.shares())

    def _of(self, layers: MapLayer) -> frozenset[int]:
        return frozenset(number for number, layer in self._layers.items() if layer is not None and layer & layers)

    def _but(self, absent: frozenset[int]) -> tuple[StaticObject, ...]:
        if not absent:
            return self._objects
        return tuple(thing for thing in self._objects if thing.object_id not in absent)

    def _change(self, *, hidden: frozenset[int] | None = None, unloaded: frozenset[int] | None = None) -> None:
        with self._lock:
            before = self._hidden | self._unloaded
            self._hidden = self._hidden if hidden is None else hidden
            self._unloaded = self._unloaded if unloaded is None else unloaded
            if self._hidden | self._unloaded != before:
                self._renderer = self._walls = None
