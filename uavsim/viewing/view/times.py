"""Timelines of a recording: the number of the keyframe and the sample's time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import rerun as rr

from uavsim.access import Sample


@dataclass(frozen=True, slots=True)
class Times:
    """The times of some samples; ``first`` is the number of the first one in the recording."""

    first: int
    samples: Sequence[Sample]

    def at(self, rows: Sequence[int]) -> list[Any]:
        """Return the time columns of samples by row."""
        return [
            rr.TimeColumn("keyframe", sequence=[self.first + row for row in rows]),
            rr.TimeColumn("time", timestamp=[self.samples[row].timestamp_us / 1e6 for row in rows]),
        ]

    def all(self) -> list[Any]:
        """Return the time columns of all samples."""
        return self.at(range(len(self.samples)))

    def go_to(self, recording: rr.RecordingStream, row: int) -> None:
        """Set the recording's time to a sample."""
        recording.set_time("keyframe", sequence=self.first + row)
        recording.set_time("time", timestamp=self.samples[row].timestamp_us / 1e6)
