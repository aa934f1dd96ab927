"""A few hundred hostile cases for everything that reads what strangers write; `tools/fuzz.py` makes millions."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzzing.making import Maker
from fuzzing.running import Amount, Target, fuzz
from fuzzing.targets import TARGETS

CASES = {"urls": 4_000, "hrefs": 2_000, "patterns": 500, "profiles": 150, "parquet": 40, "stores": 60}
USUAL = 600
MB = 400  # that a few hundred small cases may take, engines and tables included


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.slow
def test_nothing_but_our_own_errors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)  # rows that are left out of a file below /dev are written here
    if name == "parquet":
        pytest.importorskip("polars")  # an extra
    outcome = fuzz(TARGETS[name](), Amount(CASES.get(name, USUAL), seed=20))
    assert not outcome.failures, outcome.failures
    assert outcome.cases == CASES.get(name, USUAL)
    assert outcome.grown_mb < MB


class Fragile:
    """A reader with the two faults that fuzzing is for."""

    name = "fragile"

    def begin(self, chance: Random, corpus: object) -> None:
        del corpus
        self.maker = Maker(chance, (b"a", b"[", b"\xff"), [b"[a]"])

    def make(self) -> bytes:
        return self.maker.document()

    def given(self, document: bytes) -> tuple[bytes]:
        return (document,)

    def check(self, case: bytes) -> None:
        case.decode()
        assert b"[[[" not in case, "too deep"

    def end(self) -> None:
        self.maker.seeds.clear()


def test_faults_are_found_and_told_apart() -> None:
    target: Target = Fragile()
    outcome = fuzz(target, Amount(300), [b"fine", b"[[[given"])
    kinds = sorted(kind.partition(" ")[0] for kind in outcome.failures)
    assert kinds == ["AssertionError", "UnicodeDecodeError"]
    assert min(len(failure.case) for failure in outcome.failures.values()) < 20
    assert outcome.cases == 302


def test_the_same_seed_makes_the_same_cases() -> None:
    def made(seed: int) -> list[bytes]:
        maker = Maker(Random(seed), (b"a", b"<b>", b" "), [b"a seed", b"another"], pumped=0.1)  # noqa: S311 - test data
        return [maker.document() for _ in range(200)]

    assert made(1) == made(1)
    assert made(1) != made(2)
    assert max(map(len, made(1))) > 1_000, "none was pumped up"
