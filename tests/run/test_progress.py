"""What the bars count."""

import io

from rich.text import Text

from uavsim.capture.client_events import Progress, SampleTaken
from uavsim.run.progress import RunProgress, start_up
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
        progress.failed("b", line=Text("b failed"))
        assert progress.eta_s == (6 - 2) * 10.0 / 2  # b's sample is to be taken once more
        progress.finished("a", line=Text("a is done"))
        assert progress.eta_s == 2 * 10.0  # from the first finished scene on: two more like it
        progress.on_event("b", Progress("load", 0))
        clock.now_s += 4.0
        assert progress.eta_s == 10.0 + 6.0  # one is waiting, the other has 4 of its 10 s behind it
        progress.on_event("c", Progress("load", 0))
        assert progress.eta_s == (10.0 + 6.0) / 2  # two simulators
    assert text.getvalue().splitlines() == ["b failed", "a is done"]


def test_what_is_waited_for_is_plain_lines_where_there_is_no_terminal() -> None:
    text = io.StringIO()
    with start_up(Screen(file=text, width=80), "simulators start") as say:
        say("compiling: images 20%")
    assert text.getvalue() == "compiling: images 20%\n"
