"""Read-only datasets shared by test modules; the first test worker that needs one flies it."""

import fcntl
from collections.abc import Mapping
from pathlib import Path

from headless_simulator.testing import RunningSimulator

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
RIG = """\
width_px: 320
height_px: 180
fov_deg: 90
sensors: [rgb, instance]
cameras:
  FRONT: {pitch_deg: -45}
  LEFT: {pitch_deg: -45, yaw_deg: -90}
  BOTTOM: {pitch_deg: -90}
"""
"""A rig of three small cameras."""
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
    """Datasets in a folder that all test workers share; a lock keeps two workers from flying the same one."""

    def __init__(self, root: Path, simulator: RunningSimulator) -> None:
        self._root, self._where = root, ("--simulator", simulator.address)
        root.mkdir(exist_ok=True)

    def small(self) -> Path:
        """Return a dataset of two samples with three small cameras."""
        files = {"rig.yaml": RIG, "own.yaml": _SMOKE.read_text()}
        return self._flown("small", *_SCENE[:-2], *self._where, files=files, is_valid=True)

    def all_sensors(self, topology: str) -> Path:
        """Return a dataset of every sensor that this backend supports."""
        radar = "  TAIL: {radar: {pitch_deg: -45, range_m: 150, points_per_second: 40000, vertical_fov_deg: 60}}\n"
        rig = _ALL_SENSORS.format(more="", radar="")
        if topology == "carla":  # AirSim's settings know no manual exposure
            rig = "exposure: {mode: manual}\n" + _ALL_SENSORS.format(more=", optical_flow, events", radar=radar)
        files = {"rig.yaml": rig, "own.yaml": f"{_SMOKE.read_text()}flight_sensors: {{imu: {{}}, gnss: {{}}}}\n"}
        where = () if topology == "merged" else self._where  # merged needs settings.json with its drones
        return self._flown(f"all-sensors-{topology}", *_SCENE, "--topology", topology, *where, files=files)

    def lenses(self) -> Path:
        """Return a dataset of lenses beside pinholes of the same mount, one of them at three times the resolution."""
        return self._flown("lenses", *_SCENE, *self._where, files={"rig.yaml": _LENSES, "own.yaml": _SMOKE.read_text()})

    def shutters(self) -> Path:
        """Return a dataset of three cameras with shutters and one without, low above moving cars, in steps of 0.02 s."""
        dataset_yaml = _SMOKE.read_text().replace("formation: cross", "formation: single\naltitude_m: 25\nstep_s: 0.02")
        return self._flown("shutters", *_SCENE, *self._where, files={"rig.yaml": _SHUTTERS, "own.yaml": dataset_yaml})

    def clocks(self) -> Path:
        """Return a dataset of asynchronous drones, car and pole, low above moving cars, in steps of 0.01 s."""
        clocks = "{rate_hz: 5, phase_s: [0, 0.2], jitter_s: 0.004, drift_ppm: 80, offset_s: 0.05, "
        dataset_yaml = _SMOKE.read_text().replace("formation: cross", "formation: cross\naltitude_m: 30\nstep_s: 0.01")
        dataset_yaml += f"clocks: {clocks}ground: true, messages: {{latency_s: [0.02, 0.1]}}}}\n"
        dataset_yaml += "vehicles: {count: 1, rig: rig.yaml}\nroadside: {count: 1, rig: rig.yaml}\n"
        return self._flown("clocks", *_SCENE, *self._where, files={"rig.yaml": _TWO_CAMERAS, "own.yaml": dataset_yaml})

    def _flown(self, name: str, *words: str, files: Mapping[str, str], is_valid: bool = False) -> Path:
        folder = self._root / name
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "flown").exists():
                for file, text in files.items():
                    (folder / file).write_text(text)
                made_of = ("--dataset", folder / "own.yaml", "--rig", folder / "rig.yaml", "--no-settle")
                done = uavsim("generate", *made_of, *words, "--out", folder / "out", timeout=280)
                assert (folder / "out/v1.0-mini").is_dir(), done.stdout + done.stderr
                assert done.returncode == 0 or not is_valid, done.stdout + done.stderr
                (folder / "flown").touch()
        return folder / "out"
