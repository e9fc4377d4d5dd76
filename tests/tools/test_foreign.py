"""Detection of changes to third-party libraries, on planted sources."""

import pytest

from tools.quality.foreign import ALLOWED, foreign_changes

CHANGES = {
    "import numba.core.base\nnumba.core.base.Context.size_of = None": "numba.core.base.Context.size_of",
    "from prefect.server.api import server\nserver.worker: object = None": "prefect.server.api.server.worker",
    "import numpy as np\ndel np.linalg.norm": "numpy.linalg.norm",
    "import numba\nbase = numba.core.base\nx, base.has_loc = 1, 2": "numba.core.base.has_loc",
    "import numba\nsetattr(numba.core, 'x', 1)": "numba.core",
    "import numba\nsetattr(getattr(numba, 'core'), 'x', 1)": "numba.core",
    "from unittest.mock import patch\nimport carla\nwith patch.object(carla.Client, 'get_world'): pass": "carla.Client",
    "import sys\nsys.modules['scipy.linalg'] = None": "sys.modules",
    "import sys\nsys.modules.pop('scipy')": "sys.modules",
    "from numba.core import _dispatcher": "numba.core._dispatcher",
    "import numba._helperlib": "numba._helperlib",
    "import numba\nnumba.core.x._cache.clear()": "numba.core.x._cache",
}
HARMLESS = (
    "from ours import part\npart.value = 1",
    "from . import part\npart.value = 1",
    "import os\nos.environ['A'] = 'b'",
    "import socket\nsocket.timeout = 1",
    "import numpy as np\nvalues[np.isnan(values)], other = 0, 1",
    "from matplotlib.figure import Figure\nfigure = Figure()\nfigure.title = 'a'",
    "import numpy as np\nprint(np.__version__)",
    "import numpy as np\nclass A:\n    def f(self):\n        self._x = np.zeros(3)",
)


@pytest.mark.parametrize("text", CHANGES)
def test_change_of_a_library_is_found(text: str) -> None:
    assert CHANGES[text] in {name for _, name, _ in foreign_changes(text, local_names={"ours"})}


@pytest.mark.parametrize("text", HARMLESS)
def test_own_modules_and_instances_are_ignored(text: str) -> None:
    assert list(foreign_changes(text, local_names={"ours"})) == []


def test_at_most_three_exceptions_all_of_the_traffic_manager() -> None:
    assert len(ALLOWED) <= 3
    assert all(reason and "Traffic Manager" in reason for reason in ALLOWED.values())
