"""Names of AirSim's sensors and the meaning of their answers: one ``AirSimReader`` for each modality.

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

__all__ = ["AirSimReader", "reader_of"]

_SCENE, _DEPTH_PLANAR, _SEGMENTATION = 0, 1, 5  # airsim.ImageType
_FLU_FROM_FRD: Final = np.array([1, -1, -1], dtype=np.float32)


@dataclass(frozen=True, slots=True)
class AirSimReader:
    """AirSim's way to give a modality: an image type of ``simGetImages``, or the points of ``getLidarData``.

    Attributes:
        read: turns what was taken, and the sensor's parameters, into the array as captured. Of an image it gets (H, W) float32
            where ``as_float``; else (H, W, 3) uint8, blue first, and of a segmentation image its colours put into CARLA's
            instance encoding. Of a lidar it gets (N, 3) points in the sensor's frd frame; whose they are, the caller finds.
        image_type: AirSim's number of the image; None of a lidar.
        as_float: ask for numbers instead of bytes.
    """

    read: Callable[[AnyArray, Any], AnyArray]
    image_type: int | None = None
    as_float: bool = False

    @property
    def is_segmentation(self) -> bool:
        """The image shows numbers as colours, and has to be looked up in AirSim's palette."""
        return self.image_type == _SEGMENTATION


def reader_of(modality: Modality) -> AirSimReader:
    """Return how AirSim gives a modality.

    Raises:
        SimulatorError: it does not.
    """
    reader: object = Named(modality.airsim).load() if modality.airsim else None
    if not isinstance(reader, AirSimReader):
        raise SimulatorError(f"AirSim gives no {modality.name}")
    return reader


def _returns(frd_m: AnyArray, lidar: LidarParams) -> Returns:
    """AirSim measures no intensity, and its points do not say of which beam they are: their elevation does."""
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
