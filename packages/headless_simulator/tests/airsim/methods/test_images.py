"""Images through the real client, against a hand-computed scene."""

import math
import time
import zlib

import airsim
import cv2
import numpy as np
import pytest
from headless_simulator.airsim.palette import SEGMENTATION_RGB
from headless_simulator.rendering import Rendering

from tests.airsim.paper_world import PaperHost

W, H = 64, 48
SETTINGS = {
    "SimMode": "ComputerVision",
    "CameraDefaults": {
        "CaptureSettings": [{"ImageType": t, "Width": W, "Height": H, "FOV_Degrees": 90} for t in range(8)]
    },
    "Vehicles": {
        "D1": {
            "VehicleType": "ComputerVision",
            "X": 2,
            "Y": 3,
            "Z": -1,
            "Cameras": {"nose": {"X": 0, "Y": 0, "Z": 0}, "belly": {"Pitch": -90}, "side": {"Yaw": 90, "X": 0.5}},
        }
    },
}
T = airsim.ImageType


@pytest.fixture
def client(serve, connect):
    return connect(serve(SETTINGS))


def fly_to(client, x: float, y: float, z: float, *, yaw_deg: float = 0.0) -> None:
    pose = airsim.Pose(airsim.Vector3r(x, y, z), airsim.to_quaternion(0, 0, math.radians(yaw_deg)))
    client.simSetVehiclePose(pose, True, "D1")


def shoot(client, camera: str, kind: int, *, as_float: bool = False, compress: bool = False):
    (answer,) = client.simGetImages([airsim.ImageRequest(camera, kind, as_float, compress)], "D1")
    assert (answer.width, answer.height) == (W, H)
    if as_float:
        return answer, np.array(answer.image_data_float, np.float32).reshape(H, W)
    if compress:
        return answer, cv2.imdecode(np.frombuffer(answer.image_data_uint8, np.uint8), cv2.IMREAD_UNCHANGED)
    return answer, np.frombuffer(answer.image_data_uint8, np.uint8).reshape(H, W, 3)


def test_planar_depth_straight_down_is_the_height(client) -> None:
    fly_to(client, -30, 60, -19)  # home is 1 m up, so 20 m above the ground
    _, depth = shoot(client, "belly", T.DepthPlanar, as_float=True)
    assert depth == pytest.approx(np.full((H, W), 20.0), abs=1e-3)


def test_perspective_depth_is_longer_at_the_edges(client) -> None:
    fly_to(client, -30, 60, -19)
    _, depth = shoot(client, "belly", T.DepthPerspective, as_float=True)
    # Corner pixel centre: 31.5 and 23.5 px off at a focal length of 32 px.
    corner = 20 * math.sqrt(1 + (31.5 / 32) ** 2 + (23.5 / 32) ** 2)
    assert corner == pytest.approx(31.67, abs=0.01)
    assert depth[0, 0] == pytest.approx(corner, rel=2**-10)  # half floats
    assert depth.min() == pytest.approx(20, abs=0.05)


def test_depth_of_a_wall_from_the_vehicles_ned_frame(client) -> None:
    # The wall is at x = 25 in the town. Home is at (2, 3): the vehicle at local (3, -3) is at (5, 0), 20 m before it.
    fly_to(client, 3, -3, -9)
    answer, depth = shoot(client, "nose", T.DepthPlanar, as_float=True)
    assert depth[H // 2, W // 2] == pytest.approx(20, abs=1e-3)
    assert answer.camera_position.x_val == pytest.approx(3)
    assert answer.camera_position.z_val == pytest.approx(-9)


def test_sky_depth_is_the_largest_half_float(client) -> None:
    fly_to(client, 0, 100, -30)
    _, depth = shoot(client, "side", T.DepthPlanar, as_float=True)
    assert depth[0, W // 2] == 65504.0


def test_depth_vis_and_disparity(client) -> None:
    fly_to(client, 3, -3, -9)
    _, vis = shoot(client, "nose", T.DepthVis, as_float=True)
    assert vis[H // 2, W // 2] == pytest.approx(0.2, abs=1e-3)  # 20 of 100 m
    _, grey = shoot(client, "nose", T.DepthVis)
    assert grey[H // 2, W // 2].tolist() == [51, 51, 51]
    _, disparity = shoot(client, "nose", T.DisparityNormalized, as_float=True)
    assert disparity[H // 2, W // 2] == pytest.approx(0.25 * 32 / 20 / W, rel=1e-3)


def test_camera_info_includes_the_mount(client) -> None:
    fly_to(client, 1, 2, -5, yaw_deg=90)
    info = client.simGetCameraInfo("side", "D1")
    # Yaw 90 turns the mount's x (0.5) to the east; the camera looks at yaw 180.
    assert (info.pose.position.x_val, info.pose.position.y_val) == pytest.approx((1.0, 2.5), abs=1e-6)
    assert abs(math.degrees(airsim.to_eularian_angles(info.pose.orientation)[2])) == pytest.approx(180, abs=1e-3)
    answer, _ = shoot(client, "side", T.Scene)
    assert vars(answer.camera_position) == vars(info.pose.position)
    assert vars(answer.camera_orientation) == vars(info.pose.orientation)


def test_raw_bytes_are_blue_green_red_and_png_has_alpha(client) -> None:
    fly_to(client, 0, 0, -19)
    _, raw = shoot(client, "belly", T.Scene)
    _, png = shoot(client, "belly", T.Scene, compress=True)
    assert png.shape == (H, W, 4)
    assert (png[:, :, :3] == raw).all()
    assert (png[:, :, 3] == 255).all()
    assert raw[0, 0].tolist() == [5, 3, 2 + 255 // 2 // 4]  # as the paper renderer paints a road: blue is tag * 5
    whole = client.simGetImage("belly", T.Scene, "D1")
    assert (cv2.imdecode(np.frombuffer(whole, np.uint8), cv2.IMREAD_UNCHANGED) == png).all()


def test_projection_matrix_agrees_with_the_image(client) -> None:
    fly_to(client, 0, 0, -19)
    matrix = np.array(client.simGetCameraInfo("belly", "D1").proj_mat.matrix)
    point = np.array([20.0, 10.0, -7.5, 1.0])  # forward, right, down of the camera
    clip = matrix @ point
    x, y = clip[:2] / clip[3]
    # focal 32: 16 px right of the middle of 64, 12 px above the middle of 48.
    assert ((x + 1) * W / 2, (1 - y) * H / 2) == pytest.approx((48, 12))
    assert clip[3] == 20
    assert 0 < clip[2] / clip[3] < 1


def test_segmentation_ids_palette_and_hiding(client) -> None:
    fly_to(client, 6, 2, -9)  # 10 m over the car at (10, 5) less 2 m south: it is below
    assert client.simSetSegmentationObjectID(".*", 0, True)
    assert client.simSetSegmentationObjectID("vehicle_tesla_model3_142", 42)
    assert client.simGetSegmentationObjectID("vehicle_tesla_model3_142") == 42
    fly_to(client, 8, 2, -9)
    _, image = shoot(client, "belly", T.Segmentation)
    rgb = image[:, :, ::-1]
    car = (rgb == SEGMENTATION_RGB[42]).all(-1)
    assert SEGMENTATION_RGB[1].tolist() == [153, 108, 6]
    # 1.5 m high car below a camera 10 m up: its roof is 8.5 m away; 4.8 x 2 m, turned by 90 degrees: long from left to right.
    assert car.sum() == pytest.approx(4.8 * 2 * (32 / 8.5) ** 2, rel=0.15)
    rows, columns = np.nonzero(car)
    assert np.ptp(columns) > np.ptp(rows)
    assert (rgb[~car] == 0).all()
    _, infrared = shoot(client, "belly", T.Infrared)
    assert (infrared[car] == 42).all()
    assert client.simSetSegmentationObjectID("vehicle.*", -1, True)
    _, hidden = shoot(client, "belly", T.Segmentation)
    assert not hidden.any()


def test_initial_ids_are_sums_of_letters(client) -> None:
    # "Building_North_7": building is 98+117+105+108+100+105+110+103 = 846, north 110+111+114+116+104 = 555; 5 more: 1406,
    # less five times 256: 126.
    assert client.simGetSegmentationObjectID("Building_North_7") == 126
    assert client.simGetSegmentationObjectID("nothing like it") == -1


def test_segmentation_regex_ignores_case_and_returns_whether_it_matched(client) -> None:
    assert client.simSetSegmentationObjectID("building[\\w]*", 20, True) is True
    assert client.simSetSegmentationObjectID("tower[\\w]*", 20, True) is False
    assert client.simSetSegmentationObjectID("Building", 20) is False
    with pytest.raises(Exception, match="not a valid regular expression"):
        client.simSetSegmentationObjectID("(", 20, True)
    with pytest.raises(Exception, match="-1 to 255"):
        client.simSetSegmentationObjectID("Building_North_7", 256)


def test_fov_changes_the_image_and_the_matrix(client) -> None:
    fly_to(client, 0, 0, -19)
    client.simSetCameraFov("belly", 60, "D1")
    info = client.simGetCameraInfo("belly", "D1")
    assert info.fov == 60
    assert info.proj_mat.matrix[0][1] == pytest.approx(1 / math.tan(math.radians(30)))
    _, depth = shoot(client, "belly", T.DepthPerspective, as_float=True)
    focal = 32 / math.tan(math.radians(30))
    assert depth[0, 0] == pytest.approx(20 * math.sqrt(1 + (31.5 / focal) ** 2 + (23.5 / focal) ** 2), rel=2**-10)


def test_camera_pose_can_be_set(client) -> None:
    fly_to(client, 3, -3, -9)
    client.simSetCameraPose("belly", airsim.Pose(airsim.Vector3r(1, 0, 0), airsim.to_quaternion(0, 0, 0)), "D1")
    _, depth = shoot(client, "belly", T.DepthPlanar, as_float=True)
    assert depth[H // 2, W // 2] == pytest.approx(19, abs=1e-3)  # a metre nearer to the wall


def test_image_types_of_one_call_share_a_time_stamp(client) -> None:
    answers = client.simGetImages([airsim.ImageRequest("nose", t, t in (1, 2), False) for t in range(8)], "D1")
    assert [a.image_type for a in answers] == list(range(8))
    assert len({a.time_stamp for a in answers}) == 1
    assert len(answers[1].image_data_float) == W * H
    assert len(answers[1].image_data_uint8) == 1, "the real server sends one byte for no bytes"


@pytest.mark.parametrize(
    ("camera", "kind", "message"), [("tail", 0, "camera 'tail'"), ("nose", 8, "OpticalFlow"), ("nose", 44, "0 to 9")]
)
def test_unknown_camera_or_image_type_is_refused(client, camera, kind, message) -> None:
    with pytest.raises(Exception, match=message):
        client.simGetImages([airsim.ImageRequest(camera, kind)], "D1")


def test_external_camera(serve, connect) -> None:
    external = {"ExternalCameras": {"mast": {"X": 5, "Y": 0, "Z": -10, "Pitch": 0}}, "SimMode": "ComputerVision"}
    client = connect(serve(external))
    (answer,) = client.simGetImages([airsim.ImageRequest("mast", T.DepthPlanar, True)], external=True)
    depth = np.array(answer.image_data_float).reshape(answer.height, answer.width)
    assert depth[answer.height // 2, answer.width // 2] == pytest.approx(20, abs=1e-3)
    assert answer.camera_position.x_val == 5


def test_detections_box_the_visible_pixels(client) -> None:
    fly_to(client, 8, 2, -9)
    assert client.simGetDetections("belly", T.Scene, "D1") == []
    client.simSetDetectionFilterRadius("belly", T.Scene, 80 * 100, "D1")
    client.simAddDetectionFilterMeshName("belly", T.Scene, "vehicle_*", "D1")
    (found,) = client.simGetDetections("belly", T.Scene, "D1")
    assert found.name == "vehicle_tesla_model3_142"
    # Right below: the roof of 2 x 4.8 m at 8.5 m covers 7.5 x 18 px around the middle of the image.
    assert found.box2D.max.x_val - found.box2D.min.x_val == pytest.approx(18, abs=1.6)
    assert (found.box2D.max.x_val + found.box2D.min.x_val) / 2 == pytest.approx(32, abs=1)
    assert found.relative_pose.position.x_val == pytest.approx(10, abs=1e-3)  # the car's origin is on the ground
    client.simClearDetectionMeshNames("belly", T.Scene, "D1")
    assert client.simGetDetections("belly", T.Scene, "D1") == []


def test_weather_and_time_of_day_change_the_image(serve, connect) -> None:
    server = serve(SETTINGS)
    client = connect(server)
    fly_to(client, 0, 0, -19)
    before = shoot(client, "belly", T.Scene)[1].copy()
    client.simEnableWeather(True)
    client.simSetWeatherParameter(airsim.WeatherParameter.Rain, 1.0)
    assert server.simulation.host.weather.precipitation == 100
    rainy = shoot(client, "belly", T.Scene)[1]
    assert (rainy != before).any()
    client.simSetWeatherParameter(airsim.WeatherParameter.RoadSnow, 1.0)
    assert shoot(client, "belly", T.Scene)[1].mean() > before.mean() + 50
    client.simEnableWeather(False)
    assert (shoot(client, "belly", T.Scene)[1] == before).all()
    client.simSetTimeOfDay(True, "2018-06-21 23:00:00")
    assert server.simulation.host.weather.sun_altitude_angle < 0
    assert (shoot(client, "belly", T.Scene)[1] != before).any()
    client.simSetTimeOfDay(False)
    assert (shoot(client, "belly", T.Scene)[1] == before).all()


def test_camera_shows_other_drones_but_not_its_own(serve, connect) -> None:
    cameras = {"Cameras": {"belly": {"Pitch": -90}}}
    two = {"CameraDefaults": SETTINGS["CameraDefaults"], "Vehicles": {"A": cameras, "B": {}}}
    client = connect(serve(two))
    client.simPause(True)
    client.simSetSegmentationObjectID(".*", 0, True)
    client.simSetSegmentationObjectID("A|B", 7, True)
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -20), airsim.to_quaternion(0, 0, 0)), True, "A")

    def sevens() -> int:
        (answer,) = client.simGetImages([airsim.ImageRequest("belly", T.Infrared, False, False)], "A")
        return int((np.frombuffer(answer.image_data_uint8, np.uint8) == 7).sum())

    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(50, 50, -5), airsim.to_quaternion(0, 0, 0)), True, "B")
    assert sevens() == 0
    client.simSetVehiclePose(airsim.Pose(airsim.Vector3r(0, 0, -15), airsim.to_quaternion(0, 0, 0)), True, "B")
    assert sevens() > 0


def flat_code(answer: airsim.ImageResponse) -> tuple[int, int]:
    """Read camera and frame from the 48 blocks of a raw flat image."""
    bgr = np.frombuffer(answer.image_data_uint8, np.uint8).reshape(answer.height, answer.width, 3)
    across = answer.width // 8
    bits = "".join(str(int(bgr[8 * (k // across) + 4, 8 * (k % across) + 4, 0] > 128)) for k in range(48))
    return int(bits[:16], 2), int(bits[16:], 2)


def test_flat_image_encodes_camera_and_frame(serve, connect) -> None:
    two = {name: {"VehicleType": "SimpleFlight", "X": 3 * n, "Y": 0, "Z": 0} for n, name in enumerate(("A", "B"))}
    host = PaperHost()
    client = connect(serve({"Vehicles": two}, host=host, rendering=Rendering(flat=True)))
    requests = [airsim.ImageRequest(camera, T.Scene, False, False) for camera in ("front_center", "0", "bottom_center")]
    codes = {(v, n): flat_code(a) for v in two for n, a in enumerate(client.simGetImages(requests, v))}
    assert {frame for _, frame in codes.values()} == {host.frame}
    assert len({camera for camera, _ in codes.values()}) == 4, "two names of one camera are one number"
    assert codes["A", 0][0] == codes["A", 1][0] == zlib.crc32(b"A/front_center") & 0xFFFF
    (depth,) = client.simGetImages([airsim.ImageRequest("0", T.DepthPlanar, True)], "A")
    assert set(depth.image_data_float) == {1000.0}


def test_render_latency_applies_once_per_camera(serve, connect) -> None:
    client = connect(serve(rendering=Rendering(latency_s=0.2)))
    both = [airsim.ImageRequest("0", kind, kind != T.Scene, False) for kind in (T.Scene, T.DepthPlanar)]
    client.simGetImages(both)
    began = time.monotonic()
    client.simGetImages(both)
    client.simGetImages([*both, airsim.ImageRequest("bottom_center", T.Scene, False, False)])
    assert time.monotonic() - began >= 3 * 0.2


def test_latest_matching_segmentation_pattern_wins(client) -> None:
    def id_of_a_new_one() -> int:
        name = client.simSpawnObject("crate_north", "vehicle.tesla.model3", airsim.Pose(), airsim.Vector3r(1, 1, 1))
        assert name.startswith("crate_north")
        return client.simGetSegmentationObjectID(name)

    for pattern, number in (("crate.*", 20), (".*north.*", 30)):
        client.simSetSegmentationObjectID(pattern, number, True)
    assert id_of_a_new_one() == 30
    client.simSetSegmentationObjectID("crate.*", 40, True)
    assert id_of_a_new_one() == 40
