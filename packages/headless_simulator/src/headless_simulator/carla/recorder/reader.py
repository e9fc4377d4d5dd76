"""Reader of a recording, frame by frame."""

import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from headless_simulator.carla.recorder import layout
from headless_simulator.carla.recorder.layout import Damaged, Header

_DATE: Final = struct.Struct("<q")
_SHORT: Final = struct.Struct("<H")
_LONGEST_HEAD: Final = 4096


@dataclass(slots=True)
class Frame:
    """One recorded frame.

    Attributes:
        number: frame number from 1.
        duration_s: seconds to the next frame; 0 for the last.
        elapsed_s: seconds since the first frame.
        packets: (id, data) in file order.
    """

    number: int
    duration_s: float
    elapsed_s: float
    packets: list[tuple[int, bytes]] = field(default_factory=list)


class Recording:
    """An open recording.

    Args:
        file: positioned at its start; closed with this object.

    Attributes:
        header: the file's header.
        damage: the defect after the last complete frame, once ``frames`` reached it.

    Raises:
        Damaged: the file does not start with a recording's header.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self.damage: str | None = None
        try:
            self.header = self._read_header()
        except Damaged:
            file.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read_header(self) -> Header:
        cursor = layout.Cursor(self._file.read(_LONGEST_HEAD), "the header")
        (version,) = cursor.unpack(_SHORT)
        if cursor.text() != layout.MAGIC:
            raise Damaged("the header does not contain CARLA_RECORDER")
        (date_s,) = cursor.unpack(_DATE)
        town = cursor.text()
        self._begin = cursor.offset
        return Header(version, date_s, town)

    def total_s(self) -> float:
        """Return the time of the last frame, seconds; ``frames`` restarts at the first."""
        last_s = 0.0
        for frame in self.frames(with_data=False):
            last_s = frame.elapsed_s
        return last_s

    def frames(self, *, with_data: bool = True) -> Iterator[Frame]:
        """Yield complete frames from the first to the end or ``damage``."""
        self._file.seek(self._begin)
        self.damage = None
        try:
            yield from self._frames(with_data)
        except Damaged as problem:
            self.damage = str(problem)

    def _frames(self, with_data: bool) -> Iterator[Frame]:
        frame: Frame | None = None
        before_s = 0.0
        while head := self._file.read(layout.PACKET.size):
            number, data = self._packet(head, with_data)
            if number == layout.FRAME_START:
                if frame is not None:
                    raise Damaged(f"frame {frame.number} is incomplete")
                frame = _begun(data, before_s)
                before_s = frame.elapsed_s
            elif frame is None:
                continue  # between frames: unknown packets
            elif number == layout.FRAME_END:
                yield frame
                frame = None
            else:
                frame.packets.append((number, data))
        if frame is not None:
            raise Damaged(f"frame {frame.number} is incomplete")

    def _packet(self, head: bytes, with_data: bool) -> tuple[int, bytes]:
        offset = self._file.tell() - len(head)
        if len(head) < layout.PACKET.size:
            raise Damaged(f"the packet header at byte {offset} is truncated")
        number, size = layout.PACKET.unpack(head)
        if size > self._size - offset - len(head):
            raise Damaged(f"the packet at byte {offset} has {size} bytes, which exceeds the file")
        if with_data or number == layout.FRAME_START:
            data = self._file.read(size)
            if len(data) < size:
                raise Damaged(f"the packet at byte {offset} is truncated")
            return number, data
        self._file.seek(size, os.SEEK_CUR)
        return number, b""


def _begun(data: bytes, before_s: float) -> Frame:
    if len(data) != layout.FRAME.size:
        raise Damaged(f"a frame's header has {len(data)} bytes, not {layout.FRAME.size}")
    number, duration_s, elapsed_s = layout.FRAME.unpack(data)
    if not math.isfinite(elapsed_s) or not math.isfinite(duration_s) or elapsed_s < before_s:
        raise Damaged(
            f"frame {number} has time {elapsed_s} s after {before_s} s; times must be finite and not decrease"
        )
    return Frame(number, max(0.0, duration_s), elapsed_s)
