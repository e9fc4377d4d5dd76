"""Share of a flight in which the simulator's graphics card is at work; ``--render-latency`` stands for a card.

The mini split is flown as it is: 50 images a capture, 40 ticks between two, 191 cars; as JPEG; as video of 16 frames a second,
a capture at each tick; and airground-mini: 42 images of drones, cars and poles, and four lidars, which no card draws.
``python -m tools.bench.busy FILE MS ...`` is a headless simulator that writes begin and end of its card's work on each image
(``time.monotonic``) as a line of FILE.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from headless_simulator.cli import main
from headless_simulator.rendering import GraphicsCard

from tools.bench import Row, simulator
from tools.bench.cost import watched
from tools.common import ROOT

__all__ = ["Busy", "busy", "noting", "rows", "write_clip", "write_mini"]

LATENCY_MS: Final = 20
FORMATS: Final = ("png", "jpeg")
CLIP: Final = "clip"
MIXED: Final = "airground-mini"
CAPTURES: Final = 10
IMAGES: Final = {"png": 50, "jpeg": 50, CLIP: 50, MIXED: 42}  # of a capture: as many RGB as masks


@dataclass(frozen=True, slots=True)
class Busy:
    """Shares of the time in which the card works.

    Attributes:
        whole: from the begin of the first capture's first image to the end of the last capture's last one.
        steady: from the first capture's begin to the last one's begin, so that as many gaps are counted as captures.
        gap_s: between two captures, median.
    """

    whole: float
    steady: float
    gap_s: float


def busy(pauses: Sequence[tuple[float, float]], *, captures: int, images: int, latency_s: float) -> Busy:
    """Return how busy the card was; what it did before the last ``captures`` captures is warming up, and left out.

    Args:
        pauses: begin and end of its work on each image.
        captures: of the scene.
        images: of a capture.
        latency_s: that an image takes it; a pause that is longer for want of a processor counts no more.

    Raises:
        RuntimeError: there are fewer images than that.
    """
    wanted = captures * images
    if len(pauses) < wanted:
        raise RuntimeError(f"{len(pauses)} images were waited for, not {wanted}: does --render-latency sleep no more?")
    taken = sorted(pauses)[-wanted:]
    begins = [begin for begin, _ in taken[::images]]
    ends = [max(end for _, end in taken[k : k + images]) for k in range(0, wanted, images)]
    gaps = sorted(begin - end for begin, end in zip(begins[1:], ends, strict=False))
    return Busy(
        whole=wanted * latency_s / (ends[-1] - begins[0]),
        steady=(wanted - images) * latency_s / (begins[-1] - begins[0]),
        gap_s=gaps[len(gaps) // 2],
    )


def write_mini(work: Path, kind: str) -> str:
    """Write the mini split with images of a format where a run with this working folder finds it; returns its name."""
    return _write(work, f"bench-{kind}", f"{_mini()}images: {{format: {kind}}}\n")


def write_clip(work: Path, *, frames: int, keyframe_s: float) -> str:
    """Write the mini split as video of 16 frames a second, likewise."""
    lines = [line for line in _mini().splitlines() if not line.startswith(("samples:", "keyframe_s:"))]
    own = [f"captures: {{clip: {{fps: 16, frames: {frames}}}}}", f"keyframe_s: {keyframe_s:g}"]
    return _write(work, "bench-clip", "\n".join([*lines, *own, ""]))


def _mini() -> str:
    return (ROOT / "flight_plans/datasets/uav3d-mini.yaml").read_text("utf-8")


def _write(work: Path, name: str, text: str) -> str:
    path = work / "flight_plans" / "datasets" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return name


def rows() -> Iterator[Row]:
    """Fly one scene of each kind."""
    for kind in (*FORMATS, CLIP, MIXED):
        with tempfile.TemporaryDirectory() as folder:
            reported = _flown(Path(folder), kind)
        what = kind if kind == MIXED else f"the mini split, {kind}"
        how = (
            f"uavsim generate, 1 scene of {what}, {CAPTURES} captures of {IMAGES[kind]} images, --render flat, "
            f"--render-latency {LATENCY_MS}, warm-up left out: images x latency"
        )
        yield Row(f"busy_{kind}", reported.whole, "share", f"{how} / first image's begin to last image's end")
        yield Row(f"busy_{kind}_steady", reported.steady, "share", f"{how} / first to last capture's begin")
        yield Row(f"busy_{kind}_gap_ms", 1e3 * reported.gap_s, "ms", f"{how}; the card idle between captures, median")


def _flown(work: Path, kind: str) -> Busy:
    notes, samples = work / "pauses", CAPTURES
    if kind == CLIP:  # every third frame is a keyframe
        dataset, samples = write_clip(work, frames=CAPTURES, keyframe_s=0.1875), (CAPTURES - 1) // 3 + 1
    else:
        dataset = kind if kind == MIXED else write_mini(work, kind)
    program = ("tools.bench.busy", str(notes), str(LATENCY_MS))
    with simulator("--town", "Town10HD", "--render", "flat", "--no-airsim", program=program) as running:
        words = ("generate", "--dataset", dataset, "--scenes", "0", "--samples", str(samples), "--no-check")
        address = f"127.0.0.1:{running.port}"
        watched((*words, "--simulator", address, "--out", f"{work}/out"), work / "log", cwd=work)
    lines = [line.split() for line in notes.read_text().splitlines()]
    pauses = [(float(begin), float(end)) for begin, end in lines]
    return busy(pauses, captures=CAPTURES, images=IMAGES[kind], latency_s=LATENCY_MS / 1000)


def noting(file: str) -> None:
    """Let the work of every card of the headless simulator be noted in a file."""
    notes = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    make = GraphicsCard.make

    def noted(self: GraphicsCard) -> tuple[float, float]:
        began_s, ended_s = make(self)
        os.write(notes, f"{began_s:.6f} {ended_s:.6f}\n".encode())
        return began_s, ended_s

    setattr(GraphicsCard, "make", noted)  # noqa: B010 (mypy knows that it is a method)


if __name__ == "__main__":
    noting(sys.argv[1])
    sys.argv[1:3] = ["--render-latency", sys.argv[2]]
    main()
