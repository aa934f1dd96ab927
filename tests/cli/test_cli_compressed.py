"""Compressed inputs, outputs that are no files, and Ctrl-C before there is anything to tell."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from honeyguide.adapters.files import sources
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    Run = Callable[..., Result]

PLAN = ("plan", "--now", "2024-06-15T08:00:00Z")
QUICK = ("--allow-private", "--delay", "0", "--retries", "0", "--no-timings")


def pack(data: bytes, ending: str) -> bytes:
    return gzip.compress(data) if ending == "gz" else pytest.importorskip("backports.zstd").compress(data)


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("name", ["known.csv", "known.jsonl"])
def test_tables_may_be_compressed(run: Run, folder: Path, name: str, ending: str) -> None:
    packed = folder / f"{name}.{ending}"
    packed.write_bytes(pack((folder / name).read_bytes(), ending))
    plain = run(*PLAN, name)
    assert plain.stdout
    assert run(*PLAN, packed.name).stdout == plain.stdout
    assert run("select", "links.csv").exit_code == 0
    (folder / f"links.csv.{ending}").write_bytes(pack((folder / "links.csv").read_bytes(), ending))
    assert run("select", f"links.csv.{ending}").stdout == run("select", "links.csv").stdout


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_lists_of_sites_may_be_compressed(run: Run, folder: Path, ending: str) -> None:
    (folder / f"sites.tsv.{ending}").write_bytes(pack(b"name\tdomain\nAcme\t127.0.0.1:9\n", ending))
    result = run("pick", "-i", f"sites.tsv.{ending}", *QUICK)
    assert '"site": "127.0.0.1:9"' in result.stdout


@pytest.mark.parametrize("ending", ["gz", "zst"])
@pytest.mark.parametrize("command", [PLAN, ("pick", "-i"), ("select",)], ids=["plan", "pick", "select"])
@pytest.mark.parametrize("damage", ["no such thing", "cut off"])
def test_a_damaged_file_is_one_sentence(
    run: Run, folder: Path, ending: str, command: tuple[str, ...], damage: str
) -> None:
    packed = pack((folder / "known.csv").read_bytes() * 50, ending)
    data = b"url,page\n" if damage == "no such thing" else packed[: len(packed) // 2]
    (folder / f"known.csv.{ending}").write_bytes(data)
    result = run(*command, f"known.csv.{ending}")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: known.csv.{ending}: is not compressed as its name tells, or is cut off\n"


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_what_comes_out_of_a_small_file_is_bounded(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(sources, "MAX_STREAM_BYTES", 1 << 21)
    (folder / f"known.csv.{ending}").write_bytes(pack(b"\n" * (5 << 20), ending))
    result = run(*PLAN, f"known.csv.{ending}")
    assert result.exit_code == 1
    assert f"known.csv.{ending}: has more than 2,097,152 bytes" in result.stderr


@pytest.mark.parametrize("output", ["-", "/dev/null"])
def test_every_output_may_be_standard_output_or_nothing(run: Run, crawled: Path, output: str) -> None:
    page = response(b"<title>Fire</title><p>All about fire.</p>")
    with served(LoopbackServer({"/": page})) as (home,):
        commands = (
            (*PLAN, "known.csv"),
            ("export", "pages"),
            ("simulate", "recrawl", "poisson:pages=9,days=2", "--policies", "uniform"),
            ("crawl", home, "--topic", "fire", "--store", "h.db", *QUICK[:-1]),
            ("pick", home, *QUICK),
        )
        before = sorted(crawled.iterdir())
        for command in commands:
            result = run(*command, "-o", output)
            assert result.exit_code == 0, result.stderr
            assert bool(result.stdout) == (output == "-"), command
            if output == "-" and command[0] != "crawl":
                assert result.stdout == run(*command).stdout
    assert sorted(crawled.iterdir()) == sorted([*before, crawled / "h.db"])


@pytest.mark.parametrize("module", ["honeyguide.cli.main", "honeyguide.app.plan", "honeyguide.core.url.url"])
def test_ctrl_c_in_the_first_moment_says_that_nothing_was_changed(folder: Path, module: str) -> None:
    """The signal comes while a module is loaded, which is where the first second goes."""
    script = f"""
import os, signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["honeyguide", "plan", "known.csv"]
from honeyguide.__main__ import main
main()
"""
    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", script],
        cwd=folder,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert (ended.returncode, ended.stdout) == (128 + signal.SIGINT, b"")
    assert ended.stderr.decode() == ("Stopped by Ctrl-C; files and stores are as they were.\n")
