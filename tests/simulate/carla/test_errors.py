import errno
import os

import pytest

from uavsim.errors import SimulatorError
from uavsim.simulate.carla.errors import translated


def test_thread_limit_is_reported_with_a_remedy() -> None:
    remedy = r"moving the cameras.*raise its limit \(ulimit -u\)"
    with pytest.raises(SimulatorError, match=remedy), translated("moving the cameras"):
        raise RuntimeError(os.strerror(errno.EAGAIN))
