from tests.conftest import _own_home
from tests.run.conftest import listening, paper

__all__ = ["_own_home", "listening", "paper"]
