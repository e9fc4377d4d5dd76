from tests.run.conftest import listening, paper

__all__ = ["listening", "paper"]
