"""The origin of a map against CARLA's client, and places around it against WGS 84."""

import carla
import numpy as np
import pytest

from uavsim.geometry.geographic import DEFAULT_ORIGIN_DEG_M, geodetic_from_map, origin_of_reference, reference_in

ROAD = """<road name="" length="10" id="1" junction="-1"><planView><geometry s="0" x="0" y="0" hdg="0" length="10"><line/>
</geometry></planView><lanes><laneSection s="0"><center><lane id="0" type="none" level="false"/></center><right>
<lane id="-1" type="driving" level="false"><width sOffset="0" a="3" b="0" c="0" d="0"/></lane></right></laneSection></lanes>
</road>"""


@pytest.mark.parametrize(
    ("reference", "origin_deg"),
    [
        ("<geoReference><![CDATA[+proj=tmerc +lat_0=49.5 +lon_0=-8.25 +k=1 +x_0=9]]></geoReference>", (49.5, -8.25)),
        ("<geoReference>+lat_0=4.9e+1 +lon_0=0</geoReference>", (49.0, 0.0)),
        ("<geoReference><![CDATA[+proj=tmerc +lat_0=49.5]]></geoReference>", DEFAULT_ORIGIN_DEG_M[:2]),
        ("<geoReference><![CDATA[+proj=utm +zone=32]]></geoReference>", DEFAULT_ORIGIN_DEG_M[:2]),
        ("", DEFAULT_ORIGIN_DEG_M[:2]),
    ],
)
def test_origin_equals_carlas_client(reference: str, origin_deg: tuple[float, float]) -> None:
    town = f'<OpenDRIVE><header revMajor="1" revMinor="4">{reference}</header>{ROAD}</OpenDRIVE>'
    carla_location = carla.Map("town", town).transform_to_geolocation(carla.Location())
    assert origin_of_reference(reference_in(town)) == (*origin_deg, 0.0)
    assert (carla_location.latitude, carla_location.longitude, carla_location.altitude) == pytest.approx(
        (*origin_deg, 0.0)
    )


def test_hundred_metres_north_east_and_up() -> None:
    # at 45 degrees a degree of latitude is 111,131.8 m, one of longitude 78,846.8 m (WGS 84)
    found = geodetic_from_map(np.array([[0.0, 100.0, 0.0], [100.0, 0.0, 0.0], [0.0, 0.0, 100.0]]), (45.0, 8.0, 300.0))
    np.testing.assert_allclose(found[0], [45 + 100 / (111_131.8 + 300 * np.pi / 180), 8, 300.0008], atol=2e-7)
    np.testing.assert_allclose(found[1, 1], 8 + 100 / (78_846.8 + 300 * np.cos(np.pi / 4) * np.pi / 180), atol=2e-7)
    np.testing.assert_allclose(found[2], [45, 8, 400], atol=1e-9)
