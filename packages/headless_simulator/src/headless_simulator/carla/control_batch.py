"""Batches of vehicle controls only, which a Traffic Manager sends by the hundred at every tick.

They are parsed from the received bytes without a Python object per number. Mixed or incomplete batches take the general
path.
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
MOST_CONTROLS: Final = 1000  # in a batch of the fast path: of 17 items each, far less than the limit of a message
_NAME: Final = bytes((0xA0 | len(METHOD),)) + METHOD.encode()
_NAME_ENDS_BY: Final = 2 + message_bytes.LONGEST_NUMBER + len(_NAME)  # 0x94, 0x00, the message's id
_LEAST_COMMAND: Final = 25  # bytes


@dataclass(frozen=True, slots=True, eq=False)
class ControlBatch:
    """The commands of one batch.

    Attributes:
        ids: (N,) uint32 actor ids.
        controls: (N, 7) throttle, steer, brake, hand brake, reverse, manual, gear; the first three are finite.
        raw: the received commands.
    """

    ids: UInt32
    controls: Float64
    raw: bytes

    def commands(self) -> list[Any]:
        """Return the commands as Python objects, as in other batches."""
        found: list[Any] = msgpack.unpackb(self.raw)
        return found


def recognise(data: bytes) -> Recognised | None:
    """Parse the request at the start of ``data`` if it is a batch of controls; its commands are a ``ControlBatch``."""
    name_start = data.find(_NAME, 0, _NAME_ENDS_BY)
    if name_start < 0:
        return None
    most = min(len(data) // _LEAST_COMMAND, MOST_CONTROLS)
    ids, controls = np.empty(most, np.uint32), np.empty((most, 7))
    end, message_id, asynchronous, count, first, last, ticks = message_bytes.read_controls(
        np.frombuffer(data, np.uint8), name_start, name_start + len(_NAME), ids, controls
    )
    if end == message_bytes.ELSE:
        return None
    batch = ControlBatch(ids[:count], controls[:count], data[first:last])
    arguments = [[bool(asynchronous)], batch, *([] if ticks == message_bytes.ELSE else [bool(ticks)])]
    return Recognised([REQUEST, message_id, METHOD, arguments], end)


def carry_out(table: ActorTable, batch: ControlBatch) -> bool:
    """Apply the commands if every actor exists; returns whether it does."""
    rows = np.empty(len(batch.ids), np.int64)
    if not message_bytes.find_rows(batch.ids, table.rows(), table.c.actor_id, rows):
        return False
    apply_controls(table.c, rows, batch.controls)
    return True


def apply_controls(c: Columns, rows: Sequence[int] | Rows, controls: Sequence[Sequence[float]] | Float64) -> None:
    """Apply (N, 7) controls to N rows of the table, in order, as ``apply_control_to_vehicle`` does."""
    message_bytes.take_over_controls(
        np.asarray(rows, np.int64),
        np.asarray(controls, np.float64),
        c.control,
        (c.hand_brake, c.reverse, c.manual, c.control_set),
        c.gear,
    )


def compile_all() -> None:
    """Compile the kernels or read them from the cache, outside a client's deadline."""
    recognise(b"\x94\x00\x00" + _NAME + b"\x92\x91\xc2\x90")
    ids = np.empty(0, np.uint32)
    carry_out(ActorTable(), ControlBatch(ids, np.empty((0, 7)), b"\x90"))
    packed.answers(ids)
    packed.pairs(ids, ids)


def _commands(value: Any, name: str) -> ControlBatch | list[Any]:
    return value if isinstance(value, ControlBatch) else array(value, name)


Commands: TypeAlias = Annotated[ControlBatch | list[Any], Reads(_commands)]
