"""Robustness of detections against degradation: AP at 2 m over its share, as a table and a plot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from uavsim_baselines.data.degraded import KINDS, Degradation, DegradedSights
from uavsim_baselines.data.frames import Frame
from uavsim_baselines.data.results import is_newer, write_json
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.runs import PredictionSetup, write_detections
from uavsim_baselines.scores import ap_at_2m
from uavsim_baselines.tables import table_in_markdown
from uavsim_baselines.training.predict import predict
from uavsim_baselines.training.train import CHECKPOINT, device_of

SHARES: Final = (0.0, 0.25, 0.5, 1.0)
_FILE: Final = "degraded_{kind}_{share:g}.json"


@dataclass(frozen=True, slots=True)
class Curve:
    """One run under one kind of degradation.

    Attributes:
        sharing: sharing method of the run.
        kind: see ``data.degraded.KINDS``.
        ap: AP by share of the degradation.
    """

    sharing: str
    kind: str
    ap: Mapping[float, float]

    def as_json(self) -> dict[str, Any]:
        """Return a dictionary for JSON."""
        return {
            "sharing": self.sharing,
            "kind": self.kind,
            "ap_2m": {f"{share:g}": ap for share, ap in self.ap.items()},
        }


def measure_curves(
    setup: PredictionSetup, frames: Sequence[Frame], out: Path, *, kinds: Sequence[str], shares: Sequence[float],
    report: Callable[[int], None] = lambda _done: None,
) -> list[Curve]:  # fmt: skip
    """Predict frames under every kind and share, score them, and return the curves.

    Args:
        setup: setup of the run.
        frames: frames of one split.
        out: the run's folder; existing results are reused.
        kinds: keys of ``data.degraded.KINDS``.
        shares: from 0, the truth, to 1, the dataset's full degradation.
        report: receives the number of finished predictions of the split.

    Raises:
        BaselineError: the dataset has no degradations.
    """
    data = setup.config.data
    found, curves, done = dict[str, float](), list[Curve](), 0
    for kind in kinds:
        ap = {}
        for share in shares:
            degradation = Degradation(**{kind: share})
            path = out / (_FILE.format(kind=kind, share=share) if share else _FILE.format(kind="nothing", share=0.0))
            if not is_newer(path, out / CHECKPOINT):
                sights = DegradedSights(frames, degradation)
                predicted = predict(setup.detector, setup.config, frames, device=device_of(setup.config), sights=sights)
                write_detections(path, predicted, setup.config)
            if path.name not in found:
                found[path.name] = ap_at_2m(path, truth=data.folder, version=data.version)
            ap[share] = found[path.name]
            done += 1
            report(done)
        curves.append(Curve(setup.config.sharing.kind, kind, ap))
    return curves


def known_kinds(kinds: Sequence[str] | None) -> list[str]:
    """Return the requested kinds, or all.

    Raises:
        BaselineError: the kind does not exist.
    """
    for kind in kinds or ():
        if kind not in KINDS:
            raise BaselineError(f"--kind {kind}: unknown degradation (kinds: {', '.join(KINDS)})")
    return list(kinds or KINDS)


def write_curves(out: Path, curves: Sequence[Curve]) -> str:
    """Write ``robustness.json``, ``.md`` and ``.png`` to a folder; returns the table in Markdown."""
    write_json(out / "robustness.json", {"curves": [curve.as_json() for curve in curves]})
    table = markdown_of_curves(curves)
    (out / "robustness.md").write_text(table, "utf-8")
    draw_curves(curves, out / "robustness.png")
    return table


def markdown_of_curves(curves: Sequence[Curve]) -> str:
    """Return a Markdown table with a row for each run and kind and a column for each share."""
    shares = list(curves[0].ap)
    heading = ["degraded", "sharing", *(f"{share:.0%}" for share in shares)]
    rows = [[KINDS[c.kind], c.sharing, *(f"{c.ap[share]:.3f}" for share in shares)] for c in curves]
    return table_in_markdown(heading, rows) + "\n"


def draw_curves(curves: Sequence[Curve], to: Path) -> Path:
    """Draw the curves, one diagram for each kind, and write the image; returns its path.

    Raises:
        BaselineError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise BaselineError("curves need matplotlib, which is not installed; install version 3.10 or newer") from error
    kinds = list(dict.fromkeys(curve.kind for curve in curves))
    figure = Figure(figsize=(3.2 * len(kinds), 3.4), layout="constrained")
    axes = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
    for diagram, kind in zip(axes, kinds, strict=True):
        for curve in (c for c in curves if c.kind == kind):
            shares = list(curve.ap)
            diagram.plot(
                [100 * s for s in shares], [curve.ap[s] for s in shares], marker="o", markersize=4, label=curve.sharing
            )
        diagram.set_title(KINDS[kind], fontsize=10)
        diagram.set_xlabel("% of the dataset's degradation", fontsize=9)
        diagram.grid(visible=True, alpha=0.3)
        diagram.set_ylim(0.0, 1.0)
    axes[0].set_ylabel("AP at 2 m", fontsize=9)
    axes[-1].legend(fontsize=8)
    figure.savefig(to, dpi=110)
    return to
