"""Times in a recording: the keyframe's number and the sample's own time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import rerun as rr

from uavsim.access import Sample


@dataclass(frozen=True, slots=True)
class Times:
    """The times of a scene's samples; ``first`` is the number of its first keyframe in the recording."""

    first: int
    samples: Sequence[Sample]

    def at(self, rows: Sequence[int]) -> list[Any]:
        """Return the time columns of some of the scene's samples."""
        return [
            rr.TimeColumn("keyframe", sequence=[self.first + row for row in rows]),
            rr.TimeColumn("time", timestamp=[self.samples[row].timestamp_us / 1e6 for row in rows]),
        ]

    def all(self) -> list[Any]:
        """Return the time columns of all samples."""
        return self.at(range(len(self.samples)))

    def start(self, recording: rr.RecordingStream) -> None:
        """Set the recording's clock to the first sample, for what holds for the whole scene."""
        self.go_to(recording, 0)

    def go_to(self, recording: rr.RecordingStream, row: int) -> None:
        """Set the recording's clock to one of the samples."""
        recording.set_time("keyframe", sequence=self.first + row)
        recording.set_time("time", timestamp=self.samples[row].timestamp_us / 1e6)
