"""``flight_plans/<town>.yaml``: the routes of one town."""

import itertools
import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres2, Model, Name, Reference, Seconds, Speed, Text

_APART_M = 0.1

Altitude = Annotated[float, Field(gt=0, le=1000, description="metres above the town's ground")]


class Orbit(Model):
    """Circle around a point, entered where the path meets the circle first."""

    centre: Metres2
    radius_m: Annotated[float, Field(gt=1, le=2000)]
    turns: Annotated[float, Field(ge=0.01, le=20)] = 1.0
    direction: Literal["left", "right"] = "left"
    """``left``: counter-clockwise seen from above."""


class PathItem(Model):
    """One piece of a path: a waypoint (``[x, y]`` for short) or an orbit."""

    shorthand: ClassVar = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}

    at: Metres2 | None = None
    """Waypoint in the map frame."""
    orbit: Orbit | None = None
    altitude_m: Altitude | None = None
    """Height here; the path climbs smoothly from one height to the next."""
    speed_mps: Speed | None = None
    """Speed on the way here; the route's by default."""
    hover_s: Seconds = 0.0
    """Time to stop here."""

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        return {"at": value} if isinstance(value, (tuple, list)) else value

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.at is None) == (self.orbit is None):
            raise ValueError("a piece of a path is either a waypoint (at: [x, y]) or an orbit")
        return self


class Trajectories(Model):
    """Trajectories from files, one for each drone; the formation then only gives distances."""

    files: Annotated[tuple[Reference, ...], Field(min_length=1, max_length=64)]
    """Of drone 0, 1, ...; lines of ``t x y z qx qy qz qw`` (TUM) or CSV with these names in its first line."""
    frame: Literal["map", "ned"]
    """``map``: the dataset's, body forward-left-up; ``ned``: AirSim's, body forward-right-down."""
    max_speed_mps: Annotated[float, Field(gt=0, le=100)] = 20.0
    """A faster drone is an error."""


class Route(Model):
    """A path that the formation's reference point follows, in the map frame, at constant speed between stops."""

    path: Annotated[tuple[PathItem, ...], Field(max_length=1000)] = ()
    trajectories: Trajectories | None = None
    """Trajectories from files instead of a path."""
    closed: bool = False
    """Return to the first waypoint and repeat; otherwise the swarm hovers at the last one."""
    speed_mps: Speed = 5.0
    altitude_m: Altitude | None = None
    """The formation's altitude by default."""
    notes: Text = ""

    @model_validator(mode="after")
    def _check_path(self) -> Self:
        if bool(self.path) == (self.trajectories is not None):
            raise ValueError("a route has either a path or trajectories")
        if self.trajectories is not None and self.model_fields_set - {"path", "trajectories", "notes"}:
            raise ValueError("a route with trajectories excludes closed, speed_mps and altitude_m; leave them out")
        places = [item.at for item in self.path]
        doubled = [a for a, b in itertools.pairwise(places) if a and b and math.dist(a, b) < _APART_M]
        if doubled:
            raise ValueError(f"waypoint {list(doubled[0])} is repeated; use hover_s to hover")
        if self.closed and (len(places) < 3 or None in places):
            raise ValueError("a closed route needs three waypoints or more, and no orbit")
        return self


class RoutesConfig(Model):
    """All routes of one town, in the order in which scenes use them."""

    drawable: ClassVar = ("routes",)

    town: Name
    routes: Annotated[dict[Name, Route], Field(min_length=1, max_length=10_000)]
