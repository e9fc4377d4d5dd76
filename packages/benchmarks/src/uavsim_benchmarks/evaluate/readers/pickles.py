"""Read pickles of plain data and numpy arrays without executing them, and without ``pickle`` or numpy's reconstruction.

A pickle is a program for a stack machine. ``pickletools`` decodes its instructions and checks every length against the file.
This reader runs those of plain data only: it knows only the names of ``pickle_values``, and counts repeated references like
copies. Torch tensors are not supported; save arrays.
"""

from collections.abc import Callable
from pathlib import Path
from pickletools import genops
from typing import Any, Final

from uavsim.errors import InputError
from uavsim.escape import visible
from uavsim_benchmarks.evaluate.readers.json_stream import MAX_FILE_BYTES
from uavsim_benchmarks.evaluate.readers.pickle_values import NAMES, Array, Name, NotPlain, as_keys, built, called

_MOST_REPEATED: Final = 10_000_000
"""Limit of elements in repeated references: a few bytes can describe lists of lists without end."""
_FREE: Final = 1_000_000
_BYTES_EACH: Final = 4
"""Required bytes of the file per additional container or stored value: each takes 20 to 200 bytes of memory."""
_COPIES: Final = 4
"""Limit of copies per byte of the file beyond a million: a few bytes can encode a long text repeatedly."""
_MOST_MARKS: Final = 1000
_LONGEST_INTEGER: Final = 128  # bits
_HOLDS: Final = (dict, list, tuple, set, frozenset)


def read_pickle(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> Any:
    """Return the content of a pickle of plain data and arrays.

    Raises:
        InputError: the file is too large, damaged, or has a name that is not allowed; nothing was executed.
    """
    try:
        if path.stat().st_size > max_bytes:
            raise InputError(f"{path}: larger than {max_bytes / 1e9:.1f} GB; the limit for pickles")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        return _Machine(data).result()
    except NotPlain as error:
        raise InputError(f"{path}: refused without executing it: {error}; save plain lists and numpy arrays") from error
    except (IndexError, KeyError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: not a pickle, or truncated: {type(error).__name__}") from error


class _Machine:
    """The stack machine: stack, memo, and one method for each kind of instruction."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # stacks under the marks
        self._memo: dict[int, Any] = {}
        self._repeated = self._made = self._copied = 0
        self._shares = False  # whether a container was referenced again

    def result(self) -> Any:
        """Execute the instructions, and return the result."""
        for instruction, argument, _ in genops(self._data):
            step = _STEPS.get(instruction.name)
            if step is None:
                raise NotPlain(f"instruction {instruction.name} is not allowed")
            step(self, argument)
        (found,) = self._stack
        if self._below or isinstance(found, (Array, Name)):
            raise ValueError("values remain on the stack")
        if self._shares:
            _refuse_cycles(found)
        return found

    def make(self, container: Any) -> None:
        """Push a new container, within the limit of containers."""
        self._made += 1
        if (self._made - _FREE) * _BYTES_EACH > len(self._data):
            raise NotPlain("it has too many empty containers for its size")
        self._stack.append(container)

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self._stack.append(value)

    def push_integer(self, value: int) -> None:
        """Put an integer on the stack."""
        if value.bit_length() > _LONGEST_INTEGER:
            raise NotPlain(f"an integer has more than {_LONGEST_INTEGER} bits")
        self._stack.append(value)

    def pop(self) -> Any:
        """Take the last value."""
        return self._stack.pop()

    def since_mark(self) -> list[Any]:
        """Pop and return the values since the last mark."""
        items, self._stack = self._stack, self._below.pop()
        return items

    def mark(self) -> None:
        """Start a new stack above the present one."""
        if len(self._below) > _MOST_MARKS:
            raise NotPlain("containers are nested too deeply")
        self._below.append(self._stack)
        self._stack = []

    def store(self, number: int) -> None:
        """Store the last value in the memo."""
        self._memo[number] = self._stack[-1]
        if (len(self._memo) - _FREE) * _BYTES_EACH > len(self._data):
            raise NotPlain("it stores too many references for its size")

    def push_memo(self, number: int) -> None:
        """Push a value of the memo; its elements count again."""
        value = self._memo[number]
        if isinstance(value, Array):
            if value.value is None:
                raise NotPlain("an array is used before its data")
            value = value.value
        self._count_again(value)
        self._stack.append(value)

    def _count_again(self, value: Any) -> None:
        waiting = [value] if isinstance(value, _HOLDS) else []
        while waiting:
            each = waiting.pop()
            held = each.values() if isinstance(each, dict) else each
            waiting += [inner for inner in held if isinstance(inner, _HOLDS) and inner]
            self._shares = True
            self._repeated += len(each)
            if self._repeated > _MOST_REPEATED:
                raise NotPlain("it repeats the same containers too often")

    def named(self, module: str, name: str) -> None:
        """Push an allowed name."""
        found = Name(module, name)
        if found not in NAMES:
            raise NotPlain(f"{visible(module[:80])}.{visible(name[:80])} is not allowed")
        self._stack.append(found)

    def name_of_stack(self) -> None:
        """Push an allowed name; the last two values are its parts."""
        name, module = self.pop(), self.pop()
        self.named(str(module), str(name))

    def tuple_of(self, count: int) -> None:
        """Make a tuple of the last values."""
        if count > len(self._stack):
            raise IndexError(count)
        items = tuple(self._stack[len(self._stack) - count :])
        del self._stack[len(self._stack) - count :]
        self.make(items)

    def append(self, items: list[Any]) -> None:
        """Extend the list below."""
        target = self._stack[-1]
        if type(target) is not list:
            raise ValueError("not a list")
        target += items

    def add(self, items: list[Any]) -> None:
        """Extend the set below."""
        target = self._stack[-1]
        if type(target) is not set:
            raise ValueError("not a set")
        target.update(as_keys(items))

    def set_items(self, items: list[Any]) -> None:
        """Extend the dictionary below."""
        target = self._stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise ValueError("not a dictionary")
        target.update(zip(as_keys(items[::2]), items[1::2], strict=True))

    def dict_of(self) -> None:
        """Make a dictionary of the values since the mark."""
        items = self.since_mark()
        self.make({})
        self.set_items(items)

    def call(self) -> None:
        """Call an allowed name."""
        arguments, name = self.pop(), self.pop()
        self._count_copied(arguments)
        self.push(called(name, arguments))

    def build(self) -> None:
        """Apply the state of an array or a type."""
        state, target = self.pop(), self.pop()
        self._count_copied(state)
        self.push(built(target, state))

    def _count_copied(self, operand: Any) -> None:
        """Count the bytes that a call copies: references to texts are free, copies are not."""
        for each in operand if isinstance(operand, tuple) else ():
            self._copied += len(each) if isinstance(each, (str, bytes, bytearray)) else 0
        if self._copied - _FREE > _COPIES * len(self._data):
            raise NotPlain("it copies the same bytes too often")


def _refuse_cycles(found: Any) -> None:
    """Refuse containers that contain themselves, because traversal would not end."""
    waiting, above, done = [(found, False)], set[int](), set[int]()
    while waiting:
        each, left = waiting.pop()
        if left:
            above.remove(id(each))
            done.add(id(each))
        elif id(each) in above:
            raise NotPlain("a container contains itself")
        elif isinstance(each, (dict, list, tuple)) and id(each) not in done:
            above.add(id(each))
            waiting.append((each, True))
            waiting += [(held, False) for held in (each.values() if isinstance(each, dict) else each)]


_STEPS: Final[dict[str, Callable[[_Machine, Any], object]]] = {
    **dict.fromkeys(("PROTO", "FRAME", "STOP"), lambda _machine, _argument: None),
    **dict.fromkeys(("INT", "LONG", "BININT", "BININT1", "BININT2", "LONG1", "LONG4"), _Machine.push_integer),
    **dict.fromkeys(("FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING"), _Machine.push),
    **dict.fromkeys(("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"), _Machine.push),
    **dict.fromkeys(("BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"), _Machine.push),
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "MARK": lambda m, _: m.mark(),
    "EMPTY_LIST": lambda m, _: m.make([]),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "EMPTY_DICT": lambda m, _: m.make({}),
    "EMPTY_SET": lambda m, _: m.make(set()),
    "LIST": lambda m, _: m.make(m.since_mark()),
    "TUPLE": lambda m, _: m.make(tuple(m.since_mark())),
    "TUPLE1": lambda m, _: m.tuple_of(1),
    "TUPLE2": lambda m, _: m.tuple_of(2),
    "TUPLE3": lambda m, _: m.tuple_of(3),
    "DICT": lambda m, _: m.dict_of(),
    "FROZENSET": lambda m, _: m.make(frozenset(as_keys(m.since_mark()))),
    "APPEND": lambda m, _: m.append([m.pop()]),
    "APPENDS": lambda m, _: m.append(m.since_mark()),
    "ADDITEMS": lambda m, _: m.add(m.since_mark()),
    "SETITEM": lambda m, _: m.set_items([m._stack.pop(-2), m.pop()]),
    "SETITEMS": lambda m, _: m.set_items(m.since_mark()),
    "MEMOIZE": lambda m, _: m.store(len(m._memo)),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.store),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.push_memo),
    "GLOBAL": lambda m, module_and_name: m.named(*module_and_name.split(" ", 1)),
    "STACK_GLOBAL": lambda m, _: m.name_of_stack(),
    "REDUCE": lambda m, _: m.call(),
    "BUILD": lambda m, _: m.build(),
}
