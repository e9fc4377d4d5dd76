"""Datasets that tests of several files look at, and none changes: each is flown once, by whichever worker needs it first."""

import fcntl
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.command import uavsim

_ALL_SENSORS = """\
width_px: 320
height_px: 180
sensors: [rgb, instance, depth, semantic{more}]
cameras:
  FRONT: {{pitch_deg: -45}}
  BOTTOM: {{pitch_deg: -90}}
lidar: {{mount_m: [0.5, 0.2, -0.1], pitch_deg: -10, yaw_deg: 30, channels: 32, points_per_second: 160000, upper_fov_deg: -20}}
mounted:
  NOSE: {{lidar: {{mount_m: [0.6, 0, 0], channels: 8, points_per_second: 40000, upper_fov_deg: -5, lower_fov_deg: -60}}}}
{radar}"""
_LENSES = """\
exposure: {mode: manual}
width_px: 480
height_px: 270
sensors: [rgb, instance, depth, semantic]
cameras:
  BROWN:
    pitch_deg: -60
    lens: {model: brown_conrady, coefficients: [-0.28, 0.07, 0.002, -0.001, 0.0], focal_px: [240, 240], fineness: 3}
  FISHEYE:
    pitch_deg: -60
    lens: {model: equidistant, coefficients: [-0.01, 0.002, -0.001, 0.0002], focal_px: [240, 240], fineness: 3}
  PINHOLE: {pitch_deg: -60, fov_deg: 90}
  FINE: {pitch_deg: -60, fov_deg: 90, width_px: 1440, height_px: 810}
"""
_SHUTTERS = """\
exposure: {mode: manual}
width_px: 320
height_px: 180
sensors: [rgb, instance, depth]
cameras:
  ROLLING: {pitch_deg: -60, shutter: {readout_s: 0.3}}
  BLURRED: {pitch_deg: -59, shutter: {exposure_s: 0.04}, vignetting: [-0.3, -0.2, 0.0]}
  BENT:
    pitch_deg: -50
    shutter: {readout_s: 0.3, exposure_s: 0.02}
    lens: {model: equidistant, coefficients: [-0.01, 0.002, -0.001, 0.0002]}
  PLAIN: {pitch_deg: -58}
"""
_TWO_CAMERAS = """\
width_px: 320
height_px: 180
sensors: [rgb, instance]
cameras:
  FRONT: {pitch_deg: -45}
  BOTTOM: {pitch_deg: -90}
"""
_SMOKE = Path(__file__).parents[2] / "flight_plans/datasets/smoke.yaml"
_SCENE = ("--town", "Town10HD", "--scenes", "0", "--samples", "2", "--seed", "7")


class Flights:
    """What is flown lies in a folder that the workers of a run share; a lock keeps two from flying the same."""

    def __init__(self, root: Path) -> None:
        self._root = root
        root.mkdir(exist_ok=True)

    def all_sensors(self, topology: str) -> Path:
        """Return the dataset of every sensor that this backend can give."""
        radar = "  TAIL: {radar: {pitch_deg: -45, range_m: 150, points_per_second: 40000, vertical_fov_deg: 60}}\n"
        rig = _ALL_SENSORS.format(more="", radar="")
        if topology == "carla":  # AirSim's settings know no manual exposure
            rig = "exposure: {mode: manual}\n" + _ALL_SENSORS.format(more=", optical_flow, events", radar=radar)
        files = {"rig.yaml": rig, "own.yaml": f"{_SMOKE.read_text()}flight_sensors: {{imu: {{}}, gnss: {{}}}}\n"}
        return self._flown(f"all-sensors-{topology}", *_SCENE, "--topology", topology, files=files)

    def lenses(self) -> Path:
        """Return a dataset of lenses beside pinholes of the same mount, one of them with three times as fine an image."""
        return self._flown("lenses", *_SCENE, files={"rig.yaml": _LENSES, "own.yaml": _SMOKE.read_text()})

    def shutters(self) -> Path:
        """Return a dataset of cameras with shutters and one without, low above moving cars, in steps of 0.02 s."""
        own = _SMOKE.read_text().replace("formation: cross", "formation: single\naltitude_m: 25\nstep_s: 0.02")
        return self._flown("shutters", *_SCENE, files={"rig.yaml": _SHUTTERS, "own.yaml": own})

    def clocks(self) -> Path:
        """Return a dataset of drones, a car and a pole with clocks of their own, low above moving cars, in steps of 0.01 s."""
        clocks = "{rate_hz: 5, phase_s: [0, 0.2], jitter_s: 0.004, drift_ppm: 80, offset_s: 0.05, "
        own = _SMOKE.read_text().replace("formation: cross", "formation: cross\naltitude_m: 30\nstep_s: 0.01")
        own += f"clocks: {clocks}ground: true, messages: {{latency_s: [0.02, 0.1]}}}}\n"
        own += "vehicles: {count: 1, rig: rig.yaml}\nroadside: {count: 1, rig: rig.yaml}\n"
        return self._flown("clocks", *_SCENE, files={"rig.yaml": _TWO_CAMERAS, "own.yaml": own})

    def _flown(self, name: str, *words: str, files: Mapping[str, str]) -> Path:
        folder = self._root / name
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "flown").exists():
                for file, text in files.items():
                    (folder / file).write_text(text)
                done = uavsim(
                    "generate",
                    "--dataset",
                    folder / "own.yaml",
                    *words,
                    "--rig",
                    folder / "rig.yaml",
                    "--no-settle",
                    "--out",
                    folder / "out",
                    timeout=280,
                )
                assert (folder / "out/v1.0-mini").is_dir(), done.stdout + done.stderr
                (folder / "flown").touch()
        return folder / "out"
