"""Video models of Cosmos: at which rates and in how many frames each takes a clip.

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
"""Names of the cameras that Transfer 2.5 AV knows."""


@dataclass(frozen=True, slots=True)
class VideoModel:
    """A model's rule of frames, in frames of the clip.

    Attributes:
        name: of the model.
        rates: frames a second that it takes.
        least: frames.
        most: frames.
        step: from the least on, every so many.
        views: names of cameras that it takes; () for any.
    """

    name: str
    rates: tuple[int, ...]
    least: int
    most: int
    step: int
    views: tuple[str, ...] = ()

    def frames_of(self, count: int) -> int:
        """Return how many frames it takes of so many; its least where they are too few."""
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
"""Models by name. ``cosmos3`` is Nano and Super; ``-wsm`` has the map as control. AV takes 30 a second and keeps 10."""


def chosen_model(name: str, fps: int, *, where: str) -> VideoModel:
    """Return a model by name; "" is the one for clips of this rate: Transfer 2.5 for 16, else Cosmos 3.

    Raises:
        UnknownNameError: no such model.
        InputError: it does not take this rate.
    """
    model = pick(MODELS, name or ("transfer2.5" if fps in MODELS["transfer2.5"].rates else "cosmos3"), what="model")
    if fps not in model.rates:
        wanted = " or ".join(str(rate) for rate in model.rates)
        raise InputError(
            f"{where}: {model.name} takes {wanted} frames a second, and there are {fps}; "
            f"captures: {{clip: {{fps: {model.rates[0]}, frames: N}}}} records such a clip"
        )
    return model


def view_name(camera: str, channel: str) -> str:
    """Return Cosmos' name of a camera: FRONT_WIDE_120FOV is ``camera:front:wide:120fov``; of any other its channel."""
    name = f"camera:{camera.lower().replace('_', ':')}"
    return name if name in AV_VIEWS else channel
