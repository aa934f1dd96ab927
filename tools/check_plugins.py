"""Run the tests of the plug-ins with the frameworks themselves, in an environment of their own.

    python tools/check_plugins.py [FOLDER]

Makes a virtual environment in FOLDER (a temporary one without it) with the lowest versions that the extras name, and runs
tests/contrib, the notebook of the guides in Jupyter, and the recipe for Scrapy. Frameworks are large and pin much, so they are not in the extra dev.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECIPE = "tests/docs/test_docs.py::test_examples[docs/cookbook/scrapy.md]"
EXTRAS = ("mcp", "scrapy", "crawlee", "langchain", "llama-index", "crawl4ai")


def lowest(requirement: str) -> str:
    """Pin a requirement to its lowest version.

    >>> lowest("crawlee[parsel]>=1.11")
    'crawlee[parsel]~=1.11'
    """
    return requirement.replace(">=", "~=")


def main() -> int:
    """Set the environment up, and run the tests."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = [lowest(one) for extra in EXTRAS for one in table[extra]]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
        venv.create(folder, with_pip=True)
        python = str(folder / "bin" / "python")
        jupyter = ("nbclient", "ipykernel")
        install = [python, "-m", "pip", "install", "-q", str(ROOT), "pytest", "hypothesis", *jupyter, *wanted]
        subprocess.run(install, check=True)  # noqa: S603 - our own arguments
        tests = [python, "-m", "pytest", "-q", "tests/contrib", "tests/docs/test_notebook.py", RECIPE]
        run = subprocess.run(tests, cwd=ROOT, check=False)  # noqa: S603 - as above
    return run.returncode


if __name__ == "__main__":
    raise SystemExit(main())
