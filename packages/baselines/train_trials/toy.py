"""A made-up dataset in nuScenes' format: drones above a plane with coloured cuboids, drawn by projecting their corners.

Images and labels agree exactly, so that a model of a few thousand weights learns them in tests. No simulator is needed.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import cv2
import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

_VERSION: Final = "v1.0-mini"
_DOWN: Final = np.array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
"""Rotation flu_R_optical of a camera that looks down; the top of the image points along the heading."""
_COLOURS: Final = ((220, 40, 40), (40, 90, 230), (240, 200, 40), (240, 240, 240))
_SIZE_LWH_M: Final = (4.6, 2.0, 1.6)
_STEP_US: Final = 500_000


@dataclass(frozen=True, slots=True)
class Toy:
    """The content of the dataset.

    Args:
        scenes: number of scenes; the last ones are in uav_val, the others in uav_train.
        held_out: number of scenes in uav_val.
        samples: number of samples per scene, half a second apart.
        drones: number of drones in a row along x.
        spacing_m: distance between drones.
        altitude_m: altitude of all drones.
        size_px: width, height of the images; the field of view is 90 degrees.
        boxes: number of cars per scene, at constant speed.
        reach_m: largest start distance from the map's origin.
        seed: seed of the positions.
        agents: write the drones that see each box, and reports with errors: 2 m along x, a second of delay, every second
            image lost.
        cars: number of drones, the last ones, that are cars with a second camera.
    """

    scenes: int = 2
    held_out: int = 1
    samples: int = 2
    drones: int = 2
    spacing_m: float = 8.0
    altitude_m: float = 20.0
    size_px: tuple[int, int] = (64, 36)
    boxes: int = 3
    reach_m: float = 7.0
    seed: int = 0
    agents: bool = False
    cars: int = 0

    def channels(self, drone: int) -> list[str]:
        """Return the cameras of a drone or car."""
        first = self.drones - self.cars
        if drone < first:
            return [f"CAMERA_BOTTOM_id_{drone}"]
        return [f"CAMERA_{name}_id_v{drone - first}" for name in ("BOTTOM", "SECOND")]


_Array = npt.NDArray[np.float64]
_Rows = dict[str, list[dict[str, Any]]]


def write_toy(root: Path, toy: Toy) -> Path:
    """Write the dataset; returns its folder."""
    rows: _Rows = {name: [] for name in ("scene", "sample", "sample_data", "ego_pose", "calibrated_sensor", "sensor",
                   "instance", "sample_annotation", "attribute")}  # fmt: skip
    rows["category"] = [{"token": "car", "name": "vehicle.car", "description": "", "index": 1}]
    rows["visibility"] = [{"token": "4", "level": "v80-100", "description": ""}]
    rows["log"] = [{"token": "log", "logfile": "", "vehicle": "", "date_captured": "2026-01-01", "location": "plane"}]
    rows["map"] = [{"token": "map", "log_tokens": ["log"], "category": "semantic_prior", "filename": "maps/plane.png"}]
    if toy.agents:
        rows["agent_view"] = []
    if toy.cars:
        rows["visibility_detail"] = []
    _put_sensors(rows, toy)
    for scene in range(toy.scenes):
        _put_scene(root, rows, toy, scene)
    folder = root / _VERSION
    for needed in (folder, root / "maps"):
        needed.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(root / "maps/plane.png"), np.full((1, 1), 255, np.uint8))
    for name, table in rows.items():
        (folder / f"{name}.json").write_text(json.dumps(table))
    names = [f"scene_{n}" for n in range(toy.scenes)]
    splits = {"uav_train": names[: -toy.held_out], "uav_val": names[-toy.held_out :]}
    (folder / "splits.json").write_text(json.dumps(splits))
    return root


def _put_sensors(rows: _Rows, toy: Toy) -> None:
    channels = [(name, "camera") for d in range(toy.drones) for name in toy.channels(d)] + [("LIDAR_TOP", "lidar")]
    for channel, modality in channels:
        rows["sensor"].append({"token": channel, "channel": channel, "modality": modality})
        camera = modality == "camera"
        rows["calibrated_sensor"].append(
            {
                "token": f"calibrated {channel}",
                "sensor_token": channel,
                "translation": [0.0, 0.0, 0.0],
                "rotation": _quat(_DOWN) if camera else [1.0, 0.0, 0.0, 0.0],
                "camera_intrinsic": _intrinsic(toy).tolist() if camera else [],
            }
        )


def _put_scene(root: Path, rows: _Rows, toy: Toy, scene: int) -> None:
    rng = np.random.default_rng([toy.seed, scene])
    positions = _spread(rng, toy)
    headings, speeds = rng.uniform(-math.pi, math.pi, toy.boxes), rng.uniform(0.0, 3.0, toy.boxes)
    drone_yaw = float(rng.uniform(-math.pi, math.pi))
    samples = [f"s{scene}.{n}" for n in range(toy.samples)]
    name = f"scene_{scene}"
    rows["scene"].append({"token": name, "log_token": "log", "nbr_samples": toy.samples, "name": name, "description": "",
                          "first_sample_token": samples[0], "last_sample_token": samples[-1]})  # fmt: skip
    for box in range(toy.boxes):
        chain = [f"{s} box {box}" for s in samples]
        rows["instance"].append({"token": f"{name} box {box}", "category_token": "car", "nbr_annotations": len(chain),
                                 "first_annotation_token": chain[0], "last_annotation_token": chain[-1]})  # fmt: skip
    for n, token in enumerate(samples):
        time_us = 1_000_000_000_000_000 + (scene * toy.samples + n) * _STEP_US
        rows["sample"].append({"token": token, "timestamp": time_us, "scene_token": name,
                               **_chained(samples, n)})  # fmt: skip
        along = np.stack([np.cos(headings), np.sin(headings)], axis=1) * speeds[:, None] * n * _STEP_US / 1e6
        centres = np.concatenate([positions + along, np.full((toy.boxes, 1), _SIZE_LWH_M[2] / 2)], axis=1)
        for box in range(toy.boxes):
            chain = [f"{s} box {box}" for s in samples]
            rows["sample_annotation"].append(
                {"token": chain[n], "sample_token": token, "instance_token": f"{name} box {box}", "visibility_token": "4",
                 "attribute_tokens": [], "translation": centres[box].tolist(), "num_lidar_pts": 9, "num_radar_pts": 0,
                 "size": [_SIZE_LWH_M[1], _SIZE_LWH_M[0], _SIZE_LWH_M[2]],
                 "rotation": [math.cos(headings[box] / 2), 0.0, 0.0, math.sin(headings[box] / 2)],
                 **_seen_by(toy, centres[box], drone_yaw), **_chained(chain, n)}
            )  # fmt: skip
            if toy.cars:
                rows["visibility_detail"].append(_detail(toy, rows["sample_annotation"][-1], drone_yaw))
        for drone in range(toy.drones):
            map_T_flu = _drone_pose(toy, drone, drone_yaw)
            for channel in toy.channels(drone):
                image = f"samples/{channel}/{token}.png"
                (root / image).parent.mkdir(parents=True, exist_ok=True)
                pixels = _draw(toy, map_T_flu, centres, headings, rng)
                cv2.imwrite(str(root / image), pixels[:, :, ::-1])
                _put_data(rows, toy, channel=channel, filename=image, map_T_flu=map_T_flu)
            if drone == 0:
                scan = f"samples/LIDAR_TOP/{token}.bin"
                _put_data(rows, toy, channel="LIDAR_TOP", filename=scan, map_T_flu=map_T_flu)


def _spread(rng: np.random.Generator, toy: Toy) -> _Array:
    """Draw (N, 2) positions at least 6 m apart, metres."""
    positions: list[_Array] = []
    while len(positions) < toy.boxes:
        position = rng.uniform(-toy.reach_m, toy.reach_m, 2)
        if all(np.hypot(*(position - other)) > 6.0 for other in positions):
            positions.append(position)
    return np.array(positions)


def _put_data(rows: _Rows, toy: Toy, *, channel: str, filename: str, map_T_flu: _Array) -> None:
    """Add a row of ``sample_data`` with its pose to the last sample."""
    sample, time_us = rows["sample"][-1]["token"], rows["sample"][-1]["timestamp"]
    size_px = toy.size_px if channel.startswith("CAMERA") else (0, 0)
    token = f"{sample} {channel}"
    pose = {
        "token": token,
        "timestamp": time_us,
        "rotation": _quat(map_T_flu[:3, :3]),
        "translation": map_T_flu[:3, 3].tolist(),
    }
    rows["ego_pose"].append(pose)
    if toy.agents and channel.startswith("CAMERA"):
        x, y, z = pose["translation"]
        rows["agent_view"].append(
            {"sample_data_token": token, "reported_translation": [x + 2.0, y, z], "reported_rotation": pose["rotation"],
             "reported_timestamp_us": time_us, "arrival_timestamp_us": time_us + 2 * _STEP_US,
             "dropped": len(rows["agent_view"]) % 2 == 1}
        )  # fmt: skip
    rows["sample_data"].append(
        {"token": token, "sample_token": sample, "ego_pose_token": token, "calibrated_sensor_token": f"calibrated {channel}",
         "timestamp": time_us, "fileformat": filename[-3:], "is_key_frame": True, "width": size_px[0], "height": size_px[1],
         "filename": filename, "prev": "", "next": ""}
    )  # fmt: skip


def _seen_by(toy: Toy, centre_m: _Array, yaw_rad: float) -> dict[str, list[int]]:
    """Return the drones that see a box's centre, if the dataset has them."""
    viewers = _who_sees(toy, centre_m, yaw_rad)
    return {"uav_seen_by": [drone for drone in viewers if drone < toy.drones - toy.cars]} if toy.agents else {}


def _who_sees(toy: Toy, centre_m: _Array, yaw_rad: float) -> list[int]:
    viewers = []
    for drone in range(toy.drones):
        map_T_flu = _drone_pose(toy, drone, yaw_rad)
        u, v, depth = _intrinsic(toy) @ ((centre_m - map_T_flu[:3, 3]) @ map_T_flu[:3, :3] @ _DOWN)
        if 0.0 <= u / depth <= toy.size_px[0] and 0.0 <= v / depth <= toy.size_px[1]:
            viewers.append(drone)
    return viewers


def _detail(toy: Toy, box: dict[str, Any], yaw_rad: float) -> dict[str, Any]:
    """Return a box's row of ``visibility_detail``: the cameras and agents that see its centre."""
    channels = [toy.channels(drone) for drone in _who_sees(toy, np.array(box["translation"]), yaw_rad)]
    views = [
        {"sample_data_token": f"{box['sample_token']} {channel}", "channel": channel, "visible_px": 9, "amodal_px": 9,
         "occlusion": 0.0, "truncation": 0.0, "visible_box": None, "amodal_box": None}
        for names in channels for channel in names
    ]  # fmt: skip
    agents = [{"agent": names[0].rpartition("_")[2], "visible_px": 9, "amodal_px": 9} for names in channels]
    return {"token": box["token"], "sample_annotation_token": box["token"], "seen_by": box.get("uav_seen_by", []),
            "views": views, "agents": agents}  # fmt: skip


def _chained(tokens: list[str], n: int) -> dict[str, str]:
    return {"prev": tokens[n - 1] if n else "", "next": tokens[n + 1] if n + 1 < len(tokens) else ""}


def _drone_pose(toy: Toy, drone: int, yaw_rad: float) -> _Array:
    pose = np.eye(4)
    pose[:2, :2] = [[math.cos(yaw_rad), -math.sin(yaw_rad)], [math.sin(yaw_rad), math.cos(yaw_rad)]]
    pose[:3, 3] = [(drone - (toy.drones - 1) / 2) * toy.spacing_m, 0.0, toy.altitude_m]
    return pose


def _intrinsic(toy: Toy) -> _Array:
    width, height = toy.size_px
    return np.array([[width / 2, 0.0, width / 2], [0.0, width / 2, height / 2], [0.0, 0.0, 1.0]])


def _draw(
    toy: Toy, map_T_flu: _Array, centres: _Array, headings: _Array, rng: np.random.Generator
) -> npt.NDArray[np.uint8]:
    """Draw the cuboids' outlines, filled, on a grey plane with a little noise."""
    width, height = toy.size_px
    image = np.clip(rng.normal(90.0, 6.0, (height, width, 3)), 0, 255).astype(np.uint8)
    map_R_optical = map_T_flu[:3, :3] @ _DOWN
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    for n, (centre, heading) in enumerate(zip(centres, headings, strict=True)):
        turn = np.array(
            [[math.cos(heading), -math.sin(heading), 0], [math.sin(heading), math.cos(heading), 0], [0, 0, 1.0]]
        )
        corners = centre + (signs * np.array(_SIZE_LWH_M) / 2) @ turn.T
        optical = (corners - map_T_flu[:3, 3]) @ map_R_optical
        pixels = (optical @ _intrinsic(toy).T)[:, :2] / optical[:, 2:]
        hull = cv2.convexHull((pixels * 16).round().astype(np.int32))
        cv2.fillConvexPoly(image, hull, _COLOURS[n % len(_COLOURS)], lineType=cv2.LINE_AA, shift=4)
    return image


def _quat(rotation: _Array) -> list[float]:
    """Return the quaternion, scalar first, of a (3, 3) rotation."""
    quat: list[float] = Rotation.from_matrix(rotation).as_quat(scalar_first=True).tolist()
    return quat
