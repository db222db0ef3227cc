#!/usr/bin/env python3
"""Packs what users take away: an archive for any Linux, and a wheel.

    pack.py archive --out=X.tar.gz ...
    pack.py wheel --out=X.whl ...

The same input gives the same bytes. A program that uses a newer glibc than --glibc is refused.
"""
import argparse
import base64
import gzip
import hashlib
import io
import os
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from binaries import Refused, bundled_libraries, check_glibc, package_of  # noqa: E402

# 1980-01-01, the first date of zip.
DATE = 315532800
REQUIREMENTS = ['numpy', 'ml_dtypes']


def read(path):
    with open(path, 'rb') as f:
        return f.read()


class Tree:
    """Files to pack: name to content and whether it is a program."""

    def __init__(self):
        self.files = {}

    def add(self, name, content, program=False):
        self.files[name] = (content if isinstance(content, bytes) else content.encode(), program)

    def add_programs(self, folder, names, launcher, programs, libraries):
        """Launchers `names` in `folder[0]`, and in `folder[1]` LEVEL/NAME and what they load."""
        for name in names:
            self.add(f'{folder[0]}/{name}', read(launcher), program=True)
        for path in programs:
            level = os.path.basename(os.path.dirname(path))
            self.add(f'{folder[1]}/{level}/{os.path.basename(path)}', read(path), program=True)
        for name, path in libraries.items():
            self.add(f'{folder[1]}/{name}', read(path))

    def add_licences(self, folder, listed, libraries):
        rows = [line.split() for line in read(listed).decode().splitlines() if line and not line.startswith('#')]
        # What is kept in third_party/, by its repository; all else is a package of Debian.
        own = {repository: path for repository, path in rows if '/' in path}
        packages = {package for _, package in rows if '/' not in package} | {package_of(path) for path in libraries.values()}
        files = {**own, **{package: f'/usr/share/doc/{package}/copyright' for package in packages}}
        for name, path in sorted(files.items()):
            self.add(f'{folder}/{name}', read(path))


def relative(path, folder):
    """`path` below `folder`, wherever Bazel put it: bazel-out/.../dist/shares/man/x below dist/shares is man/x."""
    _, found, rest = ('/' + path).rpartition(f'/{folder}/')
    if not found:
        sys.exit(f'{path} is not below {folder}')
    return rest


def write_archive(tree, root, out):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode='w', format=tarfile.PAX_FORMAT) as tar:
        for name, (content, program) in sorted(tree.files.items()):
            entry = tarfile.TarInfo(f'{root}/{name}')
            entry.size, entry.mode, entry.mtime = len(content), 0o755 if program else 0o644, DATE
            tar.addfile(entry, io.BytesIO(content))
    with open(out, 'wb') as f, gzip.GzipFile(filename='', mode='wb', fileobj=f, mtime=0) as packed:
        packed.write(raw.getvalue())


def write_wheel(tree, version, platform, out):
    info = f'toroid-{version}.dist-info'
    tree.add(f'{info}/WHEEL', f'Wheel-Version: 1.0\nGenerator: toroid\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n')
    rows = []
    for name, (content, _) in sorted(tree.files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        rows.append(f'{name},sha256={digest},{len(content)}\n')
    tree.add(f'{info}/RECORD', ''.join(rows) + f'{info}/RECORD,,\n')
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (content, program) in sorted(tree.files.items(), key=lambda item: ('.dist-info/' in item[0], item[0])):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            wheel.writestr(entry, content)


def make_archive(flags, libraries):
    tree = Tree()
    tree.add_programs(('bin', 'lib/toroid'), flags.names, flags.launcher, flags.programs, libraries)
    tree.add_licences('share/doc/toroid/licences', flags.packages, libraries)
    for path in flags.shares:
        tree.add(f'share/{relative(path, flags.shares_folder)}', read(path))
    for path in flags.documents:
        name = os.path.relpath(path)
        tree.add(name if name == 'LICENSE' else f'share/doc/toroid/{name}', read(path))
    write_archive(tree, f'toroid-{flags.version}-linux-x86_64', flags.out)


def metadata(flags):
    lines = ['Metadata-Version: 2.1', 'Name: toroid', f'Version: {flags.version}',
             'Summary: Partitions, explains, runs and simulates HLO programs without their devices',
             'Requires-Python: >=3.10'] + [f'Requires-Dist: {name}' for name in REQUIREMENTS]
    return '\n'.join(lines) + '\nDescription-Content-Type: text/markdown\n\n' + read(flags.readme).decode()


def make_wheel(flags, libraries):
    tree = Tree()
    for path in flags.package:
        if '__pycache__' not in path:
            tree.add('toroid/' + relative(path, 'python/toroid'), read(path))
    tree.add_programs(('toroid/bin', 'toroid/bin/lib'), flags.names, flags.launcher, flags.programs, libraries)
    info = f'toroid-{flags.version}.dist-info'
    tree.add(f'{info}/METADATA', metadata(flags))
    tree.add(f'{info}/entry_points.txt',
             '[console_scripts]\n' + ''.join(f'{name} = toroid._scripts:main\n' for name in flags.names))
    tree.add_licences(f'{info}/licenses', flags.packages, libraries)
    tree.add(f'{info}/licenses/LICENSE', read(flags.licence))
    write_wheel(tree, flags.version, f'manylinux_{flags.glibc.replace(".", "_")}_x86_64', flags.out)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('kind', choices=['archive', 'wheel'])
    parser.add_argument('--out', required=True)
    parser.add_argument('--version', required=True)
    parser.add_argument('--glibc', required=True, help='the oldest glibc that the programs run on')
    parser.add_argument('--launcher', required=True)
    parser.add_argument('--programs', nargs='+', required=True, help='files LEVEL/NAME')
    parser.add_argument('--packages', required=True, help='packages.txt')
    parser.add_argument('--shares', nargs='*', default=[], help='files for share/, from below --shares_folder')
    parser.add_argument('--shares_folder', default='dist/shares')
    parser.add_argument('--documents', nargs='*', default=[], help='files for share/doc/toroid')
    parser.add_argument('--package', nargs='*', default=[], help='files of the Python package')
    parser.add_argument('--readme', help="the wheel's description")
    parser.add_argument('--licence', help="the wheel's licence")
    flags = parser.parse_args()
    flags.names = sorted({os.path.basename(path) for path in flags.programs})
    return flags


def main():
    flags = parse()
    try:
        libraries = bundled_libraries(flags.programs)
        check_glibc([flags.launcher] + flags.programs + list(libraries.values()), flags.glibc)
        {'archive': make_archive, 'wheel': make_wheel}[flags.kind](flags, libraries)
    except Refused as error:
        sys.exit(f'pack.py: {error}')


if __name__ == '__main__':
    main()
