"""Read pickles of plain data and numpy arrays without executing them, and without ``pickle`` or numpy's reconstruction.

A pickle is a program for a stack machine. This reader implements the instructions of plain data only: it knows only the names
of ``pickle_values``, checks every length against the file before allocation, and counts repeated references like copies.
Torch tensors are not supported; save arrays.
"""

import codecs
import struct
from collections.abc import Callable
from pathlib import Path
from pickletools import opcodes
from typing import Any, Final

from uavsim.errors import InputError
from uavsim.escape import visible
from uavsim_benchmarks.evaluate.readers.json_stream import MAX_FILE_BYTES
from uavsim_benchmarks.evaluate.readers.pickle_values import NAMES, Array, Name, NotPlain, built, called

_CODE: Final = {op.name: ord(op.code) for op in opcodes}
_MOST_REPEATED: Final = 10_000_000
"""Limit of elements in repeated references: a few bytes can describe lists of lists without end."""
_FREE: Final = 1_000_000
_BYTES_EACH: Final = 4
"""Required bytes of the file per additional container or stored value: each takes 20 to 200 bytes of memory."""
_COPIES: Final = 4
"""Limit of copies per byte of the file beyond a million: a few bytes can encode a long text repeatedly."""
_MOST_MARKS: Final = 1000
_LONGEST_INTEGER: Final = 16  # bytes
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
    except (IndexError, KeyError, ValueError, TypeError, struct.error, RecursionError) as error:
        raise InputError(f"{path}: not a pickle, or truncated: {type(error).__name__}") from error


class _Machine:
    """The stack machine: stack, memo, and one method for each kind of instruction."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []  # stacks under the marks
        self._memo: dict[int, Any] = {}
        self._repeated = self._made = self._copied = 0
        self._shares = False  # whether a container was referenced again

    def result(self) -> Any:
        """Execute the instructions up to STOP, and return the result."""
        data, steps, stop = self._data, _STEPS, _CODE["STOP"]
        while (code := data[self._at]) != stop:
            self._at += 1
            step = steps[code]
            if step is None:
                raise NotPlain(f"instruction {chr(code)!r} is not allowed")
            step(self)
        (found,) = self._stack
        if self._below or isinstance(found, (Array, Name)):
            raise ValueError("values remain on the stack")
        if self._shares:
            _refuse_cycles(found)
        return found

    def take(self, count: int) -> bytes:
        """Return the next bytes of the file; a truncated file is an error."""
        end = self._at + count
        if count < 0 or end > len(self._data):
            raise ValueError("truncated")
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self, form: str) -> Any:
        """Return the next number of the file."""
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return value

    def line(self) -> bytes:
        """Return the bytes up to the end of the line."""
        end = self._data.index(b"\n", self._at)
        taken = self.take(end - self._at)
        self._at = end + 1
        return taken

    def integer(self, size: int) -> int:
        """Return the next integer of ``size`` bytes."""
        if size > _LONGEST_INTEGER:
            raise NotPlain(f"an integer has more than {_LONGEST_INTEGER} bytes")
        return int.from_bytes(self.take(size), "little", signed=True)

    def make(self, container: Any) -> None:
        """Push a new container, within the limit of containers."""
        self._made += 1
        if (self._made - _FREE) * _BYTES_EACH > len(self._data):
            raise NotPlain("it has too many empty containers for its size")
        self._stack.append(container)

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
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

    def store_next(self) -> None:
        """Store the last value under the next memo number."""
        self.store(len(self._memo))

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

    def named(self, module: Any, name: Any) -> None:
        """Push an allowed name."""
        found = Name(*(_utf8(part) if isinstance(part, bytes) else str(part) for part in (module, name)))
        if found not in NAMES:
            raise NotPlain(f"{visible(found.module[:80])}.{visible(found.name[:80])} is not allowed")
        self._stack.append(found)

    def name_of_stack(self) -> None:
        """Push an allowed name; the last two values are its parts."""
        name, module = self.pop(), self.pop()
        self.named(module, name)

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
        target.update(items)

    def set_items(self, items: list[Any]) -> None:
        """Extend the dictionary below."""
        target = self._stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise ValueError("not a dictionary")
        target.update(zip(items[::2], items[1::2], strict=True))

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


def _integer(text: bytes) -> int | bool:
    if len(text) > 2 * _LONGEST_INTEGER:
        raise NotPlain(f"an integer has more than {2 * _LONGEST_INTEGER} digits")
    return {b"00": False, b"01": True}[text] if text in {b"00", b"01"} else int(text.rstrip(b"L"))


def _quoted(text: bytes) -> str:
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in {b"'", b'"'}:
        raise ValueError("not a quoted string")
    return codecs.escape_decode(text[1:-1])[0].decode("latin1")


def _utf8(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


_METHODS: Final[dict[str, Callable[[_Machine], object]]] = {
    "PROTO": lambda m: m.take(1),
    "FRAME": lambda m: m.take(8),
    "MARK": _Machine.mark,
    "NONE": lambda m: m.push(None),
    "NEWTRUE": lambda m: m.push(True),
    "NEWFALSE": lambda m: m.push(False),
    "INT": lambda m: m.push(_integer(m.line())),
    "LONG": lambda m: m.push(_integer(m.line())),
    "BININT": lambda m: m.push(m.number("<i")),
    "BININT1": lambda m: m.push(m.number("<B")),
    "BININT2": lambda m: m.push(m.number("<H")),
    "LONG1": lambda m: m.push(m.integer(m.number("<B"))),
    "LONG4": lambda m: m.push(m.integer(m.number("<i"))),
    "FLOAT": lambda m: m.push(float(m.line())),
    "BINFLOAT": lambda m: m.push(m.number(">d")),
    "STRING": lambda m: m.push(_quoted(m.line())),
    "BINSTRING": lambda m: m.push(m.take(m.number("<i")).decode("latin1")),
    "SHORT_BINSTRING": lambda m: m.push(m.take(m.number("<B")).decode("latin1")),
    "BINBYTES": lambda m: m.push(m.take(m.number("<I"))),
    "SHORT_BINBYTES": lambda m: m.push(m.take(m.number("<B"))),
    "BINBYTES8": lambda m: m.push(m.take(m.number("<Q"))),
    "BYTEARRAY8": lambda m: m.push(bytearray(m.take(m.number("<Q")))),
    "UNICODE": lambda m: m.push(m.line().decode("raw-unicode-escape")),
    "BINUNICODE": lambda m: m.push(_utf8(m.take(m.number("<I")))),
    "SHORT_BINUNICODE": lambda m: m.push(_utf8(m.take(m.number("<B")))),
    "BINUNICODE8": lambda m: m.push(_utf8(m.take(m.number("<Q")))),
    "EMPTY_LIST": lambda m: m.make([]),
    "EMPTY_TUPLE": lambda m: m.push(()),
    "EMPTY_DICT": lambda m: m.make({}),
    "EMPTY_SET": lambda m: m.make(set()),
    "LIST": lambda m: m.make(m.since_mark()),
    "TUPLE": lambda m: m.make(tuple(m.since_mark())),
    "TUPLE1": lambda m: m.tuple_of(1),
    "TUPLE2": lambda m: m.tuple_of(2),
    "TUPLE3": lambda m: m.tuple_of(3),
    "DICT": _Machine.dict_of,
    "FROZENSET": lambda m: m.make(frozenset(m.since_mark())),
    "APPEND": lambda m: m.append([m.pop()]),
    "APPENDS": lambda m: m.append(m.since_mark()),
    "ADDITEMS": lambda m: m.add(m.since_mark()),
    "SETITEM": lambda m: m.set_items([m._stack.pop(-2), m.pop()]),
    "SETITEMS": lambda m: m.set_items(m.since_mark()),
    "PUT": lambda m: m.store(int(m.line())),
    "BINPUT": lambda m: m.store(m.number("<B")),
    "LONG_BINPUT": lambda m: m.store(m.number("<I")),
    "MEMOIZE": _Machine.store_next,
    "GET": lambda m: m.push_memo(int(m.line())),
    "BINGET": lambda m: m.push_memo(m.number("<B")),
    "LONG_BINGET": lambda m: m.push_memo(m.number("<I")),
    "GLOBAL": lambda m: m.named(m.line(), m.line()),
    "STACK_GLOBAL": _Machine.name_of_stack,
    "REDUCE": _Machine.call,
    "BUILD": _Machine.build,
}
_STEPS: Final = [next((step for name, step in _METHODS.items() if _CODE[name] == code), None) for code in range(256)]
