"""Words of the commands, as one writes them in Python."""

from __future__ import annotations

import re
from typing import Mapping, Sequence

# Flags that are arguments of the same name.
_ARGUMENTS = ("num_partitions", "machine", "mesh", "rates", "strategies", "args", "full", "memory", "free", "fix")
_ONE_SHARD = re.compile(r""" --shard (["'])(.*?)=([\[{].*?)\1(?= --shard | \(|$)""", re.MULTILINE)
_WORDS = [
    (re.compile(r" \(--help explains the flags\)"), ""),
    (re.compile(r"--explain=full(_json)?\b"), "explain(full=True)"),
    (re.compile(r"--explain without -o\b"), "explain()"),
    (re.compile(r"--explain says why, -o FILE writes it\b"), "partition(shardings=found.shardings).explain() says why"),
    (re.compile(r"--stats=json\b"), "describe()"),
    (re.compile(r"--set\b"), "settings"),
    (re.compile(r"--expect=FILE\.npz"), "expected=RESULTS"),
    (re.compile(r"--expect\b"), "expected"),
    (re.compile(r"--(advise|what_if|why|explain|check)\b(?!=)"), r"\1()"),
    (re.compile(r"--shard\b"), "shardings"),
    (re.compile(rf"--({'|'.join(_ARGUMENTS)})\b"), r"\1"),
]


def _shardings(match: re.Match[str]) -> str:
    pairs = [f"{name!r}: {sharding!r}" for _, name, sharding in _ONE_SHARD.findall(match.group(0))]
    return f" shardings={{{', '.join(pairs)}}}"


def in_python(text: str) -> str:
    """A message of a command, with keyword arguments and methods in the place of its flags.

    >>> in_python("the module has no sharding; give one with --num_partitions=8 --shard 'w={devices=[8]<=[8]}'")
    "the module has no sharding; give one with num_partitions=8 shardings={'w': '{devices=[8]<=[8]}'}"
    >>> in_python("--advise tries more; --why: no array is named 'x' (--help explains the flags)")
    "advise() tries more; why(): no array is named 'x'"
    """
    text = re.sub(rf"(?:{_ONE_SHARD.pattern})+", _shardings, text, flags=re.MULTILINE)
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def in_authors_names(message: str, names: Mapping[str, str]) -> str:
    """A message whose place, COMPUTATION/INSTRUCTION, is the author's name of a parameter, where it is one.

    >>> in_authors_names("bytes: main.1/p__w__.1: uneven; main.1/dot.2: odd", {"p__w__.1": "p['w']"})
    "bytes: p['w']: uneven; main.1/dot.2: odd"
    """
    return re.sub(r"(?<!\S)[\w.-]+/([\w.-]+)(?=: )", lambda match: names.get(match.group(1)) or match.group(0), message)


def with_places(text: str, places: Sequence[str]) -> str:
    """A text in which results have their places in the tree that a function of jax returns.

    >>> print(with_places("output{1} of output{2}, shardings={'output{1}': P()}", ["result[0]", "result[1]['w']"]))
    result[1]['w'] of output{2}, shardings={"result[1]['w']": P()}
    """

    def named(match: re.Match[str]) -> str:
        number = int(match.group(1) or match.group(2))
        if number >= len(places):
            return match.group(0)
        return repr(places[number]) if match.group(1) else places[number]

    return re.sub(r"'output\{(\d+)\}'|\boutput\{(\d+)\}", named, text)


# Lines of a screen: what a longer table hides stands above it (explain/diagnosis.h).
_SCREEN = 40


def tried_lines(table: str) -> str:
    """The lines of a table that tell of changes that were tried.

    >>> tried_lines("sent per device in all: 9 B\\ntried: w sends 0 B\\n  instead of 9 B\\n--advise tries more\\n")
    'tried: w sends 0 B\\n  instead of 9 B\\n--advise tries more\\n'
    """
    found = re.search(r"^(?:tried: .*\n(?:  .*\n)*)+(?:--advise .*\n)?", table, re.MULTILINE)
    return found.group(0) if found else ""


def in_order(tried: str, table: str) -> str:
    """A table below or above the lines of `tried_lines`, so that these are on its first screen."""
    return tried + table if (tried + table).count("\n") > _SCREEN else table + tried
