#!/usr/bin/env python3
"""Writes the BUILD.bazel files of the C++ folders from the sources' own #include lines.

    tools/generate_build.py [--check]

One target per file pair: NAME.h + NAME.cc is cc_library NAME, NAME_test.cc is cc_test NAME_test, NAME_main.cc is
a cc_binary NAME, NAME_benchmark.cc is a cc_binary on Google Benchmark. A comment line
`// BUILD: attribute = value` in a source adds that attribute to its target,
`// BUILD: per_level` compiles it for each level of x86-64 (runtime/loops/per_level.h),
`// BUILD: srcs += "a.cc"` in a header adds further sources to its target, `// BUILD: embed "a.textproto"` in a source
makes STEM_embedded.inc, whose rows {"a.textproto", R"(...)"} hold those files, and `// BUILD: exports "a.css"` lets sources of other
folders embed a file, as "//FOLDER:a.css". NAME.proto makes the libraries NAME_proto
and NAME_cc_proto. The mains of commands/ are libraries, and their binaries are in the packages of the parts (COMMANDS); the
archive that users take away holds them by dist/commands.bzl, which is written too.
A target that uses a part that is not for it (USERS) is an error, and so is a library that uses a folder above its own
(FLOORS). With --check nothing is written, and the exit status is 1 if a file is out of date.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ['hlo', 'partitioner', 'explain', 'runtime', 'simulator', 'commands', 'examples', 'benchmarks', 'tests']
# The top folders that may use each of them, besides itself.
USERS = {
    'hlo': ['partitioner', 'explain', 'runtime', 'simulator', 'commands', 'examples', 'benchmarks', 'tests'],
    'partitioner': ['explain', 'commands', 'examples', 'benchmarks', 'tests'],
    'explain': ['commands', 'examples', 'benchmarks', 'tests'],
    'runtime': ['commands', 'examples', 'benchmarks', 'tests'],
    'simulator': ['commands', 'examples', 'benchmarks', 'tests'],
    'commands': ['tests'],
    'examples': ['benchmarks', 'tests'],
    'benchmarks': ['tests'],
    'tests': ['benchmarks'],
}
# The mains of commands/, and the binaries that link them.
COMMANDS = {
    'hlo_convert_main': '//hlo:hlo-convert',
    'hlo_diff_main': '//explain:hlo-diff',
    'hlo_partition_main': '//partitioner:hlo-partition',
    'hlo_run_main': '//runtime:hlo-run',
    'hlo_simulate_main': '//simulator:hlo-simulate',
}
# The folders inside each part, from the ground up: a library uses its own folder and those below it. '' is the part's own
# folder. Folders that stand on one line use each other.
FLOORS = {
    'hlo': ['base', 'page', 'proto', '', 'ir', 'devices', 'ops', 'builder', 'io stablehlo stablehlo/write', 'analysis',
            'cost', 'passes', 'diff', 'gradient/sweep', 'gradient/rules', 'gradient/remat', 'gradient'],
    'partitioner': ['choice', 'spmd', 'reshard', 'ops', 'assign', 'propagation', 'prepare', 'provenance', 'plan', 'rewrite',
                    'search', 'stages', 'sharding_search'],
    'runtime': ['loops', 'native', 'transport', 'mesh', 'plan', 'groups', 'moves', 'dynamic', 'kernels', 'kernels/linear_algebra', 'collectives',
                'engine', 'numerics', 'partitioned', 'arguments', 'check'],
    'simulator': ['machines', 'rules', 'network', 'collectives', 'schedule', 'program', 'memory', 'chip', 'compiler/rewrites',
                  'compiler/layout', 'compiler/fusion', 'compiler/memory', 'compiler', 'simple', 'prediction', 'report', 'stages', 'cost'],
}
# Folders of a part that do not use each other, whichever stands above, nor do the folders inside of them.
APART = {'simulator': [('chip', 'compiler')]}
SKIPPED = {'hlo/proto', 'examples/workspace'}
# The libraries that other workspaces use, by folder (examples/workspace).
PUBLIC = {
    'explain': ['explain_table'],
    'hlo/analysis': ['module_stats'],
    'hlo/base': ['status'],
    'hlo/builder': ['builder'],
    'hlo/io': ['file', 'hlo_text'],
    'partitioner/stages': ['spmd_partitioner'],
    'runtime/arguments': ['random_arguments'],
    'runtime/numerics': ['compare'],
    'runtime/partitioned': ['run_partitioned'],
    'simulator/stages': ['simulate'],
}
EXTERNAL = [
    ('absl/', '@com_google_absl//:absl'),
    ('google/protobuf/', '@com_google_protobuf//:protobuf'),
    ('Eigen/', '@eigen//:eigen'),
    ('unsupported/Eigen/', '@eigen//:eigen'),
    ('gtest/', '@com_google_googletest//:gtest_main'),
    ('gmock/', '@com_google_googletest//:gtest_main'),
    ('benchmark/', '@com_google_benchmark//:benchmark'),
    ('CLI/', '@cli11//:cli11'),
    ('nlohmann/', '@nlohmann_json//:json'),
    ('zlib.h', '@zlib//:zlib'),
    ('zip.h', '@libzip//:zip'),
    ('mimalloc.h', '@mimalloc//:mimalloc'),
    ('asmjit/', '@asmjit//:asmjit'),
    ('mpi.h', '@openmpi//:mpi'),
    ('pocketfft_hdronly.h', '@pocketfft//:pocketfft'),
]
PROTOS = {'hlo/proto/hlo.pb.h': '//hlo/proto:hlo_cc_proto', 'hlo/proto/xla_data.pb.h': '//hlo/proto:xla_data_cc_proto'}
IMPORT = re.compile(r'^import "([^"]+)";', re.M)
INCLUDE = re.compile(r'^\s*#include\s+["<]([^">]+)[">]', re.M)
MARKER = re.compile(r'^// BUILD: (.+)$', re.M)


def read(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


def markers(path):
    """The attributes that the comments of `path` add. A marker that spans lines or follows other words is an error."""
    text = read(path)
    found = MARKER.findall(text)
    if len(found) != len(re.findall(r'^//.*\bBUILD: ', text, re.M)) or any(f.endswith('=') for f in found):
        sys.exit(f'{path}: a BUILD: marker has a comment line of its own')
    return found


def includes(path):
    return INCLUDE.findall(read(path))


def label_of(header, package, own):
    """The label that provides `header`; None for system headers and the target's own."""
    if header in PROTOS:
        return PROTOS[header]
    for prefix, label in EXTERNAL:
        if header.startswith(prefix):
            return label
    folder, name = os.path.split(header)
    stem = name.rsplit('.', 1)[0]
    if name.endswith('.pb.h'):
        stem = name[:-len('.pb.h')] + '_cc_proto'
        return ':' + stem if folder == package else f'//{folder}:{stem}'
    if not os.path.exists(os.path.join(ROOT, header)):
        return None
    if folder == package and stem == own:
        return None
    return ':' + stem if folder == package else f'//{folder}:{stem}'


def string_list(name, values):
    if not values:
        return ''
    if len(values) == 1:
        return f'    {name} = ["{values[0]}"],\n'
    return f'    {name} = [\n' + ''.join(f'        "{v}",\n' for v in values) + '    ],\n'


def proto_targets(package, name):
    stem = name[:-len('.proto')]
    deps = []
    for other in sorted(IMPORT.findall(read(f'{package}/{name}'))):
        folder, imported = os.path.split(other)
        label = imported[:-len('.proto')] + '_proto'
        deps.append(':' + label if folder == package else f'//{folder}:{label}')
    return (f'proto_library(\n    name = "{stem}_proto",\n' + string_list('srcs', [name]) + string_list('deps', deps) + ')\n\n'
            f'cc_proto_library(\n    name = "{stem}_cc_proto",\n' + string_list('deps', [f':{stem}_proto']) + ')\n')


# A row of C++ for each file: its name, and its content as a raw string.
EMBED = r'''genrule(
    name = "{stem}_embedded",
{srcs}    outs = ["{stem}_embedded.inc"],
    cmd = """for f in $(SRCS); do printf '{{"%s", R"embedded(' $$(basename $$f); cat $$f; printf ')embedded"}},\\n'; done >$@""",
)

'''


def floor_of(folder):
    """The floor of a folder in its part; None in parts without floors. A folder that FLOORS lacks is an error."""
    part, _, inside = folder.partition('/')
    if part not in FLOORS:
        return None
    for floor, names in enumerate(FLOORS[part]):
        if inside in names.split(' '):
            return floor
    sys.exit(f'{folder} has no floor: add it to FLOORS in tools/generate_build.py, above the folders that it uses')


def check_users(package, name, deps):
    """No target uses a top folder that is not for its own."""
    top = package.split('/')[0]
    for dep in deps:
        other = dep[2:].split(':')[0].split('/')[0] if dep.startswith('//') else top
        if other != top and top not in USERS[other]:
            sys.exit(f'{package}:{name} must not depend on {dep} (USERS in tools/generate_build.py)')


def are_apart(part, folder, other):
    """Whether APART keeps the folders of `part`, named without it, from using each other."""
    def is_in(inside, top):
        return inside == top or inside.startswith(top + '/')
    return any((is_in(folder, a) and is_in(other, b)) or (is_in(folder, b) and is_in(other, a))
               for a, b in APART.get(part, []))


def check_floors(package, name, deps):
    """No library uses a folder above its own, or one that is to be apart from it."""
    part, _, inside = package.partition('/')
    for dep in deps:
        other = dep[2:].split(':')[0] if dep.startswith('//') else package
        if other.split('/')[0] == package.split('/')[0] and floor_of(other) > floor_of(package):
            sys.exit(f'{package}:{name} must not depend on {dep}, which stands above it (FLOORS in tools/generate_build.py)')
        if other.split('/')[0] == part and are_apart(part, inside, other.partition('/')[2]):
            sys.exit(f'{package}:{name} must not depend on {dep}: they are kept apart (APART in tools/generate_build.py)')


def target(package, stem, files):
    """The target of `files`, which have the name `stem` and those that join them."""
    kind, name = 'cc_library', stem
    if stem.endswith('_test'):
        kind = 'cc_test'
    elif stem.endswith('_main') and stem not in COMMANDS:
        kind, name = 'cc_binary', stem[:-len('_main')]
    elif stem.endswith('_benchmark'):
        kind, name = 'cc_binary', stem[:-len('_benchmark')]
    deps, attributes, embedded, exported = set(), [], [], []
    for f in files:
        taken = {f'{package}/{own}' for own in files}
        deps.update(filter(None, (label_of(h, package, stem) for h in includes(f'{package}/{f}') if h not in taken)))
        for line in markers(f'{package}/{f}'):
            if line.startswith('deps += '):
                deps.update(re.findall(r'"([^"]+)"', line))
            elif line.startswith('srcs += '):
                continue
            elif line == 'per_level':
                kind = 'cc_library_per_level'
            elif line.startswith('exports '):
                exported += re.findall(r'"([^"]+)"', line)
            elif line.startswith('embed '):
                embedded += re.findall(r'"([^"]+)"', line)
            else:
                attributes.append(f'    {line},\n')
    if kind == 'cc_test':
        deps.add('@com_google_googletest//:gtest_main')
        if not any('size =' in a for a in attributes):
            attributes.insert(0, '    size = "small",\n')
    check_users(package, name, deps)
    if kind.startswith('cc_library') and package.split('/')[0] in FLOORS:
        check_floors(package, name, deps)
    if stem in COMMANDS:
        attributes.append(string_list('visibility', ['//dist:__pkg__', COMMANDS[stem].split(':')[0] + ':__pkg__']))
    if stem in PUBLIC.get(package, []):
        attributes.append('    visibility = ["//visibility:public"],\n')
    order = sorted(deps, key=lambda d: (d.startswith('@'), not d.startswith(':'), d))
    out = EMBED.format(stem=stem, srcs=string_list('srcs', embedded)) if embedded else ''
    out += 'exports_files([\n' + ''.join(f'    "{f}",\n' for f in exported) + '])\n\n' if exported else ''
    out += f'{kind}(\n    name = "{name}",\n'
    out += string_list('srcs', [f for f in files if f.endswith('.cc')])
    if kind.startswith('cc_library'):
        out += string_list('hdrs', [f for f in files if f.endswith('.h')])
        generated = [f'{stem}_embedded.inc'] if embedded else []
        out += string_list('textual_hdrs', [f for f in files if f.endswith('.inc')] + generated)
        # Otherwise `bazel build //...` compiles every object twice, for a shared library that nothing loads.
        out += '    linkstatic = True,\n'
    return out + ''.join(attributes) + string_list('deps', order) + ')\n'


def build_file(package):
    stems = {}
    for f in sorted(os.listdir(os.path.join(ROOT, package))):
        stem, dot, extension = f.rpartition('.')
        if extension in ('h', 'cc', 'inc'):
            stems.setdefault(stem, []).append(f)
    binaries = {label.split(':')[1]: stem for stem, label in COMMANDS.items() if label.split(':')[0] == f'//{package}'}
    protos = [f for f in sorted(os.listdir(os.path.join(ROOT, package))) if f.endswith('.proto')]
    if not stems and not binaries and not protos:
        return None
    # `// BUILD: srcs += "a.cc", "b.h", "b.cc"` in a header adds those sources to its target.
    for stem in list(stems):
        for f in list(stems.get(stem, [])):
            for line in markers(f'{package}/{f}'):
                if line.startswith('srcs += '):
                    for other in re.findall(r'"([^"]+)"', line):
                        stems[stem].append(other)
                        stems.pop(other.rpartition('.')[0], None)
    out = '# Written by tools/generate_build.py from the sources; do not edit.\n\n'
    targets = [target(package, stem, stems[stem]) for stem in sorted(stems)]
    rules = ['cc_binary', 'cc_library', 'cc_test'] + ['cc_library_per_level'] * any('cc_library_per_level(' in t for t in targets)
    out += 'load("//tools/cc:cc.bzl", ' + ', '.join(f'"{rule}"' for rule in sorted(rules)) + ')\n\n'
    top = package.split('/')[0]
    users = [f'//{folder}:__subpackages__' for folder in sorted([top] + USERS[top])]
    out += 'package(default_visibility = [\n' + ''.join(f'    "{user}",\n' for user in users) + '])\n'
    for name, stem in binaries.items():
        out += '\n' + f'cc_binary(\n    name = "{name}",\n    deps = ["//commands:{stem}"],\n    visibility = ["//visibility:public"],\n)\n'
    for name in protos:
        out += '\n' + proto_targets(package, name)
    levels = [name for text in targets for name in re.findall(r'cc_library_per_level\(\n    name = "([^"]+)"', text)]
    if levels:
        # The objects that only later processors may run (tests/runtime/loops/weak_symbols_test.cc).
        objects = [f':{name}.{level}' for name in levels for level in ('v3', 'v4')]
        targets.append('filegroup(\n    name = "later_levels",\n' + string_list('srcs', objects) + ')\n')
    return out + ''.join('\n' + text for text in targets)


def command_table():
    """dist/commands.bzl: what the archive holds, and the version in its name."""
    version = re.search(r'kVersion\[\] = "([^"]+)"', read('hlo/base/version.h')).group(1)
    rows = [(label.split(':')[1], stem) for stem, label in COMMANDS.items()]
    return ('"""The commands and their mains, and the version. Written by tools/generate_build.py; do not edit."""\n\nCOMMANDS = {\n' +
            ''.join(f'    "{name}": "//commands:{stem}",\n' for name, stem in sorted(rows)) + '}\n\n' +
            f'VERSION = "{version}"\n')


def main():
    stale = []
    texts = [('dist/commands.bzl', command_table())]
    for top in FOLDERS:
        for folder, _, _ in os.walk(os.path.join(ROOT, top)):
            package = os.path.relpath(folder, ROOT)
            if package not in SKIPPED:
                texts.append((f'{package}/BUILD.bazel', build_file(package)))
    for path, text in texts:
        full = os.path.join(ROOT, path)
        if text is None or (os.path.exists(full) and read(path) == text):
            continue
        stale.append(os.path.dirname(path))
        if '--check' not in sys.argv[1:]:
            with open(full, 'w') as f:
                f.write(text)
    if '--check' in sys.argv[1:] and stale:
        print('out of date: ' + ' '.join(stale))
        sys.exit(1)


if __name__ == '__main__':
    main()
