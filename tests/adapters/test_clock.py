"""The real clock: what moves it, and what does not."""

from __future__ import annotations

import time

import pytest

from honeyguide.adapters.clock import SystemClock


class Machine:
    """A machine whose clocks a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, boottime: bool | None) -> None:
        self.day, self.awake_s, self.up_s = 1_000_000.0, 50.0, 50.0
        monkeypatch.setattr(time, "time", lambda: self.day)
        monkeypatch.setattr(time, "monotonic", lambda: self.awake_s)
        monkeypatch.setattr(
            time, "clock_gettime", self._since_boot if boottime else self._refused, raising=False
        )
        if boottime is None:
            monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
        else:
            monkeypatch.setattr(time, "CLOCK_BOOTTIME", 7, raising=False)

    def _since_boot(self, number: int) -> float:
        assert number == 7
        return self.up_s

    def _refused(self, number: int) -> float:
        raise OSError(22, f"no clock {number}")

    def works(self, seconds: float) -> None:
        self.awake_s += seconds
        self.up_s += seconds

    def sleeps(self, seconds: float) -> None:
        self.up_s += seconds


@pytest.mark.parametrize("boottime", [True, False, None])
def test_it_goes_on_and_nobody_sets_it(monkeypatch: pytest.MonkeyPatch, boottime: bool | None) -> None:
    machine = Machine(monkeypatch, boottime=boottime)
    clock = SystemClock()
    assert clock.now() == 1_000_000.0
    machine.works(10.0)
    machine.day = 5.0
    assert clock.now() == 1_000_010.0
    machine.day = 9_000_000.0
    assert clock.now() == 1_000_010.0
    assert SystemClock().now() == 9_000_000.0


@pytest.mark.parametrize(
    ("boottime", "now"), [(True, 1_003_610.0), (False, 1_000_010.0), (None, 1_000_010.0)]
)
def test_it_goes_on_while_the_machine_sleeps_where_that_can_be_told(
    monkeypatch: pytest.MonkeyPatch, boottime: bool | None, now: float
) -> None:
    machine = Machine(monkeypatch, boottime=boottime)
    clock = SystemClock()
    machine.works(10.0)
    machine.sleeps(3600.0)
    assert clock.now() == now
