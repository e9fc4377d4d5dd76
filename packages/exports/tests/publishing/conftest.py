from tests.access.conftest import foreign, strict, uav3d
from tests.conftest import _own_home

__all__ = ["_own_home", "foreign", "strict", "uav3d"]
