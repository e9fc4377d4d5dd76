from tools.quality.__main__ import exceeded_limits


def test_a_kernel_may_be_long_and_another_function_not() -> None:
    long = "def f():\n" + "    pass\n" * 90
    assert list(exceeded_limits("a.py", long)) == ["a.py:1: f: 91 lines, at most 80"]
    assert list(exceeded_limits("a.py", "@njit(cache=True)\n" + long)) == []


def test_a_long_module_is_named() -> None:
    assert list(exceeded_limits("a.py", "x = 1\n" * 401)) == ["a.py: 401 lines, at most 400"]
