"""Reads and changes a few fields of HLO's protos, without their code."""

from __future__ import annotations

from typing import Callable, Iterator, Union

from toroid._commands import ToroidError

_BYTES = 2  # The wire type of strings and messages.
_FIXED = {1: 8, 5: 4}  # Wire types of so many bytes.
# HloProto.hlo_module, HloModuleProto.stack_frame_index, StackFrameIndexProto.file_names.
_HLO_MODULE, _STACK_FRAME_INDEX, _FILE_NAMES = 1, 17, 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _written(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def _fields(data: bytes) -> Iterator[tuple[int, bytes, Union[bytes, None]]]:
    """Number, whole bytes and content of each field; content None if it is a number."""
    at = 0
    try:
        while at < len(data):
            begin = at
            tag, at = _varint(data, at)
            content = None
            if tag & 7 == _BYTES:
                length, at = _varint(data, at)
                content = data[at : at + length]
                at += length
            elif tag & 7 in _FIXED:
                at += _FIXED[tag & 7]
            elif tag & 7 == 0:
                _, at = _varint(data, at)
            else:
                raise IndexError
            if at > len(data):
                raise IndexError
            yield tag >> 3, data[begin:at], content
    except IndexError:
        raise ToroidError("a proto that is cut off or is none") from None


def _field(number: int, content: bytes) -> bytes:
    return _written(number << 3 | _BYTES) + _written(len(content)) + content


def module_of_hlo_proto(proto: bytes) -> bytes:
    """The HloModuleProto in an HloProto.

    >>> module_of_hlo_proto(bytes([0x1A, 1, 7, 0x0A, 2, 5, 6]))
    b'\\x05\\x06'
    """
    for number, _, content in _fields(proto):
        if number == _HLO_MODULE and content is not None:
            return content
    raise ToroidError("an HloProto without a module")


def with_file_names(module: bytes, name: Callable[[str], str]) -> bytes:
    """An HloModuleProto whose source files have other names.

    >>> with_file_names(_field(17, _field(1, b"a.py") + _field(2, b"f")) + _field(1, b"m"), lambda file: "In[1]")
    b'\\x8a\\x01\\n\\n\\x05In[1]\\x12\\x01f\\n\\x01m'
    """
    out = []
    for number, whole, index in _fields(module):
        if number == _STACK_FRAME_INDEX and index is not None:
            parts = []
            for part, unchanged, file in _fields(index):
                named = part == _FILE_NAMES and file is not None
                parts.append(_field(part, name(file.decode()).encode()) if named and file is not None else unchanged)
            whole = _field(number, b"".join(parts))
        out.append(whole)
    return b"".join(out)
