from pathlib import Path

import pytest
import torch
from train_trials.toy import Toy, write_toy
from uavsim_baselines.config import Config, parse_config

torch.set_num_threads(1)  # tensors here are tiny: a second thread only waits


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_toy(tmp_path_factory.mktemp("toy"), Toy(scenes=2, samples=2, drones=2, size_px=(32, 18)))


@pytest.fixture
def config(toy: Path) -> Config:
    return small(toy)


def small(folder: Path, **sharing: object) -> Config:
    return parse_config(
        {
            "data": {"folder": str(folder), "classes": {"car": ["vehicle.car"]}},
            "grid": {"cells": 8, "cell_m": 4.0, "heights_m": [0.0, 1.6]},
            "model": {"image_channels": [4, 4], "bev_channels": 4, "bev_blocks": 1},
            "sharing": {"kind": "none", "key_channels": 4, "query_channels": 4} | sharing,
            "training": {
                "steps": 4,
                "batch": 2,
                "warmup_steps": 1,
                "device": "cpu",
                "threads": 1,
                "checkpoint_every": 2,
            },
        },
        source="test",
    )
