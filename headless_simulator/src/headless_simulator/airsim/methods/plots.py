"""Calls that draw hints, tune lenses or change materials.

Accepted where nothing depends on them, refused where a program would go on believing that something happened.
"""

# ruff: noqa: PLR0917, ARG001  (the wire sends anything, in AirSim's own names and order)

from __future__ import annotations

from typing import Any, Final

from headless_simulator.airsim.methods.table import Table, entry
from headless_simulator.airsim.simulation import Simulation

CALLS: Final[Table] = {}
MAX_LENS_VALUES: Final = 10_000

_DRAWN: Final = {  # name: how many arguments; markers are not drawn, as images taken by the API seldom show them
    "simFlushPersistentMarkers": 0,
    "simPlotPoints": 5,
    "simPlotLineStrip": 5,
    "simPlotLineList": 5,
    "simPlotArrows": 7,
    "simPlotStrings": 5,
    "simPlotTransforms": 5,
    "simPlotTransformsWithNames": 7,
    "simSetTraceLine": 3,
}
_LENS_GET: Final = {  # name: the answer until somebody sets it
    "simGetPresetLensSettings": ["30mm Prime f/1.4"],
    "simGetLensSettings": "30mm Prime f/1.4",
    "simGetPresetFilmbackSettings": ["16:9 DSLR"],
    "simGetFilmbackSettings": "Sensor Width: 36.0, Sensor Height: 20.25",
    "simGetFocalLength": 35.0,
    "simGetFocusDistance": 100_000.0,
    "simGetFocusAperture": 2.8,
    "simGetCurrentFieldOfView": "90.0",
}
_LENS_SET: Final = {
    "simSetPresetLensSettings": "simGetLensSettings",
    "simSetPresetFilmbackSettings": "simGetFilmbackSettings",
    "simSetFocalLength": "simGetFocalLength",
    "simSetFocusDistance": "simGetFocusDistance",
    "simSetFocusAperture": "simGetFocusAperture",
    "simEnableManualFocus": "",
    "simEnableFocusPlane": "",
}
_REFUSED: Final = {
    "simSetLightIntensity": "lamps have no names here",
    "simSwapTextures": "surfaces have one colour here",
    "simSetObjectMaterial": "surfaces have one colour here",
    "simSetObjectMaterialFromTexture": "surfaces have one colour here",
    "simCreateVoxelGrid": "voxel grids are not made here",
    "simGetMeshPositionVertexBuffers": "meshes are not sent here",
    "setCarControls": "SimMode Car is not served here",
    "getCarState": "SimMode Car is not served here",
    "getCarControls": "SimMode Car is not served here",
}


class NotServed(NotImplementedError):
    """A method of AirSim's that this server knows and does not do."""


def _enter_drawn(name: str, count: int) -> None:
    if count == 0:

        @entry(CALLS, name)
        def clear(sim: Simulation) -> None:
            """Nothing is drawn, nothing to clear."""
    else:

        @entry(CALLS, name)
        def draw(sim: Simulation, first: Any, *rest: Any) -> None:
            """Accept and draw nothing."""


def _enter_lens_get(name: str, value: Any) -> None:
    @entry(CALLS, name)
    def get(sim: Simulation, camera: Any, vehicle: Any = "", external: Any = False) -> Any:
        with sim.fleet.lock:
            sim.camera(camera, vehicle, external=bool(external))
        return sim.lens.get((name, str(camera), str(vehicle)), value)


def _enter_lens_set(name: str, target: str) -> None:
    @entry(CALLS, name)
    def put(sim: Simulation, value: Any, camera: Any, vehicle: Any = "", external: Any = False) -> None:
        with sim.fleet.lock:
            sim.camera(camera, vehicle, external=bool(external))
        if target and len(sim.lens) < MAX_LENS_VALUES:
            sim.lens[target, str(camera), str(vehicle)] = value


def _enter_refused(name: str, why: str) -> None:
    @entry(CALLS, name)
    def refuse(sim: Simulation, *arguments: Any) -> None:
        raise NotServed(f"{name} is not served: {why}")


for _name, _count in _DRAWN.items():
    _enter_drawn(_name, _count)
for _name, _value in _LENS_GET.items():
    _enter_lens_get(_name, _value)
for _name, _target in _LENS_SET.items():
    _enter_lens_set(_name, _target)
for _name, _why in _REFUSED.items():
    _enter_refused(_name, _why)


@entry(CALLS)
def simSetFilmbackSettings(
    sim: Simulation, width: Any, height: Any, camera: Any, vehicle: Any = "", external: Any = False,
) -> float:  # fmt: skip
    """Keep the sensor's size; gives its aspect ratio."""
    with sim.fleet.lock:
        sim.camera(camera, vehicle, external=bool(external))
    if not (isinstance(width, int | float) and isinstance(height, int | float) and height > 0):
        raise ValueError("sensor width and height must be positive numbers")
    return float(width) / float(height)
