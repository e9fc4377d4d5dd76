import msgpack
import numpy as np
from headless_simulator.carla import packed, wire
from headless_simulator.rpc.messages import encode_whole
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.lists(
    st.integers(0, 2**32 - 1) | st.integers(0, 300) | st.sampled_from([127, 128, 255, 256, 65535, 65536]), max_size=40
)


def test_answers_match_hand_computed_bytes() -> None:
    ids = np.array([5, 127, 128, 256, 65536], np.uint32)

    assert packed.answers(ids).raw == bytes.fromhex("95 91920105 9192017f 919201cc80 919201cd0100 919201ce00010000")
    assert wire.packed_ok(packed.pairs(ids[:2], ids[3:])).raw == bytes.fromhex("919201 92 9205cd0100 927fce00010000")


@given(NUMBERS)
def test_answers_equal_msgpack(numbers: list[int]) -> None:
    ids = np.array(numbers, np.uint32)

    assert packed.answers(ids).raw == msgpack.packb([wire.ok(number) for number in numbers])
    assert packed.pairs(ids, ids[::-1].copy()).raw == msgpack.packb(
        [list(p) for p in zip(numbers, numbers[::-1], strict=True)]
    )
    message = [1, 7, None, wire.packed_ok(packed.answers(ids))]
    assert encode_whole(message) == encode_whole([1, 7, None, wire.ok([wire.ok(number) for number in numbers])])


def test_heads_of_long_arrays() -> None:
    for count in (15, 16, 65535, 65536):
        assert packed.answers(np.arange(count, dtype=np.uint32)).raw == msgpack.packb(
            [wire.ok(n) for n in range(count)]
        )
