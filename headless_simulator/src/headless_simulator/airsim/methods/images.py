"""Calls about cameras and their images."""

# ruff: noqa: PLR0917  (the wire sends anything, in AirSim's own names and order)

from __future__ import annotations

from typing import Any, Final

from headless_simulator.airsim.cameras import projection_matrix
from headless_simulator.airsim.detections import Filter, detect
from headless_simulator.airsim.imaging import MAX_REQUESTS, SCENE, ImageRequest
from headless_simulator.airsim.methods.table import Table, entry, finite, finite_pose, text, whole
from headless_simulator.airsim.ned import Quat, Vec3, pose_map, quat_map, ue_pose, vector_map
from headless_simulator.airsim.objects import compile_pattern
from headless_simulator.airsim.settings import IMAGE_TYPE_COUNT
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.rendering import camera_number

CALLS: Final[Table] = {}
DISTORTION: Final = ("K1", "K2", "K3", "P1", "P2")
EMPTY_BYTES: Final = b"\0"  # AirSim's rpclib cannot send empty vectors, so one element stands for none
EMPTY_FLOATS: Final = [0.0]


def _image_type(value: Any) -> int:
    kind = whole(value, "image_type")
    if not 0 <= kind < IMAGE_TYPE_COUNT:
        raise ValueError(f"image_type {kind} must be from 0 to {IMAGE_TYPE_COUNT - 1}")
    return kind


def _wanted(item: Any) -> tuple[str, int, bool, bool]:
    if not isinstance(item, dict) or "camera_name" not in item or "image_type" not in item:
        raise ValueError(
            "expected an ImageRequest: a map with 'camera_name', 'image_type', 'pixels_as_float', 'compress'"
        )
    kind = _image_type(item["image_type"])
    as_float = bool(item.get("pixels_as_float", False))
    return str(item["camera_name"]), kind, as_float, bool(item.get("compress", True)) and not as_float


def _take(
    sim: Simulation, wanted: list[tuple[str, int, bool, bool]], vehicle: str, *, external: bool
) -> tuple[list[ImageRequest], list[tuple[Vec3, Quat]], int, list[Any]]:
    """Freeze the vehicles' poses, then draw outside the lock: the image is of the pose that is answered with it."""
    requests, poses = [], []
    with sim.fleet.lock:
        drone = None if external else sim.fleet.drone(vehicle)
        without, owner = (sim.number_of(drone), drone.name) if drone else (0, "")
        for name, kind, as_float, compress in wanted:
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


@entry(CALLS)
def simGetImages(sim: Simulation, requests: Any, vehicle: Any = "", external: Any = False) -> list[dict[str, Any]]:
    """Take images, all at one moment."""
    if not isinstance(requests, list) or len(requests) > MAX_REQUESTS:
        raise ValueError(f"expected a list of at most {MAX_REQUESTS} image requests")
    wanted = [_wanted(item) for item in requests]
    name = text(vehicle, "vehicle_name")
    taken, poses, now_ns, data = _take(sim, wanted, name, external=bool(external))
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
        for (camera, _, _, compress), request, pose, pixels in zip(wanted, taken, poses, data, strict=True)
    ]
    return sim.faults.image_result(name, answers)


@entry(CALLS)
def simGetImage(sim: Simulation, camera: Any, image_type: Any, vehicle: Any = "", external: Any = False) -> Any:
    """Take one image as PNG."""
    wanted = [(str(camera), _image_type(image_type), False, True)]
    _, _, _, data = _take(sim, wanted, text(vehicle, "vehicle_name"), external=bool(external))
    return data[0]


@entry(CALLS)
def simGetCameraInfo(sim: Simulation, camera: Any, vehicle: Any = "", external: Any = False) -> dict[str, Any]:
    """Give pose, field of view and projection matrix."""
    with sim.fleet.lock:
        found = sim.camera(camera, vehicle, external=bool(external))
        position, quat, _ = sim.camera_pose(found, vehicle, external=bool(external))
        capture = found.captures[SCENE]
    return {
        "pose": pose_map(position, quat),
        "fov": capture.fov_deg,
        "proj_mat": {"matrix": projection_matrix(capture)},
    }


@entry(CALLS)
def simSetCameraPose(sim: Simulation, camera: Any, pose: Any, vehicle: Any = "", external: Any = False) -> None:
    """Move a camera on its body."""
    position, quat = finite_pose(pose)
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external)).place(position, quat)


@entry(CALLS)
def simSetCameraFov(sim: Simulation, camera: Any, fov_degrees: Any, vehicle: Any = "", external: Any = False) -> None:
    """Change a camera's field of view."""
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external)).set_fov(finite(fov_degrees, "fov_degrees"))


@entry(CALLS)
def simGetDistortionParams(sim: Simulation, camera: Any, vehicle: Any = "", external: Any = False) -> list[float]:
    """Give K1, K2, K3, P1, P2."""
    with sim.fleet.lock:
        found = sim.camera(camera, vehicle, external=bool(external))
        return [found.distortion.get(name, 0.0) for name in DISTORTION]


@entry(CALLS)
def simSetDistortionParam(
    sim: Simulation, camera: Any, name: Any, value: Any, vehicle: Any = "", external: Any = False
) -> None:
    """Keep a lens parameter; images are not distorted."""
    if name not in DISTORTION:
        raise ValueError(f"distortion parameter '{name}' is none of {', '.join(DISTORTION)}")
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external)).distortion[name] = finite(value, "value")


# ---- detections ------------------------------------------------------------------------------------------------------


def _filter(sim: Simulation, key: tuple[Any, ...]) -> Filter:
    camera, kind, vehicle, external = key
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external))  # a wrong name is refused now
        owner = "" if external else sim.fleet.drone(vehicle).name
    found: Filter = sim.detection_filters.setdefault((str(camera), _image_type(kind), owner), Filter())
    return found


@entry(CALLS)
def simAddDetectionFilterMeshName(
    sim: Simulation, camera: Any, image_type: Any, mesh_name: Any, vehicle: Any = "", external: Any = False
) -> None:
    """Look for objects whose name matches, with * and ? as wild cards."""
    name = text(mesh_name, "mesh_name")
    compile_pattern(name.replace("*", ".*") if len(name) < 200 else name)
    _filter(sim, (camera, image_type, vehicle, external)).add(name)


@entry(CALLS)
def simSetDetectionFilterRadius(
    sim: Simulation, camera: Any, image_type: Any, radius_cm: Any, vehicle: Any = "", external: Any = False
) -> None:
    """Look no farther than that."""
    _filter(sim, (camera, image_type, vehicle, external)).radius_m = finite(radius_cm, "radius_cm") / 100.0


@entry(CALLS)
def simClearDetectionMeshNames(
    sim: Simulation, camera: Any, image_type: Any, vehicle: Any = "", external: Any = False
) -> None:
    """Look for nothing."""
    _filter(sim, (camera, image_type, vehicle, external)).names.clear()


@entry(CALLS)
def simGetDetections(
    sim: Simulation, camera: Any, image_type: Any, vehicle: Any = "", external: Any = False
) -> list[dict[str, Any]]:
    """Give the objects looked for that the camera sees."""
    wanted = _filter(sim, (camera, image_type, vehicle, external))
    kind = _image_type(image_type)
    with sim.fleet.lock:
        found = sim.camera(camera, vehicle, external=bool(external))
        position, quat, origin = sim.camera_pose(found, vehicle, external=bool(external))
        without = 0 if external else sim.number_of(sim.fleet.drone(vehicle))
        drones = sim.drone_movers()
    request = ImageRequest(
        ue_pose(position, quat, origin_ue_m=origin),
        found.captures[kind],
        1,
        as_float=True,
        compress=False,
        without=without,
    )
    return detect(sim, request, (position, quat, origin), wanted, drones)
