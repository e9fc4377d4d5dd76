"""Labels of images and samples as JSON rows, each label beside its measurement."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from uavsim.config.events import EventThresholds
from uavsim.typing import BoolArray, JsonDict
from uavsim_benchmarks.labels.causes import AIRCOPBENCH, CAUSES, causes_of, primary
from uavsim_benchmarks.labels.jobs import SampleJob
from uavsim_benchmarks.labels.measure import BRIGHTNESS, MeasuredImage, measure_images
from uavsim_benchmarks.labels.partners import Help, help_of_image
from uavsim_benchmarks.labels.quality import POOR

_OBJECT_CAUSES = CAUSES[1:5]
"""Causes of single objects; the others apply to a whole image."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledSample:
    """A labelled sample with K images and N boxes.

    Attributes:
        job: the sample.
        images: K measurements.
        causes: (K, N, 8).
        helps: K comparisons with the other drones.
    """

    job: SampleJob
    images: tuple[MeasuredImage, ...]
    causes: BoolArray
    helps: tuple[Help, ...]

    def perceived(self, number: int, thresholds: EventThresholds) -> BoolArray:
        """Return (N,) bool: the image shows the object and no cause applies."""
        visible = self.job.views.visible_px[number] >= thresholds.objects.seen_px
        return np.asarray(visible & ~self.causes[number].any(axis=-1))


def label_sample(job: SampleJob, thresholds: EventThresholds, *, tags: bool = False) -> LabelledSample:
    """Measure and label every image of a sample.

    Args:
        job: the sample.
        thresholds: thresholds of the labels.
        tags: also measure the share of semantic tags.

    Raises:
        DatasetError: a mask, a clean copy or a twin's image cannot be read.
    """
    images = measure_images(job, thresholds, tags=tags)
    causes = causes_of(job, images, thresholds)
    helps = tuple(help_of_image(job, number, causes, thresholds) for number in range(len(job.images)))
    return LabelledSample(job, images, causes, helps)


def image_row(labelled: LabelledSample, number: int, thresholds: EventThresholds) -> JsonDict:
    """Return the label of one image."""
    job, found = labelled.job, labelled.images[number]
    image, views = job.images[number], job.views
    visible = views.visible_px[number] >= thresholds.objects.seen_px
    counted = visible & found.arrived
    in_view = (views.in_view[number] & (views.visible_px >= thresholds.objects.seen_px).any(axis=0)).sum()
    perceived = int(labelled.perceived(number, thresholds).sum())
    usable = found.quality.level > 1 and (not in_view or perceived >= thresholds.objects.usable_share * in_view)
    types = Counter(job.classes[n] for n in np.flatnonzero(counted))
    return {
        "sample_data_token": image.token,
        "sample_token": job.token,
        "scene": job.scene,
        "sample": job.number,
        "channel": image.channel,
        "drone": image.drone,
        "filename": image.name,
        "measured": _plain(found.measured) | {"arrived": found.arrived},
        "quality": found.quality.level,
        "quality_score": found.quality.score,
        "quality_by": found.quality.worst_measure,
        "usable": bool(usable),
        "usable_measured": {"in_view": int(in_view), "perceived": perceived},
        "object_count": int(counted.sum()),
        "object_types": dict(sorted(types.items())),
        "degradations": _degradations(labelled, number),
        "perception_issues": _issues(labelled, number),
        "collaboration": _collaboration(labelled, number),
    } | ({"twins": _weather_proofs(found)} if found.twins else {})


def sample_row(labelled: LabelledSample, thresholds: EventThresholds) -> JsonDict:
    """Return the label of one sample: objects seen by the swarm, and counts of requests between drones."""
    job = labelled.job
    drones = sorted({image.drone for image in job.images})
    of_drone = np.array([drones.index(image.drone) for image in job.images], dtype=np.int64)
    requests = np.zeros((len(drones), len(drones)), dtype=np.int64)
    for number, found in enumerate(labelled.helps):
        for partner in found.who:
            requests[of_drone[number], of_drone[partner]] += 1
    px = np.zeros((len(drones), len(job.annotations)), dtype=np.int64)
    np.add.at(px, of_drone, job.views.visible_px)
    visible = px >= thresholds.objects.seen_px
    return {
        "sample_token": job.token,
        "scene": job.scene,
        "sample": job.number,
        "timestamp_us": job.timestamp_us,
        "drones": drones,
        "objects": len(job.annotations),
        "seen_by_swarm": int(visible.any(axis=0).sum()),
        "seen_by_drone": [int(n) for n in visible.sum(axis=1)],
        "seen_by_one_alone": [int(n) for n in (visible & (visible.sum(axis=0) == 1)).sum(axis=1)],
        "images": len(job.images),
        "images_that_ask": sum(found.when for found in labelled.helps),
        "asked": requests.tolist(),
        "quality": [found.quality.level for found in labelled.images],
    }


def _degradations(labelled: LabelledSample, number: int) -> list[JsonDict]:
    concerned = labelled.helps[number].concerned
    counts = labelled.causes[number][concerned].sum(axis=0)
    order = [cause for cause in np.argsort(-counts, kind="stable") if counts[cause]]
    return [
        {
            "kind": CAUSES[c],
            "aircopbench": AIRCOPBENCH[CAUSES[c]],
            "objects": int(counts[c]),
            "of": int(concerned.sum()),
        }
        for c in order
    ]


def _issues(labelled: LabelledSample, number: int) -> list[JsonDict]:
    """Return a row for each object in the image with a cause of its own."""
    views = labelled.job.views
    own_causes = labelled.causes[number][:, 1:5]
    rows = np.flatnonzero(own_causes.any(axis=-1) & views.in_view[number])
    columns = (views.visible_px, views.amodal_px, views.occlusion, views.truncation, views.away_m)
    measured = zip(*(column[number, rows].tolist() for column in columns), strict=True)
    shaded = labelled.images[number].shaded_share[rows].tolist()
    return [
        _issue(labelled, number, row, hinders=hinders, measured=numbers, shaded=share)
        for row, hinders, numbers, share in zip(rows.tolist(), own_causes[rows].tolist(), measured, shaded, strict=True)
    ]


def _issue(
    labelled: LabelledSample,
    number: int,
    row: int,
    *,
    hinders: list[bool],
    measured: tuple[int, int, float, float, float],
    shaded: float,
) -> JsonDict:
    job = labelled.job
    kinds = [kind for kind, does in zip(_OBJECT_CAUSES, hinders, strict=True) if does]
    visible_px, amodal_px, occlusion, truncation, away_m = measured
    issue: JsonDict = {
        "sample_annotation_token": job.annotations[row],
        "instance_token": job.instances[row],
        "type": job.classes[row],
        "kinds": kinds,
        "box_percent": _box_percent(labelled, number, row),
        "measured": {
            "visible_px": visible_px,
            "amodal_px": amodal_px,
            "occlusion": round(occlusion, 4),
            "truncation": round(truncation, 4),
            "distance_m": round(away_m, 2),
            "shaded_share": None if math.isnan(shaded) else round(shaded, 4),
        },
    }
    if "occluded" in kinds:
        issue["occluded_by"] = _occluder(labelled, number, row)
    return issue


def _occluder(labelled: LabelledSample, number: int, row: int) -> JsonDict | None:
    """Return the main occluder of an object, with the twin that proves it; None without one."""
    job, found = labelled.job, labelled.images[number]
    proof = job.causes.get((job.annotations[row], job.images[number].token))
    front = int(found.occluder[row])
    if proof is not None:
        token = proof["occluded_by_instance_token"]
        front = job.instances.index(token) if token in job.instances else -1
        twin = {"twin": proof["twin"], "twin_visible_px": proof["twin_visible_px"], "proven": bool(proof["proven"])}
        return {
            "instance_token": token,
            "type": job.classes[front] if front >= 0 else None,
            "covered_px": proof["covered_px"],
            "proof": twin,
        }
    if front < 0:
        return None
    return {
        "instance_token": job.instances[front],
        "type": job.classes[front],
        "covered_px": int(found.covered_px[row]),
        "proof": None,
    }


def _collaboration(labelled: LabelledSample, number: int) -> JsonDict:
    job, found = labelled.job, labelled.helps[number]
    first = primary(labelled.causes[number])
    best = found.who[0] if found.who else -1
    what = [
        {
            "instance_token": job.instances[n],
            "type": job.classes[n],
            "cause": CAUSES[first[n]],
            "box_percent": _box_percent(labelled, number, int(n)),
            "partner_box_percent": _box_percent(labelled, best, int(n)),
            "visible_px": int(job.views.visible_px[number, n]),
            "partner_visible_px": int(job.views.visible_px[best, n]),
        }
        for n in found.what
    ]
    gains = {
        str(job.images[p].drone): {"objects": int(gained.sum()), "pixels": int(px)}
        for p, gained, px in zip(found.partners, found.gained, found.gain_px, strict=True)
    }
    return {
        "when": found.when,
        "what": what,
        "who": [job.images[partner].drone for partner in found.who],
        "why": list(found.why),
        "measured": {"concerned": int(found.concerned.sum()), "gain": gains},
    }


def _box_percent(labelled: LabelledSample, number: int, row: int) -> list[float] | None:
    """Return x, y, width, height in percent of the image, as in AirCopBench's files; None out of view."""
    if number < 0 or not labelled.job.views.in_view[number, row]:
        return None
    width, height = labelled.job.images[number].size_px
    x0, y0, x1, y1 = labelled.job.views.amodal_box_px[number, row].tolist()
    scaled = (x0 / width, y0 / height, (x1 - x0) / width, (y1 - y0) / height)
    return [round(100 * value, 3) for value in scaled]


def _weather_proofs(found: MeasuredImage) -> list[JsonDict]:
    """Return for each twin whether its weather removes the brightness fault."""
    poor = [name for name in found.quality.poor if name in BRIGHTNESS]
    return [
        {"twin": name, "causes": poor, **measures, "proven": measures["level"] > POOR}
        for name, measures in sorted(found.twins.items())
    ]


def _plain(values: dict[str, float]) -> dict[str, Any]:
    return {name: None if math.isnan(value) else round(value, 4) for name, value in values.items()}
