import pytest

from tools.bench.mini import marginal


def test_what_every_run_costs_is_left_out():
    assert marginal(3.0 + 50 * 0.002, 3.0 + 1000 * 0.002, few_images=50, many_images=1000) == pytest.approx(0.002)
