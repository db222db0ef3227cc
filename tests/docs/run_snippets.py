#!/usr/bin/env python3
"""Runs the snippets of a page as its reader would, and feeds the files they write to the commands.

    run_snippets.py PAGE.md HLO_CONVERT HLO_PARTITION HLO_RUN [--section WORD]

A block of Python begins with a comment that names its file (`# model.py`); it is saved and runs when a block of bash
runs it. The blocks of bash of a section (`## ...`) run in a fresh folder, which has the scripts of this section and of
those before. They must end well and use one of the three commands. Then every module that the section left is given to
`hlo-convert --stats`, and every one that no compiler has worked on to `hlo-partition --explain`.

A section needs the packages that its scripts import. JAX: the python3 at hand, or $JAX_PYTHON; where it has no JAX, a
virtual environment made for this run, from PyPI. TensorFlow and PyTorch/XLA: $TENSORFLOW_PYTHON and
$TORCH_XLA_PYTHON, or the python3 at hand; a section that finds no such Python is not run, and the output says so.

Exit status: 0 if all sections that could run are fine, and at least one ran; else 1.
"""
import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import venv

# By package that a script imports: the environment variable that names a Python with it, and further imports of snippets.
PACKAGES = {
    'torch_xla': ('TORCH_XLA_PYTHON', ['torch']),
    'tensorflow': ('TENSORFLOW_PYTHON', []),
    'jax': ('JAX_PYTHON', ['flatbuffers']),
}
# Names of files that hold modules; XLA writes other files that end in .pb as well.
MODULE = re.compile(r'\.(hlo\.pb|hlo\.pb\.gz|hlo)$|snapshot[^/]*\.pb$|_optimizations\.txt$')
COMPILED = re.compile(r'after_optimizations|\.after_|\.snapshot\.')
SECONDS = 600


class Section:
    def __init__(self, title):
        self.title, self.scripts, self.commands = title, {}, []


def sections_of(page):
    """The sections of `page` that have snippets."""
    sections = [Section('')]
    with open(page) as f:
        lines = f.read().split('\n')
    language, block = None, []
    for number, line in enumerate(lines, 1):
        if language is None and line.startswith('## '):
            sections.append(Section(line[3:]))
        elif language is None and line.startswith('```'):
            language, block = line[3:].strip() or 'none', []
        elif language is not None and line.startswith('```'):
            text = '\n'.join(block) + '\n'
            if language == 'python':
                name = re.match(r'# (\w+\.py)\n', text)
                if not name:
                    sys.exit(f'{page}:{number}: the first line of a block of Python is a comment that names its file')
                sections[-1].scripts[name[1]] = text
            elif language == 'bash':
                sections[-1].commands.append(text)
            language = None
        elif language is not None:
            block.append(line)
    if language is not None:
        sys.exit(f'{page}: a block does not end')
    return [s for s in sections if s.commands or s.scripts]


def path_of(python, modules):
    """The path of `python` if it has all of these modules, else None."""
    code = ('import importlib.util, sys\n'
            'print(sys.executable if all(importlib.util.find_spec(m) for m in sys.argv[1:]) else "")')
    done = subprocess.run([python, '-c', code, *modules], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.strip() or None


class Pythons:
    """Finds the Python that has a package, once."""

    def __init__(self, scratch):
        self.scratch, self.found = scratch, {}

    def find(self, package):
        """Returns (path of a Python or None, a description of it)."""
        if package not in self.found:
            self.found[package] = self.look_for(package)
        return self.found[package]

    def look_for(self, package):
        variable, others = PACKAGES[package]
        named = os.environ.get(variable)
        path = path_of(named or 'python3', [package, *others])
        if path:
            return path, path
        lacking = f'{named or "python3"} does not have {" and ".join([package, *others])}'
        if named:
            sys.exit(f'{variable}: {lacking}')
        if package != 'jax':
            return None, f'{lacking}; {variable} can name one that has'
        folder = os.path.join(self.scratch, 'venv')
        print(f'{lacking}; installing them from PyPI', flush=True)
        venv.create(folder, with_pip=True)
        python = os.path.join(folder, 'bin', 'python')
        pip = [python, '-m', 'pip', 'install', '-q', '--no-cache-dir', '--disable-pip-version-check']
        subprocess.run([*pip, package, *others], check=True)
        return python, 'a virtual environment'


def run(command, folder, environment):
    """Runs a shell command; returns its error, or None."""
    process = subprocess.Popen(['bash', '-e', '-u', '-o', 'pipefail', '-c', command], cwd=folder, env=environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # Including the processes it started.
        process.communicate()
        return f'$ {command.strip()}\nstill running after {SECONDS} s'
    return f'$ {command.strip()}\n{output}exit status {process.returncode}' if process.returncode else None


def unused(sections):
    """A script that no block of bash runs and no other script imports; None if there is none."""
    names = [name for section in sections for name in section.scripts]
    text = '\n'.join(c for section in sections for c in [*section.commands, *section.scripts.values()])
    used = set(re.findall(r'python (\w+)\.py', text)) | set(re.findall(r'^from (\w+) import', text, re.M))
    return next((n for n in names if n[:-3] not in used), None)


def package_of(name, scripts, seen=()):
    """The package that the script `name` needs, directly or through the scripts it imports; None if none of ours."""
    imports = re.findall(r'^\s*(?:import|from) (\w+)', scripts[name], re.M)
    ours = [i for i in imports if f'{i}.py' in scripts and i not in seen]
    needs = {'jax' if i == 'jaxlib' else i for i in imports}
    needs |= {package_of(f'{i}.py', scripts, (*seen, i)) for i in ours}
    return next((p for p in PACKAGES if p in needs), None)


def check(section, scripts, pythons, tools, folder):
    """Runs a section. `pythons`: the Python of each script. Returns (a summary, the error or None)."""
    os.makedirs(os.path.join(folder, '.bin'))
    for name, code in scripts.items():
        with open(os.path.join(folder, name), 'w') as f:
            f.write(code)
    # A script, not a link: an environment recognizes itself by the path of its Python.
    with open(os.path.join(folder, '.bin', 'python'), 'w') as f:
        cases = ''.join(f'  {name}) exec {python} "$@" ;;\n' for name, python in pythons.items())
        f.write(f'#!/bin/sh\ncase "$1" in\n{cases}  *) echo "not a script of this section: $1" >&2; exit 1 ;;\nesac\n')
    os.chmod(f.name, 0o755)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(('XLA_', 'JAX_', 'PYTHON'))}
    paths = [os.path.join(folder, '.bin'), *(os.path.dirname(t) for t in tools), environment['PATH']]
    environment.update(PATH=os.pathsep.join(paths), HOME=folder, TF_CPP_MIN_LOG_LEVEL='2')
    if not re.search(r'^ *hlo-(convert|partition|run) ', ''.join(section.commands), re.M):
        return '', 'no block of this section gives its module to one of the three commands'
    for command in section.commands:
        wrong = run(command, folder, environment)
        if wrong:
            return '', wrong
    modules = [m for m in sorted(glob.glob(os.path.join(folder, '**', '*'), recursive=True))
               if os.path.isfile(m) and MODULE.search(m)]
    for module in modules:
        commands = [f"hlo-convert '{module}' --stats"]
        if not COMPILED.search(module):
            commands.append(f"hlo-partition '{module}' --explain")
        for command in commands:
            wrong = run(command, folder, environment)
            if wrong:
                return '', wrong
    return f'{len(section.commands)} blocks of commands, {len(modules)} modules', None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('page')
    parser.add_argument('tools', nargs=3, metavar='COMMAND')
    parser.add_argument('--section', default='', help='only sections with this word in their heading')
    options = parser.parse_args()
    tools = [os.path.abspath(tool) for tool in options.tools]
    sections = sections_of(options.page)
    if unused(sections):
        sys.exit(f'{options.page}: no block of bash runs {unused(sections)}')
    ran, skipped, failed, scripts = 0, 0, 0, {}
    with tempfile.TemporaryDirectory(dir=os.environ.get('TEST_TMPDIR')) as scratch:
        pythons = Pythons(scratch)
        for number, section in enumerate(sections):
            scripts.update(section.scripts)
            if options.section not in section.title or not section.commands:
                continue
            used = [n for n in scripts if re.search(rf'python {re.escape(n)}\b', ''.join(section.commands))]
            found = {n: pythons.find(package_of(n, scripts) or 'jax') for n in used}
            lacking = sorted({words for python, words in found.values() if not python})
            if lacking:
                skipped += 1
                print(f'NOT RUN  {section.title}: {"; ".join(lacking)}', flush=True)
                continue
            words = ', '.join(sorted({words for _, words in found.values()}))
            done, wrong = check(section, scripts, {n: python for n, (python, _) in found.items()}, tools,
                                os.path.join(scratch, str(number)))
            ran, failed = ran + 1, failed + bool(wrong)
            print(f'FAILED   {section.title}:\n{wrong}' if wrong else f'ok       {section.title}: {done} ({words})',
                  flush=True)
    print(f'{ran - failed} sections ok, {failed} failed, {skipped} not run')
    return 1 if failed or not ran else 0


if __name__ == '__main__':
    sys.exit(main())
