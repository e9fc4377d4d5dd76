from datetime import UTC, datetime

import pytest
from headless_simulator.airsim.atmosphere import Atmosphere, sun_position

from tests.airsim.paper_world import PaperHost


def test_sun_position_matches_the_almanac() -> None:
    # Equinox 2020-03-20 at Greenwich's noon on the equator: within a degree or two of the zenith.
    altitude, _ = sun_position(datetime(2020, 3, 20, 12, 7, tzinfo=UTC), latitude_deg=0, longitude_deg=0)
    assert altitude > 88.5
    # Summer solstice in Greenwich at local noon: 90 - 51.48 + 23.44 = 61.96 degrees, due south.
    altitude, azimuth = sun_position(datetime(2020, 6, 20, 12, 2, tzinfo=UTC), latitude_deg=51.48, longitude_deg=0)
    assert altitude == pytest.approx(61.96, abs=0.05)
    assert azimuth == pytest.approx(180, abs=1)
    # Midnight: 51.48 + 23.44 - 90 below.
    altitude, _ = sun_position(datetime(2020, 6, 20, 0, 2, tzinfo=UTC), latitude_deg=51.48, longitude_deg=0)
    assert altitude == pytest.approx(-15.08, abs=0.05)
    # Morning: in the east.
    _, azimuth = sun_position(datetime(2020, 3, 20, 6, 7, tzinfo=UTC), latitude_deg=0, longitude_deg=0)
    assert azimuth == pytest.approx(90, abs=1)


def test_sun_moves_at_its_clock_speed_when_an_update_is_due() -> None:
    host = PaperHost()
    air = Atmosphere(host, (0.0, 0.0, 0.0))
    air.set_time_of_day(0, on=True, start="2020-03-20 09:00:00", dst=False, speed=3600, every_s=1.0, move=True)
    nine = host.weather.sun_altitude_angle
    air.tick(500_000_000)
    assert host.weather.sun_altitude_angle == nine, "not due"
    air.tick(1_000_000_000)  # an hour of sun: 15 degrees higher on the equator
    assert host.weather.sun_altitude_angle - nine == pytest.approx(15, abs=0.1)


def test_disabling_weather_restores_it_but_keeps_the_sun() -> None:
    host = PaperHost()
    before = host.weather
    air = Atmosphere(host, (0.0, 0.0, 0.0))
    air.set_parameter(7, 0.5)
    assert host.weather == before, "parameters wait for enable"
    air.enable(on=True)
    assert host.weather.fog_density == 45
    air.set_parameter(2, 1.0)
    assert air.overlays == {"snow": 1.0}
    air.enable(on=False)
    assert host.weather == before
    assert air.overlays == {}
