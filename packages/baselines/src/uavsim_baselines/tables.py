"""Tables of scored runs, in Markdown and as rows."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from uavsim_baselines.scores import read_scores
from uavsim_baselines.tracking.trackers import TRACKERS

_COLUMNS: Final = {
    "sharing": "sharing", "ap_1m": "AP 1 m", "ap_2m": "AP 2 m", "ap_4m": "AP 4 m", "ap_iou_0.5": "AP@IoU .5",
    "ap_iou_0.7": "AP@IoU .7", "nds": "NDS", "amota_greedy": "AMOTA greedy", "amota_kalman": "AMOTA Kalman",
    "bytes_per_frame": "bytes a frame",
}  # fmt: skip


def rows_of(runs: Sequence[Path]) -> list[dict[str, Any]]:
    """Return the scores of each run, in order; missing values are None.

    If the dataset has the drones that see each box, a row also has ``ap_2m_interval`` with ``value``, ``low`` and ``high``
    over bootstrap draws, ``recall_by_drones``, and ``less``, the differences of AP at 2 m to other runs.

    Raises:
        BaselineError: a run has no scores.
    """
    return [_row(read_scores(run)) for run in runs]


def _row(content: Mapping[str, Any]) -> dict[str, Any]:
    about, scores = content["about"], content["scores"]
    detection, uav3d, swarm = scores["nuscenes-detection"], scores["uav3d"], scores.get("swarm")
    return {
        "sharing": str(about["sharing"]),
        **{f"ap_{metres}m": _mean_ap(detection, f"{metres}.0") for metres in (1, 2, 4)},
        "ap_iou_0.5": uav3d["ap_0.5"],
        "ap_iou_0.7": uav3d["ap_0.7"],
        "nds": detection["nds"],
        **{f"amota_{tracker}": scores[f"tracking-{tracker}"]["amota"] for tracker in TRACKERS},
        "bytes_per_frame": about["bytes_per_frame"],
        "ap_2m_interval": swarm and swarm["overall"]["ap"],
        "recall_by_drones": {
            n: {"boxes": g["boxes"], **g["recall"]} for n, g in (swarm["by_drones"] if swarm else {}).items()
        },
        "less": {name: paired["ap"] for name, paired in content["paired"].items()},
    }


def _mean_ap(detection: Mapping[str, Any], metres: str) -> float | None:
    """Return the mean over classes with ground truth."""
    found = [aps[metres] for label, aps in detection["label_aps"].items() if detection["boxes"][label]]
    return sum(found) / len(found) if found else None


def table_of(runs: Sequence[Path]) -> str:
    """Return a Markdown table with one row per run, in order.

    Raises:
        BaselineError: a run has no scores.
    """
    return _scores_table(rows_of(runs))


def markdown_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Format rows of ``rows_of`` as three tables: scores, intervals, and recall by the number of drones that see a box."""
    return "\n\n".join((_scores_table(rows), _intervals_table(rows), _recall_table(rows))) + "\n"


def _scores_table(rows: Sequence[Mapping[str, Any]]) -> str:
    texts = [[_formatted(row[key]) for key in list(_COLUMNS)[1:-1]] for row in rows]
    return table_in_markdown(
        list(_COLUMNS.values()),
        [[row["sharing"], *figures, f"{row['bytes_per_frame']:.0f}"] for row, figures in zip(rows, texts, strict=True)],
    )


def _intervals_table(rows: Sequence[Mapping[str, Any]]) -> str:
    others = list(dict.fromkeys(name for row in rows for name in row["less"]))
    heading = ["sharing", "AP 2 m, 95 % of drawings of scenes", *(f"less that of {name}" for name in others)]
    return table_in_markdown(
        heading,
        [
            [
                row["sharing"],
                interval_in_words(row["ap_2m_interval"]),
                *(interval_in_words(row["less"].get(name)) for name in others),
            ]
            for row in rows
        ],
    )


def _recall_table(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = {n: group["boxes"] for row in rows for n, group in row["recall_by_drones"].items()}
    heading = ["sharing", *(f"seen by {n} ({boxes} boxes)" for n, boxes in counts.items())]
    return table_in_markdown(
        heading, [[row["sharing"], *(_formatted(row["recall_by_drones"][n]["value"]) for n in counts)] for row in rows]
    )


def table_in_markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [" | ".join(heading), " | ".join("---" for _ in heading), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def interval_in_words(interval: Mapping[str, float | None] | None) -> str:
    """Return a figure with its interval, ``-`` for None."""
    if interval is None:
        return "-"
    return f"{_formatted(interval['value'])} ({_formatted(interval['low'])} to {_formatted(interval['high'])})"


def _formatted(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.3f}"
