"""Reads and changes a few fields of HLO's protos, without their code."""

from __future__ import annotations

from typing import Callable, Iterator, NamedTuple, Optional, Sequence, Union

from toroid._commands import ToroidError

_BYTES = 2  # The wire type of strings and messages.
_FIXED = {1: 8, 5: 4}  # Wire types of so many bytes.
# Of HloModuleProto, of HloComputationProto, of HloInstructionProto, of OpMetadata.
_COMPUTATIONS, _ENTRY_COMPUTATION_ID = 3, 6
_INSTRUCTIONS, _COMPUTATION_ID = 2, 5
_OPCODE, _METADATA, _PARAMETER_NUMBER = 2, 7, 9
_ROOT_ID, _ID, _OPERAND_IDS, _FRONTEND_ATTRIBUTES = 6, 35, 36, 68
_OP_NAME, _SOURCE_FILE, _SOURCE_LINE, _STACK_FRAME_ID = 2, 3, 4, 15
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


def _fields(data: bytes) -> Iterator[tuple[int, bytes, Union[bytes, int]]]:
    """Number, whole bytes and content of each field: bytes, or an integer."""
    at = 0
    try:
        while at < len(data):
            begin = at
            tag, at = _varint(data, at)
            content: Union[bytes, int] = 0
            if tag & 7 == _BYTES:
                length, at = _varint(data, at)
                content = data[at : at + length]
                at += length
            elif tag & 7 in _FIXED:
                at += _FIXED[tag & 7]
            elif tag & 7 == 0:
                content, at = _varint(data, at)
            else:
                raise IndexError
            if at > len(data):
                raise IndexError
            yield tag >> 3, data[begin:at], content
    except IndexError:
        raise ToroidError("a proto that is cut off or is none") from None


def _field(number: int, content: bytes) -> bytes:
    return _written(number << 3 | _BYTES) + _written(len(content)) + content


def module_in(proto: bytes, container: str) -> bytes:
    """The HloModuleProto in the proto that `hlo-convert` writes for an input in this container.

    >>> module_in(bytes([0x1A, 1, 7, 0x0A, 2, 5, 6]), "HloProto")
    b'\\x05\\x06'
    >>> module_in(bytes([0x0A, 4, 0x0A, 2, 5, 6]), "HloSnapshot"), module_in(b"\\5\\6", "HloModuleProto")
    (b'\\x05\\x06', b'\\x05\\x06')
    """
    if container == "HloModuleProto":
        return proto
    if container.endswith("streamed arguments"):  # The message behind its length, and the arguments behind it.
        length, at = _varint(proto, 0)
        proto = proto[at : at + length]
    # A snapshot holds an HloProto; all others, and what text becomes, hold the module.
    if container == "HloSnapshot":
        proto = _module_field(proto)
    return _module_field(proto)


def _module_field(proto: bytes) -> bytes:
    for number, _, content in _fields(proto):
        if number == _HLO_MODULE and isinstance(content, bytes):
            return content
    raise ToroidError("an HloProto without a module")


def with_file_names(module: bytes, name: Callable[[str], str]) -> bytes:
    """An HloModuleProto whose source files have other names.

    >>> with_file_names(_field(17, _field(1, b"a.py") + _field(2, b"f")) + _field(1, b"m"), lambda file: "In[1]")
    b'\\x8a\\x01\\n\\n\\x05In[1]\\x12\\x01f\\n\\x01m'
    """
    return _each(module, _STACK_FRAME_INDEX, lambda index: _each(index, _FILE_NAMES, lambda file: name(_text(file)).encode()))


class Origin(NamedTuple):
    """What an instruction is called and where it was written; 0: not known."""

    op_name: str
    file: str = ""
    line: int = 0


def with_origins(module: bytes, origin: Callable[[str, int], Optional[Origin]]) -> bytes:
    """An HloModuleProto with other metadata.

    Args:
      module: a serialized HloModuleProto.
      origin: by an instruction's op_name and, for a parameter of the program, its number (else -1), its metadata; None: as they are.
    """
    entry = _integer(module, _ENTRY_COMPUTATION_ID)

    def instruction(data: bytes, in_entry: bool) -> bytes:
        opcode, op_name, number = "", "", 0
        for field, _, content in _fields(data):
            if field == _OPCODE:
                opcode = _text(content)
            elif field == _PARAMETER_NUMBER and isinstance(content, int):
                number = content
            elif field == _METADATA and isinstance(content, bytes):
                op_name = next((_text(name) for part, _, name in _fields(content) if part == _OP_NAME), "")
        found = origin(op_name, number if in_entry and opcode == "parameter" else -1)
        if found is None:
            return data
        metadata = _field(_OP_NAME, found.op_name.encode())
        if found.line > 0:
            metadata += _field(_SOURCE_FILE, found.file.encode()) + _number(_SOURCE_LINE, found.line) + _number(_STACK_FRAME_ID, 0)
        return data + _field(_METADATA, metadata)  # A message that comes twice is one with the later values.

    def computation(data: bytes) -> bytes:
        in_entry = _integer(data, _COMPUTATION_ID) == entry
        return _each(data, _INSTRUCTIONS, lambda each: instruction(each, in_entry))

    return _each(module, _COMPUTATIONS, computation)


def with_result_names(module: bytes, names: Sequence[str]) -> bytes:
    """An HloModuleProto whose results have the attribute that the commands read their names from (hlo/analysis/output_names.h).

    Args:
      module: a serialized HloModuleProto.
      names: of all results, such as "result['w']"; the module stays as it is if it has another number of them.
    """
    entry = _integer(module, _ENTRY_COMPUTATION_ID)

    def computation(data: bytes) -> bytes:
        if _integer(data, _COMPUTATION_ID) != entry:
            return data
        root = _integer(data, _ROOT_ID)
        instructions = [content for number, _, content in _fields(data) if number == _INSTRUCTIONS and isinstance(content, bytes)]
        results = [root]
        for each in instructions:
            if _integer(each, _ID) == root and _opcode(each) == "tuple":
                results = _operands(each)
        if len(results) != len(names):
            return data
        # A value that is returned twice has its first name; an argument that is returned keeps its own.
        named = {result: name for result, name in reversed(list(zip(results, names)))}

        def instruction(data: bytes) -> bytes:
            name = named.get(_integer(data, _ID))
            if name is None or _opcode(data) == "parameter":
                return data
            pair = _field(1, b"jax.result_info") + _field(2, name.encode("utf-8", "replace"))
            return data + _field(_FRONTEND_ATTRIBUTES, _field(1, pair))  # Adds to those that are there.

        return _each(data, _INSTRUCTIONS, instruction)

    return _each(module, _COMPUTATIONS, computation)


def _opcode(instruction: bytes) -> str:
    return next((_text(content) for field, _, content in _fields(instruction) if field == _OPCODE), "")


def _operands(instruction: bytes) -> list[int]:
    ids: list[int] = []
    for field, _, content in _fields(instruction):
        if field == _OPERAND_IDS and isinstance(content, int):
            ids.append(content)
        elif field == _OPERAND_IDS and isinstance(content, bytes):  # Packed.
            at = 0
            while at < len(content):
                value, at = _varint(content, at)
                ids.append(value)
    return ids


def _integer(message: bytes, number: int) -> int:
    return next((content for field, _, content in _fields(message) if field == number and isinstance(content, int)), 0)


def _each(message: bytes, number: int, change: Callable[[bytes], bytes]) -> bytes:
    """A message with each field of a number changed."""
    return b"".join(
        _field(number, change(content)) if field == number and isinstance(content, bytes) else whole
        for field, whole, content in _fields(message)
    )


def _number(number: int, value: int) -> bytes:
    return _written(number << 3) + _written(value)


def _text(content: Union[bytes, int]) -> str:
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else ""
