"""Fixtures for runs with real slots, client processes, ledger and tables, and synthetic scenes."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] = "CRITICAL"
os.environ["PREFECT_LOGGING_TO_API_ENABLED"] = "false"  # else its thread complains on stderr when the server is gone

from tests import rpc_ports
from tools.common.factories import make_plan
from uavsim.config.deadlines import Deadlines
from uavsim.config.run import RunConfig, SimulatorConfig
from uavsim.run import context
from uavsim.run.job import Job, PackedPlan, SceneRef
from uavsim.run.on_top import NOTHING, OnTop
from uavsim.run.request import Request
from uavsim.simulate.versions import CLIENT_VERSION
from uavsim.store.identity import fingerprint
from uavsim.supervise.simulator_slot import SimulatorSlot

FAKE_CLIENT_WORKER = Path(__file__).with_name("fake_client_worker.py")
SAMPLES = 2


def paper_job(request: Request, on_top: OnTop = NOTHING) -> Job:
    del on_top
    scenes = tuple(SceneRef(f"scene_{k:02d}", k, "Town10HD") for k in range(int(request.scenes or "3")))

    def packed(scene: SceneRef) -> PackedPlan:
        size: dict[str, Any] = {"samples": SAMPLES, "sweeps": 0, "drones": 1, "size_px": (64, 36)}
        return PackedPlan.of(make_plan(scene=scene.name, scene_index=scene.index, **size))

    mark = fingerprint({"samples": SAMPLES}, seed=request.seed or 0)
    identity = {"dataset": "tiny", "seed": request.seed or 0, "fingerprint": mark}
    return Job(
        "tiny",
        0,
        "carla",
        identity,
        scenes,
        samples=SAMPLES,
        images_per_scene=5 * SAMPLES,
        plans={scene.name: packed(scene) for scene in scenes},
    )


@pytest.fixture
def listening() -> Iterator[int]:
    """Yield a port that answers CARLA's version query, the only query before a client starts."""
    with rpc_ports.listening(rpc_ports.rpc(version=[[1, CLIENT_VERSION]])) as where:
        yield where.port


@pytest.fixture
def paper(tmp_path: Path, listening: int, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Request]:
    """Return a function that makes requests with synthetic scenes; ``faults`` maps scenes to faults of their attempts."""
    faults_file = tmp_path / "faults.json"

    def command(**_: object) -> list[str]:
        return [sys.executable, str(FAKE_CLIENT_WORKER), str(faults_file)]

    monkeypatch.setattr(context, "resolve", paper_job)
    monkeypatch.setattr(context, "SimulatorSlot", partial(SimulatorSlot, command=command))

    def make(*, faults=None, simulators: int = 1, out: Path | None = None, patience_s: float = 60.0, **more) -> Request:
        faults_file.write_text(json.dumps(faults or {}))
        attached = SimulatorConfig(kind="attach", ports={"carla": listening})
        run = RunConfig(
            simulators=tuple(attached.model_copy(update={"name": f"sim{k}"}) for k in range(simulators)),
            retry_delay_s=0.05,
            deadlines=Deadlines(**dict.fromkeys(("call_s", "load_s", "images_s", "airsim_s"), patience_s / 2)),
        )
        return Request(dataset="tiny", towns=("Town10HD",), out=str(out or tmp_path / "out"), run=run, **more)

    return make
