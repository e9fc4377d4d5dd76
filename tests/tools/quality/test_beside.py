import ast

from tools.quality.beside import modules_by_test
from tools.quality.sources import Package, Source

PACKAGE = Package("p", "p", "tests")


def test_modules_by_where_their_tests_lie() -> None:
    paths = ["p/__init__.py", "p/a.py", "p/room/b.py", "p/room/_c.py", "p/d.py"]
    paths += ["tests/test_a.py", "tests/other/test_b.py", "tests/room/test_c.py"]
    found = modules_by_test([Source(path, "", ast.parse("")) for path in paths], PACKAGE)
    assert found.beside == ("p/a.py", "p/room/_c.py")
    assert found.elsewhere == ("p/room/b.py",)
    assert found.without == ("p/d.py",)
    assert found.modules == 4
