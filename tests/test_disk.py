"""Files that last, folders that are private, and temporary ones that vanish."""

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from berth.disk import private_folder, remove_leftovers, replace_file, sync_tree, temporary_folder

HOLDER = """
import sys, time
from pathlib import Path
from berth.disk import temporary_folder
with temporary_folder("berth-", Path(sys.argv[1])) as folder:
    (folder / "large").mkdir()
    (folder / "large" / "file").write_text("text")
    print(folder, flush=True)
    time.sleep(600)
"""


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_leaves(mask: int, mode: int, tmp_path: Path) -> None:
    """As one of `open`."""
    with umask(mask):
        replace_file(tmp_path / "file", b"new")
    assert mode_of(tmp_path / "file") == mode


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_is_replaced_keeps_its_mode(mode: int, tmp_path: Path) -> None:
    """Whatever the umask is now."""
    file = tmp_path / "file"
    file.touch()
    file.chmod(mode)
    with umask(0o027):
        replace_file(file, b"new")
    assert (file.read_bytes(), mode_of(file)) == (b"new", mode)
    assert list(tmp_path.iterdir()) == [file]


def test_content_is_on_the_disk_before_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """First the file is synced, then it is renamed, then the folder is synced."""
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def renamed(source: Path, target: Path) -> None:
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    replace_file(tmp_path / "file", b"content")
    assert steps == ["file", "rename", "folder"]


def test_what_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: the old file stays, and nothing is beside it."""
    file = tmp_path / "file"
    file.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(file, b"new")
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", ["x" * 255, "𝔵" * 63])
def test_a_name_as_long_as_names_can_be(name: str, tmp_path: Path) -> None:
    """The name aside is not longer."""
    replace_file(tmp_path / name, b"content")
    assert (tmp_path / name).read_bytes() == b"content"


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """What is being written stays, and so does what only looks like it."""
    code = """
import os, signal, sys
from pathlib import Path
from berth.disk import replace_file
os.fsync = lambda _: print("writing", flush=True) or signal.pause()
replace_file(Path(sys.argv[1]), b"new")
"""
    folder = tmp_path / "folder"
    folder.mkdir()
    kept = [folder / name for name in (".file.0123abcd", ".file.new", "file.0123abcd.berth-new")]
    for each in kept:
        each.touch()
    command = [sys.executable, "-c", code, folder / "file"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writing:
        try:
            assert writing.stdout is not None
            assert writing.stdout.readline() == "writing\n"
            (aside,) = set(folder.iterdir()) - set(kept)
            remove_leftovers(tmp_path)
            assert aside.exists()
        finally:
            writing.kill()
    assert aside.exists()
    remove_leftovers(tmp_path)
    assert sorted(folder.iterdir()) == sorted(kept)


def test_private_folders(tmp_path: Path) -> None:
    """Made for their owner, whatever the umask; one that is there is the user's own business."""
    with umask(0):
        assert mode_of(private_folder(tmp_path / "a" / "b")) == 0o700
    (tmp_path / "c").mkdir()
    (tmp_path / "c").chmod(0o755)
    assert mode_of(private_folder(tmp_path / "c")) == 0o755


def test_a_temporary_folder_goes_with_its_block(tmp_path: Path) -> None:
    """Also after an error, with all that is in it; a link in it leads nowhere."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").touch()
    with suppress(KeyError), temporary_folder("berth-", tmp_path) as folder:
        assert mode_of(folder) == 0o700
        (folder / "link").symlink_to(tmp_path / "kept")
        (folder / "inner").mkdir()
        raise KeyError
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "kept"]


def test_after_a_kill_the_next_start_clears_up(tmp_path: Path) -> None:
    """What a process at work holds stays, and goes once that process was killed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        theirs = Path(holder.stdout.readline().strip())
        with temporary_folder("berth-", tmp_path):
            assert (theirs / "large" / "file").exists()
        holder.send_signal(signal.SIGKILL)
    assert theirs.exists()
    with temporary_folder("berth-", tmp_path) as ours:
        assert list(tmp_path.iterdir()) == [ours]


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    """Folders without the mark, with other names, links, and those of other users."""
    unmarked, other, target = tmp_path / "berth-abcdefgh", tmp_path / "berth-abc", tmp_path / "target"
    for folder in (unmarked, other, target):
        folder.mkdir()
        (folder / "file").touch()
    (target / ".berth-temporary").touch()
    (tmp_path / "berth-linklink").symlink_to(target)
    linked = tmp_path / "berth-marklink"
    linked.mkdir()
    (linked / ".berth-temporary").symlink_to(target / ".berth-temporary")
    foreign = tmp_path / "berth-foreign_"
    foreign.mkdir()
    (foreign / ".berth-temporary").touch()
    kept = {unmarked, other, target, linked, tmp_path / "berth-linklink"}
    if os.geteuid() == 0:
        os.chown(foreign, 65534, 65534)
        kept.add(foreign)
    with temporary_folder("berth-", tmp_path) as ours:
        assert set(tmp_path.iterdir()) == kept | {ours}
    assert (target / "file").exists()


def test_many_at_once(tmp_path: Path) -> None:
    """Nobody takes a folder away that somebody is just making."""
    lost: list[Path] = []

    def work() -> None:
        for _ in range(50):
            with temporary_folder("berth-", tmp_path) as folder:
                (folder / "file").touch()
                if not (folder / "file").exists():
                    lost.append(folder)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lost == []
    assert list(tmp_path.iterdir()) == []


def test_a_tree_is_synced_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file and every folder of it."""
    (tmp_path / "table" / "part").mkdir(parents=True)
    (tmp_path / "table" / "part" / "0.parquet").write_text("rows")
    synced: list[str] = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda it: synced.append(os.readlink(f"/proc/self/fd/{it}")) or fsync(it)
    )
    sync_tree(tmp_path / "table")
    wanted = {tmp_path / "table", tmp_path / "table" / "part", tmp_path / "table" / "part" / "0.parquet"}
    assert {Path(each) for each in synced} == wanted
