"""Every check of the validator: what it requires, which findings it can make, and what it needs to look.

A finding's code belongs to exactly one place in this list at least; ``validator`` refuses one that its check does not declare.
docs/validation-checks.md lists all codes; ``tests/validate/test_checks.py`` holds the page against this list.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from uavsim.validate import (
    cases,
    clocks,
    coverage,
    encounters,
    events,
    files,
    maps,
    motion,
    pixels,
    points,
    referential,
    shapes,
    streams,
    temporal,
    visual,
)
from uavsim.validate.dataset import DIALECTS, DataSet, Dialect
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding
from uavsim.validate.shutter import shutters_kept

__all__ = ["CHECKS", "CODES", "Check", "Need"]

Need: TypeAlias = Literal["tables", "geometry", "velocities", "images", "masks"]
"""``geometry``: boxes and cameras placed in the map. ``images``, ``masks``: their pixels."""
Look: TypeAlias = Callable[[Evidence], Iterator[Finding]]

_ONLY_WITH: Final = {
    "encounters": ("encounter", "intruder_view"),
    "cases": ("corner_case", "object_tag"),
    "streams": ("stream",),
    "clocks": ("clock",),
}
"""Group of checks -> the tables of which one must be there."""


@dataclass(frozen=True, slots=True)
class Check:
    """One rule that a dataset has to keep.

    Attributes:
        name: ``group.rule``, what ``Report.skipped`` calls it.
        codes: of the findings it can make.
        rule: one sentence.
        look: yields what breaks it.
        needs: what must be there to look.
        dialects: that have to keep it.
    """

    name: str
    codes: tuple[str, ...]
    rule: str
    look: Look
    needs: Need
    dialects: tuple[Dialect, ...]

    def applies(self, data: DataSet) -> bool:
        """Say whether the dataset has what it is about: tables of encounters or of corner cases; all else is always there."""
        tables = _ONLY_WITH.get(self.name.partition(".")[0], ())
        return data.dialect in self.dialects and (not tables or any(name in data.tables for name in tables))

    def why_not(self, evidence: Evidence) -> str | None:
        """Return why it cannot be made, or None."""
        if self.needs == "images" and not evidence.pixels:
            return "images were not decoded"
        if self.needs == "masks" and not evidence.has_masks:
            return "no instance masks with the boxes' ids" if evidence.pixels else "images were not decoded"
        if self.needs == "velocities" and evidence.boxes.velocity_mps is None:
            return "the boxes report no velocity"
        return None


def _of_tables(
    name: str, look: Callable[[DataSet], Iterator[Finding]], *codes: str, only: Dialect | None = None
) -> Check:
    return _check(
        name, lambda evidence: look(evidence.data), codes, "tables", rule=(look.__doc__ or look.__name__), only=only
    )


def _of(name: str, look: Look, *codes: str, needs: Need = "geometry", only: Dialect | None = None) -> Check:
    return _check(name, look, codes, needs, rule=(look.__doc__ or look.__name__), only=only)


def _check(
    name: str, look: Look, codes: tuple[str, ...], needs: Need, *, rule: str | None, only: Dialect | None
) -> Check:
    assert rule, f"{name}: the check's function needs a docstring: it is the rule"
    sentence = " ".join(rule.split("\n\n")[0].split())
    return Check(name, codes, sentence, look, needs, (only,) if only else tuple(DIALECTS.values()))


CHECKS: Final[tuple[Check, ...]] = (
    _of_tables("referential.schema", referential.schema_kept, "schema.table", "schema.field"),
    _of_tables("referential.tokens", referential.tokens_unique, "referential.token"),
    _of_tables("referential.keys", referential.references_lead_somewhere, "referential.key"),
    _of_tables("referential.chains", referential.chains_whole, "referential.chain"),
    _of_tables("referential.counts", referential.counts_right, "referential.count", "referential.end"),
    _of_tables("referential.keyframes", referential.one_keyframe_per_channel, "referential.keyframes"),
    _of_tables("referential.lidar_top", referential.lidar_top_in_samples, "referential.lidar_top", only="strict"),
    _of_tables("referential.calibrations", referential.calibrations_fit_channels, "referential.calibration"),
    _of_tables("referential.instances", referential.instances_in_one_scene, "referential.instance"),
    _of_tables("referential.maps", referential.logs_in_maps, "referential.map"),
    _of_tables("referential.attributes", referential.attributes_single, "referential.attributes", only="strict"),
    _of_tables("referential.names", referential.names_known, "referential.name"),
    _of_tables("temporal.unit", temporal.clock_in_microseconds, "temporal.unit"),
    _of_tables("temporal.tick", temporal.cameras_share_the_tick, "temporal.tick"),
    _of_tables("temporal.poses", temporal.poses_of_the_tick, "temporal.ego_pose"),
    _of_tables("temporal.intervals", temporal.keyframes_even, "temporal.interval"),
    _of_tables("temporal.devkit_gap", temporal.near_enough_for_devkit, "temporal.devkit_gap", only="strict"),
    _of_tables("splits.names", coverage.scenes_unique, "splits.name"),
    _of_tables("splits.known", coverage.splits_known, "splits.unknown"),
    _of_tables("splits.disjoint", coverage.splits_disjoint, "splits.leak"),
    _of("files.images", files.images_whole, "files.missing", "files.truncated", "files.decode", "files.size"),
    _of("files.masks", files.masks_whole, "files.missing", "files.truncated", "files.decode", "files.size"),
    _of("files.lidar", files.lidar_files_there, "files.missing", "files.size"),
    _of("files.layers", files.layers_there, "files.missing"),
    _of("files.maps", files.maps_there, "files.missing"),
    _of("maps.expansion", maps.maps_whole, "maps.expansion"),
    _of("maps.frame", maps.vehicles_on_maps, "maps.frame", needs="velocities"),
    _of("files.formats", files.formats_reported, "files.format", "files.shared"),
    _of("files.paths", files.paths_inside, "files.path", "files.link", "files.size"),
    _of("files.folders", files.folders_inside, "files.link"),
    _of("files.names", files.names_plain, "files.name"),
    _of("shapes.rotations", shapes.rotations_unit, "shape.rotation"),
    _of("shapes.intrinsics", shapes.intrinsics_plausible, "shape.intrinsic", "shape.lens"),
    _of("shapes.sizes", shapes.sizes_plausible, "shape.size", "shape.size_order"),
    _of("shapes.sizes_constant", shapes.sizes_constant, "shape.size_changes", "shape.blueprint"),
    _of("shapes.sizes_known", shapes.sizes_known, "shape.blueprint"),
    _of("shapes.categories", shapes.categories_agree, "shape.category"),
    _of("shapes.upright", shapes.boxes_upright, "shape.upright"),
    _of("shapes.ground", shapes.boxes_on_ground, "shape.ground"),
    _of("shapes.twins", shapes.no_twins, "shape.twins"),
    _of("shapes.visibility", shapes.visibility_reported, "shape.visibility"),
    _of("motion.jumps", motion.nothing_jumps, "motion.jump"),
    _of("motion.velocities", motion.velocities_are_displacements, "motion.velocity", needs="velocities"),
    _of("motion.headings", motion.headings_follow_motion, "motion.heading"),
    _of("motion.cameras", motion.cameras_fly_smoothly, "motion.camera"),
    _of("visual.black", visual.not_black, "visual.black", needs="images"),
    _of("visual.frozen", visual.not_frozen, "visual.frozen"),
    _of("visual.duplicates", visual.not_duplicate, "visual.duplicate", needs="images"),
    _of("visual.capture", visual.exposure_steady, "visual.capture", needs="images"),
    _of("visual.ticks", visual.of_this_tick, "visual.other_tick", needs="images"),
    _of("points.boxes", points.points_lie_in_boxes, "points.box"),
    _of("points.counts", points.points_counted, "points.count"),
    _of("points.labels", points.labels_fit_points, "points.labels"),
    _of("streams.readings", streams.readings_in_order, "streams.file", "streams.readings", "streams.place"),
    _of_tables("clocks.readings", clocks.readings_by_their_clock, "clock.reading"),
    _of_tables("clocks.messages", clocks.messages_arrive_later, "clock.message"),
    _of("events.images", events.events_of_their_image, "events.file", "events.record"),
    _of("shutter.images", shutters_kept, "shutter.ticks", "shutter.image"),
    _of("encounters.range", encounters.ranges_are_distances, "encounter.range"),
    _of("encounters.cpa", encounters.nothing_nearer_than_cpa, "encounter.cpa"),
    _of("encounters.rows", encounters.what_is_seen_has_a_row, "encounter.missing", needs="images"),
    _of("encounters.boxes", encounters.boxes_are_the_masks, "encounter.box", needs="images"),
    _of("encounters.horizon", encounters.horizon_is_the_pixels, "encounter.horizon", needs="images"),
    _of_tables("cases.scenes", cases.scenes_have_cases, "cases.none"),
    _of_tables("cases.tags", cases.everything_tagged, "cases.tag"),
    _of("cases.seen", cases.cases_large_enough, "cases.small", needs="masks"),
    _of("coverage.empty", coverage.scenes_not_empty, "coverage.empty"),
    _of("coverage.spawned", coverage.spawned_as_asked, "coverage.spawned"),
    _of("pixels.views", pixels.masks_belong_to_views, "pixels.view", needs="masks"),
    _of("pixels.boxes", pixels.boxes_cover_masks, "pixels.box", needs="masks"),
    _of("pixels.outlines", pixels.boxes_fill_silhouettes, "pixels.outline", needs="masks"),
    _of("pixels.counts", pixels.counts_are_the_masks, "pixels.count", needs="masks"),
    _of("pixels.no_box", pixels.masks_without_box, "pixels.no_box", needs="masks"),
    _of("pixels.unlabelled", pixels.road_users_are_labelled, "pixels.unlabelled", needs="masks", only="strict"),
    _of("pixels.tags", pixels.tags_fit_categories, "pixels.tag", needs="masks", only="strict"),
)
"""In the order in which a report reports them."""

CODES: Final = tuple(dict.fromkeys(code for check in CHECKS for code in check.codes))
"""Every code that a finding can have."""
