"""Methods about cameras and their images."""

# ruff: noqa: PLR0917  (AirSim's own names and order)

from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from headless_simulator.airsim.cameras import projection_matrix
from headless_simulator.airsim.detections import Filter, detect
from headless_simulator.airsim.imaging import MAX_REQUESTS, SCENE, ImageRequest
from headless_simulator.airsim.method import AirSimMethod, declared
from headless_simulator.airsim.ned import Quat, Vec3, pose_map, quat_map, ue_pose, vector_map
from headless_simulator.airsim.patterns import MAX_PATTERN
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.airsim.values import CameraName, FinitePose, ImageType, camera_name, image_type
from headless_simulator.errors import BadArgument, CallRefused
from headless_simulator.rendering import camera_number
from headless_simulator.rpc.arguments import Flag, Number, Reads, Text, array_of

DISTORTION: Final = ("K1", "K2", "K3", "P1", "P2")
EMPTY_BYTES: Final = b"\0"  # AirSim's rpclib cannot send empty vectors, so one element stands for none
EMPTY_FLOATS: Final = [0.0]


class _RequestedImage(NamedTuple):
    """One ImageRequest of the wire."""

    camera: str
    image_type: int
    as_float: bool
    compress: bool


def _image_request(value: Any, name: str) -> _RequestedImage:
    """Read an ImageRequest."""
    if not isinstance(value, dict) or "camera_name" not in value or "image_type" not in value:
        keys = "'camera_name', 'image_type', 'pixels_as_float', 'compress'"
        raise BadArgument(f"{name}: expected an ImageRequest: a map with {keys}")
    as_float = bool(value.get("pixels_as_float", False))
    return _RequestedImage(
        camera_name(value["camera_name"], "camera_name"),
        image_type(value["image_type"], "image_type"),
        as_float,
        bool(value.get("compress", True)) and not as_float,
    )


ImageRequests: TypeAlias = Annotated[list[_RequestedImage], Reads(array_of(_image_request, most=MAX_REQUESTS))]


def _take(
    sim: Simulation, requested: list[_RequestedImage], vehicle: str, *, external: bool
) -> tuple[list[ImageRequest], list[tuple[Vec3, Quat]], int, list[Any]]:
    """Copy the vehicles' poses, then draw outside the lock: image and answered pose agree."""
    requests, poses = [], []
    with sim.fleet.lock:
        drone = None if external else sim.fleet.drone(vehicle)
        without, owner = (sim.number_of(drone), drone.name) if drone else (0, "")
        for name, kind, as_float, compress in requested:
            camera = sim.camera(name, vehicle, external=external)
            position, quat, origin = sim.camera_pose(camera, vehicle, external=external)
            pose = ue_pose(position, quat, origin_ue_m=origin)
            number = camera_number(owner, camera.name)
            requests.append(
                ImageRequest(pose, camera.captures[kind], kind, as_float, compress, without=without, camera=number)
            )
            poses.append((position, quat))
        drones, now_ns = sim.drone_movers(), sim.fleet.now_ns
    with sim.weather_lock:
        sim.atmosphere.tick(now_ns)
        overlays = sim.atmosphere.overlays
    return requests, poses, now_ns, sim.image_capture.take(requests, drones, overlays)


def simGetImages(
    sim: Simulation, requests: ImageRequests, vehicle_name: Text = "", external: Flag = False
) -> list[dict[str, Any]]:
    """Render images of one moment."""
    taken, poses, now_ns, data = _take(sim, requests, vehicle_name, external=external)
    answers: list[dict[str, Any]] = [
        {
            "image_data_uint8": EMPTY_BYTES if request.as_float else pixels,
            "image_data_float": pixels if request.as_float else EMPTY_FLOATS,
            "camera_position": vector_map(pose[0]),
            "camera_name": camera,
            "camera_orientation": quat_map(pose[1]),
            "time_stamp": now_ns,
            "message": "",
            "pixels_as_float": request.as_float,
            "compress": compress,
            "width": request.capture.width_px,
            "height": request.capture.height_px,
            "image_type": request.image_type,
        }
        for (camera, _, _, compress), request, pose, pixels in zip(requests, taken, poses, data, strict=True)
    ]
    return sim.faults.image_result(vehicle_name, answers)


def simGetImage(
    sim: Simulation, camera_name: CameraName, image_type: ImageType, vehicle_name: Text = "", external: Flag = False
) -> Any:
    """Take one image as PNG."""
    requested = [_RequestedImage(camera_name, image_type, as_float=False, compress=True)]
    _, _, _, data = _take(sim, requested, vehicle_name, external=external)
    return data[0]


def simGetCameraInfo(
    sim: Simulation, camera_name: CameraName, vehicle_name: Text = "", external: Flag = False
) -> dict[str, Any]:
    """Return pose, field of view and projection matrix."""
    with sim.fleet.lock:
        found = sim.camera(camera_name, vehicle_name, external=external)
        position, quat, _ = sim.camera_pose(found, vehicle_name, external=external)
        capture = found.captures[SCENE]
    return {
        "pose": pose_map(position, quat),
        "fov": capture.fov_deg,
        "proj_mat": {"matrix": projection_matrix(capture)},
    }


def simSetCameraPose(
    sim: Simulation, camera_name: CameraName, pose: FinitePose, vehicle_name: Text = "", external: Flag = False
) -> None:
    """Move a camera on its body."""
    position, quat = pose
    with sim.fleet.lock:
        sim.camera(camera_name, vehicle_name, external=external).set_pose(position, quat)


def simSetCameraFov(
    sim: Simulation, camera_name: CameraName, fov_degrees: Number, vehicle_name: Text = "", external: Flag = False
) -> None:
    """Change a camera's field of view."""
    with sim.fleet.lock:
        sim.camera(camera_name, vehicle_name, external=external).set_fov(fov_degrees)


def simGetDistortionParams(
    sim: Simulation, camera_name: CameraName, vehicle_name: Text = "", external: Flag = False
) -> list[float]:
    """Return K1, K2, K3, P1, P2."""
    with sim.fleet.lock:
        found = sim.camera(camera_name, vehicle_name, external=external)
        return [found.distortion.get(name, 0.0) for name in DISTORTION]


def simSetDistortionParam(
    sim: Simulation,
    camera_name: CameraName,
    param_name: Text,
    value: Number,
    vehicle_name: Text = "",
    external: Flag = False,
) -> None:
    """Store a lens parameter; images are not distorted."""
    if param_name not in DISTORTION:
        raise CallRefused(f"unknown distortion parameter '{param_name}'; use one of {', '.join(DISTORTION)}")
    with sim.fleet.lock:
        sim.camera(camera_name, vehicle_name, external=external).distortion[param_name] = value


# ---- detections ------------------------------------------------------------------------------------------------------


def _filter(sim: Simulation, key: tuple[str, int, str, bool]) -> Filter:
    camera, kind, vehicle, external = key
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external))  # a wrong name is refused now
        owner = "" if external else sim.fleet.drone(vehicle).name
    found: Filter = sim.detection_filters.setdefault((camera, kind, owner), Filter())
    return found


def simAddDetectionFilterMeshName(
    sim: Simulation,
    camera_name: CameraName,
    image_type: ImageType,
    mesh_name: Text,
    vehicle_name: Text = "",
    external: Flag = False,
) -> None:
    """Add a name pattern with the wild cards * and ?."""
    if len(mesh_name) > MAX_PATTERN:
        raise CallRefused(f"a name of {len(mesh_name)} characters is too long (at most {MAX_PATTERN})")
    _filter(sim, (camera_name, image_type, vehicle_name, external)).add(mesh_name)


def simSetDetectionFilterRadius(
    sim: Simulation,
    camera_name: CameraName,
    image_type: ImageType,
    radius_cm: Number,
    vehicle_name: Text = "",
    external: Flag = False,
) -> None:
    """Limit detections to a radius, centimetres."""
    _filter(sim, (camera_name, image_type, vehicle_name, external)).radius_m = radius_cm / 100.0


def simClearDetectionMeshNames(
    sim: Simulation, camera_name: CameraName, image_type: ImageType, vehicle_name: Text = "", external: Flag = False
) -> None:
    """Clear the name patterns."""
    _filter(sim, (camera_name, image_type, vehicle_name, external)).names.clear()


def simGetDetections(
    sim: Simulation, camera_name: CameraName, image_type: ImageType, vehicle_name: Text = "", external: Flag = False
) -> list[dict[str, Any]]:
    """Return the visible objects that match the camera's filter."""
    object_filter = _filter(sim, (camera_name, image_type, vehicle_name, external))
    with sim.fleet.lock:
        source = sim.camera(camera_name, vehicle_name, external=external)
        position, quat, origin = sim.camera_pose(source, vehicle_name, external=external)
        without = 0 if external else sim.number_of(sim.fleet.drone(vehicle_name))
        drones = sim.drone_movers()
    request = ImageRequest(
        ue_pose(position, quat, origin_ue_m=origin),
        source.captures[image_type],
        1,
        as_float=True,
        compress=False,
        without=without,
    )
    return detect(sim, request, (position, quat, origin), object_filter, drones)


METHODS: Final[tuple[AirSimMethod, ...]] = declared(__name__)
