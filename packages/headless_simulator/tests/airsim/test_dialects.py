"""Cosys-AirSim's dialect beside AirSim's, from a socket; the real clients fly against it in uavsim's own tests."""

from typing import Any

import msgpackrpc
import numpy as np
import pytest
from headless_simulator.airsim.dialects import COSYS

from tests.airsim.paper_world import PaperHost

REQUEST = {"camera_name": "front_center", "image_type": 0, "pixels_as_float": False, "compress": False}


def call(server: Any, method: str, *arguments: Any) -> Any:
    client = msgpackrpc.Client(msgpackrpc.Address("127.0.0.1", server.port), timeout=60)
    try:
        return client.call(method, *arguments)
    finally:
        client.close()


def test_server_version_of_each_dialect(serve) -> None:
    assert call(serve(), "getServerVersion") == 1
    assert call(serve(dialect=COSYS), "getServerVersion") == 4


def test_cosys_images_are_rgb_and_otherwise_equal(serve) -> None:
    host = PaperHost()
    plain = call(serve(host=host), "simGetImages", [REQUEST], "", False)[0]
    cosys = call(serve(host=host, dialect=COSYS), "simGetImages", [{**REQUEST, "annotation_name": ""}], "")[0]
    blue_first = np.frombuffer(plain["image_data_uint8"], np.uint8).reshape(-1, 3)
    assert len(np.unique(blue_first, axis=0)) > 1, "an image of one grey proves no order"
    np.testing.assert_array_equal(
        np.frombuffer(cosys["image_data_uint8"], np.uint8).reshape(-1, 3), blue_first[:, ::-1]
    )
    assert set(cosys) - set(plain) == {"annotation_name"}


@pytest.mark.parametrize(
    ("method", "arguments", "words"),
    [
        ("simGetImages", ([REQUEST], "", False), "Expected: 2, got: 3"),
        ("simGetObjectPose", ("Ground",), "Expected: 2, got: 1"),
        ("simGetCameraInfo", ("0", "", False), "Expected: 2, got: 3"),
        ("simListAnnotationObjects", ("layer",), "is Cosys-AirSim's own and not served"),
        ("simSetLidarPose", ("lidar", "", {}), "is Cosys-AirSim's own and not served"),
        ("simGetImages", ([{**REQUEST, "image_type": 11}], ""), "11 .Annotation. are Cosys-AirSim's own"),
        ("simSetLightIntensity", ("lamp", 1.0), "could not find function"),
        ("noSuchMethod", (), "could not find function"),
    ],
)
def test_cosys_refuses_other_signatures_and_names(serve, method: str, arguments: tuple, words: str) -> None:
    with pytest.raises(msgpackrpc.error.RPCError, match=words):
        call(serve(dialect=COSYS), method, *arguments)


def test_cosys_camera_info_takes_no_external_argument(serve) -> None:
    host = PaperHost()
    ours = call(serve(host=host), "simGetCameraInfo", "0", "", False)
    assert call(serve(host=host, dialect=COSYS), "simGetCameraInfo", "0", "") == ours
