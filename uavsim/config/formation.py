"""``flight_plans/formations/*.yaml``: the shape that a swarm keeps around the point that follows the route."""

import itertools
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from uavsim.config.base import Metres3, Model, Seconds, Text
from uavsim.config.routes import Altitude

__all__ = ["Formation", "Keyframe", "Shape", "ShapeName"]

ShapeName = Literal["cross", "vee", "line", "column", "diamond", "grid", "circle", "free"]
_LEAST_GLIDE_S = 0.1
Degrees = Annotated[float, Field(ge=-360, le=360)]


class Shape(Model):
    """The drones' places around the reference point; x forward, y left, z up. Drone 0 is the ego."""

    shape: ShapeName
    """cross, vee, line (side by side), column (one behind the other), diamond, grid, circle, or free (``offsets_m``)."""
    spacing_m: Annotated[float, Field(gt=0, le=1000)] = 20.0
    """Distance between neighbours, centre to centre."""
    angle_deg: Annotated[float, Field(gt=0, lt=90)] = 45.0
    """vee: of each arm, from straight behind."""
    columns: Annotated[int, Field(ge=1, le=32)] | None = None
    """grid: drones side by side; as square as it gets by default."""
    offsets_m: tuple[Metres3, ...] = ()
    """free: one (x, y, z) for each drone."""

    @model_validator(mode="after")
    def _check_shape_keys(self) -> Self:
        if (self.shape == "free") != bool(self.offsets_m):
            raise ValueError("shape free needs offsets_m; other shapes exclude it")
        if self.columns is not None and self.shape != "grid":
            raise ValueError("columns is allowed only with shape grid")
        return self


class Keyframe(Shape):
    """The shape at one moment of a scene; between keyframes the drones glide."""

    time_s: Seconds
    altitude_m: Altitude | None = None


class Formation(Model):
    """A formation, still (``shape``) or changing over the scene (``keyframes``)."""

    drawable: ClassVar = (
        "spacing_m", "angle_deg", "offsets_m", "altitude_m", "altitude_offsets_m", "yaw_offsets_deg", "heading_deg",
        "jitter_m", "jitter_yaw_deg",
    )  # fmt: skip

    drones: Annotated[int, Field(ge=1, le=32)] = 5
    shape: ShapeName | None = None
    spacing_m: Annotated[float, Field(gt=0, le=1000)] = 20.0
    angle_deg: Annotated[float, Field(gt=0, lt=90)] = 45.0
    columns: Annotated[int, Field(ge=1, le=32)] | None = None
    offsets_m: tuple[Metres3, ...] = ()
    keyframes: Annotated[tuple[Keyframe, ...], Field(max_length=1000)] = ()
    """Shapes in time order; replaces ``shape``."""
    altitude_m: Altitude = 60.0
    """Altitude above the ground, if the route has none."""
    altitude_offsets_m: tuple[Annotated[float, Field(ge=-500, le=500)], ...] = ()
    """One for each drone, added to the altitude."""
    yaw_offsets_deg: tuple[Degrees, ...] = ()
    """One for each drone, counter-clockwise."""
    align: Literal["world", "route"] = "world"
    """``world``: the formation keeps its heading; ``route``: it turns with the path."""
    heading_deg: Degrees = 0.0
    """world: heading of the formation, counter-clockwise from the map's x."""
    jitter_m: Annotated[float, Field(ge=0, le=50)] = 0.0
    """Standard deviation of each drone's own place, drawn once a scene."""
    jitter_yaw_deg: Annotated[float, Field(ge=0, le=180)] = 0.0
    min_separation_m: Annotated[float, Field(ge=0, le=1000)] = 3.0
    """Two drones nearer than this anywhere on the flight are refused."""
    clearance_m: Annotated[float, Field(ge=0, le=1000)] = 5.0
    """A drone nearer than this to an obstacle of the town is refused."""
    notes: Text = ""

    @model_validator(mode="after")
    def _check_shape_or_keyframes(self) -> Self:
        if (self.shape is None) != bool(self.keyframes):
            raise ValueError("give either shape or keyframes")
        return self

    @model_validator(mode="after")
    def _check_drone_counts(self) -> Self:
        for name in ("altitude_offsets_m", "yaw_offsets_deg"):
            count = len(getattr(self, name))
            if count not in (0, self.drones):
                raise ValueError(f"{name} has {count} numbers for {self.drones} drones")
        for shape in self.shapes:
            if shape.shape == "free" and len(shape.offsets_m) != self.drones:
                raise ValueError(f"offsets_m has {len(shape.offsets_m)} positions for {self.drones} drones")
        times = [keyframe.time_s for keyframe in self.keyframes]
        if any(b - a < _LEAST_GLIDE_S for a, b in itertools.pairwise(times)):
            raise ValueError(f"keyframes must be in time order, at least {_LEAST_GLIDE_S} s apart")
        return self

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The one shape, or those of the keyframes."""
        if self.keyframes:
            return self.keyframes
        return (
            Shape(
                shape=self.shape or "cross",
                spacing_m=self.spacing_m,
                angle_deg=self.angle_deg,
                columns=self.columns,
                offsets_m=self.offsets_m,
            ),
        )
