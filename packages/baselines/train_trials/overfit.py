"""Overfit four samples, and train a control: what a detector that works can do, and what none may.

    PYTHONPATH=packages/baselines .venv-train/bin/python -m train_trials.overfit [FOLDER] [--sharing early ...] [--steps 200]

Makes datasets of cuboids on a plane. Each way to share is trained on four samples, predicts them, and is scored with
``uavsim evaluate``'s functions: AP at 2 m must be above 0.9. Then a model learns 24 other samples, and the control learns the
same images with boxes of other scenes. On held-out scenes the model's AP at 2 m must be above 0.5 and the control's below 0.2.
Ends with 0 only if all of it holds.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from uavsim_baselines.config import Config, parse_config
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.runs import predict_run, prediction_setup
from uavsim_baselines.scores import score_run
from uavsim_baselines.tables import table_of
from uavsim_baselines.training.train import train

from train_trials.toy import Toy, write_toy

LEAST_AP: Final = 0.9
LEAST_LEARNED_AP: Final = 0.5
MOST_CONTROL_AP: Final = 0.2
FOUR: Final = Toy(scenes=3)
MANY: Final = Toy(scenes=16, held_out=4, seed=1)


def config_of(folder: Path, *, sharing: str, steps: int, shuffled: bool = False) -> Config:
    """Return a small model: some tens of thousands of weights, a grid of 32 m."""
    return parse_config(
        {
            "name": f"overfit-{sharing}",
            "data": {"folder": str(folder), "classes": {"car": ["vehicle.car"]}},
            "grid": {"cells": 32, "cell_m": 1.0, "heights_m": [0.0, 1.6]},
            "model": {"image_channels": [8, 16], "bev_channels": 16, "bev_blocks": 1},
            "sharing": {"kind": sharing},
            "training": {
                "steps": steps,
                "batch": 4,
                "learning_rate": 0.01,
                "weight_decay": 0.0,
                "warmup_steps": 10,
                "ego": "first",
                "device": "cpu",
                "threads": 1,
                "checkpoint_every": steps,
                "shuffled_labels": shuffled,
            },
        },
        source="overfit",
    )


def scored(folder: Path, out: Path, *, sharing: str, steps: int, split: str, shuffled: bool = False) -> float:
    """Train, predict and score one model; returns its AP at 2 m."""
    began = time.monotonic()
    config = config_of(folder, sharing=sharing, steps=steps, shuffled=shuffled)
    losses: list[float] = []
    train(config, out, report=lambda _step, loss: losses.append(loss))
    setup = prediction_setup(out)
    predict_run(setup, read_frames(setup.config.data, split), out)
    found: dict[str, Any] = score_run(out, truth=folder)
    ap = float(found["scores"]["nuscenes-detection"]["label_aps"]["car"]["2.0"])
    what = f"{sharing}{' (shuffled labels)' if shuffled else ''}"
    seconds = time.monotonic() - began
    print(
        f"{what}: loss {losses[0]:.2f} to {losses[-1]:.3f}, AP at 2 m on {split} {ap:.3f}, {seconds:.0f} s", flush=True
    )
    return ap


def main() -> int:
    """Run the trial; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", help="default: a temporary one")
    parser.add_argument("--sharing", nargs="+", default=["early", "where2comm"])
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        root = options.folder or Path(made)
        four, many = write_toy(root / "four", FOUR), write_toy(root / "many", MANY)
        steps, good = options.steps, True
        for sharing in options.sharing:
            good &= scored(four, root / sharing, sharing=sharing, steps=steps, split="uav_train") > LEAST_AP
        print(table_of([root / sharing for sharing in options.sharing]))
        good &= scored(many, root / "learned", sharing="early", steps=steps, split="uav_val") > LEAST_LEARNED_AP
        control = scored(many, root / "control", sharing="early", steps=steps, split="uav_val", shuffled=True)
        good &= control < MOST_CONTROL_AP
    print("good" if good else "not good")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
