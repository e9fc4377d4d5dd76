"""``town_configs/<town>.yaml``: a town as the planner and the simulators need it."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Metres3, Model, Name, Text


class Obstacle(Model):
    """An upright box that drones must avoid: a tower, a crane, a row of houses."""

    name: Text
    x_m: Metres2
    """From and to, in the map frame."""
    y_m: Metres2
    """From and to, in the map frame (y up on the map: minus CARLA's y)."""
    top_m: Annotated[float, Field(gt=0, le=1000)]
    """Height of its roof above the town's ground."""

    @model_validator(mode="after")
    def _check_bounds_order(self) -> Self:
        if self.x_m[0] >= self.x_m[1] or self.y_m[0] >= self.y_m[1]:
            raise ValueError("x_m and y_m are [from, to] with from smaller than to")
        return self


class Streaming(Model):
    """A large map's world settings: CARLA loads tiles and moves actors only near the spectator or a hero."""

    tile_stream_distance_m: Annotated[float, Field(ge=100, le=20_000)] = 3000.0
    """Distance from the hero within which tiles are loaded; CARLA's default."""
    actor_active_distance_m: Annotated[float, Field(ge=100, le=20_000)] = 2000.0
    """Distance from the hero beyond which actors are dormant: not moved, drawn or labelled; CARLA's default."""
    spectator_as_ego: bool = True
    """Whether the spectator, which follows the swarm, replaces a missing hero."""
    traffic_within_m: Annotated[float, Field(ge=50, le=20_000)] = 500.0
    """Greatest distance from the swarm at which vehicles and walkers start."""
    hero: Annotated[str, Field(pattern=r"^(vehicle\..+)?$")] = ""
    """Blueprint of a vehicle without physics that is moved 200 m above the swarm as CARLA's hero, instead of the spectator."""

    @model_validator(mode="after")
    def _check_distance_order(self) -> Self:
        if not self.traffic_within_m <= self.actor_active_distance_m <= self.tile_stream_distance_m:
            raise ValueError("traffic_within_m, actor_active_distance_m and tile_stream_distance_m do not increase")
        return self


class TownConfig(Model):
    """One town. All places are in the map frame: the town's OpenDRIVE frame, metres, y = minus CARLA's y."""

    name: Name
    """Name for ``--town``."""
    carla_map: Name
    """Name of the map in CARLA."""
    short_name: Name
    """In route names: ``town10`` in ``town10_row1``."""
    x_m: Metres2
    """West and east end of the area to fly over."""
    y_m: Metres2
    """South and north end of the area to fly over."""
    margin_m: Annotated[float, Field(ge=0, le=500)] = 5.0
    """Least distance of a drone from the ends of the area."""
    ground_z_m: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    """Height of the ground; altitudes are above it."""
    airsim_origin_ue_m: Metres3 = (0.0, 0.0, 0.0)
    """AirSim's PlayerStart in CARLA's own left-handed frame, as ``uavsim calibrate`` measures it."""
    spawn_points: Annotated[int, Field(ge=0)] = 0
    """Number of the map's spawn points; further vehicles are placed on lanes."""
    streaming: Streaming | None = None
    """Streaming of CARLA's large maps; others are loaded whole."""
    obstacles: tuple[Obstacle, ...] = ()
    """Obstacles at the drones' altitude."""
    notes: Text = ""

    @model_validator(mode="after")
    def _check_bounds_order(self) -> Self:
        if self.x_m[0] >= self.x_m[1] or self.y_m[0] >= self.y_m[1]:
            raise ValueError("x_m and y_m are [from, to] with from smaller than to")
        room_m = min(self.x_m[1] - self.x_m[0], self.y_m[1] - self.y_m[0])
        if room_m <= 2 * self.margin_m:
            raise ValueError(f"margin_m={self.margin_m:g} leaves nothing of a town {room_m:g} m across")
        return self
