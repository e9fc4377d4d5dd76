"""``flight_plans/skins/*.yaml``: distributions of looks, drawn for each twin and scene."""

import colorsys
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from uavsim.config.base import COLOUR, Model, Text
from uavsim.config.dataset import NameSchedule

__all__ = ["Colours", "Skin", "Texture"]

Share = Annotated[float, Field(ge=0, le=1)]
Weight = Annotated[float, Field(gt=0, le=1e6)]
Colour = Annotated[str, StringConstraints(pattern=COLOUR)]
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Azimuth = Annotated[float, Field(ge=-360, le=360)]
Altitude = Annotated[float, Field(ge=-90, le=90)]


class Colours(Model):
    """A distribution of colours: some with weights, or hue, saturation and value, each even between two bounds."""

    draw: Annotated[dict[Colour, Weight], Field(max_length=1000)] = Field(default_factory=dict)
    """Colours ``"r,g,b"``, 0 to 255 each, with their weights."""
    hue_deg: tuple[Azimuth, Azimuth] = (0.0, 360.0)
    """0 is red, 120 green, 240 blue."""
    saturation: tuple[Share, Share] = (0.0, 1.0)
    value: tuple[Share, Share] = (0.0, 1.0)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        range_keys = [key for key in ("hue_deg", "saturation", "value") if key in self.model_fields_set]
        if self.draw and range_keys:
            raise ValueError(f"give either draw, or {range_keys[0]}")
        for key in range_keys:
            low, high = getattr(self, key)
            if low > high:
                raise ValueError(f"{key}: from must be smaller than to")
        return self

    def drawn(self, rng: np.random.Generator, count: int) -> tuple[str, ...]:
        """Return a number of colours, ``r,g,b``."""
        if self.draw:
            weights = np.array(list(self.draw.values()))
            chosen = rng.choice(len(weights), size=count, p=weights / weights.sum())
            return tuple(list(self.draw)[number] for number in chosen.tolist())
        bounds = np.array([self.hue_deg, self.saturation, self.value])
        rows = rng.uniform(bounds[:, 0], bounds[:, 1], size=(count, 3)).tolist()
        return tuple(
            ",".join(str(round(255 * part)) for part in colorsys.hsv_to_rgb(hue / 360 % 1, saturation, value))
            for hue, saturation, value in rows
        )


class Texture(Model):
    """A plain texture in a drawn colour for objects of the town, as CARLA's ``apply_color_texture_to_objects`` puts it on."""

    objects: Annotated[tuple[Pattern, ...], Field(min_length=1, max_length=100)]
    """Patterns of object names in the simulator: ``Building_*``."""
    share: Share = 1.0
    """Share of these objects that get a texture."""
    colours: Colours = Colours()


class Skin(Model):
    """The differences between twins; omitted keys stay as recorded."""

    twins: Annotated[int, Field(ge=1, le=100)] = 1
    """Number of twins of a dataset, each drawn independently."""
    weather: NameSchedule | None = None
    sun_altitude_deg: tuple[Altitude, Altitude] | None = None
    """Even between two bounds, instead of the weather's; below 0 is night."""
    sun_azimuth_deg: tuple[Azimuth, Azimuth] | None = None
    vehicle_colours: Colours | None = None
    """Colours of vehicles that have one in CARLA."""
    textures: Annotated[tuple[Texture, ...], Field(max_length=100)] = ()
    traffic: Literal["recorded", "other"] = "recorded"
    """``other`` draws the traffic's seed: the same flight over other vehicles and walkers."""
    notes: Text = ""

    same: ClassVar[tuple[str, ...]] = ("twins", "traffic", "notes")

    @model_validator(mode="after")
    def _check_changes(self) -> Self:
        for key in ("sun_altitude_deg", "sun_azimuth_deg"):
            bounds: Any = getattr(self, key)
            if bounds is not None and bounds[0] > bounds[1]:
                raise ValueError(f"{key}: from must be smaller than to")
        if self.traffic == "recorded" and not any(
            getattr(self, k) for k in type(self).model_fields if k not in self.same
        ):
            raise ValueError("the skin changes nothing: set weather, sun, vehicle_colours, textures, or traffic: other")
        if self.traffic == "other" and self.vehicle_colours is not None:
            raise ValueError("vehicle_colours needs recorded traffic: leave out vehicle_colours or traffic: other")
        return self
