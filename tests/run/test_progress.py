"""Counts and estimates of progress bars."""

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
    """Four scenes of two samples, one finished before; three samples in 10 s leave three at 0.3 per second."""
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
        assert progress.eta_s == (6 - 2) * 10.0 / 2  # b's sample is repeated
        progress.finished("a", line=Text("a is done"))
        assert progress.eta_s == 2 * 10.0  # from the first finished scene on: two more like it
        progress.on_event("b", Progress("load", 0))
        clock.now_s += 4.0
        assert progress.eta_s == 10.0 + 6.0  # one is waiting, 4 of 10 s of the other one have passed
        progress.on_event("c", Progress("load", 0))
        assert progress.eta_s == (10.0 + 6.0) / 2  # two simulators
    assert text.getvalue().splitlines() == ["b failed", "a is done"]


def test_what_is_waited_for_is_plain_lines_where_there_is_no_terminal() -> None:
    text = io.StringIO()
    with start_up(Screen(file=text, width=80), "simulators start") as say:
        say("compiling: images 20%")
    assert text.getvalue() == "compiling: images 20%\n"
