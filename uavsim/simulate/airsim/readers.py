"""AirSim's sensors and the conversion of their answers: an ``AirSimReader`` for each modality.

``Modality.airsim`` names them. Source: AirSim docs/image_apis.md and docs/lidar.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from uavsim.errors import SimulatorError
from uavsim.images import points
from uavsim.images.points import Returns
from uavsim.records.modalities import Modality
from uavsim.records.sensors import LidarParams
from uavsim.registry import Named
from uavsim.typing import AnyArray

_SCENE, _DEPTH_PLANAR, _SEGMENTATION = 0, 1, 5  # airsim.ImageType
_FLU_FROM_FRD: Final = np.array([1, -1, -1], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class AirSimReader:
    """AirSim's source of a modality: an image type of ``simGetImages``, or the points of ``getLidarData``.

    Attributes:
        read: converts (measurement, sensor parameters) to the array of the modality. An image is (H, W) float32 if
            ``as_float``, else (H, W, 3) uint8, blue first; a segmentation image is already in CARLA's instance encoding. A
            lidar's measurement is (N, 3) points in the sensor's frd frame; the caller adds their owners.
        image_type: AirSim's number of the image type; None for a lidar.
        as_float: request floats instead of bytes.
    """

    read: Callable[[AnyArray, Any], AnyArray]
    image_type: int | None = None
    as_float: bool = False

    @property
    def is_segmentation(self) -> bool:
        """Whether the image shows object numbers as colours of AirSim's palette."""
        return self.image_type == _SEGMENTATION


def reader_of(modality: Modality) -> AirSimReader:
    """Return AirSim's reader of a modality.

    Raises:
        SimulatorError: AirSim does not provide the modality.
    """
    reader: object = Named(modality.airsim).load() if modality.airsim else None
    if not isinstance(reader, AirSimReader):
        raise SimulatorError(f"AirSim has no sensor {modality.name}")
    return reader


def _returns(frd_m: AnyArray, lidar: LidarParams) -> Returns:
    """Convert points to returns: without intensity, and with the beam inferred from the elevation."""
    returns = np.zeros(len(frd_m), dtype=points.RETURN)
    returns["flu_m"] = frd_m * _FLU_FROM_FRD
    returns["ring"] = points.rings(
        returns["flu_m"], lower_deg=lidar.lower_fov_deg, upper_deg=lidar.upper_fov_deg, channels=lidar.channels
    )
    return returns


RGB: Final = AirSimReader(lambda pixels, _: pixels, _SCENE)
INSTANCE: Final = AirSimReader(lambda pixels, _: pixels, _SEGMENTATION)
DEPTH: Final = AirSimReader(lambda pixels, _: pixels, _DEPTH_PLANAR, as_float=True)
SEMANTIC: Final = AirSimReader(lambda bgr, _: bgr[..., 2], _SEGMENTATION)
LIDAR: Final = AirSimReader(_returns)
