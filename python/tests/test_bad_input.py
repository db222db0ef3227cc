"""Whatever is wrong is an exception of one line, and leaves neither files, processes, descriptors nor memory behind."""

import gc
import io
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import toroid

MODULE = "HloModule layer\nENTRY e { x = f32[16,8] parameter(0), metadata={op_name=\"x\"} ROOT y = f32[16,8] tanh(x) }\n"
X = np.ones((16, 8), np.float32)

# A loop of 10^12 trips.
ENDLESS = (
    "HloModule m\nc { p = s64[] parameter(0) n = s64[] constant(1000000000000) ROOT r = pred[] compare(p, n), direction=LT }\n"
    "b { p = s64[] parameter(0) o = s64[] constant(1) ROOT r = s64[] add(p, o) }\n"
    "ENTRY e { z = s64[] constant(0) ROOT w = s64[] while(z), condition=c, body=b }\n"
)


class Unreadable:
    def __array__(self, *_, **__):
        raise RuntimeError("first line\nsecond line")


def closed_file():
    file = io.BytesIO(MODULE.encode())
    file.close()
    return file


def sparse_file(folder):
    path = folder / "huge.hlo.pb"
    with open(path, "wb") as file:
        file.truncate(10 * 10**9)
    return path


# What is done with a loaded module and a folder for files, and what the message says.
WRONG = {
    "number": (lambda m, f: toroid.load(3), "cannot load a program from builtins.int"),
    "nothing": (lambda m, f: toroid.load(None), "cannot load a program from builtins.NoneType"),
    "function": (lambda m, f: toroid.load(len), "cannot load a program from builtins.builtin_function_or_method"),
    "closed file": (lambda m, f: toroid.load(closed_file()), "_io.BytesIO: I/O operation on closed file"),
    "zero byte in a path": (lambda m, f: toroid.load("a\0b"), "embedded null"),
    "empty path": (lambda m, f: toroid.load(""), "the path is empty"),
    "half a character": (lambda m, f: toroid.load("HloModule \ud800\n"), "^text: half a character at 10"),
    "half a character of a file": (lambda m, f: toroid.load(io.StringIO("HloModule \ud800\n")), "half a character at 10"),
    "endless": (lambda m, f: toroid.load("/dev/zero"), "^/dev/zero: a device, not a file$"),
    "open file of 10 GB": (lambda m, f: toroid.load(open(sparse_file(f), "rb")), "huge.hlo.pb: 10,000,000,000 bytes, more than"),
    "folder without dumps": (lambda m, f: toroid.load(f), "no file ends in"),
    "file of 10 GB": (lambda m, f: toroid.load(sparse_file(f)), "huge.hlo.pb: 10,000,000,000 bytes, more than the 2,147,483,647"),
    "bytes of 3 GB": (lambda m, f: toroid.load(memoryview(np.zeros(3 * 10**9, np.uint8))), "bytes: 3,000,000,000 of them, more than"),
    "cut off": (lambda m, f: toroid.load(m.serialize()[:-9]), "^bytes: "),
    "noise": (lambda m, f: toroid.load(os.urandom(99) + b"\xff"), "^bytes: "),
    "text that is none": (lambda m, f: toroid.load("HloModule m\nENTRY {"), "^text:2:8: expected"),
    "StableHLO that is none": (lambda m, f: toroid.load("module @m { func.func @main( }"), "^text: "),
    "no devices": (lambda m, f: m.partition(0), "num_partitions"),
    "devices less than none": (lambda m, f: m.partition(-8), "num_partitions"),
    "too many devices": (lambda m, f: m.partition(10**12), "num_partitions"),
    "half a device": (lambda m, f: m.partition(1.5), "num_partitions"),
    "another number of devices": (lambda m, f: m.partition(3, shardings={"x": ("d",)}, mesh={"d": 8}), "8 devices"),
    "a mesh without that axis": (lambda m, f: m.partition(4, shardings={"x": "[{'d'}, {}]"}), "^x|name the axes"),
    "a run of one device": (lambda m, f: m.what_if("x", "{devices=[1,1]<=[1]}", 1), "leave out num_partitions=1$"),
    "no such machine": (lambda m, f: toroid.simulate(m, "abacus-4"), "abacus-4"),
    "no such setting": (lambda m, f: toroid.simulate(m, settings={"network.luck": 1}), "network.luck"),
    "settings without names": (lambda m, f: toroid.simulate(m, settings=[1]), "^settings: expected a mapping"),
    "strategies that are none": (lambda m, f: m.partition(4, strategies=[3]), "^strategies: expected texts, got 3$"),
    "a number for names": (lambda m, f: m.search(4, free=3), "^free: expected a text or several, got int$"),
    "no such rates": (lambda m, f: toroid.simulate(m, rates="x"), "^rates: expected 'compiler' or 'measured', got 'x'$"),
    "no such memory": (lambda m, f: m.search(mesh={"d": 4}, memory="1 potato"), "memory: potato unit not recognized"),
    "no name": (lambda m, f: m.why(""), "^name: expected the name of a value, got ''$"),
    "a number for a name": (lambda m, f: m.what_if(3, ("d",)), "^name: expected the name of a value, got 3$"),
    "too few arguments": (lambda m, f: m.run([]), "1 parameters, 0 arrays were given"),
    "too many arguments": (lambda m, f: m.run([X, X]), "1 parameters, 2 arrays were given; jax.jit leaves out"),
    "an argument of another shape": (lambda m, f: m.check([X.T]), r"argument 0 \(x\) is float32\[8, 16\], expected float32\[16, 8\]"),
    "an argument of another type": (lambda m, f: m.run([X.astype(np.int8)]), r"argument 0 \(x\) is int8"),
    "a text for an argument": (lambda m, f: m.run(["x"]), "is no array of numbers"),
    "an object for an argument": (lambda m, f: m.run([object()]), "is no array of numbers"),
    "an argument that raises": (lambda m, f: m.run([Unreadable()]), r"argument 0 \(x\), Unreadable: first line$"),
    "zero byte in a name": (lambda m, f: m.partition(4, shardings={"x\0": ("d",)}, mesh={"d": 4}), "has a zero byte$"),
    "zero byte in a question": (lambda m, f: m.why("x\0"), "has a zero byte$"),
    "half a character in a name": (lambda m, f: m.why("x\ud800"), "is no text of Unicode$"),
    "arguments that are ragged": (lambda m, f: m.run([np.array([1, "a", None], dtype=object)]), "is no array of numbers"),
}


@pytest.mark.filterwarnings("ignore::toroid.ToroidWarning")
@pytest.mark.parametrize("what", sorted(WRONG))
def test_it_is_one_line(what, tmp_path):
    do, message = WRONG[what]
    begin = time.monotonic()
    with pytest.raises(toroid.ToroidError, match=message) as error:
        do(toroid.load(MODULE), tmp_path)
    assert not re.search(r"(^|\W)--(?!xla_)", str(error.value))  # Flags of XLA alone.
    assert "\n" not in str(error.value) and "/toroid-" not in str(error.value) and len(str(error.value)) < 600
    assert time.monotonic() - begin < 20


@pytest.mark.filterwarnings("ignore::toroid.ToroidWarning")
def test_values_that_are_no_numbers_are_values():
    module = toroid.load(MODULE)
    x = X.copy()
    x[0, 0], x[1, 1] = np.nan, np.inf
    (result,) = module.run([x])
    assert np.isnan(result[0, 0]) and result[1, 1] == 1
    assert module.check([x], 4, shardings={"x": ("d",)}, mesh={"d": 4})


def test_what_a_pipe_brings_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(MODULE))
    writer.start()
    assert toroid.load(pipe).name == "layer"
    writer.join()


def test_a_file_that_is_open_is_read(tmp_path):
    (tmp_path / "m.hlo").write_text(MODULE)
    with open(tmp_path / "m.hlo", encoding="utf-8") as text, open(tmp_path / "m.hlo", "rb") as binary:
        assert toroid.load(text).name == toroid.load(binary).name == "layer"


def children():
    """The processes that this one started and that still run."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            found += (task / "children").read_text().split()
        except OSError:  # The thread has ended.
            pass
    return found


def left_over():
    """Temporary folders, child processes, descriptors and threads of this process."""
    folders = [path.name for path in Path(tempfile.gettempdir()).glob("toroid-*") if path.stat().st_uid == os.getuid()]
    return sorted(folders), children(), len(os.listdir("/proc/self/fd")), threading.active_count()


def interrupt_when(starts):
    """Sends this process Ctrl-C some time after the command started."""

    def send():
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not children():
            time.sleep(0.001)
        time.sleep(starts)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


@pytest.fixture(name="temporary")
def temporary_folder(tmp_path, monkeypatch):
    """A folder for temporary files that only this test uses."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_an_interrupt_leaves_nothing(temporary):
    module = toroid.load(ENDLESS)
    before = left_over()
    for starts in (0, 0, 0, 0.001, 0.02, 0.3):
        thread = interrupt_when(starts)
        with pytest.raises(KeyboardInterrupt):
            module.run()
        thread.join()
        gc.collect()
        assert left_over() == before
    assert toroid.load(MODULE).name == "layer"


def test_a_command_that_is_killed_is_an_error(temporary):
    module = toroid.load(ENDLESS)

    def kill():
        while not (running := children()):
            time.sleep(0.001)
        os.kill(int(running[0]), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(toroid.ToroidError, match="hlo-run was ended by SIGKILL"):
        module.run()
    thread.join()


@pytest.mark.filterwarnings("ignore::toroid.ToroidWarning")
def test_nothing_is_left_over(temporary, tmp_path):
    module = toroid.load(MODULE)

    def everything():
        for what, (do, _) in sorted(WRONG.items()):
            if what != "StableHLO that is none":  # jaxlib keeps its own.
                with pytest.raises(toroid.ToroidError):
                    do(module, tmp_path)
        partitioned = module.partition(4, shardings={"x": ("d",)}, mesh={"d": 4})
        partitioned.run([X])
        module.check([X], 4, shardings={"x": ("d",)}, mesh={"d": 4})
        repr(partitioned.explain())
        toroid.simulate(module)

    everything()  # What is imported or cached at the first time.
    gc.collect()
    before = left_over()
    tracemalloc.start(8)
    try:
        first = tracemalloc.take_snapshot()
        for _ in range(2):
            everything()
        gc.collect()
        grown = sum(max(change.size_diff, 0) for change in tracemalloc.take_snapshot().compare_to(first, "lineno") if "toroid" in str(change.traceback))
    finally:
        tracemalloc.stop()
    assert left_over() == before
    assert grown < 20_000


def test_a_command_without_its_folder_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("TOROID_BIN", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(toroid.ToroidError, match="hlo-convert is neither in the package nor on the PATH; set TOROID_BIN"):
        toroid.load(MODULE)
    broken = tmp_path / "hlo-convert"
    broken.write_text("#!/nonexistent/interpreter\n")
    broken.chmod(0o755)
    with pytest.raises(toroid.ToroidError, match="No such file"):
        toroid.load(MODULE)


def test_progress_is_shown_and_taken_away(monkeypatch):
    seen = io.StringIO()
    monkeypatch.setattr("sys.stderr", seen)
    monkeypatch.setattr("toroid._commands._PROGRESS_AFTER", 0.1)
    module = toroid.load(ENDLESS)
    thread = interrupt_when(1.5)
    with pytest.raises(KeyboardInterrupt):
        module.run(progress=True)
    thread.join()
    assert "hlo-run: 1 s" in seen.getvalue() and seen.getvalue().endswith("\r")
    seen.truncate(0)
    assert subprocess.run([toroid._commands.command_path("hlo-convert"), "--version"], capture_output=True).returncode == 0
    toroid.load(MODULE)
    assert not seen.getvalue()
