import pytest
from headless_simulator.errors import CallRefused
from headless_simulator.rpc.arguments import Integer
from headless_simulator.rpc.methods import InternalError, Method, bind, combine, method


class Account:
    """The context of the methods."""

    def __init__(self) -> None:
        self.coins = 10


def take(account: Account, coins: Integer) -> int:
    """Take coins."""
    if coins > account.coins:
        raise CallRefused("there are not so many")
    account.coins -= coins
    return account.coins


def divide(account: Account, coins: Integer) -> int:
    """Divide coins: with a bug."""
    return account.coins // coins


def cut(_account: Account) -> None:
    """Cut the connection."""
    raise ConnectionAbortedError


METHODS: tuple[Method[Account, None], ...] = tuple(method(f, traits=None) for f in (take, divide, cut))


def test_a_method_works_on_its_context() -> None:
    account = Account()
    table = bind(METHODS, account)

    assert table["take"].run(table["take"].read([3])) == 7
    assert account.coins == 7


def test_duplicate_method_name_is_refused() -> None:
    table = bind(METHODS, Account())

    with pytest.raises(ValueError, match="two handlers: cut, divide, take"):
        combine(table, table)
    with pytest.raises(ValueError, match="two handlers: take"):
        bind((METHODS[0], METHODS[0]), Account())


def test_refusal_is_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CallRefused, match="not so many"):
        bind(METHODS, Account())["take"].run([11])

    assert capsys.readouterr().err == ""


def test_unexpected_exception_is_logged_with_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InternalError, match="internal error of the headless simulator in divide: ZeroDivisionError"):
        bind(METHODS, Account())["divide"].run([0])

    log = capsys.readouterr().err
    assert log.startswith("headless-simulator: internal error in divide\nTraceback")
    assert "account.coins // coins" in log


def test_connection_abort_passes_through() -> None:
    with pytest.raises(ConnectionAbortedError):
        bind(METHODS, Account())["cut"].run([])
