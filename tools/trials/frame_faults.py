"""Inject faults into camera frames and check every accepted image.

    scripts/trial frame-faults [--faults 1000] [--topology carla|bridge|merged] [--seed 0] [--probability P]

The headless simulator drops, delays, duplicates, reorders, mislabels and misplaces frames at random. The production code flies
short scenes through the real clients; a scene ends as a recording or as an error. In ``carla`` and ``bridge`` images
encode camera and frame number, which are read back from the files. In ``merged`` some AirSim responses have pixels of
another tick or drone, some calls return late and some pauses do not stop the world; every file is compared with that of
an undisturbed flight. Prints one JSON line; ends with 0 only when no wrong image was accepted.
"""

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from headless_simulator.testing import running_simulator

from tools.common.plans import rig, scene_plan
from uavsim.capture.record import record_scene
from uavsim.capture.recording_reader import read_recording
from uavsim.config.deadlines import Deadlines
from uavsim.errors import UavsimError
from uavsim.images import codec
from uavsim.records.plan import ScenePlan, Topology
from uavsim.simulate.airsim.settings import airsim_settings
from uavsim.simulate.ports import Endpoint
from uavsim.simulate.session import open_session

FRAME_FAULTS = ("drop_frame", "delay_frame", "duplicate_frame", "reorder_frames", "wrong_frame_number", "stale_pose")
AIRSIM_FAULTS = (
    "drop_frame", "duplicate_frame", "reorder_frames", "stale_pose", "nan_pose",
    "stale_pixels", "other_vehicle", "late_answer", "pause_leak",
)  # fmt: skip
FIRST_CAPTURED = (
    258  # simGetImages before it measure the palette, once a session: one fault in 257 calls ends that at once
)
SCENES_A_ROUND = 40
LOG = "mock.log"
QUICK = Deadlines(images_s=1.0)  # the cost of each dropped frame


@contextlib.contextmanager
def simulator_of(
    plan: ScenePlan, folder: Path, *, faults: str = "", flat: bool = False, engine: str = "carla"
) -> Iterator[dict[str, Endpoint]]:
    """Run a headless simulator with faults for a plan, which logs to ``LOG`` in the folder; yields its endpoints."""
    settings = folder / "settings.json"
    settings.write_text(json.dumps(airsim_settings(plan)))
    (folder / "faults.yaml").write_text(faults)
    words = ["--town", plan.town.carla_map, "--airsim-settings", str(settings)]
    words += ["--faults", str(folder / "faults.yaml")] if faults else []
    words += ["--render", "flat"] if flat else []
    words += ["--merged-engine", engine] if plan.topology == "merged" else ["--separate-worlds"]
    with (folder / LOG).open("w") as log, running_simulator(*words, stderr=log) as running:
        ports = {"carla": running.carla_port, "airsim": running.airsim_port}
        yield {name: Endpoint("127.0.0.1", port) for name, port in ports.items()}


def fault_yaml(topology: Topology, *, seed: int, probability: float) -> str:
    """Return a fault plan with every kind of frame fault at the same probability."""
    kinds, server = (AIRSIM_FAULTS, "airsim") if topology == "merged" else (FRAME_FAULTS, "carla")
    lines = [f"seed: {seed}", "faults:"]
    for kind in kinds:
        extra = (
            f"call: simGetImages, nth: {FIRST_CAPTURED}-{10**6}" if server == "airsim" else "sensor: sensor.camera.*"
        )
        lines.append(f"  - {{fault: {kind}, server: {server}, {extra}, probability: {probability}}}")
    return "\n".join(lines) + "\n"


def image_code(pixels: np.ndarray) -> tuple[int, int]:
    """Read (camera, frame) from a flat image: 48 blocks of 8 x 8, first camera in 16 bits, then frame in 32."""
    across = pixels.shape[1] // 8
    bits = [int(pixels[(k // across) * 8 + 4, (k % across) * 8 + 4, 1] > 170) for k in range(48)]
    number = int("".join(map(str, bits)), 2)
    return number >> 32, number & 0xFFFFFFFF


def wrong_flat_images(folder: Path, cameras: dict[str, int]) -> tuple[int, int]:
    """Return numbers of wrong and of all images; each must encode its recorded frame and one camera per channel."""
    wrong = looked = 0
    for frame in read_recording(folder).frames:
        for shot in frame.readings:
            camera, number = image_code(codec.decode_rgb(folder / shot.files["rgb"]))
            wrong += number != frame.simulator_frame or cameras.setdefault(shot.channel, camera) != camera
            looked += 1
    return wrong, looked


def wrong_against(folder: Path, reference: Path) -> tuple[int, int]:
    """Return numbers of wrong and of all files; each must equal that of the undisturbed flight."""
    names = sorted(p.relative_to(reference) for p in reference.rglob("*.png"))
    wrong = [str(name) for name in names if (folder / name).read_bytes() != (reference / name).read_bytes()]
    if wrong:
        print(f"{folder.name}: not as undisturbed: {', '.join(wrong)}", file=sys.stderr, flush=True)
    return len(wrong), len(names)


def fired(log: str) -> Counter[str]:
    """Count the injected faults in the simulator's log."""
    lines = [line for line in log.splitlines() if line.startswith("headless-simulator: faults: ")]
    return Counter({kind: int(n) for line in lines for kind, n in re.findall(r"(\w+) x(\d+)", line)})


def fly_round(topology: Topology, *, seed: int, probability: float, work: Path) -> dict[str, object]:
    """Fly scenes in one simulator and one session, and check every accepted image."""
    flat = topology != "merged"
    plan = scene_plan(
        samples=3, vehicles=0 if flat else 12, warmup_ticks=2, topology=topology, cameras=rig(width=192, height=112)
    )
    plan = replace(plan, max_formation_error_m=50.0)
    reference = work / "reference"
    if not flat:
        fly_calm(plan, work, reference)
    yaml = fault_yaml(topology, seed=seed, probability=probability)
    outcome: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    cameras: dict[str, int] = {}
    with simulator_of(plan, work, faults=yaml, flat=flat) as endpoints:
        session = open_session(topology, endpoints, deadlines=QUICK)
        for number in range(SCENES_A_ROUND):
            folder = work / f"scene_{number}"
            try:
                record_scene(session, plan, folder, heartbeat=lambda _p, _t: None, sample_taken=lambda _s, _i: None)
            except UavsimError as error:
                outcome["refused"] += 1
                reasons[re.sub(r"CAMERA_\w+|[\d.]+", "#", str(error))[:90]] += 1
            else:
                bad, checked = wrong_flat_images(folder, cameras) if flat else wrong_against(folder, reference)
                outcome += Counter(accepted=1, wrong=bad, images=checked)
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(UavsimError):
            session.close()
    return {"faults": fired((work / LOG).read_text()), "outcome": outcome, "reasons": reasons}


def fly_calm(plan: ScenePlan, work: Path, reference: Path) -> None:
    """Record the scene once without a fault."""
    with simulator_of(plan, work) as endpoints:
        session = open_session(plan.topology, endpoints, deadlines=QUICK)
        record_scene(session, plan, reference, heartbeat=lambda _p, _t: None, sample_taken=lambda _s, _i: None)
        session.close()


def main() -> int:
    """Fly rounds until enough faults fired; each round is a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--topology", choices=["carla", "bridge", "merged"], default="carla")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--probability", type=float, help="fault probability in a frame; default 0.0008, merged 0.004")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--round", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    os.environ["HOME"] = os.environ.get("UAVSIM_FAULT_HOME") or tempfile.mkdtemp(prefix="uavsim-home-")
    os.environ["UAVSIM_FAULT_HOME"] = os.environ["HOME"]
    probability = options.probability or (0.004 if options.topology == "merged" else 0.0008)
    if options.round:
        answer = fly_round(options.topology, seed=options.seed, probability=probability, work=options.round)
        (options.round / "answer.json").write_text(json.dumps(answer))
        os._exit(0)  # libcarla's threads may abort a regular exit
    total: dict[str, Counter[str]] = {name: Counter() for name in ("faults", "outcome", "reasons")}
    end, rounds = time.monotonic() + 60 * options.minutes, 0
    while total["faults"].total() < options.faults and time.monotonic() < end:
        rounds += 1
        with tempfile.TemporaryDirectory(prefix="uavsim-faults-") as work:
            words = ("--topology", options.topology, "--seed", str(options.seed + rounds), "--round", work)
            command = [sys.executable, "-m", "tools.trials", "frame-faults", "--probability", str(probability), *words]
            subprocess.run(command, check=True)
            answer = json.loads((Path(work) / "answer.json").read_text())
        for name, counter in total.items():
            counter.update(answer[name])
        print(f"{total['faults'].total()} faults, {dict(total['outcome'])}", file=sys.stderr, flush=True)
    print(json.dumps({"topology": options.topology, **{k: dict(v.most_common(10)) for k, v in total.items()}}))
    outcome = total["outcome"]
    good = not outcome["wrong"] and outcome["accepted"] and total["faults"].total() >= options.faults
    return 0 if good else 1
