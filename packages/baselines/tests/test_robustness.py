import json
from pathlib import Path

import pytest
from train_trials.toy import Toy, write_toy
from uavsim_baselines import robustness
from uavsim_baselines.data.frames import read_frames
from uavsim_baselines.errors import BaselineError
from uavsim_baselines.runs import prediction_setup
from uavsim_baselines.training.train import train

from tests.conftest import small


def test_curves_of_a_run(tmp_path: Path) -> None:
    config = small(write_toy(tmp_path / "toy", Toy(scenes=2, size_px=(32, 18), agents=True)), kind="v2vnet")
    train(config, tmp_path / "run")
    setup, frames = prediction_setup(tmp_path / "run"), read_frames(config.data, "uav_val")
    progress: list[int] = []
    curves = robustness.measure_curves(
        setup, frames, tmp_path / "run", kinds=["pose", "messages"], shares=(0.0, 1.0), report=progress.append
    )
    assert progress == [1, 2, 3, 4]
    assert [(curve.kind, list(curve.ap)) for curve in curves] == [("pose", [0.0, 1.0]), ("messages", [0.0, 1.0])]
    assert curves[0].ap[0.0] == curves[1].ap[0.0]  # the truth is measured once
    assert len(list((tmp_path / "run").glob("degraded_*.json"))) == 3
    table = robustness.write_curves(tmp_path / "out", curves).splitlines()
    assert table[0] == "| degraded | sharing | 0% | 100% |"
    assert table[2].startswith("| poses of the others | v2vnet |")
    assert len(json.loads((tmp_path / "out/robustness.json").read_text())["curves"]) == 2
    assert (tmp_path / "out/robustness.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_kind_is_one_line() -> None:
    assert robustness.known_kinds(None) == ["pose", "latency", "messages", "cameras"]
    with pytest.raises(BaselineError, match=r"--kind fog: .*kinds: pose, latency, messages, cameras"):
        robustness.known_kinds(["fog"])
