"""``flight_plans/encounters/*.yaml``: encounters with intruders, given one by one or drawn from distributions."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from uavsim.config.base import PROP_OR_MESH, CameraName, Model, Seconds, Text
from uavsim.ingredients.intruders.intruder_plans import IntruderName, PathName

__all__ = [
    "BinnedDistribution",
    "EncounterSampling",
    "EncountersConfig",
    "ExplicitEncounter",
    "Horizon",
    "Limits",
    "Sampling",
    "Wanted",
]

Range = Annotated[float, Field(gt=0, le=20_000)]
Miss = Annotated[float, Field(ge=0, le=5_000)]
Closing = Annotated[float, Field(gt=0, le=300)]
Azimuth = Annotated[float, Field(ge=-180, le=180)]
Elevation = Annotated[float, Field(ge=-90, le=90)]
Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(gt=0, le=1e6)]
Number = Annotated[float, Field(ge=-20_000, le=20_000)]
Body = Annotated[str, Field(pattern=PROP_OR_MESH)]
_MAGNITUDES = ("range_m", "closing_mps", "cpa_m", "time_to_cpa_s")


class ExplicitEncounter(Model):
    """One encounter; of range_m, closing_mps, cpa_m and time_to_cpa_s three are given, and the fourth follows."""

    kind: IntruderName
    path: PathName = "rectilinear"
    range_m: Range | None = None
    """Range at the start of the encounter."""
    closing_mps: Closing | None = None
    """Closing speed at the start of the encounter."""
    cpa_m: Miss | None = None
    """Distance at the closest point of approach."""
    time_to_cpa_s: Annotated[float, Field(gt=0, le=3600)] | None = None
    """Time from the begin to the closest point of approach."""
    azimuth_deg: Azimuth = 0.0
    """Azimuth of the intruder in the camera at the start, to the right."""
    elevation_deg: Elevation = 0.0
    """Elevation of the intruder in the camera at the start, upwards."""
    begin_s: Seconds = 0.0
    """Begin of the encounter in the scene's time."""
    passing_deg: Annotated[float, Field(ge=0, le=360)] | None = None
    """Passing side: 0 right, 90 above, 180 left; default: the first possible side."""
    turn_dps: Annotated[float, Field(ge=-60, le=60)] = 0.0
    """turning: turn rate to the right, degrees per second; non_cooperative: greatest turn rate of its weave."""
    weave_s: Annotated[float, Field(ge=0, le=600)] = 0.0
    """non_cooperative: period of its weave."""
    climb_mps: Annotated[float, Field(ge=-50, le=50)] = 0.0
    """climbing: gain of its vertical speed."""
    climb_before_s: Annotated[float, Field(gt=0, le=600)] = 10.0
    """climbing: time before the closest point of approach."""
    planned: bool = True
    """AOT reports the range of planned intruders only."""

    @model_validator(mode="after")
    def _three_magnitudes(self) -> Self:
        magnitudes = [name for name in _MAGNITUDES if getattr(self, name) is not None]
        if len(magnitudes) < len(_MAGNITUDES) - 1:
            raise ValueError(f"set three of {', '.join(_MAGNITUDES)}; set now: {', '.join(magnitudes) or 'none'}")
        return self

    @model_validator(mode="after")
    def _path_has_its_keys(self) -> Self:
        required = {"turning": ("turn_dps",), "non_cooperative": ("turn_dps", "weave_s"), "climbing": ("climb_mps",)}
        for name in ("turn_dps", "weave_s", "climb_mps"):
            if bool(getattr(self, name)) != (name in required.get(self.path, ())):
                verb = "needs" if name in required.get(self.path, ()) else "takes no"
                raise ValueError(f"path {self.path} {verb} {name}")
        return self


class Bin(Model):
    """Part of a distribution."""

    share: Weight = 1.0
    between: tuple[Number, Number]

    @model_validator(mode="after")
    def _bounds_ascend(self) -> Self:
        if self.between[0] > self.between[1]:
            raise ValueError(f"between is [from, to], but {self.between[0]:g} is above {self.between[1]:g}")
        return self


class BinnedDistribution(Model):
    """A distribution: ``[from, to]`` evenly, or several of those with shares."""

    shorthand: ClassVar = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}

    bins: Annotated[tuple[Bin, ...], Field(min_length=1, max_length=100)]

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        if isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(v, (int, float)) for v in value):
            return {"bins": ({"between": tuple(value)},)}
        return value


class Horizon(Model):
    """Shares of intruders above, on and below the horizon."""

    above: Share
    on: Share
    below: Share

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> Self:
        if abs(self.above + self.on + self.below - 1.0) > 1e-6:
            raise ValueError(f"above, on and below must sum to 1, not {self.above + self.on + self.below:g}")
        return self


class Sampling(Model):
    """Distributions of some intruders of a scene; each is drawn until it is possible."""

    intruders: Annotated[dict[Literal["0", "1", "2", "3", "4"], Weight], Field(min_length=1)] = {"1": 1.0}  # noqa: RUF012
    """Numbers of intruders in a scene, with weights."""
    kinds: Annotated[dict[IntruderName, Weight], Field(min_length=1)]
    paths: Annotated[dict[PathName, Weight], Field(min_length=1)]
    collision_course: Share
    """Share of encounters with a closest point of approach within ``collision_m``."""
    miss_m: BinnedDistribution
    """Closest point of approach of the others."""
    horizon: Horizon
    """Shares of encounters above, on and below the horizon at their begin."""
    range_m: BinnedDistribution
    closing_mps: BinnedDistribution
    azimuth_deg: BinnedDistribution
    above_deg: BinnedDistribution
    """Elevation over the horizon of those above it."""
    below_deg: BinnedDistribution
    """Elevation under the horizon of those below it."""
    begin_s: BinnedDistribution
    turn_dps: BinnedDistribution = BinnedDistribution(bins=(Bin(between=(1.0, 3.0)),))
    """turning and non_cooperative; to either side."""
    weave_s: BinnedDistribution = BinnedDistribution(bins=(Bin(between=(10.0, 30.0)),))
    climb_mps: BinnedDistribution = BinnedDistribution(bins=(Bin(between=(1.0, 4.0)),))
    """climbing; upwards or downwards."""
    seen_s: Seconds = 5.0
    """Least time in the camera's image; other encounters are drawn again."""


class EncounterSampling(Sampling):
    """Distributions of the encounters of a scene. With profile aot its first one is valid by AOT's rule."""

    further: Annotated[tuple[Sampling, ...], Field(max_length=10)] = ()
    """Distributions of further encounters, such as steep ones that begin nearer and are slower."""
    unplanned: Annotated[tuple[Sampling, ...], Field(max_length=10)] = ()
    """Distributions of other flying objects, such as birds: labelled, but without a range in AOT's files."""


class Limits(Model):
    """Values that must lie between two numbers."""

    shorthand: ClassVar = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}

    low: Number
    high: Number

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, value: Any) -> Any:
        if isinstance(value, (tuple, list)) and len(value) == 2:
            return {"low": value[0], "high": value[1]}
        return value


class Wanted(Model):
    """Target distributions of the whole dataset; ``uavsim plan`` compares the planned encounters with them."""

    range_middle_half_m: Limits | None = None
    """First and third quartile of the range over images that show an intruder."""
    collision_course: Share | None = None
    horizon: Horizon | None = None
    azimuth_deg: Limits | None = None
    elevation_deg: Limits | None = None
    closing_mps: Limits | None = None


class EncountersConfig(Model):
    """Encounters of a dataset's scenes."""

    profile: Literal["aot", "swarm"]
    """aot: full-size aircraft at AOT's ranges; swarm: ranges scaled to small drones. Results of both never share a table."""
    camera: CameraName
    """Camera of the rig; azimuth and elevation refer to it."""
    drone: Annotated[int, Field(ge=0, le=31)] = 0
    """Drone that carries the camera and meets the intruders."""
    collision_m: Annotated[float, Field(gt=0, le=5000)] = 150.0
    """A closest point of approach within it is a collision course."""
    ground_clearance_m: Annotated[float, Field(ge=0, le=1000)] = 15.0
    """Least distance of intruders from the ground and from the town's obstacles."""
    separation_m: Annotated[float, Field(ge=0, le=1000)] = 5.0
    """Least distance of intruders from each other and from the other drones."""
    horizon_within_deg: Annotated[float, Field(gt=0, le=10)] = 0.1
    """Greatest angle from the horizon that counts as on the horizon."""
    blueprints: dict[IntruderName, Body] = Field(default_factory=dict)
    """Blueprint or static mesh of each intruder in your simulator, if different from the headless simulator's."""
    encounters: Annotated[tuple[ExplicitEncounter, ...], Field(max_length=20)] = ()
    """Encounters of every scene."""
    draw: EncounterSampling | None = None
    """Encounters drawn for each scene from the dataset's seed, instead of ``encounters``."""
    wanted: Wanted = Wanted()
    notes: Text = ""

    @model_validator(mode="after")
    def _either_explicit_or_drawn(self) -> Self:
        if bool(self.encounters) == (self.draw is not None):
            raise ValueError("set either encounters or draw")
        return self
