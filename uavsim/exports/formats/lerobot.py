"""LeRobot dataset v3.0: one episode for each scene and drone, with cameras as videos, states and actions.

Source: huggingface/lerobot, ``src/lerobot/datasets`` at 0.4 to 0.6 (``CODEBASE_VERSION = "v3.0"``).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from scipy.spatial.transform import Rotation

from uavsim.access import Image, Scene
from uavsim.errors import InputError
from uavsim.exports.formats.encode_video import encode_mp4
from uavsim.exports.formats.request import ExportRequest, exporter, filmed, frame_rate
from uavsim.exports.formats.text import write_json
from uavsim.files.parquet import columns_to_parquet, to_parquet
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry import quaternion
from uavsim.geometry.se3 import SE3
from uavsim.records.channels import agent_of
from uavsim.typing import AnyArray, FloatArray, JsonDict

STATE: Final = ("x_map_m", "y_map_m", "z_map_m", "qw", "qx", "qy", "qz", "vx_map_mps", "vy_map_mps", "vz_map_mps")
ACTION: Final = ("vx_flu_mps", "vy_flu_mps", "vz_flu_mps", "wx_flu_radps", "wy_flu_radps", "wz_flu_radps")
_COUNTS: Final = ("frame_index", "episode_index", "index", "task_index")
_PER_CHUNK: Final = 1000
_EVERY_PX: Final = 4  # stride over image pixels for statistics
_SHARES: Final = (0.01, 0.1, 0.5, 0.9, 0.99)


@exporter
def export_lerobot(request: ExportRequest) -> list[Path]:
    """Write a dataset that ``LeRobotDataset`` opens: ``meta/``, ``data/`` and ``videos/``.

    Raises:
        DatasetError: images are missing.
        InputError: images are not evenly spaced, episodes have different cameras, no scene has two images of a camera,
            or PyAV or pyarrow is not installed.
        StorageError: a file cannot be written.
    """
    out = ResultPath.open(request.out)
    writer = _Writer(out)
    for scene in request.scenes():
        agents = {agent_of(image.channel) for image in scene.samples[0].images}
        for number in sorted(number for kind, number in agents if kind == "drone"):
            writer.add(scene, number)
    writer.finish()
    return [request.out]


class _Writer:
    """The files of a dataset while episodes are added."""

    def __init__(self, out: ResultPath) -> None:
        self._out = out
        self._episodes: list[JsonDict] = []
        self._tasks: dict[str, int] = {}
        self._fps = 0.0
        self._cameras: dict[str, tuple[int, int]] = {}
        self._stats: list[dict[str, JsonDict]] = []
        self._frames = 0

    def add(self, scene: Scene, drone: int) -> None:
        """Write one drone's flight through a scene as an episode."""
        videos = {
            f"observation.images.{images[0].camera.lower()}": images
            for channel, images in filmed(scene).items()
            if agent_of(channel) == ("drone", drone)
        }
        if not videos:
            return
        first = next(iter(videos.values()))
        fps = frame_rate(scene, first)
        cameras = {key: images[0].size_px for key, images in videos.items()}
        if self._episodes and (fps, cameras) != (self._fps, self._cameras):
            raise InputError(f"{scene.name}: drone {drone} has other cameras or another rate than the first episode")
        self._fps, self._cameras = fps, cameras
        number, task = len(self._episodes), self._tasks.setdefault(scene.description or scene.name, len(self._tasks))
        chunk, file = divmod(number, _PER_CHUNK)
        rows = _rows(first, fps, episode=number, start=self._frames, task=task)
        write_whole(self._out / f"data/chunk-{chunk:03d}/file-{file:03d}.parquet", to_parquet(rows, {}))
        stats = {name: _statistics(rows[name].reshape(len(rows), -1)) for name in rows.dtype.names or ()}
        episode: JsonDict = {
            "episode_index": number,
            "tasks": [scene.description or scene.name],
            "length": len(rows),
            "dataset_from_index": self._frames,
            "dataset_to_index": self._frames + len(rows),
            "data/chunk_index": chunk,
            "data/file_index": file,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
            "scene": scene.name,
            "drone": drone,
        }
        for key, images in videos.items():
            path = self._out / f"videos/{key}/chunk-{chunk:03d}/file-{file:03d}.mp4"
            write_whole(path, encode_mp4((image.pixels() for image in images), fps=fps, quality=18, group=2))
            episode |= {f"videos/{key}/chunk_index": chunk, f"videos/{key}/file_index": file}
            episode |= {f"videos/{key}/from_timestamp": 0.0, f"videos/{key}/to_timestamp": len(rows) / fps}
            stats[key] = _image_statistics(images)
        self._episodes.append(episode | {f"stats/{k}/{n}": v for k, found in stats.items() for n, v in found.items()})
        self._stats.append(stats)
        self._frames += len(rows)

    def finish(self) -> None:
        """Write the metadata of all episodes."""
        if not self._episodes:
            raise InputError("no scene has a drone with a camera, which LeRobot requires")
        columns: JsonDict = {name: [episode[name] for episode in self._episodes] for name in self._episodes[0]}
        write_whole(self._out / "meta/episodes/chunk-000/file-000.parquet", columns_to_parquet(columns))
        tasks: JsonDict = {"task_index": list(self._tasks.values()), "task": list(self._tasks)}
        write_whole(self._out / "meta/tasks.parquet", columns_to_parquet(tasks, index="task"))
        write_json(
            self._out / "meta/stats.json", {key: _merged([s[key] for s in self._stats]) for key in self._stats[0]}
        )
        write_json(self._out / "meta/info.json", self._info())

    def _info(self) -> JsonDict:
        fps = int(self._fps) if self._fps.is_integer() else self._fps
        vectors = {"observation.state": STATE, "action": ACTION}
        features: JsonDict = {
            key: {"dtype": "video", "shape": [h // 2 * 2, w // 2 * 2, 3], "names": ["height", "width", "channels"]}
            | {"info": {"video.height": h // 2 * 2, "video.width": w // 2 * 2, "video.fps": fps, "video.channels": 3}}
            for key, (w, h) in self._cameras.items()
        }
        for key in self._cameras:
            features[key]["info"] |= {"video.codec": "h264", "video.pix_fmt": "yuv420p", "has_audio": False}
        features |= {
            k: {"dtype": "float32", "shape": [len(names)], "names": list(names)} for k, names in vectors.items()
        }
        features["timestamp"] = {"dtype": "float32", "shape": [1], "names": None}
        features |= {name: {"dtype": "int64", "shape": [1], "names": None} for name in _COUNTS}
        path = "chunk-{chunk_index:03d}/file-{file_index:03d}"
        return {
            "codebase_version": "v3.0",
            "robot_type": "drone",
            "total_episodes": len(self._episodes),
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": _PER_CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 500,
            "fps": fps,
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": f"data/{path}.parquet",
            "video_path": f"videos/{{video_key}}/{path}.mp4",
            "features": features,
        }


def _rows(images: Sequence[Image], fps: float, *, episode: int, start: int, task: int) -> AnyArray:
    """Return (N,) rows of frames: the drone's state, and the motion to the next frame as the action."""
    poses = SE3.stack([image.map_SE3_flu for image in images])
    count = len(images)
    rows = np.zeros(
        count,
        [("observation.state", "<f4", (len(STATE),)), ("action", "<f4", (len(ACTION),)), ("timestamp", "<f4")]
        + [(name, "<i8") for name in _COUNTS],
    )
    motion = _motion(poses, fps)
    recorded = np.array([image.drone_velocity_map_mps for image in images])
    velocity = np.where(np.isfinite(recorded), recorded, quaternion.rotate(poses.quat_wxyz, motion[:, :3]))
    rows["observation.state"] = np.hstack([poses.translation_m, poses.quat_wxyz, velocity])
    rows["action"] = motion
    rows["timestamp"] = np.arange(count) / fps
    rows["frame_index"], rows["index"] = np.arange(count), np.arange(count) + start
    rows["episode_index"], rows["task_index"] = episode, task
    return rows


def _motion(poses: SE3, fps: float) -> FloatArray:
    """Return (N, 6) velocity, m/s, and turning rate, rad/s, in flu, from each frame to the next; the last row is repeated.

    ``position + rotation @ velocity / fps`` is the next position.
    """
    turn = Rotation.from_quat(poses.quat_wxyz, scalar_first=True)
    speed = turn[:-1].apply(np.diff(poses.translation_m, axis=0), inverse=True) * fps
    turning = (turn[:-1].inv() * turn[1:]).as_rotvec() * fps
    motion = np.hstack([speed, turning])
    return np.vstack([motion, motion[-1:]])


def _statistics(values: AnyArray) -> JsonDict:
    """Return the statistics of (N, D) values for the normalisation of policies."""
    real = values.astype(np.float64)
    found: JsonDict = {
        "min": real.min(axis=0),
        "max": real.max(axis=0),
        "mean": real.mean(axis=0),
        "std": real.std(axis=0),
    }
    found |= {f"q{round(share * 100):02d}": np.quantile(real, share, axis=0) for share in _SHARES}
    return {name: value.tolist() for name, value in found.items()} | {"count": [len(values)]}


def _image_statistics(images: Sequence[Image]) -> JsonDict:
    """Return the statistics of a camera's colours, 0 to 1, each of shape (3, 1, 1)."""
    colours = [image.pixels()[::_EVERY_PX, ::_EVERY_PX].reshape(-1, 3) for image in images]
    found = _statistics(np.concatenate(colours) / np.float32(255))
    shaped = {name: np.reshape(value, (3, 1, 1)).tolist() for name, value in found.items() if name != "count"}
    return shaped | {"count": [len(images)]}


def _merged(parts: Sequence[JsonDict]) -> JsonDict:
    """Return the joint statistics of episodes; quantiles are weighted means, as in LeRobot."""
    counts = np.array([part["count"][0] for part in parts], dtype=np.float64)
    columns = {name: np.array([part[name] for part in parts], dtype=np.float64) for name in parts[0]}

    def mean(values: FloatArray) -> FloatArray:
        return np.asarray(np.average(values, axis=0, weights=counts))

    centre = mean(columns["mean"])
    spread = np.sqrt(mean(columns["std"] ** 2 + (columns["mean"] - centre) ** 2))
    found = {name: mean(values) for name, values in columns.items() if name.startswith("q")}
    found |= {"min": columns["min"].min(axis=0), "max": columns["max"].max(axis=0), "mean": centre, "std": spread}
    return {name: value.tolist() for name, value in found.items()} | {"count": [int(counts.sum())]}
