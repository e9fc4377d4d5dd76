"""CARLA's streaming of large maps: tiles near the ego, distant dormant actors, and a moving origin.

Source: CARLA 0.9.16, ``LargeMapManager.cpp`` (``UpdateTilesState``, ``CheckActiveActors``, ``CheckDormantActors``,
``CheckIfRebaseIsNeeded``) and its defaults; not measured on a real server.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from headless_simulator.scene import MAP_TILE_M, Float64, Tile, Town
from headless_simulator.world.actors import Actor
from headless_simulator.world.table import SENSOR, VEHICLE, ActorTable

_REBASE_M: Final = 2000.0
_LARGE_M: Final = 3000.0  # a town wider than this has tiles
_HEROES: Final = ("hero", "ego_vehicle")  # in the role_name


class Distances(NamedTuple):
    """The episode settings of large maps: ``tile_stream_distance``, ``actor_active_distance``, ``spectator_as_ego``."""

    tiles_m: float
    actors_m: float
    spectator_as_ego: bool


def is_large(town: Town) -> bool:
    """Return whether a town is wide enough to have tiles."""
    return bool(max(town.ground.height_m.shape) * town.ground.cell_m > _LARGE_M)


@dataclass(slots=True, eq=False)
class LargeMap:
    """One town's tiles.

    Attributes:
        tiles: the loaded tiles.
        origin_m: Unreal's origin in the town's frame, whole metres.
    """

    tiles: frozenset[Tile] = frozenset()
    origin_m: tuple[int, int, int] = (0, 0, 0)

    def update(self, table: ActorTable, actors: Iterable[Actor], spectator: Actor, distances: Distances) -> None:
        """Load and unload tiles, update dormant actors and move the origin, before a tick."""
        c, actors = table.c, list(actors)
        egos = [a for a in actors if a.kind == VEHICLE and _is_hero(a)]
        if not egos and distances.spectator_as_ego:
            egos = [spectator]
        places_m = c.pose[[ego.row for ego in egos], :3]
        self.tiles = frozenset(tile for place_m in places_m for tile in _tiles_round(place_m, distances.tiles_m))
        rows = np.array([a.row for a in actors if a not in egos and a is not spectator], np.int64)
        away_m = np.linalg.norm(c.pose[rows, None, :3] - places_m, axis=2).max(axis=1, initial=0.0)
        unloaded = np.array([_tile_at(place_m) not in self.tiles for place_m in c.pose[rows]], np.bool_)
        c.dormant[rows] = unloaded | ((away_m > distances.actors_m) & (c.kind[rows] != SENSOR))
        if len(egos) and np.linalg.norm(places_m[0] - self.origin_m) > _REBASE_M:
            i, j = _tile_at(places_m[0])
            self.origin_m = (int((i + 0.5) * MAP_TILE_M), int((j + 0.5) * MAP_TILE_M), 0)


def _is_hero(actor: Actor) -> bool:
    return any(word in actor.order.attributes.get("role_name", "") for word in _HEROES)


def _tile_at(place_m: Float64) -> Tile:
    return int(place_m[0] // MAP_TILE_M), int(place_m[1] // MAP_TILE_M)


def _tiles_round(place_m: Float64, away_m: float) -> list[Tile]:
    """Return the tiles that a square of half side ``away_m`` around a (3,) position touches."""
    (i0, j0), (i1, j1) = _tile_at(place_m - away_m), _tile_at(place_m + away_m)
    return [(i, j) for i in range(i0, i1 + 1) for j in range(j0, j1 + 1)]
