"""All checks of the validator, and those of installed packages.

Each check declares the codes of its findings; ``validator`` refuses any other. docs/validation-checks.md lists all codes.
"""

from typing import Final

from uavsim.registry import Registry
from uavsim.validate import (
    cases,
    clocks,
    coverage,
    encounters,
    events,
    exposure,
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
from uavsim.validate.rules import Check, of, of_tables
from uavsim.validate.shutter import shutters_consistent

_STREAM_CODES, _CLOCKS = ("streams.file", "streams.readings", "streams.place"), ("clock",)
_ENCOUNTERS, _CASES = ("encounter", "intruder_view"), ("corner_case", "object_tag")
CHECKS: Final[tuple[Check, ...]] = (
    of_tables("referential.schema", referential.tables_match_schema, "schema.table", "schema.field"),
    of_tables("referential.tokens", referential.tokens_unique, "referential.token"),
    of_tables("referential.keys", referential.references_lead_somewhere, "referential.key"),
    of_tables("referential.chains", referential.chains_consistent, "referential.chain"),
    of_tables("referential.counts", referential.counts_right, "referential.count", "referential.end"),
    of_tables("referential.keyframes", referential.one_keyframe_per_channel, "referential.keyframes"),
    of_tables("referential.lidar_top", referential.lidar_top_in_samples, "referential.lidar_top", only="strict"),
    of_tables("referential.calibrations", referential.calibrations_fit_channels, "referential.calibration"),
    of_tables("referential.instances", referential.instances_in_one_scene, "referential.instance"),
    of_tables("referential.maps", referential.logs_in_maps, "referential.map"),
    of_tables("referential.attributes", referential.attributes_single, "referential.attributes", only="strict"),
    of_tables("referential.names", referential.names_known, "referential.name"),
    of_tables("temporal.unit", temporal.clock_in_microseconds, "temporal.unit"),
    of_tables("temporal.tick", temporal.cameras_share_the_tick, "temporal.tick"),
    of_tables("temporal.poses", temporal.poses_of_the_tick, "temporal.ego_pose"),
    of_tables("temporal.intervals", temporal.keyframes_even, "temporal.interval"),
    of_tables("temporal.devkit_gap", temporal.near_enough_for_devkit, "temporal.devkit_gap", only="strict"),
    of_tables("splits.names", coverage.scenes_unique, "splits.name"),
    of_tables("splits.known", coverage.splits_known, "splits.unknown"),
    of_tables("splits.disjoint", coverage.splits_disjoint, "splits.leak"),
    of("files.images", files.images_complete, "files.missing", "files.truncated", "files.decode", "files.size"),
    of("files.masks", files.masks_complete, "files.missing", "files.truncated", "files.decode", "files.size"),
    of("files.lidar", files.lidar_files_exist, "files.missing", "files.size"),
    of("files.layers", files.layers_exist, "files.missing"),
    of("files.maps", files.maps_exist, "files.missing"),
    of("maps.expansion", maps.maps_complete, "maps.expansion"),
    of("maps.frame", maps.vehicles_on_maps, "maps.frame", needs="velocities"),
    of("files.formats", files.formats_reported, "files.format", "files.shared"),
    of("files.paths", files.paths_inside, "files.path", "files.link", "files.size"),
    of("files.folders", files.folders_inside, "files.link"),
    of("files.names", files.names_plain, "files.name"),
    of("shapes.rotations", shapes.rotations_unit, "shape.rotation"),
    of("shapes.intrinsics", shapes.intrinsics_plausible, "shape.intrinsic", "shape.lens"),
    of("shapes.sizes", shapes.sizes_plausible, "shape.size", "shape.size_order"),
    of("shapes.sizes_constant", shapes.sizes_constant, "shape.size_changes", "shape.blueprint"),
    of("shapes.sizes_known", shapes.sizes_known, "shape.blueprint"),
    of("shapes.categories", shapes.categories_agree, "shape.category"),
    of("shapes.upright", shapes.boxes_upright, "shape.upright"),
    of("shapes.ground", shapes.boxes_on_ground, "shape.ground"),
    of("shapes.twins", shapes.no_twins, "shape.twins"),
    of("shapes.visibility", shapes.visibility_reported, "shape.visibility"),
    of("motion.jumps", motion.nothing_jumps, "motion.jump"),
    of("motion.velocities", motion.velocities_are_displacements, "motion.velocity", needs="velocities"),
    of("motion.headings", motion.headings_follow_motion, "motion.heading"),
    of("motion.cameras", motion.cameras_fly_smoothly, "motion.camera"),
    of("visual.black", visual.not_black, "visual.black", needs="images"),
    of("visual.frozen", visual.not_frozen, "visual.frozen"),
    of("visual.duplicates", visual.not_duplicate, "visual.duplicate", needs="images"),
    of("visual.capture", visual.exposure_steady, "visual.capture", needs="images"),
    of("visual.exposure", exposure.exposure_settled, "visual.exposure", needs="images"),
    of("visual.ticks", visual.of_this_tick, "visual.other_tick", needs="images"),
    of("points.boxes", points.points_lie_in_boxes, "points.box"),
    of("points.counts", points.points_counted, "points.count"),
    of("points.labels", points.labels_fit_points, "points.labels", where=("lidarseg",)),
    of("events.images", events.events_of_their_image, "events.file", "events.record"),
    of("shutter.images", shutters_consistent, "shutter.ticks", "shutter.image"),
    of("coverage.empty", coverage.scenes_not_empty, "coverage.empty"),
    of("coverage.spawned", coverage.spawned_as_requested, "coverage.spawned"),
    of("pixels.views", pixels.masks_belong_to_views, "pixels.view", needs="masks"),
    of("pixels.boxes", pixels.boxes_cover_masks, "pixels.box", needs="masks"),
    of("pixels.outlines", pixels.boxes_fill_silhouettes, "pixels.outline", needs="masks"),
    of("pixels.counts", pixels.counts_are_the_masks, "pixels.count", needs="masks"),
    of("pixels.no_box", pixels.masks_without_box, "pixels.no_box", needs="masks"),
    of("pixels.unlabelled", pixels.road_users_are_labelled, "pixels.unlabelled", needs="masks", only="strict"),
    of("pixels.tags", pixels.tags_fit_categories, "pixels.tag", needs="masks", only="strict"),
    of("streams.readings", streams.readings_in_order, *_STREAM_CODES, needs="parquet", where=("stream",)),
    of_tables("clocks.readings", clocks.readings_by_their_clock, "clock.reading", where=_CLOCKS),
    of_tables("clocks.messages", clocks.messages_arrive_later, "clock.message", where=_CLOCKS),
    of("encounters.range", encounters.ranges_are_distances, "encounter.range", where=_ENCOUNTERS),
    of("encounters.cpa", encounters.nothing_nearer_than_cpa, "encounter.cpa", where=_ENCOUNTERS),
    of(
        "encounters.rows",
        encounters.visible_intruders_have_rows,
        "encounter.missing",
        needs="images",
        where=_ENCOUNTERS,
    ),
    of("encounters.boxes", encounters.boxes_are_the_masks, "encounter.box", needs="images", where=_ENCOUNTERS),
    of("encounters.horizon", encounters.horizon_is_the_pixels, "encounter.horizon", needs="images", where=_ENCOUNTERS),
    of_tables("cases.scenes", cases.scenes_have_cases, "cases.none", where=_CASES),
    of_tables("cases.tags", cases.everything_tagged, "cases.tag", where=("object_tag",)),
    of("cases.seen", cases.cases_large_enough, "cases.small", needs="masks", where=("corner_case",)),
)
"""In report order."""
FURTHER: Final[Registry[tuple[Check, ...]]] = Registry("checks", {}, what="set of checks", expects=tuple)
"""Checks of installed packages for their own tables."""


def checks() -> tuple[Check, ...]:
    """Return every check, the built-in ones first."""
    return (*CHECKS, *(check for name in FURTHER.names() for check in FURTHER.pick(name)))


def codes() -> tuple[str, ...]:
    """Return the codes of all checks."""
    return tuple(dict.fromkeys(code for check in checks() for code in check.codes))
