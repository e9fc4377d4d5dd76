"""CARLA probes of the server, its town, lights and signs, parked vehicles and weather."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import carla
import numpy as np

from uavsim.probing.conform.answers import Answer
from uavsim.probing.conform.ask import Ask
from uavsim.probing.conform.carla.site import Site, absent_on_error, bgra_of, shifted
from uavsim.records.plan import WEATHER_PARAMETERS

_VEHICLES: Final = (carla.CityObjectLabel.Car, carla.CityObjectLabel.Truck, carla.CityObjectLabel.Bus)
_VEHICLE_TAGS: Final = (14, 15, 16)
_LOOKS: Final = 16
_FEW_PX: Final = 100
_LABELS: Final = (
    "Buildings", "TrafficLight", "TrafficSigns", "Vegetation", "Poles", "Fences", "Walls", "Roads", "Sidewalks", "Car",
)  # fmt: skip


def server(site: Site) -> Iterator[Answer]:
    """Ask for versions and towns."""
    ask = Ask("server")
    client, other = site.client.get_client_version(), site.client.get_server_version()
    yield ask.equal("the client's version", client)
    yield ask.equal("the server's version begins as the client's", other.startswith(client))
    towns = {name.rpartition("/")[2].removesuffix("_Opt") for name in site.client.get_available_maps()}
    yield ask.holds_all("towns", sorted(towns))
    yield ask.equal("its town is one of them", site.town.name.rpartition("/")[2].removesuffix("_Opt") in towns)
    yield ask.uncompared("town", site.town.name)


def town(site: Site) -> Iterator[Answer]:
    """Ask for the roads and the ground."""
    ask = Ask("town")
    text = site.town.to_opendrive()
    yield ask.equal(
        "OpenDRIVE that parses", absent_on_error(lambda: bool(carla.Map("town", text).generate_waypoints(20.0)))[0]
    )
    yield ask.equal("spawn points", len(site.spawn_points), town_only=True)
    yield ask.near("roads, in pieces of 2 m", len(site.town.generate_waypoints(2.0)), 50, town_only=True)
    off_m, off_lane_m = [], []
    for point in site.spawn_points[:50]:
        below: Any = site.world.ground_projection(shifted(point.location, z_m=5.0), 100.0)
        lane = site.town.get_waypoint(point.location)
        off_m.append(abs(below.location.z - point.location.z) if below is not None else 99.0)
        off_lane_m.append(
            np.hypot(lane.transform.location.x - point.location.x, lane.transform.location.y - point.location.y)
        )
    yield ask.at_most("ground below spawn points, 90th percentile", float(np.percentile(off_m, 90)), 1.0, unit="m")
    yield ask.at_most("spawn points to the lane's middle, worst", float(max(off_lane_m)), 0.5, unit="m")
    hits = site.world.cast_ray(site.above, shifted(site.spawn_points[0].location, z_m=-5.0))
    yield ask.at_least("things that a ray from above hits", len(hits), 1)
    walks = [site.world.get_random_location_from_navigation() for _ in range(10)]
    yield ask.equal("places for walkers of 10", sum(w is not None for w in walks))


def signs(site: Site) -> Iterator[Answer]:
    """Count lights, their boxes, signs, and objects of the level."""
    ask = Ask("lights and signs")
    site.tick()
    lights: list[Any] = list(site.world.get_actors().filter("traffic.traffic_light*"))
    yield ask.equal("traffic lights", len(lights), town_only=True)
    kinds = Counter(mark.type for mark in site.town.get_all_landmarks())
    yield ask.equal("landmarks by type", [f"{kind}: {n}" for kind, n in sorted(kinds.items())], town_only=True)
    actor_kinds = sorted({a.type_id for a in site.world.get_actors().filter("traffic.*")})
    yield ask.holds_all("kinds of traffic actors", actor_kinds, town_only=True)
    if lights:
        light = lights[0]
        yield ask.equal("light boxes of a light", len(light.get_light_boxes()))
        yield ask.equal("a light's poles in its group", len(light.get_group_traffic_lights()) > 0)
        light.set_state(carla.TrafficLightState.Green)
        light.freeze(True)
        site.tick()
        yield ask.equal(
            "a light that is set green and frozen is green", light.get_state() == carla.TrafficLightState.Green
        )
        light.freeze(False)
    else:
        yield ask.absent("light boxes of a light", "the town has no light")
    listed_labels = [name for name in _LABELS if site.world.get_level_bbs(getattr(carla.CityObjectLabel, name))]
    yield ask.holds_all("labels with boxes in the level", listed_labels, town_only=True)
    yield ask.at_least("environment objects", len(site.world.get_environment_objects(carla.CityObjectLabel.Any)), 10)


def parked(site: Site) -> Iterator[Answer]:
    """Search images of spawn points for vehicles of the town, and ask whether the server lists any."""
    ask = Ask("parked vehicles")
    listed = sum(len(site.world.get_environment_objects(label)) for label in _VEHICLES)
    camera = site.camera("semantic_segmentation", carla.Transform(site.above), width=400, fov_deg=90.0)
    site.tick()
    drawn_px = 0
    for point in site.spawn_points[:: max(1, len(site.spawn_points) // _LOOKS)]:
        camera.sensor.set_transform(carla.Transform(shifted(point.location, z_m=60.0), carla.Rotation(pitch=-90)))
        tags = bgra_of(camera.of(site.tick()))[..., 2]
        drawn_px += int(np.isin(tags, _VEHICLE_TAGS).sum())
    site.clear()
    yield ask.equal("listed", listed, town_only=True)
    yield ask.uncompared(f"pixels of them in {_LOOKS} looks", drawn_px)
    yield ask.equal("drawn and not listed", not listed and drawn_px > _FEW_PX)


def weather(site: Site) -> Iterator[Answer]:
    """Set every parameter, read them back; list the presets."""
    ask = Ask("weather")
    presets = [
        name
        for name in dir(carla.WeatherParameters)
        if isinstance(getattr(carla.WeatherParameters, name), carla.WeatherParameters)
    ]
    yield ask.holds_all("presets of the client", presets)
    first_weather = site.world.get_weather()
    values = [40.0, 30.0, 20.0, 10.0, 123.0, 35.0, 12.0, 50.0, 0.5, 60.0, 0.9, 0.02, 0.03, 5.0]
    site.world.set_weather(carla.WeatherParameters(*values))
    site.tick()
    reported = site.world.get_weather()
    off = {name: abs(getattr(reported, name) - value) for name, value in zip(WEATHER_PARAMETERS, values, strict=True)}
    yield ask.equal("parameters that come back as set", sorted(name for name, far in off.items() if far < 1e-3))
    site.world.set_weather(first_weather)
    site.tick()
