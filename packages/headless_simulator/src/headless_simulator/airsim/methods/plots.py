"""Methods that draw debug markers, tune lenses or change materials.

Calls without consequences are accepted; calls with an expected effect are refused.
"""

# ruff: noqa: PLR0917, ARG001  (AirSim's own names and order)

from collections.abc import Iterator
from typing import Any, Final

from headless_simulator.airsim.method import AirSimMethod, Handler, call
from headless_simulator.airsim.simulation import Simulation
from headless_simulator.airsim.values import CameraName
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Anything, Flag, Number, Text

MAX_LENS_VALUES: Final = 10_000

# markers are not drawn, as images taken by the API seldom show them
_CLEARED: Final = ("simFlushPersistentMarkers",)
_DRAWN: Final = (
    "simPlotPoints", "simPlotLineStrip", "simPlotLineList", "simPlotArrows", "simPlotStrings", "simPlotTransforms",
    "simPlotTransformsWithNames", "simSetTraceLine",
)  # fmt: skip
_LENS_GET: Final = {  # name: the answer until a client sets another
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


class NotServed(CallRefused):
    """A known AirSim method that this server does not implement."""


def _draw(sim: Simulation, _first: Anything, *_rest: Anything) -> None:
    """Accept and draw nothing."""


def _clear(sim: Simulation) -> None:
    """Accept and clear nothing."""


def _lens_getter(name: str, value: Any) -> Handler:
    def get(sim: Simulation, camera_name: CameraName, vehicle_name: Text = "", external: Flag = False) -> Any:
        with sim.fleet.lock:
            sim.camera(camera_name, vehicle_name, external=external)
        return sim.lens.get((name, camera_name, vehicle_name), value)

    return get


def _lens_setter(target: str) -> Handler:
    def put(
        sim: Simulation, value: Anything, camera_name: CameraName, vehicle_name: Text = "", external: Flag = False
    ) -> None:
        with sim.fleet.lock:
            sim.camera(camera_name, vehicle_name, external=external)
        if target and len(sim.lens) < MAX_LENS_VALUES:
            sim.lens[target, camera_name, vehicle_name] = value

    return put


def _refusal(name: str, why: str) -> Handler:
    def refuse(sim: Simulation, *_arguments: Anything) -> None:
        raise NotServed(f"{name} is not served: {why}")

    return refuse


def simSetFilmbackSettings(
    sim: Simulation,
    sensor_width: Number,
    sensor_height: Number,
    camera_name: CameraName,
    vehicle_name: Text = "",
    external: Flag = False,
) -> float:
    """Store the sensor's size; returns its aspect ratio."""
    with sim.fleet.lock:
        sim.camera(camera_name, vehicle_name, external=external)
    if sensor_height <= 0:
        raise CallRefused("sensor width and height must be positive numbers")
    return sensor_width / sensor_height


def _methods() -> Iterator[AirSimMethod]:
    for name in _CLEARED:
        yield call(_clear, name=name)
    for name in _DRAWN:
        yield call(_draw, name=name)
    for name, value in _LENS_GET.items():
        yield call(_lens_getter(name, value), name=name)
    for name, target in _LENS_SET.items():
        yield call(_lens_setter(target), name=name)
    for name, why in _REFUSED.items():
        yield call(_refusal(name, why), name=name)
    yield call(simSetFilmbackSettings)


METHODS: Final[tuple[AirSimMethod, ...]] = tuple(_methods())
