"""Check what is released: the wheel, in clean environments, on every Python and with the lowest versions it allows.

    python tools/check_release.py [--python PATH ...] [--quick] [--tests PATH ...]

Builds wheel and sdist twice with the same SOURCE_DATE_EPOCH and compares the bytes; then, for each Python (all of 3.11 to
3.14 that are found), installs the wheel into an empty environment, runs the commands of the README, each of which must
end with exit code 0, and the tests of the commit against the wheel (tests/core and tests/adapters, or --tests); then all that once more
with the lowest version of each direct dependency. --quick stops after the builds. pip decides where packages come from: see its own settings. Exit code 0: all is well; 1: something failed;
versions that are missing on this machine are named, and do not count.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
_FENCE = re.compile(r"```(?:sh|bash|console|shell)\n(.*?)```", re.DOTALL)
_TESTS = ("tests/core", "tests/adapters")
_LEAST = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9.]+)")


def run(*command: str | Path, cwd: Path = ROOT, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command without what this environment adds to Python."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(  # noqa: S603 - our own commands
        [str(word) for word in command],
        cwd=cwd,
        env=environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )


def must(*command: str | Path, cwd: Path = ROOT, **settings: str) -> str:
    """Run a command that has to succeed; gives what it printed."""
    done = run(*command, cwd=cwd, **settings)
    if done.returncode:
        words = " ".join(str(word) for word in command)
        raise SystemExit(f"failed: {words}\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout


def build(folder: Path, python: Path, commit: str) -> dict[str, str]:
    """Build wheel and sdist of a commit; gives their names and hashes."""
    source = folder / "source"
    source.mkdir(parents=True)
    archive = folder / "source.tar"
    must("git", "archive", "--output", archive, commit)
    shutil.unpack_archive(archive, source, filter="data")
    epoch = must("git", "log", "-1", "--format=%ct", commit).strip()
    script = (
        "import sys; from hatchling import build as b; b.build_wheel(sys.argv[1]); b.build_sdist(sys.argv[1])"
    )
    must(python, "-c", script, folder / "dist", cwd=source, SOURCE_DATE_EPOCH=epoch)
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((folder / "dist").iterdir())
    }


def builder(folder: Path) -> Path:
    """Make an environment that has the build backend."""
    python = environment(folder / "builder", sys.executable)
    with (ROOT / "pyproject.toml").open("rb") as file:
        needed = tomllib.load(file)["build-system"]["requires"]
    must(python, "-m", "pip", "install", "-q", *needed)
    return python


def environment(folder: Path, python: str) -> Path:
    """Make an empty environment; gives its Python."""
    must(python, "-m", "venv", folder)
    return folder / "bin" / "python"


def found_pythons() -> dict[str, str]:
    """Find the Pythons of this machine, by version."""
    found = {}
    homes = sorted(Path.home().glob(".pyenv/versions/*/bin"))
    for version in VERSIONS:
        places = [str(home / "python") for home in homes if home.parent.name.startswith(f"{version}.")]
        named = shutil.which(f"python{version}")
        for path in [*places, *([named] if named else [])]:
            asked = run(path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
            if asked.returncode == 0 and asked.stdout.strip() == version:
                found[version] = path
                break
    return found


def readme_commands() -> list[str]:
    """List the commands of the README that need no network and no checkout."""
    text = (ROOT / "README.md").read_text("utf-8")
    lines = [line.removeprefix("$ ") for block in _FENCE.findall(text) for line in block.splitlines()]
    return [line for line in lines if line.startswith("honeyguide ") and "http" not in line]


def check_commands(python: Path, folder: Path) -> list[str]:
    """Run what the README shows, in an empty folder; gives what failed."""
    commands = ["honeyguide --version", "honeyguide --help", "honeyguide demo", *readme_commands()]
    folder.mkdir()
    failed = []
    for command in dict.fromkeys(commands):
        words = command.partition("#")[0].split()
        done = run(python.parent / words[0], *words[1:], cwd=folder)
        if done.returncode or "Traceback" in done.stderr:
            failed.append(f"{command}: exit code {done.returncode}: {done.stderr.strip()[-300:]}")
    return failed


def check_tests(python: Path, source: Path, tests: list[str]) -> list[str]:
    """Run tests of the commit against the wheel that is installed; gives what failed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    needed = [*extras["speed"], *(one for one in extras["dev"] if one.startswith(("pytest", "hypothesis")))]
    done = run(python, "-m", "pip", "install", "-q", *needed)
    if done.returncode:
        return [done.stderr.strip()[-500:]]
    done = run(python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests, cwd=source)
    return [f"tests: {done.stdout.strip()[-800:]}"] if done.returncode else []


def least_versions() -> list[str]:
    """List the direct dependencies at the lowest version that is allowed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        needed = tomllib.load(file)["project"]["dependencies"]
    return [f"{found[1]}=={found[2]}" for one in needed if (found := _LEAST.match(one))]


def install(python: Path, wheel: Path, *more: str) -> str:
    """Install the wheel; gives the last words of pip if that fails."""
    done = run(python, "-m", "pip", "install", "-q", wheel, *more)
    return done.stderr.strip()[-500:] if done.returncode else ""


def main() -> int:
    """Build, compare, install, run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", action="append", default=[], metavar="PATH", help="instead of those found"
    )
    parser.add_argument("--tests", nargs="*", default=list(_TESTS), metavar="PATH", help="which tests to run")
    parser.add_argument("--quick", action="store_true", help="build and compare, no more")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        return check(Path(name), asked.python, asked.tests, quick=asked.quick)


def check(folder: Path, pythons: list[str], tests: list[str], *, quick: bool) -> int:
    """Do all checks in a folder."""
    python, commit = builder(folder), must("git", "rev-parse", "HEAD").strip()
    first, second = (build(folder / name, python, commit) for name in ("one", "two"))
    for name, digest in first.items():
        say(f"{'same' if second.get(name) == digest else 'DIFFERENT'}  {name}  {digest}")
    if first != second:
        return 1
    if quick:
        return 0
    wheel = next((folder / "one" / "dist").glob("*.whl"))
    sources = folder / "one" / "source"
    shutil.rmtree(sources / "src")  # the tests find the wheel, and nothing else
    found = {path: path for path in pythons} or found_pythons()
    missing = [version for version in VERSIONS if version not in found and not pythons]
    say(f"missing on this machine: {', '.join(missing) or 'none'}")
    failures = 0
    runs: list[tuple[str, str, list[str]]] = [(version, path, []) for version, path in found.items()]
    lowest = next(iter(found.items()))
    runs.append((f"{lowest[0]} with the lowest versions", lowest[1], least_versions()))
    for number, (title, path, pins) in enumerate(runs):
        python = environment(folder / f"env{number}", path)
        wrong = [why] if (why := install(python, wheel, *pins)) else []
        wrong = wrong or check_commands(python, folder / f"run{number}")
        wrong = wrong or check_tests(python, sources, tests)
        say(f"{'FAILED' if wrong else 'passed'}  {title}")
        for one in wrong:
            say(f"        {one}")
        failures += bool(wrong)
    return 1 if failures else 0


def say(line: str) -> None:
    """Print a line now."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
