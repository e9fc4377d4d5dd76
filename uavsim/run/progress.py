"""Progress of a run: bars on a terminal, else a line per scene."""

from __future__ import annotations

import contextlib
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from uavsim.capture.client_events import ClientEvent, SampleTaken
from uavsim.terminal import Screen, line

_LAST_SCENES = 10


@contextlib.contextmanager
def start_up(console: Screen, what: str) -> Iterator[Callable[[str], None]]:
    """Show the steps before the first scene: one updated line on a terminal, else one line per step.

    Args:
        console: prints the progress.
        what: the first line.

    Yields:
        A function that takes the next line.
    """
    if not console.is_terminal:
        yield console.print
        return
    with console.status(line(what)) as status:
        yield lambda text: status.update(line(text))


class RunProgress:
    """Counts scenes, samples and images of a run from client events; thread-safe.

    Args:
        scenes: total number of scenes, including finished ones.
        done: number of scenes finished before.
        samples: keyframes per scene.
        console: prints the progress.
        clock: seconds; replaced in tests.
    """

    def __init__(
        self, *, scenes: int, done: int, samples: int, console: Screen, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console, self._clock, self._lock = console, clock, threading.Lock()
        self._scenes, self._done, self._samples = scenes, done, samples
        self._began = clock()
        self._images = self._samples_taken = self._finished = 0
        self._in_flight: dict[str, tuple[int, int]] = {}
        self._begun: dict[str, float] = {}
        self._scene_spans_s: deque[float] = deque(maxlen=_LAST_SCENES)
        self.watchers: list[Callable[[str, ClientEvent], None]] = []
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            transient=False,
            disable=not console.is_terminal,
        )
        self._scene_bar: TaskID = self._bars.add_task("scenes ", total=scenes, completed=done, note="")
        self._sample_bar: TaskID = self._bars.add_task(
            "samples", total=scenes * samples, completed=done * samples, note=""
        )

    def __enter__(self) -> RunProgress:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    @property
    def images_per_s(self) -> float:
        """Images taken per second of this run."""
        return self._images / max(self._clock() - self._began, 1e-9)

    @property
    def eta_s(self) -> float | None:
        """Estimated remaining seconds; None before the first sample.

        It uses the total times of the last scenes; before the first finished scene, the time of the samples so far.
        """
        if not self._samples_taken:
            return None
        if not self._scene_spans_s:
            left = (self._scenes - self._done) * self._samples - self._samples_taken
            return max(left, 0) * (self._clock() - self._began) / self._samples_taken
        scene_s, now = statistics.median(self._scene_spans_s), self._clock()
        begun = sum(max(scene_s - (now - began), 0.0) for began in self._begun.values())
        waiting = self._scenes - self._done - self._finished - len(self._begun)
        return (max(waiting, 0) * scene_s + begun) / max(len(self._begun), 1)

    def on_event(self, scene: str, event: ClientEvent) -> None:
        """Count one event of a client process."""
        for watch in self.watchers:
            watch(scene, event)
        with self._lock:
            self._begun.setdefault(scene, self._clock())
        if isinstance(event, SampleTaken):
            with self._lock:
                samples, images = self._in_flight.get(scene, (0, 0))
                now = event.sample, event.images
                self._in_flight[scene] = now
                self._samples_taken += now[0] - samples
                self._images += now[1] - images
                self._show()

    def finished(self, scene: str, *, line: Text) -> None:
        """Count a scene as done and print a line."""
        with self._lock:
            self._in_flight.pop(scene, None)
            if scene in self._begun:
                self._scene_spans_s.append(self._clock() - self._begun.pop(scene))
            self._finished += 1
            self._bars.update(self._scene_bar, completed=self._done + self._finished)
            self._show()
        self.say(line)

    def failed(self, scene: str, *, line: Text) -> None:
        """Undo the counts of a failed attempt and print a line."""
        with self._lock:
            samples, _ = self._in_flight.pop(scene, (0, 0))
            self._begun.pop(scene, None)
            self._samples_taken -= samples
            self._show()
        self.say(line)

    def say(self, line: Text) -> None:
        """Print one line above the bars."""
        self._console.print(line)

    def _show(self) -> None:
        eta = self.eta_s
        note = f"{self.images_per_s:5.1f} images/s" + (f"  ETA {_clock_text(eta)}" if eta is not None else "")
        self._bars.update(self._sample_bar, completed=self._done * self._samples + self._samples_taken, note=note)


def _clock_text(seconds: float) -> str:
    minutes, s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:d}:{minutes:02d}:{s:02d}"
