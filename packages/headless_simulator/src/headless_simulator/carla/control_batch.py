"""Batches that are nothing but vehicles' controls, which a Traffic Manager sends at every tick by the hundred.

They are read from the bytes of the connection without an object for each number. A batch of anything else, or one that did
not come in one piece, is read as every other message is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

import msgpack
import numpy as np

from headless_simulator.carla import packed
from headless_simulator.carla.kernels import message_bytes
from headless_simulator.rpc.arguments import Reads, array
from headless_simulator.rpc.messages import REQUEST, Recognised
from headless_simulator.scene import Float64, UInt32
from headless_simulator.world.table import ActorTable, Columns, Rows

METHOD: Final = "apply_batch"
CONTROL: Final = 2  # the command's number
MOST_CONTROLS: Final = 1000  # in a batch that is read at once: of 17 items each, far less than a message may have
_NAME: Final = bytes((0xA0 | len(METHOD),)) + METHOD.encode()
_NAME_ENDS_BY: Final = 2 + message_bytes.LONGEST_NUMBER + len(_NAME)  # 0x94, 0x00, the message's id
_LEAST_COMMAND: Final = 25  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class ControlBatch:
    """The commands of one batch.

    Attributes:
        ids: (N,) actors.
        controls: (N, 7) throttle, steer, brake, hand brake, reverse, manual, gear; the first three are finite.
        raw: the commands as they came.
    """

    ids: UInt32
    controls: Float64
    raw: bytes

    def commands(self) -> list[Any]:
        """Give them as every other batch is read."""
        found: list[Any] = msgpack.unpackb(self.raw)
        return found


def recognise(data: bytes) -> Recognised | None:
    """Read a request that ``data`` begins with, if it is a batch of controls; its commands are a ``ControlBatch``."""
    name_at = data.find(_NAME, 0, _NAME_ENDS_BY)
    if name_at < 0:
        return None
    most = min(len(data) // _LEAST_COMMAND, MOST_CONTROLS)
    ids, controls = np.empty(most, np.uint32), np.empty((most, 7))
    end, message_id, asynchronous, count, first, last, ticks = message_bytes.read_controls(
        np.frombuffer(data, np.uint8), name_at, name_at + len(_NAME), ids, controls
    )
    if end == message_bytes.ELSE:
        return None
    batch = ControlBatch(ids[:count], controls[:count], data[first:last])
    arguments = [[bool(asynchronous)], batch, *([] if ticks == message_bytes.ELSE else [bool(ticks)])]
    return Recognised([REQUEST, message_id, METHOD, arguments], end)


def carry_out(table: ActorTable, batch: ControlBatch) -> bool:
    """Do what the commands say; returns whether there is an actor for each of them, and does nothing if there is not."""
    rows = np.empty(len(batch.ids), np.int64)
    if not message_bytes.find_rows(batch.ids, table.rows(), table.c.actor_id, rows):
        return False
    apply_controls(table.c, rows, batch.controls)
    return True


def apply_controls(c: Columns, rows: Sequence[int] | Rows, controls: Sequence[Sequence[float]] | Float64) -> None:
    """Do what ``apply_control_to_vehicle`` does for each row of the table, in that order, in one go."""
    message_bytes.take_over_controls(
        np.asarray(rows, np.int64),
        np.asarray(controls, np.float64),
        c.control,
        (c.hand_brake, c.reverse, c.manual, c.control_set),
        c.gear,
    )


def compile_all() -> None:
    """Compile the kernels now (or read them from disk), not under a client's deadline."""
    recognise(b"\x94\x00\x00" + _NAME + b"\x92\x91\xc2\x90")
    ids = np.empty(0, np.uint32)
    carry_out(ActorTable(), ControlBatch(ids, np.empty((0, 7)), b"\x90"))
    packed.answers(ids)
    packed.pairs(ids, ids)


def _commands(value: Any, name: str) -> ControlBatch | list[Any]:
    return value if isinstance(value, ControlBatch) else array(value, name)


Commands: TypeAlias = Annotated[ControlBatch | list[Any], Reads(_commands)]
