"""The archive and the wheel, packed from the programs of an ordinary build: contents, launcher, licences, manuals."""

import base64
import csv
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).absolute().parents[2]
DIST = ROOT / "dist"
COMMANDS = [ROOT / path for path in ("hlo/hlo-convert", "partitioner/hlo-partition")]
LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]
# Of Debian 12: programs of an ordinary build use all of it.
GLIBC = "2.36"

sys.path.insert(0, str(DIST))
import binaries  # noqa: E402
import manual  # noqa: E402


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **options)


@pytest.fixture(name="programs", scope="module")
def program_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs") / "x86-64-v2"
    folder.mkdir()
    return [shutil.copy(command, folder) for command in COMMANDS]


def pack(kind, out, programs, *more, glibc=GLIBC):
    return run(
        sys.executable, DIST / "pack.py", kind, "--version=1.2.3", f"--glibc={glibc}", f"--launcher={DIST / 'launcher'}",
        f"--packages={DIST / 'packages.txt'}", f"--out={out}", "--programs", *programs, *more, cwd=ROOT,
    )  # fmt: skip


@pytest.fixture(name="archive", scope="module")
def packed_archive(tmp_path_factory, programs):
    out = tmp_path_factory.mktemp("archive") / "toroid.tar.gz"
    done = pack("archive", out, programs, "--documents", "LICENSE", "docs/schemas/check.schema.json")
    assert done.returncode == 0, done.stderr
    return out


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    (root,) = folder.iterdir()
    return root


def supported_levels():
    flags = set(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    needs = [{"ssse3", "sse4_2", "popcnt"}, {"avx2", "bmi2", "fma", "movbe"}, {"avx512f", "avx512bw", "avx512vl", "avx512dq"}]
    return [level for level, needed in zip(LEVELS, needs) if needed <= flags]


def test_the_archive_has_programs_libraries_documents_and_licences(archive, tmp_path):
    root = unpack(archive, tmp_path)
    assert root.name == "toroid-1.2.3-linux-x86_64"
    for command in COMMANDS:
        assert run(root / "bin" / command.name, "--version").stdout.startswith(f"{command.name} (Toroid) ")
    assert (root / "lib/toroid/libmimalloc.so.2").exists() and (root / "lib/toroid/libzip.so.4").exists()
    assert not (root / "lib/toroid/libc.so.6").exists()
    assert (root / "LICENSE").exists() and (root / "share/doc/toroid/docs/schemas/check.schema.json").exists()
    licences = {path.name for path in (root / "share/doc/toroid/licences").iterdir()}
    # Listed; loaded; loaded by what is loaded.
    assert {"libabsl-dev", "libeigen3-dev", "libmimalloc2.0", "libzip4", "libssl3", "pocketfft"} <= licences


def test_the_same_input_gives_the_same_archive(archive, programs, tmp_path):
    again = tmp_path / "again.tar.gz"
    assert pack("archive", again, programs, "--documents", "LICENSE", "docs/schemas/check.schema.json").returncode == 0
    assert again.read_bytes() == archive.read_bytes()


def test_a_program_that_needs_a_newer_glibc_is_refused(programs, tmp_path):
    done = pack("archive", tmp_path / "toroid.tar.gz", programs, glibc="2.17")
    assert done.returncode == 1 and "newer than 2.17" in done.stderr
    assert not (tmp_path / "toroid.tar.gz").exists()


def test_every_repository_that_commands_use_has_its_licence():
    declared = (ROOT / "third_party/repositories.bzl").read_text()
    used = set(re.findall(r'new_local_repository\(\s*name = "(\w+)"', declared)) - {"com_google_googletest", "com_google_benchmark"}
    listed = {line.split()[0] for line in (DIST / "packages.txt").read_text().splitlines() if not line.startswith("#")}
    assert listed - {"-"} == used


def level_programs(folder, levels, launcher="bin/name", library="lib/toroid"):
    """Programs that print their level and their arguments, beside a launcher."""
    (folder / launcher).parent.mkdir(parents=True)
    shutil.copy(DIST / "launcher", folder / launcher)
    for level in levels:
        program = folder / library / level / "name"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\necho {level} "$@"\nexit 7\n')
        program.chmod(0o755)
    return folder / launcher


def test_the_launcher_starts_the_highest_level_that_runs_here(tmp_path):
    done = run(level_programs(tmp_path, LEVELS), "a b", "c")
    assert done.stdout == f"{supported_levels()[-1]} a b c\n" and done.returncode == 7


def test_the_launcher_starts_a_lower_level_if_there_is_no_other(tmp_path):
    assert run(level_programs(tmp_path, LEVELS[:1])).stdout == "x86-64-v2\n"


def test_the_launcher_finds_its_programs_in_a_wheel_and_through_links(tmp_path):
    launcher = level_programs(tmp_path / "x", LEVELS[:1], launcher="toroid/bin/name", library="toroid/bin/lib")
    (tmp_path / "other").symlink_to(launcher)
    assert run(tmp_path / "other").stdout == "x86-64-v2\n"
    assert run("name", env={"PATH": str(launcher.parent)}).stdout == "x86-64-v2\n"


def test_the_launcher_says_that_its_programs_are_missing(tmp_path):
    done = run(level_programs(tmp_path, []))
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "name: its program is missing" in done.stderr


@pytest.fixture(name="wheel", scope="module")
def packed_wheel(tmp_path_factory, programs):
    out = tmp_path_factory.mktemp("wheel") / f"toroid-1.2.3-py3-none-manylinux_{GLIBC.replace('.', '_')}_x86_64.whl"
    package = sorted((ROOT / "python/toroid").glob("*.py")) + [ROOT / "python/toroid/py.typed"]
    done = pack("wheel", out, programs, "--readme=python/README.md", "--licence=LICENSE", "--package", *package)
    assert done.returncode == 0, done.stderr
    return out


def test_the_wheel_records_every_file(wheel):
    with zipfile.ZipFile(wheel) as files:
        record = {row[0]: row[1:] for row in csv.reader(io.StringIO(files.read("toroid-1.2.3.dist-info/RECORD").decode()))}
        assert set(record) == set(files.namelist())
        for name, (digest, size) in record.items():
            if digest:
                sha = base64.urlsafe_b64encode(hashlib.sha256(files.read(name)).digest()).rstrip(b"=").decode()
                assert digest == f"sha256={sha}" and int(size) == files.getinfo(name).file_size
        metadata = files.read("toroid-1.2.3.dist-info/METADATA").decode()
        assert re.findall(r"^Requires-Dist: (.*)$", metadata, re.M) == ["numpy", "ml_dtypes"]
        assert "toroid/py.typed" in record and "toroid-1.2.3.dist-info/licenses/libabsl-dev" in record


def test_an_installed_wheel_brings_its_commands(wheel, tmp_path):
    target = tmp_path / "site"
    done = run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--no-compile", "--target", target, wheel)
    assert done.returncode == 0, done.stderr
    environment = {"PYTHONPATH": str(target), "PATH": "/usr/bin:/bin", "COLUMNS": "120"}
    code = "import toroid; from toroid._commands import command_path; print(command_path('hlo-convert')); print(repr(toroid.load(%r)))"
    module = tmp_path / "layer.hlo"
    module.write_text("HloModule layer\nENTRY e { ROOT x = f32[8] parameter(0) }\n")
    done = run(sys.executable, "-c", code % str(module), env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(target / "toroid/bin/hlo-convert")) and "layer" in done.stdout
    assert run(target / "bin/hlo-convert", "--version", env=environment).stdout.startswith("hlo-convert (Toroid) ")


def test_what_belongs_to_no_package_has_no_licence(tmp_path):
    with pytest.raises(binaries.Refused, match="no Debian package"):
        binaries.package_of(str(tmp_path / "libown.so"))


# The manuals.


@pytest.fixture(name="shares", scope="module")
def written_shares(tmp_path_factory):
    out = tmp_path_factory.mktemp("shares")
    done = run(sys.executable, DIST / "manual.py", f"--out={out}", "--version=1.2.3", *COMMANDS)
    assert done.returncode == 0, done.stderr
    return out


@pytest.mark.parametrize("command", COMMANDS, ids=lambda path: path.name)
def test_the_manuals_have_every_flag(command, shares):
    text = run(command, "--help").stdout
    flags = set(re.findall(r"^  .{0,8}?(--\w+)", text, re.M))
    assert len(flags) >= 4
    page = (shares / f"man/man1/{command.name}.1").read_text().replace("\\-", "-")
    for path in (f"bash-completion/completions/{command.name}", f"zsh/site-functions/_{command.name}"):
        assert flags <= set(re.findall(r"--\w+", (shares / path).read_text()))
    assert flags <= set(re.findall(r"--\w+", page))
    fish = (shares / f"fish/vendor_completions.d/{command.name}.fish").read_text()
    assert {flag[2:] for flag in flags} <= set(re.findall(r" -l (\w+)", fish))


def complete(shares, *words):
    """What bash proposes for the last of `words`."""
    quoted = " ".join(f"'{word}'" for word in words)
    script = (
        f"source {shares}/bash-completion/completions/{words[0]}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
        '_hlo_partition; echo "${COMPREPLY[@]}"'
    )
    return run("bash", "-c", script).stdout.split()


def test_bash_completes_flags_and_their_values(shares):
    assert complete(shares, "hlo-partition", "--expl") == ["--explain"]
    assert complete(shares, "hlo-partition", "--format", "=", "pb") == ["pb", "pbtxt"]
    assert complete(shares, "hlo-partition", "--format", "j") == ["json"]
    assert complete(shares, "hlo-partition", "--format", "=") == ["text", "stablehlo", "pb", "pbtxt", "json"]
    # Files, which bash adds itself.
    assert complete(shares, "hlo-partition", "-o", "-") == []
    assert complete(shares, "hlo-partition", "lay") == []


def test_the_help_of_a_command_is_read():
    command = manual.parse_help(
        "x",
        "Does this. And that.\n\n  x a   example\nUsage: x [OPTIONS] IN\n\nPositionals:\n"
        "  IN TEXT REQUIRED            The file\n\nOptions:\n  -h,--help                   Print this\n"
        "  --form FORM:{a,b} Needs: -o Which form\n"
        "  --stats{table} [=table|json]:{table,json}\n                              Print statistics\n",
    )
    assert command.summary == "Does this" and command.positionals[0].names == ["IN"]
    assert [option.names for option in command.options] == [["-h", "--help"], ["--form"], ["--stats"]]
    assert [option.choices for option in command.options] == [[], ["a", "b"], ["table", "json"]]
    assert [option.takes_value for option in command.options] == [False, True, False]
    assert command.options[2].explanation == "Print statistics"


def test_a_help_without_flags_is_refused(tmp_path):
    program = tmp_path / "hlo-none"
    program.write_text("#!/bin/sh\necho 'Does this.'; echo 'Usage: hlo-none'\n")
    program.chmod(0o755)
    done = run(sys.executable, DIST / "manual.py", f"--out={tmp_path}", "--version=1", program)
    assert done.returncode == 1 and "lists no flags" in done.stderr


def test_the_version_of_names_is_that_of_the_commands():
    version = re.search(r'VERSION = "(.*)"', (DIST / "commands.bzl").read_text()).group(1)
    assert run(COMMANDS[0], "--version").stdout == f"hlo-convert (Toroid) {version}\n"
    assert f'__version__ = "{version}"' in (ROOT / "python/toroid/__init__.py").read_text()
