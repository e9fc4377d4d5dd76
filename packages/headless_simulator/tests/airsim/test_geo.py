"""Geographic coordinates and atmosphere, against textbook values."""

import math

import pytest
from headless_simulator.airsim import geo
from hypothesis import given
from hypothesis import strategies as st

REDMOND = (47.641468, -122.140165, 122.0)
METRES = st.floats(-5000, 5000)


def test_one_degree_north_is_sixty_nautical_miles():
    north, east, down = geo.ned_from_geo((48.641468, -122.140165, 122.0), REDMOND)
    assert north == pytest.approx(60 * 1855.3, rel=1e-4)  # of a sphere of the equator's radius
    assert (east, down) == pytest.approx((0, 0))


def test_east_is_shorter_the_farther_north_one_is():
    on_the_equator = geo.ned_from_geo((0.0, 1.0, 0.0), (0.0, 0.0, 0.0))[1]
    at_sixty = geo.ned_from_geo((60.0, 1.0, 0.0), (60.0, 0.0, 0.0))[1]
    assert at_sixty == pytest.approx(on_the_equator / 2)


def test_down_lowers_the_altitude():
    assert geo.geo_from_ned((0.0, 0.0, 10.0), REDMOND) == pytest.approx((*REDMOND[:2], 112.0))
    assert geo.geo_map(REDMOND) == {"latitude": REDMOND[0], "longitude": REDMOND[1], "altitude": REDMOND[2]}


@given(st.tuples(METRES, METRES, METRES))
def test_geo_and_ned_convert_back(ned_m):
    assert geo.ned_from_geo(geo.geo_from_ned(ned_m, REDMOND), REDMOND) == pytest.approx(ned_m, abs=1e-6)


@pytest.mark.parametrize(("altitude_m", "pressure_pa"), [(0, 101_325), (1000, 89_875), (2000, 79_495), (5000, 54_020)])
def test_pressure_of_the_standard_atmosphere(altitude_m, pressure_pa):
    assert geo.pressure_pa(altitude_m) == pytest.approx(pressure_pa, rel=5e-4)
    assert geo.altitude_m(geo.pressure_pa(altitude_m)) == pytest.approx(altitude_m, abs=0.1)


def test_air_is_thinner_above_and_stays_finite_everywhere():
    assert geo.air_density(0) == pytest.approx(1.225, rel=1e-3)
    assert geo.air_density(2000) == pytest.approx(1.007, rel=2e-3)
    assert geo.temperature_k(50_000) == geo.temperature_k(11_000)
    assert all(math.isfinite(value) for value in (geo.altitude_m(0.0), geo.altitude_m(-5.0), geo.air_density(1e9)))
