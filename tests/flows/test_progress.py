"""What the bars count."""

import io

from rich.text import Text

from uavsim.capture.client_events import Progress, SampleTaken
from uavsim.flows.progress import RunProgress
from uavsim.terminal import Screen


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def sample(number: int, images: int) -> SampleTaken:
    return SampleTaken("s", sample=number, samples=2, images=images)


def test_pace_and_time_to_go() -> None:
    """Four scenes of two samples, one done before; after 10 s three samples with 75 images: 3 left at 0.3 a second."""
    clock, text = Clock(), io.StringIO()
    with RunProgress(scenes=4, done=1, samples=2, console=Screen(file=text, width=80), clock=clock) as progress:
        assert progress.eta_s is None
        progress.on_event("a", sample(1, 25))
        progress.on_event("b", sample(1, 25))
        progress.on_event("a", sample(2, 50))
        progress.on_event("a", Progress("fly", 3))
        clock.now_s += 10.0
        assert progress.images_per_s == 7.5
        assert progress.eta_s == 10.0
        progress.finished("a", line=Text("a is done"))
        progress.failed("b", line=Text("b failed"))
        assert progress.eta_s == (6 - 2) * 10.0 / 2  # b's sample is to be taken once more
    assert text.getvalue().splitlines() == ["a is done", "b failed"]
