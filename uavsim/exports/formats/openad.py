"""OpenAD's files of a dataset with corner cases: one numbered OpenAD scene for each scene, with its best image.

    annotations/<i>.txt   infos/<i>.json   camera_image/<i>_<k>.jpg   lidar_point_cloud/<i>_<k>.pcd   (k keyframes ago)
    gt.pkl                similarity.json  tags.json

In OpenAD a scene's number determines its source dataset. A scene therefore gets a number of the training set with its domain,
or a number of ``once`` without such a set. Numbers without a scene have no objects.
"""

import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from uavsim.access import Image, Sample, Scene
from uavsim.dataset.rows import CornerCaseRow, ObjectTagRow
from uavsim.dataset.schema import CORNER_CASE, OBJECT_TAG
from uavsim.errors import DatasetError, InputError
from uavsim.escape import word
from uavsim.exports.formats.openad_objects import ImageObject, SceneTags, objects_in_view
from uavsim.exports.formats.point_clouds import pcd_bytes
from uavsim.exports.formats.request import ExportRequest, exporter, lidar_of
from uavsim.exports.formats.tag_similarity import Words, similarity_table, tag_vectors
from uavsim.exports.formats.text import write_json, write_text
from uavsim.files.results import ResultPath
from uavsim.files.whole import write_whole
from uavsim.geometry.se3 import SE3
from uavsim.images import codec
from uavsim.typing import FloatArray, JsonDict

SOURCES: Final = {"av2": 250, "kitti": 309, "nuscenes": 134, "once": 1057, "waymo": 250}
"""OpenAD's source datasets and their scene counts, in the order of its 2,000 numbers."""
_FALLBACK_SOURCE: Final = "once"
_MIN_PX: Final = 20  # minimum size of an ordinary object
_MOST_PAST: Final = 4
_JPEG_QUALITY: Final = 95
_TAG_CHARACTERS: Final = 75


@exporter
def export_openad(request: ExportRequest) -> list[Path]:
    """Write OpenAD's files.

    Raises:
        InputError: the dataset has no corner cases, or more scenes of one domain than OpenAD has.
        DatasetError: no image of a scene shows its corner case.
    """
    writer = _Writer(ResultPath.open(request.out))
    for scene in request.scenes():
        cases = scene.rows(CORNER_CASE)
        if not cases:
            raise InputError(
                f"{request.root}: {scene.name} has no corner case; generate with corner_cases: in the dataset"
            )
        tags = SceneTags(cases, {row["instance_token"]: row for row in scene.rows(OBJECT_TAG)})
        writer.add(_best_view(request, scene, tags), tags)
    return writer.finish()


@dataclass(frozen=True, slots=True, eq=False)
class _Shot:
    """The image that represents a scene, its sample and the samples before it, and the visible objects."""

    samples: tuple[Sample, ...]
    image: Image
    objects: list[ImageObject]


def _best_view(request: ExportRequest, scene: Scene, tags: SceneTags) -> _Shot:
    """Return the image with the most visible corner cases; among equals, the one with the most of their pixels."""
    best: tuple[tuple[int, int], _Shot] | None = None
    for number, sample in enumerate(scene):
        for image in sample.images:
            objects = objects_in_view(sample, image, tags, least_px=_MIN_PX)
            rare = [found for found in objects if found.case]
            score = (len(rare), sum(found.visible_px for found in rare))
            if rare and (best is None or score > best[0]):
                best = (score, _Shot(scene.samples[: number + 1], image, objects))
    if best is None:
        raise DatasetError(
            f"{request.root}: no image of {scene.name} shows its corner case; run uavsim validate {request.root}"
        )
    return best[1]


@dataclass(slots=True)
class _Writer:
    """OpenAD's files while scenes are added; ``truth`` holds rows by OpenAD's scene number."""

    out: ResultPath
    truth: dict[int, list[list[Any]]] = field(default_factory=dict)
    words: dict[str, Words] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)

    def add(self, shot: _Shot, tags: SceneTags) -> None:
        source, index = self._number(tags.cases[0])
        self._add_words([*tags.cases, *tags.of_instance.values()])
        rows = [_truth_row(found) for found in shot.objects]
        self.truth[index] = rows
        out = self.out
        write_text(out / "annotations" / f"{index}.txt", "".join(f"{_line(found)}\n" for found in shot.objects))
        past2now = [matrix.tolist() for matrix in _past2now(shot)]
        info = _info(shot, source, past2now, sensors=f"{shot.samples[-1].scene_name}/{shot.image.channel}")
        write_json(out / "infos" / f"{index}.json", info)
        for ago, (sample, image) in enumerate(_past(shot)):
            jpeg = codec.encode_jpeg(image.pixels(), quality=_JPEG_QUALITY)
            write_whole(out / "camera_image" / f"{index}_{ago}.jpg", jpeg)
            points = _points(sample, image)
            cloud = pcd_bytes(points[:, :3], points[:, 3].astype("<f4"), field="intensity")
            write_whole(out / "lidar_point_cloud" / f"{index}_{ago}.pcd", cloud)

    def _number(self, case: CornerCaseRow) -> tuple[str, int]:
        """Return the source dataset of a scene, and its number in OpenAD."""
        source = next((name for name in SOURCES if case["in_domain"].get(name)), _FALLBACK_SOURCE)
        first = sum(list(SOURCES.values())[: list(SOURCES).index(source)])
        used = self.used.get(source, 0)
        if used >= SOURCES[source]:
            raise InputError(f"more than {SOURCES[source]} scenes of the domain {source}, the limit of OpenAD's files")
        self.used[source] = used + 1
        return source, first + used

    def _add_words(self, rows: list[CornerCaseRow | ObjectTagRow]) -> None:
        for row in rows:
            self.words[row["tag"]] = Words(tuple(row["synonyms"]), tuple(row["hypernyms"]))

    def finish(self) -> list[Path]:
        out = self.out
        vectors = tag_vectors(self.words)
        tags = list(dict.fromkeys(row[-1] for index in sorted(self.truth) for row in self.truth[index]))
        features = np.stack([vectors[tag] for tag in tags])
        scenes = [self.truth.get(index, []) for index in range(sum(SOURCES.values()))]
        gt = write_whole(out / "gt.pkl", pickle.dumps([scenes, tags, features], protocol=4))
        similarity = write_json(out / "similarity.json", similarity_table(vectors))
        words = {
            tag: {"synonyms": list(near.synonyms), "hypernyms": list(near.hypernyms)}
            for tag, near in self.words.items()
        }
        reported = {"tags": words, "features": {tag: vector.tolist() for tag, vector in vectors.items()}}
        return [
            *(out.display_path / name for name in ("annotations", "infos", "camera_image", "lidar_point_cloud")),
            gt.display_path,
            similarity.display_path,
            write_json(out / "tags.json", reported).display_path,
        ]


def _training_flags(found: ImageObject) -> list[int]:
    return [int(found.in_training_sets.get(name, False)) for name in SOURCES]


def _truth_row(found: ImageObject) -> list[Any]:
    boxes = [*found.visible_box_px.tolist(), *found.optical_box.tolist()]
    return [*boxes, *(str(flag) for flag in _training_flags(found)), found.tag[:_TAG_CHARACTERS]]


def _line(found: ImageObject) -> str:
    """Return a line of ``annotations``: seen flags, tag, truncation, occlusion, alpha, 2D box, 3D box."""
    height, width, length, x, y, z, turn_rad = found.optical_box.tolist()
    alpha_rad = float(np.arctan2(np.sin(turn_rad - np.arctan2(x, z)), np.cos(turn_rad - np.arctan2(x, z))))
    numbers = [found.truncation, found.occlusion, alpha_rad, *found.visible_box_px.tolist()]
    numbers += [height, width, length, x, y, z, turn_rad]
    flags = " ".join(map(str, _training_flags(found)))
    return f"{flags} {word(found.tag)} {' '.join(f'{number:.6g}' for number in numbers)}"


def _past(shot: _Shot) -> list[tuple[Sample, Image]]:
    """Return the image and up to four earlier ones of the same camera, the latest first."""
    latest_first = shot.samples[::-1][: 1 + _MOST_PAST]
    return [(sample, next(i for i in sample.images if i.channel == shot.image.channel)) for sample in latest_first]


def _sensor_SE3(sample: Sample, image: Image) -> SE3:
    """Return ``map_SE3_lidar`` of the drone, or ``map_SE3_flu`` without a lidar."""
    scan = lidar_of(sample, image.drone_id)
    return image.map_SE3_flu if scan is None else image.map_SE3_flu @ scan.flu_SE3_sensor


def _past2now(shot: _Shot) -> list[FloatArray]:
    """Return (4, 4) matrices from each frame's lidar to the latest lidar, the earliest first, as OpenAD's loader expects."""
    poses = [_sensor_SE3(sample, image) for sample, image in _past(shot)]
    return [(poses[0].inverse() @ pose).matrix for pose in reversed(poses)]


def _info(shot: _Shot, source: str, past2now: list[Any], *, sensors: str) -> JsonDict:
    sample, image = shot.samples[-1], shot.image
    scan = lidar_of(sample, image.drone_id)
    width, height = image.size_px
    k = image.pinhole
    camera_SE3_lidar = image.map_SE3_optical.inverse() @ _sensor_SE3(sample, image)
    return {
        "dataset": source,
        "camera_internal": {"fx": k[0, 0], "fy": k[1, 1], "cx": k[0, 2], "cy": k[1, 2]},
        "camera_external": camera_SE3_lidar.matrix.T.ravel().tolist(),
        "lidar_past2now": past2now,
        "width": width,
        "height": height,
        "timestamp_ms": sample.timestamp_us // 1000,
        "sensors_path": sensors,
        "img_path": image.filename,
        "lidar_path": "" if scan is None else scan.filename,
        "uav_sample_token": sample.token,
        "uav_objects": [_object(found) for found in shot.objects],
    }


def _object(found: ImageObject) -> JsonDict:
    return {
        "tag": found.tag,
        "corner_case": found.case,
        "instance_ids": found.instance_ids,
        "visible_px": found.visible_px,
        "amodal_px": found.amodal_px,
        "occlusion": round(found.occlusion, 4),
        "truncation": round(found.truncation, 4),
        "visible_box": found.visible_box_px.tolist(),
        "amodal_box": np.round(found.amodal_box_px, 2).tolist(),
    }


def _points(sample: Sample, image: Image) -> FloatArray:
    """Return (N, 4) x, y, z and intensity of the drone's lidar; (0, 4) without a lidar."""
    scan = lidar_of(sample, image.drone_id)
    return np.zeros((0, 4)) if scan is None else np.asarray(scan.points()[:, :4], dtype=np.float64)
