"""The crawl as a state machine: plain function calls, no store, no network."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from honeyguide.core.crawl.frontier import Budgets, Claimed, Done, Dropped, Lease, NoClaim, Retry
from honeyguide.core.crawl.machine import (
    Adopted,
    Answered,
    AskForLeases,
    Block,
    CrawlLimits,
    CrawlState,
    Failed,
    Fetch,
    Finish,
    LeasesClaimed,
    Stop,
    Tick,
    Wait,
    step,
)
from honeyguide.core.rules.profile import CrawlRules
from honeyguide.core.url.url import Url
from honeyguide.core.why import Why

if TYPE_CHECKING:
    from honeyguide.core.crawl.machine import Command, Event

RULES = CrawlRules(lookahead=2, window=4, max_attempts=2, max_site_failures=3, retry_s=60.0, patience_s=100.0)


def lease(claim: int, site: str = "a.example", attempt: int = 1) -> Lease:
    return Lease(claim, claim, Url.parse(f"https://{site}/{claim}"), site, attempt=attempt)


def start(*leases: Lease, rules: CrawlRules = RULES, max_time_s: float | None = None) -> CrawlState:
    """A crawl with these leases in flight."""
    state, _ = step(CrawlState(CrawlLimits(rules, Budgets(), max_time_s), 0.0), Adopted((), 0.0))
    state, _ = step(state, LeasesClaimed(Claimed(leases), 0.0))
    return state


def run(state: CrawlState, *events: Event) -> tuple[CrawlState, list[Command]]:
    """Give events; whoever asks for leases gets none."""
    done: list[Command] = []
    waiting = list(events)
    while waiting:
        event = waiting.pop(0)
        state, commands = step(state, event)
        done += commands
        if any(isinstance(command, AskForLeases) for command in commands):
            waiting.insert(0, LeasesClaimed(Claimed(), event.now))
    return state, done


def finished(commands: list[Command]) -> list[int]:
    return [command.lease.claim for command in commands if isinstance(command, Finish)]


def test_it_begins_with_a_claim_that_says_what_it_may_have() -> None:
    state, commands = step(CrawlState(CrawlLimits(RULES, Budgets(max_pages=7)), 0.0), Adopted((), 5.0))
    (claim,) = commands
    assert isinstance(claim, AskForLeases)
    assert (claim.ask.limit, claim.ask.per_site, claim.ask.until) == (4, 2, 5.0 + RULES.lease_s)
    assert claim.ask.budgets.max_pages == 7
    assert claim.ask.waits  # TOPIC-5
    assert state.is_claiming


def test_what_was_left_behind_is_fetched_first_and_the_window_filled_up() -> None:
    _, commands = step(CrawlState(CrawlLimits(RULES), 0.0), Adopted((lease(1), lease(2)), 0.0))
    fetch, other, claim = commands
    assert isinstance(fetch, Fetch)
    assert isinstance(other, Fetch)
    assert isinstance(claim, AskForLeases)
    assert (claim.ask.limit, claim.ask.in_flight) == (2, {"a.example": (0, 0)})


def test_results_apply_in_claim_order() -> None:
    state = start(lease(1), lease(2), lease(3))
    state, early = run(state, Answered(3, 200, 1.0), Answered(2, 200, 2.0))
    assert finished(early) == []
    _, commands = run(state, Answered(1, 200, 3.0))
    assert finished(commands) == [1, 2, 3]


def test_leases_are_asked_for_between_two_results() -> None:
    state = start(lease(1), lease(2))
    state, _ = step(state, Answered(2, 200, 1.0))
    state, commands = step(state, Answered(1, 200, 1.0))
    assert [type(command).__name__ for command in commands] == ["Finish", "AskForLeases"]
    state, commands = step(state, LeasesClaimed(Claimed((lease(3),)), 1.0))
    assert [type(command).__name__ for command in commands] == ["Fetch", "Finish", "AskForLeases"]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_the_commands_but_for_their_moment_do_not_depend_on_who_answers_first(order: tuple[int, ...]) -> None:
    state = start(lease(1), lease(2), lease(3))
    _, commands = run(state, *(Answered(claim, 200, 1.0) for claim in order))
    assert [type(command).__name__ for command in commands] == [*["Finish", "AskForLeases"] * 3, "Stop"]


@pytest.mark.parametrize(
    ("event", "outcome"),
    [
        (Answered(1, 200, 5.0), Done()),
        (Answered(1, 304, 5.0), Done()),
        (Answered(1, 302, 5.0), Dropped(Why("http-302", "answered 302"))),  # a redirect to nowhere is no page
        (Answered(1, 404, 5.0), Dropped(Why("http-404", "answered 404"))),
        (Answered(1, 503, 5.0), Retry(65.0, Why("http-503", "answered 503"))),
        (Answered(1, 429, 5.0, rest_s=20.0), Retry(25.0, Why("http-429", "answered 429"))),
        (Failed(1, Why("timed-out", "slow"), 5.0, may_pass=True), Retry(65.0, Why("timed-out", "slow"))),
        (Failed(1, Why("too-large", "big"), 5.0), Dropped(Why("too-large", "big"))),
        (
            Failed(1, Why("forbidden", "closed for now"), 5.0, may_pass=True, is_fetch=False, rest_s=90.0),
            Retry(95.0, Why("forbidden", "closed for now"), is_fetch=False),
        ),
        (
            Failed(1, Why("forbidden", "robots"), 5.0, is_fetch=False),
            Dropped(Why("forbidden", "robots"), is_fetch=False),
        ),
    ],
)
def test_how_a_lease_ends(event: Event, outcome: object) -> None:
    _, commands = run(start(lease(1)), event)
    assert [command.outcome for command in commands if isinstance(command, Finish)] == [outcome]


@pytest.mark.parametrize(
    ("attempt", "pause_s"), [(1, 60.0), (2, 120.0), (6, 1920.0), (7, 3600.0), (99, 3600.0)]
)
def test_pauses_double_up_to_an_hour(attempt: int, pause_s: float) -> None:
    patient = replace(RULES, max_attempts=100)
    _, commands = run(start(lease(1, attempt=attempt), rules=patient), Answered(1, 500, 5.0))
    why = Why("http-500", "answered 500")
    assert commands[0] == Finish(lease(1, attempt=attempt), Retry(5.0 + pause_s, why))


def test_the_last_attempt_is_the_last() -> None:
    _, commands = run(start(lease(1, attempt=2)), Answered(1, 500, 5.0))
    assert commands[0] == Finish(lease(1, attempt=2), Dropped(Why("http-500", "answered 500")))


def test_a_host_that_asks_for_rest_gets_it() -> None:
    _, commands = run(start(lease(1)), Answered(1, 429, 5.0, rest_s=20.0))
    assert Block("a.example", 25.0) in commands


@pytest.mark.parametrize(
    "event",
    [
        Answered(1, 429, 5.0, 20.0, "b.example"),
        Failed(1, Why("unreachable", "dead"), 5.0, may_pass=True, rest_s=20.0, site="b.example"),
    ],
)
def test_where_redirects_led_is_not_the_doing_of_the_site_that_redirects(event: Answered | Failed) -> None:
    rules = replace(RULES, max_site_failures=1)
    state, commands = run(start(lease(1), rules=rules), event)
    (outcome,) = [command.outcome for command in commands if isinstance(command, Finish)]
    assert isinstance(outcome, Retry)
    assert outcome.at == 25.0
    assert not [command for command in commands if isinstance(command, Block)]
    assert (state.closed, state.failing) == (frozenset(), {})
    state, commands = run(start(lease(1), rules=rules), replace(event, site="a.example"))
    assert Block("a.example", 25.0) in commands
    assert state.closed == {"a.example"}


def test_a_site_that_fails_again_and_again_is_left_alone() -> None:
    state = start(lease(1), lease(2), lease(3), lease(4, "b.example"))
    state, _ = run(state, *(Answered(claim, 500, 1.0) for claim in (1, 2, 3)))
    assert state.closed == {"a.example"}
    _, commands = step(state, Answered(4, 200, 1.0))
    assert [command.ask.closed for command in commands if isinstance(command, AskForLeases)] == [
        {"a.example"}
    ]


def test_an_answer_ends_a_row_of_failures() -> None:
    state = start(*(lease(n) for n in range(1, 6)), rules=replace(RULES, window=9))
    state, _ = run(
        state, *(Answered(n, status, 1.0) for n, status in enumerate((500, 500, 404, 500, 500), 1))
    )
    assert state.closed == frozenset()


def test_a_short_pause_is_waited_for_and_a_long_one_ends_the_crawl() -> None:
    state, _ = step(CrawlState(CrawlLimits(RULES), 0.0), Adopted((), 0.0))
    waiting, commands = step(state, LeasesClaimed(Claimed((), NoClaim("resting", 100.0)), 0.0))
    assert commands == (Wait(100.0),)
    _, commands = step(waiting, Tick(100.0))
    assert isinstance(commands[0], AskForLeases)
    _, commands = step(state, LeasesClaimed(Claimed((), NoClaim("resting", 101.0)), 0.0))
    assert commands == (Stop("resting", 101.0),)


def test_when_time_is_over_what_has_come_is_applied_and_the_rest_left() -> None:
    state = start(lease(1), lease(2), lease(3), max_time_s=10.0)
    state, commands = step(state, Answered(3, 200, 8.0))
    assert commands == ()
    state, commands = step(state, Answered(2, 200, 11.0))  # late, and behind another: it waits for the tick
    assert commands == ()
    state, commands = step(state, Tick(11.0))
    assert finished(list(commands)) == [2, 3]
    assert commands[-1] == Stop("max_time")
    assert state.window == ()


def test_after_the_time_results_apply_and_nothing_is_claimed() -> None:
    state = start(lease(1), lease(2), max_time_s=10.0)
    state, commands = step(state, Answered(1, 200, 10.0))
    assert [type(command).__name__ for command in commands] == ["Finish"]
    _, commands = step(state, Answered(2, 200, 11.0))
    assert [type(command).__name__ for command in commands] == ["Finish", "Stop"]


def test_nothing_left_is_the_end() -> None:
    _, commands = run(start(lease(1)), Answered(1, 200, 1.0))
    assert commands[-1] == Stop("complete")


def test_what_is_due_is_asked_for_alone_and_its_end_says_nothing_of_the_queue() -> None:
    state, commands = step(CrawlState(CrawlLimits(RULES, only_due=True), 0.0), Adopted((), 0.0))
    (claim,) = commands
    assert isinstance(claim, AskForLeases)
    assert claim.ask.only_due
    assert step(state, LeasesClaimed(Claimed(), 0.0))[1] == (Stop("nothing_due"),)
    assert step(state, LeasesClaimed(Claimed((), NoClaim("resting", 101.0)), 0.0))[1] == (
        Stop("due_later", 101.0),
    )
    assert step(state, LeasesClaimed(Claimed((), NoClaim("resting", 99.0)), 0.0))[1] == (Wait(99.0),)
    assert step(state, LeasesClaimed(Claimed((), NoClaim("max_pages")), 0.0))[1] == (Stop("max_pages"),)
