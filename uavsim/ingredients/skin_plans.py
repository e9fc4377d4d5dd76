"""Plans with a random skin of one scene: a replay, or the same flight over other traffic."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uavsim.config.library import Library
from uavsim.config.load import Loaded
from uavsim.config.skin import Skin
from uavsim.errors import InputError
from uavsim.ingredients.skins import Paint, SkinPlan
from uavsim.plan import numbering
from uavsim.plan.weather import PRESETS, preset_track, weather_track
from uavsim.records.actors import ActorInfo
from uavsim.records.plan import WEATHER_PARAMETERS, ScenePlan, WeatherTrack

_MOST_COLOURS = 16  # per pattern: each colour is one call to the simulator
_STREAM = "skin"


def check_names(skin: Loaded[Skin]) -> Loaded[Skin]:
    """Return the file after checking its weathers' names.

    Raises:
        ConfigError: a weather does not exist.
    """
    for name in skin.model.weather.names if skin.model.weather else ():
        try:
            Library.of().weather(name, named_in=skin.source.path, presets=tuple(PRESETS))
        except InputError as error:
            raise skin.error(("weather",), str(error)) from error
    return skin


def other_traffic(plan: ScenePlan, *, name: str, draw: int) -> ScenePlan:
    """Return a scene's plan with another seed for the simulator."""
    return replace(plan, seed=int(_rng(plan, name, draw).integers(0, 2**31)))


def dressed(
    plan: ScenePlan, skin: Skin, *, name: str, draw: int, actors: Sequence[ActorInfo], library: Library
) -> ScenePlan:
    """Return a scene's plan in a skin.

    Args:
        plan: plan of a replay, or with other traffic.
        skin: distributions of the skin.
        name: name of the skin.
        draw: number of the twin; the same dataset, scene, name and number give the same skin.
        actors: replayed actors.
        library: library of weathers.
    """
    rng = _rng(plan, name, draw)
    rng.integers(0, 2**31)  # seed of other traffic
    weather = _weather(plan, skin, rng, library)
    colours = _vehicle_colours(skin, actors, rng)
    paints = tuple(
        Paint(t.objects, t.share, t.colours.drawn(rng, _MOST_COLOURS), int(rng.integers(0, 2**31)))
        for t in skin.textures
    )
    skin_plan = SkinPlan(name, draw, colours, paints, other_traffic=skin.traffic == "other")
    ingredients, description = plan.ingredients | {"skins": skin_plan}, f"{plan.description}; skin {name} {draw}"
    return replace(plan, weather=weather, ingredients=ingredients, description=description)


def coloured(actors: Sequence[ActorInfo], skin: SkinPlan) -> tuple[ActorInfo, ...]:
    """Return actors with the colours of a skin."""
    colours = {int(number): {"color": colour} for number, colour in skin.vehicle_colours.items()}
    return tuple(replace(info, attributes=info.attributes | colours.get(info.instance_id, {})) for info in actors)


def _rng(plan: ScenePlan, name: str, draw: int) -> np.random.Generator:
    return numbering.scene_rng(plan.notes.dataset_seed, plan.scene_index, f"{_STREAM} {name} {draw}")


def _weather(plan: ScenePlan, skin: Skin, rng: np.random.Generator, library: Library) -> WeatherTrack:
    track = plan.weather
    if skin.weather is not None:
        name = numbering.turn_of(skin.weather, rng, number=plan.scene_index)
        loaded = library.weather(name, presets=tuple(PRESETS))
        scene_us = plan.capture_steps[-1] * plan.step_us
        track = preset_track(name) if loaded is None else weather_track(loaded, scene_us=scene_us)
    values = track.values.copy()
    for key, bounds in (("sun_altitude_angle", skin.sun_altitude_deg), ("sun_azimuth_angle", skin.sun_azimuth_deg)):
        if bounds is not None:
            values[:, WEATHER_PARAMETERS.index(key)] = rng.uniform(*bounds)
    return replace(track, values=values)


def _vehicle_colours(skin: Skin, actors: Sequence[ActorInfo], rng: np.random.Generator) -> dict[str, str]:
    if skin.vehicle_colours is None:
        return {}
    painted = [str(info.instance_id) for info in actors if "color" in info.attributes]
    return dict(zip(painted, skin.vehicle_colours.drawn(rng, len(painted)), strict=True))
