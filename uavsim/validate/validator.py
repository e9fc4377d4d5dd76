"""The validator: every check that a data set on disk must keep, in one dictionary, and the report on a folder.

Reads only the disk. Each check is a function with a docstring that is the promise; it yields findings. Checks of ``TABLES``
need the tables alone, checks of ``CHECKS`` the geometry and the images too, ``PIXELS`` instance masks as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from uavsim.validate import coverage, files, motion, pixels, referential, shapes, temporal, visual
from uavsim.validate.dataset import DataSet, open_dataset, versions_of
from uavsim.validate.evidence import Evidence, gather
from uavsim.validate.findings import Finding, Report, collect

__all__ = ["CHECKS", "PIXELS", "TABLES", "validate_dataset", "validate_version"]

TABLES: Final[dict[str, Callable[[DataSet], Iterator[Finding]]]] = {
    "referential.schema": referential.schema_kept,
    "referential.tokens": referential.tokens_unique,
    "referential.keys": referential.references_lead_somewhere,
    "referential.chains": referential.chains_whole,
    "referential.counts": referential.counts_right,
    "referential.keyframes": referential.one_keyframe_per_channel,
    "referential.calibrations": referential.calibrations_fit_channels,
    "referential.instances": referential.instances_in_one_scene,
    "referential.maps": referential.logs_in_maps,
    "referential.attributes": referential.attributes_single,
    "referential.names": referential.names_known,
    "temporal.unit": temporal.clock_in_microseconds,
    "temporal.tick": temporal.cameras_share_the_tick,
    "temporal.poses": temporal.poses_of_the_tick,
    "temporal.intervals": temporal.keyframes_even,
    "splits.names": coverage.scenes_unique,
    "splits.known": coverage.splits_known,
    "splits.disjoint": coverage.splits_disjoint,
}
CHECKS: Final[dict[str, Callable[[Evidence], Iterator[Finding]]]] = {
    "files.images": files.images_whole,
    "files.masks": files.masks_whole,
    "files.lidar": files.lidar_files_there,
    "files.maps": files.maps_there,
    "files.formats": files.formats_told,
    "files.paths": files.paths_inside,
    "files.folders": files.folders_inside,
    "files.names": files.names_plain,
    "shapes.rotations": shapes.rotations_unit,
    "shapes.intrinsics": shapes.intrinsics_plausible,
    "shapes.sizes": shapes.sizes_plausible,
    "shapes.sizes_constant": shapes.sizes_constant,
    "shapes.sizes_known": shapes.sizes_known,
    "shapes.categories": shapes.categories_agree,
    "shapes.upright": shapes.boxes_upright,
    "shapes.ground": shapes.boxes_on_ground,
    "shapes.twins": shapes.no_twins,
    "shapes.visibility": shapes.visibility_told,
    "motion.jumps": motion.nothing_jumps,
    "motion.velocities": motion.velocities_are_displacements,
    "motion.headings": motion.headings_follow_motion,
    "motion.cameras": motion.cameras_fly_smoothly,
    "visual.black": visual.not_black,
    "visual.frozen": visual.not_frozen,
    "visual.duplicates": visual.not_duplicate,
    "visual.capture": visual.exposure_steady,
    "visual.ticks": visual.of_this_tick,
    "coverage.empty": coverage.scenes_not_empty,
    "coverage.spawned": coverage.spawned_as_asked,
}
PIXELS: Final[dict[str, Callable[[Evidence], Iterator[Finding]]]] = {
    "pixels.views": pixels.masks_belong_to_views,
    "pixels.boxes": pixels.boxes_cover_masks,
    "pixels.outlines": pixels.boxes_fill_silhouettes,
    "pixels.counts": pixels.counts_are_the_masks,
    "pixels.no_box": pixels.masks_without_box,
    "pixels.tags": pixels.tags_fit_categories,
}
_IMAGE_CHECKS: Final = frozenset(name for name in CHECKS if name.startswith("visual.") and "frozen" not in name)


def validate_dataset(
    root: Path, *, versions: list[str] | None = None, dialect: str | None = None, pixels: bool = True, workers: int = 2
) -> list[Report]:
    """Judge every version folder of a data set.

    Args:
        root: the data set's folder, ours or others'.
        versions: of these folders only.
        dialect: ``strict`` or ``uav3d``; default: what it looks like.
        pixels: decode images and masks.
        workers: processes that look at images.

    Raises:
        DatasetError: no data set there.
    """
    found = versions or versions_of(root)
    return [validate_version(root, v, dialect=dialect, pixels=pixels, workers=workers) for v in found]


def validate_version(
    root: Path, version: str, *, dialect: str | None = None, pixels: bool = True, workers: int = 2
) -> Report:
    """Validate one version folder; see ``validate_dataset``."""
    skipped: dict[str, str] = {}
    with np.errstate(all="ignore"):  # numbers of others may be anything; what is not finite is passed over
        data = open_dataset(root, version, dialect=dialect)
        evidence = gather(data, pixels=pixels, workers=workers)
        kept, counts, errors = collect(findings_of(evidence, skipped))
    return Report(
        folder=str(root),
        version=version,
        dialect=data.dialect,
        findings=kept,
        counts=counts,
        errors=errors,
        facts=coverage.coverage_facts(evidence),
        skipped=skipped,
    )


def findings_of(evidence: Evidence, skipped: dict[str, str]) -> Iterator[Finding]:
    """Yield all that the checks find, however much; what cannot be checked goes to ``skipped``: name and reason."""
    for check in TABLES.values():
        yield from check(evidence.data)
    for name, look in CHECKS.items():
        if name in _IMAGE_CHECKS and not evidence.pixels:
            skipped[name] = "images were not decoded"
        elif name == "motion.velocities" and evidence.boxes.velocity_mps is None:
            skipped[name] = "the boxes tell no velocity"
        else:
            yield from look(evidence)
    for name, look in PIXELS.items():
        if evidence.has_masks:
            yield from look(evidence)
        else:
            skipped[name] = "no instance masks with the boxes' ids" if evidence.pixels else "images were not decoded"
