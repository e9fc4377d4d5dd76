import carla
import pytest
from headless_simulator.carla.sensors.inertial import geolocation
from hypothesis import given, settings
from hypothesis import strategies as st

HEADER = (
    '<OpenDRIVE><header revMajor="1" revMinor="4"><geoReference><![CDATA[+proj=tmerc +lat_0={} +lon_0={} +k=1 +x_0=0 '
    "+y_0=0 +datum=WGS84 +units=m +no_defs]]></geoReference></header></OpenDRIVE>"
)


@settings(max_examples=25, deadline=None)
@given(st.floats(-5000, 5000), st.floats(-5000, 5000), st.floats(-60, 60), st.floats(-170, 170))
def test_places_on_earth_are_the_clients_own(x, y, latitude, longitude):
    latitude, longitude = round(latitude, 3), round(longitude, 3)
    theirs = carla.Map("m", HEADER.format(latitude, longitude)).transform_to_geolocation(carla.Location(x, y, 0))

    ours = geolocation(x, y, latitude_deg=latitude, longitude_deg=longitude)
    assert ours == pytest.approx((theirs.latitude, theirs.longitude), abs=2e-7)  # Location is in single precision
