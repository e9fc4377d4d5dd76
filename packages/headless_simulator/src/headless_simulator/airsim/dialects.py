"""Differences of AirSim and Cosys-AirSim on the wire: arities, names, version numbers, the order of colours.

Source: ``RpcLibServerBase.cpp``, ``RenderRequest.cpp`` and ``types.py`` of Cosys-AirSim 3.5 (commit bb15e2c) beside those of
AirSim 1.8.1 (commit 1344870). A method with the same name and arity in both behaves alike here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from headless_simulator.airsim.method import Traits
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Anything, Signature, WrongCount, signature_of
from headless_simulator.rpc.methods import Bound, Method

Adapt = Callable[[Any], Any]
_COSYS_VERSION: Final = 4
_WITHOUT_EXTERNAL: Final = {  # name -> arguments that Cosys-AirSim takes: one less, since its external cameras are vehicles
    "simEnableFocusPlane": 3, "simEnableManualFocus": 3, "simGetCameraInfo": 2, "simGetCurrentFieldOfView": 2,
    "simGetDistortionParams": 2, "simGetFilmbackSettings": 2, "simGetFocalLength": 2, "simGetFocusAperture": 2,
    "simGetFocusDistance": 2, "simGetImages": 2, "simGetLensSettings": 2, "simGetPresetFilmbackSettings": 2,
    "simGetPresetLensSettings": 2, "simSetCameraFov": 3, "simSetCameraPose": 3, "simSetDistortionParam": 4,
    "simSetFilmbackSettings": 4, "simSetFocalLength": 3, "simSetFocusAperture": 3, "simSetFocusDistance": 3,
    "simSetPresetFilmbackSettings": 3, "simSetPresetLensSettings": 3,
}  # fmt: skip
_WITH_ANNOTATION: Final = {  # the last argument is an annotation layer's name where AirSim has ``external``
    "simAddDetectionFilterMeshName": 5, "simClearDetectionMeshNames": 4, "simGetDetections": 4, "simGetImage": 4,
    "simSetDetectionFilterRadius": 5,
}  # fmt: skip
_COSYS_ONLY: Final = (
    "getComputerVisionState", "getEchoData", "getGPULidarData", "getUWBData", "getUWBSensorData", "getWifiData",
    "getWifiSensorData", "setEchoData", "simSetDistanceSensorPose", "simSetEchoPose", "simSetGPULidarPose", "simSetLidarPose",
    "simEnableAnnotationObjectTextureByPath", "simGetAnnotationObjectColor", "simGetAnnotationObjectID",
    "simGetAnnotationObjectTexturePath", "simGetAnnotationObjectValue", "simGetInstanceSegmentationColorMap",
    "simGetPhysicsRawKinematics", "simListAnnotationObjects", "simListAnnotationPoses", "simListInstanceSegmentationObjects",
    "simListInstanceSegmentationPoses", "simListSceneObjectsTags", "simSetAnnotationObjectColor", "simSetAnnotationObjectID",
    "simSetAnnotationObjectTextureByPath", "simSetAnnotationObjectValue", "simSetExtForce", "simSetPhysicsRawKinematics",
    "simSetVehicleLightIntensity", "simSetVehicleLightVisibility", "simSetWorldLightIntensity", "simSetWorldLightVisibility",
)  # fmt: skip
_NOT_IN_COSYS: Final = ("simSetLightIntensity",)


@dataclass(frozen=True, slots=True)
class AirSimDialect:
    """Changes that a fork makes to the method table.

    Attributes:
        name: option value on the command line.
        exact: exact number of arguments per method, without ``external``.
        constants: constant answers by method.
        refused: known methods that are not served.
        unknown: methods that the fork lacks.
        adapt: changes a method's answer.
    """

    name: str
    exact: Mapping[str, int] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    refused: Sequence[str] = ()
    unknown: Sequence[str] = ()
    adapt: Mapping[str, Adapt] = field(default_factory=dict)

    def speak(self, table: dict[str, Bound[Traits]]) -> dict[str, Bound[Traits]]:
        """Return the table of methods in this dialect."""
        spoken = {name: self._spoken(bound) for name, bound in table.items() if name not in self.unknown}
        for name in self.refused:
            method: Method[str, Traits] = Method(name, _refuse, signature_of(_refuse), Traits(vehicle_at=None))
            spoken[name] = Bound(method, name)
        return spoken

    def _spoken(self, bound: Bound[Traits]) -> Bound[Traits]:
        name, handler, signature = bound.method.name, bound.method.handler, bound.method.signature
        if name in self.constants:
            handler = _constant(self.constants[name])
        if name in self.adapt:
            handler = _adapted(handler, self.adapt[name])
        if name in self.exact:
            parameters = tuple(parameter for parameter in signature.parameters if parameter.name != "external")
            signature = _Exact(parameters, signature.required, signature.rest, signature.groups, self.exact[name])
        return Bound(replace(bound.method, handler=handler, signature=signature), bound.context)


@dataclass(frozen=True, slots=True)
class _Exact(Signature):
    """A signature with a fixed arity, as in rpclib; it ignores names of annotation layers."""

    count: int = 0

    def read(self, arguments: Sequence[Any]) -> list[Any]:
        if len(arguments) != self.count:
            raise WrongCount(str(self.count), len(arguments))
        return Signature.read(self, arguments[: len(self.parameters)])


def _constant(value: Any) -> Callable[..., Any]:
    return lambda _context, *_arguments: value


def _adapted(handler: Callable[..., Any], adapt: Adapt) -> Callable[..., Any]:
    return lambda context, *arguments: adapt(handler(context, *arguments))


def _refuse(name: str, *_arguments: Anything) -> None:
    raise CallRefused(f"{name} is Cosys-AirSim's own and not served by the headless simulator")


def _red_first(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Swap red and blue of raw images (Cosys-AirSim's ``RenderRequest.cpp`` writes red first); add the layer's name."""
    return [answer | {"image_data_uint8": _turned(answer), "annotation_name": ""} for answer in answers]


def _turned(answer: dict[str, Any]) -> bytes:
    raw: bytes = answer["image_data_uint8"]
    if answer["pixels_as_float"] or answer["compress"] or len(raw) % 3:
        return raw
    return np.frombuffer(raw, np.uint8).reshape(-1, 3)[:, ::-1].tobytes()


AIRSIM: Final = AirSimDialect("airsim")
COSYS: Final = AirSimDialect(
    "cosys",
    exact={**_WITHOUT_EXTERNAL, **_WITH_ANNOTATION, "simGetObjectPose": 2},
    constants={"getServerVersion": _COSYS_VERSION, "getMinRequiredClientVersion": _COSYS_VERSION},
    refused=_COSYS_ONLY,
    unknown=_NOT_IN_COSYS,
    adapt={"simGetImages": _red_first},
)
DIALECTS: Final = {dialect.name: dialect for dialect in (AIRSIM, COSYS)}
