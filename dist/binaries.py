"""What programs need from the system that runs them: shared libraries, versions of glibc."""
import os
import re
import subprocess

# What every Linux with glibc has. All else that a program loads goes with it.
SYSTEM_LIBRARIES = {'libc.so.6', 'libm.so.6', 'libgcc_s.so.1', 'libdl.so.2', 'libpthread.so.0', 'ld-linux-x86-64.so.2'}


class Refused(Exception):
    """A file that would not run where it is said to run."""


def _output(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def needed(path):
    """The names of the shared libraries that a file names itself."""
    return re.findall(r'\(NEEDED\).*\[([^\]]+)\]', _output('readelf', '-d', path))


def bundled_libraries(programs):
    """The files of all shared libraries that `programs` and their libraries load, without SYSTEM_LIBRARIES, by name."""
    found = {}
    for program in programs:
        located = dict(re.findall(r'^\s*(\S+) => (/\S+)', _output('ldd', program), re.M))
        pending = list(needed(program))
        while pending:
            name = pending.pop()
            if name in SYSTEM_LIBRARIES or name in found:
                continue
            if name not in located:
                raise Refused(f'{program} needs {name}, which is not installed')
            found[name] = os.path.realpath(located[name])
            pending += needed(found[name])
    return found


def newest_glibc(path):
    """The newest version of glibc whose symbols a file uses, as a tuple; (0,) if none."""
    versions = re.findall(r'\bGLIBC_([0-9.]+)', _output('objdump', '-T', path))
    return max((tuple(int(part) for part in version.split('.')) for version in versions), default=(0,))


def check_glibc(paths, newest):
    """Refuses files that use a newer glibc than `newest`, such as '2.34'."""
    limit = tuple(int(part) for part in newest.split('.'))
    for path in paths:
        used = newest_glibc(path)
        if used > limit:
            raise Refused(f'{path} uses glibc {".".join(map(str, used))}, newer than {newest}: see dist/older_glibc.c')


def package_of(path):
    """The Debian package that installed a file; its links may stand in /lib, the package's in /usr/lib."""
    for name in (path, path.replace('/usr/lib/', '/lib/', 1), os.path.realpath(path)):
        found = subprocess.run(['dpkg-query', '-S', name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(':')[0]
    raise Refused(f'{path} belongs to no Debian package, so its licence is not known')
