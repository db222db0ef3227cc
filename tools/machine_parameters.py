#!/usr/bin/env python3
"""Writes docs/machine_parameters.md: every number of TPU v3's machine file, what it is, where it comes from, and what it moves.

    tools/machine_parameters.py [--check]

Values and sources are those of simulator/machines/tpu_v3.textproto, where a comment behind a field, or above fields, is their
source; what a field is, the .proto files beside it say; what 10 % more of it moves, benchmarks/results/sensitivity.txt
(`bazel run -c opt //benchmarks:chip_model -- --sensitivity`). With --check nothing is written, and the exit status is 1 if the
page is out of date.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MACHINES = 'simulator/machines'
MACHINE = f'{MACHINES}/tpu_v3.textproto'
SENSITIVITY = 'benchmarks/results/sensitivity.txt'
PAGE = 'docs/machine_parameters.md'
# The blocks of the machine file, their titles, and the messages of their fields.
PARTS = [('core', 'The core'), ('core.compiler', 'What the compiler goes by'), ('measured', 'Where measurements say otherwise'),
         ('host', 'The host'), ('network', 'The network')]
HEADER = """# Parameters of TPU v3

Written by `tools/machine_parameters.py` from [tpu_v3.textproto](../simulator/machines/tpu_v3.textproto); do not edit. Other
machines: their files in `simulator/machines`, each number with its source. Any number can be changed for one run:
`hlo-simulate --set core.memory.bytes_per_second=500e9`.

The third column of the core is what 10 % more of the parameter does to the time of the 90 one-core programs of batch 00, in the
mean and at most, and to the layers of GShard's figure 8 with 2,048 experts
([sensitivity.txt](../benchmarks/results/sensitivity.txt)). Empty: nothing there hangs on it. The network's are in
[network_model.md](network_model.md#parameters).
"""
# Words with which headings of compiler.proto begin.
HEADINGS = ('Fusion', 'Layout', 'Rewrites', 'Memory', 'Facts', 'How')
FIELD = re.compile(r'([a-z_0-9]+): *("[^"]*"|[-+.e0-9]+)')


def read(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return f.read()


class Field:
    def __init__(self, path, value, source):
        self.path, self.value, self.source = path, value, source


def fields_of(text):
    """The fields of a text proto in their order: path, value, and the comment that stands for their source.

    A comment behind a field is its source; one of lines of its own that of all fields below, up to the next such comment or an
    empty line; one above a block that of all fields in it which have no other.
    """
    fields, path, of_blocks = [], [], ['']
    above, last, continued = '', '', False  # `continued`: the line before was a comment of its own.
    for line in text.split('\n'):
        code, _, comment = line.partition('#')
        code, comment = code.strip(), comment.strip()
        if not code:
            above = f'{above} {comment}' if continued and comment else comment or of_blocks[-1]
            continued = bool(comment)
            continue
        continued = False
        same = re.match(r'(?:the same|likewise)(?:[,:] (.*))?$', comment)
        source = (f'{last}; {same[1]}' if same[1] else last) if same else comment or above
        if 'these' in comment:
            above = comment
        last = source
        for token in re.findall(r'[a-z_0-9]+ *\{|\}|[a-z_0-9]+: *(?:"[^"]*"|\[[^]]*\]|[-+.e0-9]+)', code):
            if token.endswith('{'):
                path.append(token[:-1].strip())
                of_blocks.append(source)
                above = source
            elif token == '}':
                path.pop()
                of_blocks.pop()
                above = of_blocks[-1]
            elif FIELD.fullmatch(token):
                name, value = FIELD.fullmatch(token).groups()
                fields.append(Field('.'.join(path + [name]), value, source))
    return fields


def meanings():
    """By message and field: the first sentence of the comment that a .proto file has for it."""
    meaning = {}
    types = {}
    for name in ('core.proto', 'network.proto', 'compiler.proto', 'machine.proto'):
        message, comment, fresh = '', '', True
        for line in read(f'{MACHINES}/{name}').split('\n'):
            line = line.strip()
            start = re.match(r'message (\w+) \{', line)
            field = re.match(r'(?:repeated |optional )?(\w+) (\w+) = \d+;(?: *// *(.*))?', line)
            if start:
                message, comment = start[1], ''
            elif line.startswith('//'):
                comment = line[2:].strip() if fresh else f'{comment} {line[2:].strip()}'
                fresh = False
                continue
            elif field:
                types[message, field[2]] = field[1]
                meaning[message, field[2]] = field[3] or comment
            elif line:
                comment = ''
            fresh = True
    return meaning, types


def sentence_of(text):
    """The first sentence that is no heading of those behind it."""
    sentences = [s.strip() for s in re.split(r'(?<=[a-z)])\. ', text + ' ') if s.strip()]
    while len(sentences) > 1 and len(sentences[0].split()) <= 7 and sentences[0].split()[0] in HEADINGS:
        sentences.pop(0)
    return sentences[0].rstrip('.') if sentences else ''


def cell(text):
    return text.replace('|', '\\|')


def page():
    meaning, types = meanings()
    moved = {}
    for line in read(SENSITIVITY).split('\n'):
        cells = line.split()
        if len(cells) == 5 and cells[1].endswith('%'):
            moved[cells[0]] = f'{cells[1][:-1]}, {cells[2][:-1]} %; {cells[4][:-1]} %'
    parts = {name: [] for name, _ in PARTS}
    for field in fields_of(read(MACHINE)):
        name = max((p for p, _ in PARTS if field.path.startswith(p + '.')), key=len, default='')
        if name:
            parts[name].append(field)
    text = HEADER
    for name, title in PARTS:
        message = {'core': 'CoreSpec', 'core.compiler': 'CompilerSpec', 'measured': 'CoreSpec', 'host': 'HostSpec',
                   'network': 'NetworkSpec'}[name]
        text += f'\n## {title}: `{name}`\n\n'
        with_moves = name in ('core', 'measured')
        head = ['parameter', 'value'] + (['10 % more moves'] if with_moves else []) + ['what it is', 'where it comes from']
        text += f'| {" | ".join(head)} |\n|{" --- |" * len(head)}\n'
        before = ['', '']
        for field in parts[name]:
            path = field.path[len(name) + 1:]
            owner = message
            for step in path.split('.')[:-1]:
                owner = types.get((owner, step), owner)
            words = [sentence_of(meaning.get((owner, path.split('.')[-1]), '')), field.source]
            moves = [moved.get(path, '')] if with_moves else []
            said = ['as above' if new and new == old else new for new, old in zip(words, before)]
            text += f'| {" | ".join(cell(c) for c in [f"`{path}`", field.value, *moves, *said])} |\n'
            before = words
    return text


def main():
    if sys.argv[1:] not in ([], ['--check']):
        sys.exit(__doc__)
    text = page()
    target = os.path.join(ROOT, PAGE)
    if sys.argv[1:] == ['--check']:
        if not os.path.exists(target) or read(PAGE) != text:
            sys.exit(f'{PAGE} is out of date: run tools/machine_parameters.py')
        return
    with open(target, 'w', encoding='utf-8') as f:
        f.write(text)


main()
