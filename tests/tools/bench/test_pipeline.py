import pytest

from tools.bench.pipeline import shares


def test_only_turns_next_to_each_other_are_compared():
    encoder_s, pipeline_s = [1.0, 4.0, 1.0], [2.0, 8.0, 4.0]  # the machine was busy in the second turn
    assert shares(encoder_s, pipeline_s) == pytest.approx(0.5)
