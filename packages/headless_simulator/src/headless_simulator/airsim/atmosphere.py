"""Weather and time of day of AirSim's API, converted to CARLA's weather parameters."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from headless_simulator.airsim.host import AirSimHost
from headless_simulator.errors import CallRefused
from headless_simulator.scene import Weather

RAIN, ROAD_WETNESS, SNOW, ROAD_SNOW, MAPLE_LEAF, ROAD_LEAF, DUST, FOG, ENABLED = range(9)
OVERLAYS: Final = {SNOW: "snow", ROAD_SNOW: "road_snow", MAPLE_LEAF: "leaf", ROAD_LEAF: "road_leaf"}
_FORMATS: Final = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d")


@dataclass(slots=True)
class Sun:
    """Sun position driven by simulated time."""

    begin: datetime
    begin_ns: int
    speed: float
    every_ns: int
    due_ns: int


@dataclass(slots=True)
class Atmosphere:
    """The weather and light that clients requested; called under the server's weather lock."""

    host: AirSimHost
    origin_geo: tuple[float, float, float]
    _strength: dict[int, float] = field(default_factory=dict)
    _before: Weather | None = None
    _sun: Sun | None = None
    _before_sun: tuple[float, float] | None = None

    @property
    def overlays(self) -> dict[str, float]:
        """Strengths, 0 to 1, of the snow and leaves drawn over images."""
        if self._before is None:
            return {}
        return {name: self._strength[key] for key, name in OVERLAYS.items() if self._strength.get(key, 0.0) > 0}

    def enable(self, *, on: bool) -> None:
        """Apply the weather parameters, or restore the weather from before."""
        if on and self._before is None:
            self._before = self.host.weather
            self._apply()
        elif not on and self._before is not None:
            now, before = self.host.weather, self._before
            self._before = None
            self.host.set_weather(_with_sun_of(before, now))

    def set_parameter(self, parameter: int, strength: float) -> None:
        """Set one of AirSim's weather parameters, 0 to 1.

        Raises:
            CallRefused: unknown parameter, or a strength that is not a finite number.
        """
        if not RAIN <= parameter <= ENABLED:
            raise CallRefused(f"weather parameter {parameter} must be from 0 (Rain) to 8 (Enabled)")
        if not math.isfinite(strength):
            raise CallRefused("weather strength must be a finite number")
        if parameter == ENABLED:
            self.enable(on=strength > 0)
            return
        self._strength[parameter] = min(max(strength, 0.0), 1.0)
        if self._before is not None:
            self._apply()

    def _apply(self) -> None:
        assert self._before is not None, "only while enabled"
        before, now = self._before, self.host.weather
        rain, snow = self._strength.get(RAIN, 0.0), self._strength.get(SNOW, 0.0)
        wet = max(self._strength.get(ROAD_WETNESS, 0.0), 0.5 * rain)
        changed = replace(
            before,
            precipitation=max(before.precipitation, 100 * rain),
            cloudiness=max(before.cloudiness, 90 * max(rain, snow)),
            wetness=max(before.wetness, 100 * wet),
            precipitation_deposits=max(before.precipitation_deposits, 90 * self._strength.get(ROAD_WETNESS, 0.0)),
            fog_density=max(before.fog_density, 90 * self._strength.get(FOG, 0.0), 25 * snow),
            dust_storm=max(before.dust_storm, 100 * self._strength.get(DUST, 0.0)),
        )
        self.host.set_weather(_with_sun_of(changed, now))

    # ---- time of day -------------------------------------------------------------------------------------------------

    def set_time_of_day(
        self, now_ns: int, *, on: bool, start: str, dst: bool, speed: float, every_s: float, move: bool
    ) -> None:
        """Set the sun to its position over the origin at a local time, and advance it from then on.

        Raises:
            CallRefused: the time is not ``YYYY-MM-DD HH:MM:SS``, or the speed is not a finite number.
        """
        if not on or not move:
            if self._before_sun is not None:
                altitude, azimuth = self._before_sun
                self._sun, self._before_sun = None, None
                self._place_sun(altitude, azimuth)
            return
        if not (math.isfinite(speed) and math.isfinite(every_s)):
            raise CallRefused("celestial_clock_speed and update_interval_secs must be finite numbers")
        zone_h = round(self.origin_geo[1] / 15.0) + (1 if dst else 0)
        begin = _parse(start) if start else datetime(2020, 6, 21, 12, tzinfo=UTC)
        if self._before_sun is None:
            self._before_sun = (self.host.weather.sun_altitude_angle, self.host.weather.sun_azimuth_angle)
        every_ns = max(int(every_s * 1e9), 1_000_000)
        self._sun = Sun(begin - timedelta(hours=zone_h), now_ns, speed, every_ns, now_ns)
        self.tick(now_ns)

    def tick(self, now_ns: int) -> None:
        """Move the sun when its next update is due."""
        sun = self._sun
        if sun is None or now_ns < sun.due_ns:
            return
        sun.due_ns = now_ns + sun.every_ns
        passed_s = (now_ns - sun.begin_ns) * 1e-9 * sun.speed
        moment = sun.begin + timedelta(seconds=passed_s % (366 * 86400))
        self._place_sun(*sun_position(moment, latitude_deg=self.origin_geo[0], longitude_deg=self.origin_geo[1]))

    def _place_sun(self, altitude_deg: float, azimuth_deg: float) -> None:
        moved = replace(self.host.weather, sun_altitude_angle=altitude_deg, sun_azimuth_angle=azimuth_deg)
        self.host.set_weather(moved)

    def configure(self, settings: Mapping[str, Any], now_ns: int) -> None:
        """Apply ``TimeOfDay`` of settings.json."""
        if settings.get("Enabled"):
            self.set_time_of_day(
                now_ns,
                on=True,
                start=str(settings.get("StartDateTime", "")),
                dst=bool(settings.get("StartDateTimeDst", False)),
                speed=float(settings.get("CelestialClockSpeed", 1)),
                every_s=float(settings.get("UpdateIntervalSecs", 60)),
                move=bool(settings.get("MoveSun", True)),
            )


def _with_sun_of(weather: Weather, other: Weather) -> Weather:
    return replace(weather, sun_altitude_angle=other.sun_altitude_angle, sun_azimuth_angle=other.sun_azimuth_angle)


def _parse(text: str) -> datetime:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise CallRefused(f"start_datetime '{text}' must look like 2018-02-12 15:20:00")


def sun_position(moment: datetime, *, latitude_deg: float, longitude_deg: float) -> tuple[float, float]:
    """Return the sun's altitude and azimuth (degrees, clockwise from north) at a time in UTC.

    The low-precision formulas of the Astronomical Almanac, good to about 0.01 degrees; no refraction.
    """
    days = (moment - datetime(2000, 1, 1, 12, tzinfo=UTC)).total_seconds() / 86400.0
    anomaly = math.radians(357.528 + 0.9856003 * days)
    mean_deg = 280.460 + 0.9856474 * days
    longitude = math.radians(mean_deg + 1.915 * math.sin(anomaly) + 0.020 * math.sin(2 * anomaly))
    tilt = math.radians(23.439 - 0.0000004 * days)
    ascension = math.atan2(math.cos(tilt) * math.sin(longitude), math.cos(longitude))
    declination = math.asin(math.sin(tilt) * math.sin(longitude))
    sidereal_deg = (18.697374558 + 24.06570982441908 * days) * 15.0 + longitude_deg
    hour = math.radians(sidereal_deg) - ascension
    latitude = math.radians(latitude_deg)
    sin_altitude = math.sin(latitude) * math.sin(declination) + math.cos(latitude) * math.cos(declination) * math.cos(
        hour
    )
    east = -math.cos(declination) * math.sin(hour)
    north = math.sin(declination) * math.cos(latitude) - math.cos(declination) * math.cos(hour) * math.sin(latitude)
    return math.degrees(math.asin(sin_altitude)), math.degrees(math.atan2(east, north)) % 360.0
