"""The static objects of a town, which clients can hide, paint and unload by layer."""

import threading
from collections.abc import Iterable, Mapping
from enum import IntFlag
from typing import Final, Generic, Protocol, Self, TypeAlias, TypeVar

from headless_simulator.scene import TAG, StaticObject, Tile, Town
from headless_simulator.world.crashes import Walls
from headless_simulator.world.street_lights import StreetLight, StreetLights

RGB: TypeAlias = tuple[int, int, int]


class MapLayer(IntFlag):
    """CARLA's map layers (``carla.MapLayer``) with objects here; other bits are ignored."""

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


def layer_of(item: StaticObject) -> MapLayer | None:
    """Return an object's layer; None for permanent objects such as traffic lights and signs."""
    return MapLayer.PARKED_VEHICLES if item.blueprint else _LAYER_OF_TAG.get(item.tag)


class Drawable(Protocol):
    """A renderer that can omit or repaint static objects."""

    def without(self, object_ids: frozenset[int]) -> Self:
        """Return a renderer of the same town without these objects."""
        ...

    def painted(self, colours: Mapping[int, RGB], lamps: Mapping[int, float]) -> Self:
        """Return a renderer of the same town with these colours and lamp brightness factors."""
        ...

    def streamed(self, tiles: frozenset[Tile]) -> Self:
        """Return a renderer of the same town with some tiles only."""
        ...


R = TypeVar("R", bound=Drawable)


class Scenery(Generic[R]):
    """A town's static objects and their visibility.

    Hidden and unloaded objects are not drawn and do not collide with rays and vehicles. As in CARLA, hidden objects stay
    listed; objects of unloaded layers do not.

    Args:
        town: the complete town.
        renderer: renderer of the complete town.
    """

    def __init__(self, town: Town, renderer: R) -> None:
        self._objects, self._full_renderer = town.objects, renderer
        self._layers = {item.object_id: layer_of(item) for item in town.objects}
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
        """Return the objects that ``get_environment_objects`` lists."""
        return self._but(self._unloaded)

    @property
    def present(self) -> tuple[StaticObject, ...]:
        """Return the visible objects."""
        return self._but(self._unloaded | self._hidden)

    @property
    def renderer(self) -> R:
        """Renderer of the visible objects; rebuilt lazily, because clients hide objects one by one."""
        with self._lock:
            if self._renderer is None:
                drawn = self._drawn().without(self._unloaded | self._hidden)
                self._renderer = drawn if self._tiles is None else drawn.streamed(self._tiles)
            return self._renderer

    @property
    def walls(self) -> Walls:
        """Return the obstacles of vehicles."""
        with self._lock:
            if self._walls is None:
                self._walls = Walls.of(self.present)
            return self._walls

    def hide(self, object_ids: Iterable[int]) -> None:
        """Hide objects; unknown ids are ignored, as in CARLA."""
        self._change(hidden=self._hidden | (frozenset(object_ids) & self._layers.keys()))

    def show(self, object_ids: Iterable[int]) -> None:
        """Undo ``hide``."""
        self._change(hidden=self._hidden - frozenset(object_ids))

    def paint(self, names: Iterable[str], rgb: RGB) -> None:
        """Paint objects until the town is reloaded; unknown names are ignored, as in CARLA."""
        requested = frozenset(names)
        with self._lock:
            self._colours |= {item.object_id: rgb for item in self._objects if item.name in requested}
            self._renderer = None

    def switch(self, lights: Iterable[StreetLight]) -> None:
        """Set lamp states by id until the town is reloaded; unknown ids are ignored."""
        with self._lock:
            self.street_lights.take(lights)
            self._renderer = None

    def stream(self, tiles: frozenset[Tile]) -> None:
        """Draw only some tiles of a large map."""
        with self._lock:
            if tiles != self._tiles:
                self._tiles, self._renderer = tiles, None

    def unload(self, layers: MapLayer) -> None:
        """Remove all objects of some layers."""
        self._change(unloaded=self._unloaded | self._of(layers))

    def load(self, layers: MapLayer) -> None:
        """Restore all objects of some layers, including hidden ones: CARLA rebuilds a layer."""
        back = self._of(layers) & self._unloaded
        self._change(unloaded=self._unloaded - back, hidden=self._hidden - back)

    def _drawn(self) -> R:
        return self._full_renderer.painted(dict(self._colours), self.street_lights.shares())

    def _of(self, layers: MapLayer) -> frozenset[int]:
        return frozenset(number for number, layer in self._layers.items() if layer is not None and layer & layers)

    def _but(self, absent: frozenset[int]) -> tuple[StaticObject, ...]:
        if not absent:
            return self._objects
        return tuple(item for item in self._objects if item.object_id not in absent)

    def _change(self, *, hidden: frozenset[int] | None = None, unloaded: frozenset[int] | None = None) -> None:
        with self._lock:
            before = self._hidden | self._unloaded
            self._hidden = self._hidden if hidden is None else hidden
            self._unloaded = self._unloaded if unloaded is None else unloaded
            if self._hidden | self._unloaded != before:
                self._renderer = self._walls = None
