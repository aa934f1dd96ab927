"""Worlds: change times from files and from made-up sites."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from honeyguide.errors import InputError
from honeyguide.simulation.generated import MAKERS, generate_world
from honeyguide.simulation.worlds import ARTICLE, HUB, Window, World, read_world

ROWS = """page,timestamp,kind,pages_in_commit
b,2024-01-03T00:00:00Z,created,1
b,2024-01-04T00:00:00Z,changed,1
b,2024-01-04T00:00:00Z,changed,2
b,2024-01-05T12:00:00Z,moved,9
a,2024-01-01T00:00:00Z,changed,1
a,2024-01-02T01:00:00+01:00,changed,1
c,2024-01-01T00:00:00Z,created,1
c,2024-01-06T00:00:00Z,deleted,1
once,2024-01-02T06:00:00Z,created,1
back,2024-01-02T00:00:00Z,deleted,1
back,2024-01-03T00:00:00Z,created,1
"""


def written(folder: Path, text: str) -> str:
    path = folder / "changes.csv"
    path.write_text(text, "utf-8")
    return str(path)


def page(world: World, name: str) -> tuple[float, float, list[float]]:
    number = list(world.pages).index(name)
    times = world.times[world.offsets[number] : world.offsets[number + 1]]
    return float(world.born[number]), float(world.gone[number]), times.tolist()


def test_pages_come_change_and_go(tmp_path: Path) -> None:
    world = read_world(written(tmp_path, ROWS), Window(), seed=1)
    assert world.start == datetime(2024, 1, 1, tzinfo=UTC)
    assert world.hours == 120.0
    assert page(world, "a") == (0.0, math.inf, [24.0])  # what came with the start is in the first copy
    assert page(world, "b") == (48.0, math.inf, [72.0])  # twice at once is once; a move is no change
    assert page(world, "c") == (0.0, 120.0, [])
    assert page(world, "once") == (30.0, math.inf, [])
    assert page(world, "back") == (0.0, math.inf, [48.0])  # it went and came back: a change


def test_a_window_cuts_pages_and_changes(tmp_path: Path) -> None:
    window = Window(datetime(2024, 1, 3, tzinfo=UTC), 1.5)
    world = read_world(written(tmp_path, ROWS), window, seed=1)
    assert world.hours == 36.0
    assert page(world, "b") == (0.0, math.inf, [24.0])
    assert page(world, "a") == (0.0, math.inf, [])


def test_further_columns_say_host_class_and_importance(tmp_path: Path) -> None:
    rows = (
        "timestamp,page,class,importance,host\n"
        "2024-01-01T00:00:00Z,https://a.example/,hub,2.5,\n"
        "2024-01-02T00:00:00Z,x,,,h\n"
    )
    world = read_world(written(tmp_path, rows), Window(), seed=1)
    hub = list(world.pages).index("https://a.example/")
    assert (world.kind[hub], world.weight[hub], world.hosts[world.host[hub]]) == (HUB, 2.5, "a.example")
    assert world.hosts == ("a.example", "h")


def test_the_seed_shuffles_pages_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    first, again, other = (read_world(path, Window(), seed) for seed in (1, 1, 2))
    assert list(first.pages) == list(again.pages) != list(other.pages)
    assert sorted(first.pages) == sorted(other.pages)
    assert page(first, "b") == page(other, "b")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "changes.csv: has no rows; give at least one change"),
        ("page,timestamp\n", "changes.csv: has no rows; give at least one change"),
        ("url,timestamp\nx,2024-01-01T00:00:00Z\n", "changes.csv, field page: its first line has no column of"),
        ("page,page,timestamp\n", "changes.csv, field page: its first line has twice"),
        ("page,timestamp\nx,2024-01-01T08:00\n", "changes.csv line 2, row 1, field timestamp: '2024-01-01T08:00' has no time zone"),
        ("page,timestamp\nx,\n", "changes.csv line 2, row 1, field timestamp: '' is not a time"),
        ("page,timestamp\n ,2024-01-01T00:00:00Z\n", "changes.csv line 2, row 1, field page: ' ' should name a page"),
        ("page,timestamp\nx\n", "changes.csv line 2: has 1 fields where the header has 2"),
        ('page,timestamp\n"x,2024\n', "changes.csv line 2: is not CSV"),
        (
            "page,timestamp,class\nx,2024-01-01T00:00:00Z,blog\n",
            "changes.csv line 2, row 1, field class: 'blog' should be one of page, hub, article",
        ),
        (
            "page,timestamp,importance\nx,2024-01-01T00:00:00Z,0\n",
            "changes.csv line 2, row 1, field importance: '0' should lie above 0",
        ),
        ("page,timestamp\nx,2024-01-01T00:00:00Z\n", "changes.csv: spans no time"),
        ('{"page": "x"}\n', "changes.csv: is no CSV; a history is a CSV file with the columns page and timestamp"),
    ],
)  # fmt: skip
def test_mistakes_name_file_row_and_field(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_world(written(tmp_path, text), Window(), seed=1)
    assert str(error.value).replace(f"{tmp_path}/", "").startswith(message)


def test_a_table_of_another_format_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1\x15\x04\x15\xff\xfe\nPAR1")
    with pytest.raises(InputError, match="is no CSV; a history is a CSV file"):
        read_world(str(path), Window(), seed=1)


@pytest.mark.parametrize("sign", [";", "\t"])
def test_cells_may_be_separated_by_semicolons_or_tabs(tmp_path: Path, sign: str) -> None:
    plain = read_world(written(tmp_path, ROWS), Window(), seed=1)
    other = read_world(written(tmp_path, ROWS.replace(",", sign)), Window(), seed=1)
    assert other.pages == plain.pages
    assert other.times.tolist() == plain.times.tolist()


def test_a_window_beyond_the_history_is_refused(tmp_path: Path) -> None:
    rows = "page,timestamp,kind\nx,2024-01-01T00:00:00Z,created\nx,2024-01-05T00:00:00Z,deleted\n"
    window = Window(datetime(2025, 1, 1, tzinfo=UTC), 10)
    with pytest.raises(InputError, match="has no page in the days that were asked for"):
        read_world(written(tmp_path, rows), window, seed=1)


def test_the_next_change_is_the_one_a_plain_search_finds() -> None:
    world = generate_world("poisson:pages=50,days=30,interval=2", 3)
    rng = np.random.default_rng(5)
    pages, moments = rng.integers(0, 50, 300), rng.random(300) * 800 - 20
    for number, moment, found in zip(pages, moments, world.next_change(pages, moments), strict=True):
        times = world.times[world.offsets[number] : world.offsets[number + 1]]
        assert found == min((time for time in times if time > moment), default=math.inf)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_one_seed_one_world(name: str) -> None:
    text = f"{name}:pages=100,days=20,articles=10"
    first, again, other = (generate_world(text, seed) for seed in (7, 7, 8))
    assert first.times.tobytes() == again.times.tobytes() != other.times.tobytes()
    for number in range(first.size):
        times = first.times[first.offsets[number] : first.offsets[number + 1]]
        assert np.all(np.diff(times) >= 0)
        assert np.all(times < first.hours)
        assert np.all(times > first.born[number])
        assert np.all(times <= first.gone[number])
    assert first.offsets[-1] == len(first.times)


def test_steady_pages_change_at_their_rates() -> None:
    world = generate_world("poisson:pages=400,days=400,interval=5,spread=0.5", 2)
    seen, expected = np.diff(world.offsets), world.rates * world.hours
    assert abs(np.mean((seen - expected) / np.sqrt(expected))) < 0.15
    assert 0.85 < np.var((seen - expected) / np.sqrt(expected)) < 1.15


def test_articles_are_found_through_hubs_and_change_early() -> None:
    world = generate_world("news:articles=50,days=30,hubs=4", 2)
    articles = np.flatnonzero(world.kind == ARTICLE)
    assert set(world.hub[articles]) <= {0, 1, 2, 3}
    assert np.all(world.hub[world.kind == HUB] == -1)
    ages = [t - world.born[p] for p in articles for t in world.times[world.offsets[p] : world.offsets[p + 1]]]
    assert 0.4 < np.mean(np.array(ages) < 6.0) < 0.7
    for hub in range(4):  # every new article changes its hub
        assert len(world.times[world.offsets[hub] : world.offsets[hub + 1]]) == np.sum(world.hub == hub)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("poisson:colour=3", "poisson: 'colour' is none of its settings: pages, days"),
        ("poisson:pages=0", "poisson, field pages: '0' should be a whole number"),
        ("poisson:pages=1.5", "poisson, field pages: '1.5' should be a whole number"),
        ("news:days=x", "news, field days: 'x' should be a number"),
        ("poisson:pages=1000,interval=0.000001", "would have more than 50,000,000 changes"),
    ],
)
def test_wrong_settings_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        generate_world(text, 1)
    assert str(error.value).startswith(message)
