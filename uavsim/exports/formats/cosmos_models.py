"""Video models of Cosmos with their frame rates and clip lengths.

Source: ``carla_cosmos.contracts`` in carla-simulator/carla, branch ue58-dev.
"""

from dataclasses import dataclass
from typing import Final

from uavsim.errors import InputError
from uavsim.registry import pick

AV_VIEWS: Final = (
    "camera:front:wide:120fov", "camera:cross:left:120fov", "camera:cross:right:120fov", "camera:rear:left:70fov",
    "camera:rear:right:70fov", "camera:rear:tele:30fov", "camera:front:tele:30fov",
)  # fmt: skip
"""Camera names of Transfer 2.5 AV."""


@dataclass(frozen=True, slots=True)
class VideoModel:
    """The clips that a model supports: ``least + n * step`` frames, at most ``most``.

    Attributes:
        name: name of the model.
        rates: frame rates, Hz.
        least: least number of frames.
        most: largest number of frames.
        step: difference of two lengths in frames.
        views: camera names; () for any.
    """

    name: str
    rates: tuple[int, ...]
    least: int
    most: int
    step: int
    views: tuple[str, ...] = ()

    def frames_of(self, count: int) -> int:
        """Return the largest clip length of at most ``count`` frames, or ``least`` for fewer."""
        return self.least + max(min(count, self.most) - self.least, 0) // self.step * self.step


_RATES: Final = (10, 16, 24, 30)
MODELS: Final = {
    model.name: model
    for model in (
        VideoModel("cosmos3", _RATES, least=5, most=300, step=1),
        VideoModel("cosmos3-wsm", _RATES, least=101, most=303, step=101),
        VideoModel("transfer2.5", (16,), least=93, most=93 * 64, step=93),
        VideoModel("transfer2.5-av", (30,), least=3 * 29, most=3 * (29 + 28 * 64), step=3 * 28, views=AV_VIEWS),
    )
}
"""Models by name: ``cosmos3`` is Nano and Super, ``-wsm`` has the map as a control, AV reads 30 Hz and keeps 10 Hz."""


def chosen_model(name: str, fps: int, *, where: str) -> VideoModel:
    """Return a model by name; "" chooses by the rate: Transfer 2.5 for 16 Hz, else Cosmos 3.

    Raises:
        UnknownNameError: no such model.
        InputError: the model does not support this rate.
    """
    model = pick(MODELS, name or ("transfer2.5" if fps in MODELS["transfer2.5"].rates else "cosmos3"), what="model")
    if fps not in model.rates:
        rates = " or ".join(str(rate) for rate in model.rates)
        raise InputError(
            f"{where}: {model.name} needs {rates} frames per second, not {fps}; "
            f"captures: {{clip: {{fps: {model.rates[0]}, frames: N}}}} records such a clip"
        )
    return model


def view_name(camera: str, channel: str) -> str:
    """Return Cosmos' name of a camera, ``camera:front:wide:120fov`` of FRONT_WIDE_120FOV; else its channel."""
    name = f"camera:{camera.lower().replace('_', ':')}"
    return name if name in AV_VIEWS else channel
