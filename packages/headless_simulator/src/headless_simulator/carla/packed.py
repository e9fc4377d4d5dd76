"""Long answers encoded by one kernel call."""

import numpy as np

from headless_simulator.carla.kernels import message_bytes
from headless_simulator.carla.kernels.message_bytes import LONGEST_ARRAY_HEAD, LONGEST_NUMBER
from headless_simulator.rpc.messages import Packed
from headless_simulator.scene import UInt32


def answers(ids: UInt32) -> Packed:
    """Pack ``[wire.ok(id), ...]`` for (N,) uint32 ids."""
    out = np.empty(LONGEST_ARRAY_HEAD + (3 + LONGEST_NUMBER) * len(ids), np.uint8)
    return Packed(out[: message_bytes.put_answers(ids, out)].tobytes())


def pairs(ids: UInt32, values: UInt32) -> Packed:
    """Pack ``[[id, value], ...]`` for (N,) uint32 ids and values."""
    out = np.empty(LONGEST_ARRAY_HEAD + (1 + 2 * LONGEST_NUMBER) * len(ids), np.uint8)
    return Packed(out[: message_bytes.put_pairs(ids, values, out)].tobytes())
