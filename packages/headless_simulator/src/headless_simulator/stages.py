"""The processor's time by stage: counted by thread and only while somebody asked for it.

A sampling or tracing profiler sees one call where compiled code runs, or slows the calls around it. Here a stage is a ``with``
block; of a block inside another, the outer one counts what the inner one leaves. While nothing counts, a block costs less than
a microsecond.
"""

import json
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Final

OTHER: Final = "other"  # what no stage counted: reading messages, threads that wait for each other, the interpreter

_NOTHING: Final[AbstractContextManager[None]] = nullcontext()


class StageTimes:
    """Processor time by stage, of all threads of this process since the last look."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, list[int]] = {}
        self._process_ns = time.process_time_ns()
        self.open = threading.local()

    def add(self, name: str, spent_ns: int) -> None:
        """Count one run of a stage."""
        with self._lock:
            entry = self._found.setdefault(name, [0, 0])
            entry[0] += spent_ns
            entry[1] += 1

    def take(self) -> dict[str, tuple[float, int]]:
        """Give (milliseconds, runs) by stage, ``OTHER`` included, and begin anew."""
        now_ns = time.process_time_ns()
        with self._lock:
            found, self._found = self._found, {}
            passed_ns, self._process_ns = now_ns - self._process_ns, now_ns
        rest_ns = passed_ns - sum(spent_ns for spent_ns, _ in found.values())
        found[OTHER] = [rest_ns, 1]
        return {name: (spent_ns / 1e6, runs) for name, (spent_ns, runs) in sorted(found.items())}

    def line(self) -> str:
        """``take`` as one line of JSON: {stage: [milliseconds, runs]}."""
        return json.dumps({name: [round(spent_ms, 3), runs] for name, (spent_ms, runs) in self.take().items()})


class _Stage:
    """One run of a stage."""

    def __init__(self, times: StageTimes, name: str) -> None:
        self._times, self._name = times, name
        self._inner_ns = 0

    def __enter__(self) -> None:
        self._outer: _Stage | None = getattr(self._times.open, "stage", None)
        self._times.open.stage = self
        self._started_ns = time.thread_time_ns()

    def __exit__(
        self, _kind: type[BaseException] | None, _problem: BaseException | None, _trace: TracebackType | None
    ) -> None:
        whole_ns = time.thread_time_ns() - self._started_ns
        self._times.add(self._name, whole_ns - self._inner_ns)
        self._times.open.stage = self._outer
        if self._outer is not None:
            self._outer._inner_ns += whole_ns


_times: StageTimes | None = None


def count_stages() -> StageTimes:
    """Count from now on; returns what counts."""
    global _times
    _times = _times or StageTimes()
    return _times


def stage(name: str) -> AbstractContextManager[None]:
    """Mark a block as a stage."""
    return _NOTHING if _times is None else _Stage(_times, name)
