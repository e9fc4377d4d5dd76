import carla
import pytest
from headless_simulator.carla.geolocation import geolocation, mercator
from hypothesis import given, settings
from hypothesis import strategies as st

HEADER = (
    '<OpenDRIVE><header revMajor="1" revMinor="4"><geoReference><![CDATA[+proj=tmerc +lat_0={} +lon_0={} +k=1 +x_0=0 '
    "+y_0=0 +datum=WGS84 +units=m +no_defs]]></geoReference></header></OpenDRIVE>"
)


@settings(max_examples=25, deadline=None)
@given(st.floats(-5000, 5000), st.floats(-5000, 5000), st.floats(-60, 60), st.floats(-170, 170))
def test_geolocation_matches_client(x, y, latitude, longitude):
    latitude, longitude = round(latitude, 3), round(longitude, 3)
    expected = carla.Map("m", HEADER.format(latitude, longitude)).transform_to_geolocation(carla.Location(x, y, 0))

    computed = geolocation(x, y, latitude_deg=latitude, longitude_deg=longitude)
    assert computed == pytest.approx(
        (expected.latitude, expected.longitude), abs=2e-7
    )  # Location is in single precision


def test_mercator_matches_client_0_9_15() -> None:
    """The client of 0.9.15 says so of Town10HD."""
    assert mercator(5000.0, 8000.0, latitude_deg=0.0, longitude_deg=0.0) == pytest.approx(
        (-0.07186520388614781, 0.044915764205976066), abs=1e-12
    )
