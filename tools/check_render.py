"""Run the tests of --render with a browser, where every lookup of a name is seen.

    python tools/check_render.py [FOLDER]

Makes a virtual environment in FOLDER (a temporary one without it) with the lowest version that the extra `render` names, and runs
tests/adapters/render, tests/journeys/test_render.py and the examples of the guide. Chromium comes from the machine (chromium-headless-shell or chromium). On Linux
the tests run in a network of their own, whose only name server is the test; without the right to do that, lookups are not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from check_plugins import lowest

ROOT = Path(__file__).parents[1]
TESTS = ("tests/adapters/render", "tests/journeys/test_render.py", "tests/docs/test_docs.py")
# A default route, or the browser would think that it is offline and try nothing.
ALONE = """
ip link set lo up && ip link add outside type veth peer name inside && ip link set inside up && ip addr add 192.0.2.9/24 dev outside && ip link set outside up &&
ip route add default dev outside && echo nameserver 127.0.0.1 > "$0" && mount --bind "$0" /etc/resolv.conf && exec "$@"
"""


def alone(folder: Path, command: list[str]) -> list[str]:
    """Give the command that runs another where the only name server is the machine itself; the same command if that fails."""
    start = ["unshare", "--map-root-user", "--mount", "--net", "sh", "-c", ALONE, str(folder / "resolv.conf")]
    tried = subprocess.run([*start, "true"], check=False, capture_output=True)  # noqa: S603 - our own arguments
    if tried.returncode != 0:
        sys.stderr.write("Note: no network of its own here, so lookups of names are not counted\n")
    return [*start, *command] if tried.returncode == 0 else command


def main() -> int:
    """Set the environment up, and run the tests."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else scratch).resolve()
        python = str(folder / "bin" / "python")
        if not Path(python).exists():
            venv.create(folder, with_pip=True)
        wanted = [lowest(one) for one in table["render"]]
        install = [python, "-m", "pip", "install", "-q", str(ROOT), "pytest", "hypothesis", *wanted]
        subprocess.run(install, check=True)  # noqa: S603 - our own arguments
        tests = alone(folder, [python, "-m", "pytest", "-q", "-k", "render", *TESTS])
        return subprocess.run(tests, cwd=ROOT, check=False).returncode  # noqa: S603 - as above


if __name__ == "__main__":
    raise SystemExit(main())
