"""Mutual gains of aerial and ground agents: AP at 2 m around an ego of each kind, by the agents that it receives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim_baselines.config import AgentId
from uavsim_baselines.data.frames import SIDES, Frame
from uavsim_baselines.data.results import is_newer, write_json
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.runs import PredictionSetup, write_detections
from uavsim_baselines.scores import score_around
from uavsim_baselines.tables import interval_in_words, table_in_markdown
from uavsim_baselines.training.predict import predict
from uavsim_baselines.training.train import CHECKPOINT, device_of

HEARD: Final[Mapping[str, tuple[str, ...]]] = {"air": SIDES[:1], "ground": SIDES[1:], "both": SIDES}
"""Received agents, by column."""
RANGE_M: Final = 50.0
_ADDED: Final = {"air": "ground", "ground": "air"}  # the added side, by the side of the ego
_KIND: Final = {"v": "car", "r": "roadside unit"}
_FILE: Final = "from_{ego}_hears_{heard}.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One run from one ego.

    Attributes:
        ego: the detecting agent.
        sharing: sharing method of the run.
        boxes: number of true boxes around the ego.
        ap: AP with ``value``, ``low`` and ``high`` by received agents: ``nobody``, or the keys of ``HEARD``.
        adds: the same for the gain of adding a side to the other one.
    """

    ego: AgentId
    sharing: str
    boxes: int
    ap: Mapping[str, Mapping[str, Any]]
    adds: Mapping[str, Mapping[str, Any]]


def egos_of(frames: Sequence[Frame]) -> list[AgentId]:
    """Return the first drone, the first car and the first roadside unit.

    Raises:
        BaselineError: all agents are on one side.
    """
    drones = frames[0].drones
    first = {str(drone)[0] if isinstance(drone, str) else "": drone for drone in reversed(drones)}
    if "" not in first or len(first) == 1:
        raise BaselineError(f"{frames[0].token}: needs agents in the air and on the ground (it has {drones})")
    return [first[kind] for kind in ("", "v", "r") if kind in first]


def measure_sides(
    setup: PredictionSetup, frames: Sequence[Frame], out: Path, *, range_m: float = RANGE_M,
    report: Callable[[int], None] = lambda _done: None,
) -> list[Row]:  # fmt: skip
    """Predict frames from an ego of each kind with different received agents, and score the boxes around it.

    Args:
        setup: setup of the run; with sharing ``none`` the ego receives no agent.
        frames: frames of one split.
        out: the run's folder; existing results are reused.
        range_m: largest distance of counted boxes and predictions.
        report: receives the number of finished predictions of the split.

    Raises:
        BaselineError: all agents of the frames are on one side.
    """
    kind, data = setup.config.sharing.kind, setup.config.data
    heard = {"nobody": ()} if kind == "none" else HEARD
    rows, done = list[Row](), 0
    for ego in egos_of(frames):
        paths, found = {name: out / _FILE.format(ego=ego, heard=name) for name in heard}, dict[str, dict[str, Any]]()
        for name, sides in heard.items():
            if not is_newer(paths[name], out / CHECKPOINT):
                device = device_of(setup.config)
                predicted = predict(setup.detector, setup.config, frames, device=device, ego=ego, hears=sides)
                write_detections(paths[name], predicted, setup.config, about={"ego": str(ego), "hears": list(sides)})
            found[name] = score_around(ego, paths[name], truth=data.folder, version=data.version, range_m=range_m)
            done += 1
            report(done)
        adds = {}
        for side, other in _ADDED.items() if "both" in found else ():
            paired = score_around(
                ego, paths["both"], truth=data.folder, version=data.version, range_m=range_m, against=paths[other]
            )
            adds[side] = paired["comparison"]["ap"]
        overall = {name: scores["overall"] for name, scores in found.items()}
        boxes = int(next(iter(overall.values()))["boxes"])
        rows.append(Row(ego, kind, boxes, {name: scores["ap"] for name, scores in overall.items()}, adds))
    return rows


def write_sides(out: Path, rows: Sequence[Row]) -> str:
    """Write ``airground.json`` and ``.md`` to a folder; returns the table in Markdown."""
    plain = [
        {"ego": str(r.ego), "sharing": r.sharing, "boxes": r.boxes, "ap_2m": dict(r.ap), "adds": dict(r.adds)}
        for r in rows
    ]
    write_json(out / "airground.json", {"rows": plain})
    table = markdown_of_rows(rows)
    (out / "airground.md").write_text(table, "utf-8")
    return table


def markdown_of_rows(rows: Sequence[Row]) -> str:
    """Return a Markdown table with a row for each ego and run, grouped by ego."""
    heading = ["ego", "sharing", "hears nobody", *(f"hears {name}" for name in HEARD)]
    heading += [f"{side} adds to {other}" for side, other in _ADDED.items()]
    lines = []
    for row in sorted(rows, key=lambda r: (isinstance(r.ego, str), str(r.ego)[0] == "r")):
        kind = _KIND[row.ego[0]] if isinstance(row.ego, str) else "drone"
        cells = [interval_in_words(row.ap.get(name)) for name in ("nobody", *HEARD)]
        cells += [interval_in_words(row.adds.get(side)) for side in _ADDED]
        lines.append([f"{kind} ({row.boxes} boxes)", row.sharing, *cells])
    return table_in_markdown(heading, lines) + "\n"
