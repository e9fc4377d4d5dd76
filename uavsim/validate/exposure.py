"""Detection of scenes with first images from before the cameras' adaptation to the light.

Brightness is in stops: 2.2 log2 of an image's mean level. Two properties reveal such a first image: the later images of its
camera change far less from one to the next; and all cameras of its scene settle together, whatever they show. A car that
turns and then waits shows the first property, changing weather the second. A single camera that moved much farther before its
second image than later is therefore exempt; and without a table that says that the weather is steady, or with few cameras,
the check requires that the brightness settles, and a larger change.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from uavsim.typing import FloatArray, IntArray
from uavsim.validate.evidence import Evidence
from uavsim.validate.findings import Finding

_GAMMA: Final = 2.2
_FEWEST: Final = 4  # images of a camera
_LOOKED_AT: Final = 12  # images of a camera: later changes are changes of the scene's light
_LEAST_STOPS: Final = 0.5
_TOGETHER_STOPS: Final = 0.25  # of many cameras under a steady sky
_ALONE_STOPS: Final = 1.0
_MANY: Final = 8  # cameras: more than one drone has, which may fly out of a shadow
_SPREADS: Final = 4.0
_FARTHER: Final = 2.0  # times the longest later movement between two images
_MOVED_M: Final = 1.0  # more than a hovering drone moves
_AT_REST: Final = 0.6  # of the largest step
_AGREE: Final = 0.9


@dataclass(frozen=True, slots=True)
class _Track:
    """The first images of a camera in a scene.

    Attributes:
        stops: (N,) brightness.
        moved_m: (N - 1,) distances between the camera's positions in successive images.
        is_steady: the weather is steady by the tables.
    """

    scene: int
    row: int
    stops: FloatArray
    moved_m: FloatArray
    is_steady: bool


def exposure_settled(evidence: Evidence) -> Iterator[Finding]:
    """The first image of a camera in a scene is as bright as the following images."""
    tracks = list(_tracks(evidence))
    for scene in dict.fromkeys(track.scene for track in tracks):
        cameras = [track for track in tracks if track.scene == scene]
        together = _settling_stops(cameras)
        for camera in cameras:
            off = together if together else _first_step_stops(camera)
            if off:
                message = (
                    f"first image is {abs(off):.1f} stops {'brighter' if off > 0 else 'darker'} than those after it"
                )
                message += f", as in all {len(cameras)} cameras: exposure had not settled" if together else ""
                numbers = {"stops": round(off, 2), "cameras": len(cameras) if together else 1}
                yield Finding("visual.exposure", message, numbers=numbers, **evidence.data.data_place(camera.row))


def _tracks(evidence: Evidence) -> Iterator[_Track]:
    track: IntArray = evidence.track
    sample, weather = evidence.data["sample_data"]["sample_token"], evidence.data["sample"].get("uav_weather")
    for views in np.split(np.arange(len(track)), np.flatnonzero(np.diff(track)) + 1) if len(track) else []:
        views = views[:_LOOKED_AT]
        looks = [evidence.looks[view] for view in views.tolist()]
        if len(looks) >= _FEWEST and all(look.state == "good" for look in looks):
            level = np.maximum([look.mean for look in looks], 1.0)
            scene = int(evidence.data.scene_of_data[looks[0].row])
            samples = sample[[look.row for look in looks]]
            is_steady = weather is not None and len(np.unique(weather[samples])) == 1
            moved_m = np.linalg.norm(np.diff(evidence.cameras.position_m[views], axis=0), axis=1)
            yield _Track(scene, looks[0].row, _GAMMA * np.log2(level), moved_m, is_steady)


def _first_step_stops(camera: _Track) -> float:
    """Return the stops by which a first image is brighter than the next, less the trend; 0 if a later step is similar."""
    if camera.moved_m[0] > max(_MOVED_M, _FARTHER * float(camera.moved_m[1:].max())):
        return 0.0  # the first image shows another place
    first, *later = -np.diff(camera.stops)
    usual = float(np.median(later))
    spread = float(np.abs(np.array(later) - usual).max())
    off = float(first) - usual
    return off if abs(off) > max(_LEAST_STOPS, _SPREADS * spread) else 0.0


def _settling_stops(cameras: list[_Track]) -> float:
    """Return the stops by which a scene's first images are brighter than its settled images; 0 if its cameras disagree."""
    count = min(len(camera.stops) for camera in cameras)
    stops = np.array([camera.stops[:count] for camera in cameras])
    off = stops[:, 0] - np.median(stops[:, (count + 1) // 2 :], axis=1)
    together = float(np.median(off))
    steps = np.abs(np.median(np.diff(stops, axis=1), axis=0))
    is_at_rest = steps[-1] <= _AT_REST * steps.max()
    is_steady, are_many = all(camera.is_steady for camera in cameras), len(cameras) >= _MANY
    least = _ALONE_STOPS if not are_many else _TOGETHER_STOPS if is_steady else _LEAST_STOPS
    agree = np.mean(off / together > 0.5) if together else 0.0
    sure = count > _FEWEST and agree >= _AGREE and (is_at_rest or (is_steady and are_many))
    return together if sure and abs(together) > least else 0.0
