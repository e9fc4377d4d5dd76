from tests.access.conftest import foreign, strict, uav3d

__all__ = ["foreign", "strict", "uav3d"]
