"""Metrics: functions over arrays; ``readers`` reads files.

from uavsim_benchmarks.evaluate import Boxes, score_detections

truth = Boxes.make(sample=[0], label=[0], centre_m=[[10.0, 0.0, 1.0]])
found = Boxes.make(sample=[0], label=[0], centre_m=[[10.3, 0.0, 1.0]], score=[0.9])
score_detections(truth, found).aps["car"]
"""

# ruff: noqa: F401 - imports for users

from uavsim_benchmarks.evaluate.aircopbench.scores import parse_official, parse_strict, score_answers
from uavsim_benchmarks.evaluate.aot.encounters import detected_in_time, find_encounters, horizon_of, tracked_until
from uavsim_benchmarks.evaluate.aot.scores import (
    AotLevels,
    AotResults,
    AotTruth,
    extended_iou,
    keep_results,
    match_aot,
    score_aot,
    search_score,
)
from uavsim_benchmarks.evaluate.bev_iou import aligned_iou, corners_of, polygon_iou, turned_iou
from uavsim_benchmarks.evaluate.bootstrap import interval_of, jackknife, scene_draws
from uavsim_benchmarks.evaluate.boxes import Boxes, yaw_of_quat
from uavsim_benchmarks.evaluate.coperception import (
    communication_rate,
    communication_volume,
    match_by_overlap,
    mean_communication_rate,
    voc_ap,
)
from uavsim_benchmarks.evaluate.latex import latex_rows
from uavsim_benchmarks.evaluate.matching import match_by_centre
from uavsim_benchmarks.evaluate.metrics import evaluate
from uavsim_benchmarks.evaluate.nuscenes.detection import (
    DetectionConfig,
    average_precision,
    class_curves,
    nuscenes_detection_score,
    pair_errors,
    score_detections,
    true_positive_error,
)
from uavsim_benchmarks.evaluate.nuscenes.tracking import (
    TrackingConfig,
    metrics_of_counts,
    recall_thresholds,
    score_tracks,
)
from uavsim_benchmarks.evaluate.nuscenes.tracking_events import count_events
from uavsim_benchmarks.evaluate.nuscenes.tracks import TrackTable, fill_tracks
from uavsim_benchmarks.evaluate.openad.scores import (
    OpenAdScene,
    match_in_order,
    pair_scores_2d,
    pair_scores_3d,
    scene_ap,
    score_openad,
    subset_of,
)
from uavsim_benchmarks.evaluate.outcome import EvaluationRequest, Outcome
from uavsim_benchmarks.evaluate.ranges import keep_evaluated, range_on_ground
from uavsim_benchmarks.evaluate.swarm.collaboration import (
    drone_gains,
    pairwise_help,
    shapley_values,
    subset_diversity_deg,
    subset_pixels,
)
from uavsim_benchmarks.evaluate.swarm.evaluate_swarm import compare_results
from uavsim_benchmarks.evaluate.swarm.scores import group_ap, group_recall, match_swarm, score_group
from uavsim_benchmarks.evaluate.uav3d import IouCounter, claim_best_box, eleven_point_ap, in_uav3d_square, uav3d_nds

__all__ = sorted(name for name, value in globals().items() if callable(value))
