"""Files by columns: the same rows, the same sentences and the same ranking as row by row."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from honeyguide import load_profile, plan_file
from honeyguide.adapters.files import sources
from honeyguide.adapters.files.rows import Rejected
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.core.recrawl.plan import NAMES, Plan, PlanEntry, PlanQuery
from honeyguide.errors import InputError

pl = pytest.importorskip("polars")  # an extra
from honeyguide.bulk import csv_blocks  # noqa: E402 - as above
from honeyguide.bulk.signal_columns import moment_of, with_moments  # noqa: E402 - as above

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
PROFILE = load_profile("news")
GOOD = {"url": "https://a.example/", "visits": 1, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": True}
HOSTS = 7


def rows_of(count: int, seed: int = 1) -> list[dict[str, Any]]:
    rng = random.Random(seed)  # noqa: S311 - made-up rows

    def moment() -> str | None:
        ago = timedelta(seconds=rng.choice([3599, 3600, 86399, 86400, 604800, 604801, rng.randrange(10**7)]))
        return rng.choice([None, (NOW - ago).isoformat(), (NOW - ago).isoformat().replace("+00:00", "Z")])

    return [
        {
            "url": f"https://host-{rng.randrange(HOSTS)}.example/{number}",
            "visits": rng.randrange(9),
            "last_visited": moment(),
            "last_changed": moment(),
            "topic_relevance": rng.choice([None, 0.1, 0.3, 0.5, 0.9, rng.random()]),
            "hub_depth": rng.choice([None, *range(6)]),
            "is_hub": rng.choice([None, True, False]),
        }
        for number in range(count)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path, row_group_size=100)
    elif path.suffix == ".csv":
        names = list(rows[0])
        cells = [",".join("" if row[n] is None else str(row[n]) for n in names) for row in rows]
        path.write_text("\n".join([",".join(names), *cells]) + "\n", "utf-8")
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read small files by columns, too."""
    monkeypatch.setattr(sources, "SMALL_BYTES", 0)
    monkeypatch.setattr("honeyguide.bulk.batches._BATCH_ROWS", 70)
    monkeypatch.setattr("honeyguide.bulk.batches._CHUNK_ROWS", 70)


def by_rows(path: str, asked: PlanQuery, monkeypatch: pytest.MonkeyPatch) -> Plan:
    with monkeypatch.context() as patch:
        patch.setattr(sources, "SMALL_BYTES", 10**9)
        return open_known(known_sources([path]), PROFILE).plan(asked)


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    "asked",
    [
        PlanQuery(NOW),
        PlanQuery(NOW, top=17),
        PlanQuery(NOW, min_score=55),
        PlanQuery(NOW, max_score=55),
        PlanQuery(NOW, min_score=40, max_score=61, top=30),
        PlanQuery(NOW, max_score=62, levels=("high", "low"), per_host=2),
        PlanQuery(NOW, levels=("high", "low"), top=200),
        PlanQuery(NOW, levels=("medium",), min_score=45),
        PlanQuery(NOW, per_host=2),
        PlanQuery(NOW, per_host=3, top=9),
        PlanQuery(NOW, per_host=1, top=50, levels=("medium",)),
        PlanQuery(NOW, top=10**6),
    ],
)
def test_both_ways_give_the_same_plan(
    kind: str, asked: PlanQuery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(400)
    expected = by_rows(write(tmp_path / "known.jsonl", rows), asked, monkeypatch)
    found = open_known(known_sources([write(tmp_path / f"known.{kind}", rows)]), PROFILE).plan(asked)
    assert repr(found) == repr(expected)
    assert found.rows == 400


@pytest.mark.usefixtures("columns")
def test_ties_keep_the_order_of_the_input(tmp_path: Path) -> None:
    # PLAN-3: score descending, then input order, across batches and files.
    rows = [
        {**GOOD, "url": f"https://a.example/{number}", "is_hub": number in (150, 299)}
        for number in range(300)
    ]
    files = [write(tmp_path / "a.parquet", rows[:200]), write(tmp_path / "b.parquet", rows[200:])]
    plan = open_known(known_sources(files), PROFILE).plan(PlanQuery(NOW, top=5))
    assert [(entry.rank, entry.scored.url.rpartition("/")[2]) for entry in plan.entries] == [
        (1, "150"), (2, "299"), (3, "0"), (4, "1"), (5, "2")
    ]  # fmt: skip


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("iso", lambda moment: moment.isoformat()),
        ("iso Z", lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ")),
        ("iso as polars writes it", lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%S.%f%z")),
        ("iso elsewhere", lambda moment: moment.astimezone(timezone(timedelta(hours=5))).isoformat()),
        ("seconds", lambda moment: int(moment.timestamp())),
        ("seconds as float", lambda moment: moment.timestamp()),
        ("seconds as text", lambda moment: str(int(moment.timestamp()))),
        ("milliseconds", lambda moment: int(moment.timestamp() * 1000)),
        ("milliseconds as text", lambda moment: str(int(moment.timestamp() * 1000))),
        ("native", lambda moment: moment),
    ],
)
def test_times_in_every_form(name: str, make: Callable[[datetime], object], tmp_path: Path) -> None:
    agos = [3599, 3600, 86399, 86400, 604800, 604801]
    rows = [
        {**GOOD, "url": f"https://a.example/{ago}", "last_visited": make(NOW - timedelta(seconds=ago))}
        for ago in agos
    ]
    plan = open_known(known_sources([write(tmp_path / "known.parquet", rows)]), PROFILE).plan(PlanQuery(NOW))
    scores = {entry.scored.url.rpartition("/")[2]: entry.scored.score.value for entry in plan.entries}
    assert [scores[str(ago)] for ago in agos] == [38, 58, 58, 68, 68, 83], name


def test_written_times_are_those_that_python_reads() -> None:
    zones = ("", "Z", "+00:00", "+0000", "-0330", "+14:00", "-00:01", "+05", "z")
    fractions = ("", ".5", ".25", ".123456", ".1234567", ".000001", ".")
    days = ("2024-02-29", "2023-02-29", "1970-01-01", "9999-12-31", "2024-6-01")
    clocks = ("T08:00:00", " 23:59:59", "T24:00:00", "T08:60:00", "T08:00", "")
    texts = [
        day + clock + part + zone for day in days for clock in clocks for part in fractions for zone in zones
    ]
    read = with_moments(pl.LazyFrame({"at": texts}), ["at"]).collect()
    moments, doubts = (read.select(column).to_series().to_list() for column in moment_of("at"))
    sure = [(text, moment) for text, moment, doubt in zip(texts, moments, doubts, strict=True) if not doubt]
    assert len(sure) > 100
    for text, moment in sure:
        written = date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
        at = (
            written
            if isinstance(written, datetime)
            else datetime(written.year, written.month, written.day, tzinfo=UTC)
        )
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        assert moment == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), text


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_native_times_of_every_unit_and_dates(unit: str, tmp_path: Path) -> None:
    frame = pl.DataFrame([GOOD]).with_columns(
        pl.lit(NOW - timedelta(minutes=5)).dt.cast_time_unit(unit).alias("lastVisited"),
        pl.lit(date(2024, 6, 15)).alias("lastChanged"),
    )
    frame.write_parquet(tmp_path / "known.parquet")
    (entry,) = (
        open_known(known_sources([str(tmp_path / "known.parquet")]), PROFILE).plan(PlanQuery(NOW)).entries
    )
    assert entry.scored.score.words == ("Recently visited (<1h)", "Changed in last 24h", "Is a hub page")


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("policy", ["heuristic", "learned"])
def test_native_times_without_a_zone_are_utc_which_is_told_once(
    unit: str, policy: str, tmp_path: Path
) -> None:
    moments = [NOW - timedelta(minutes=5), NOW - timedelta(days=3), None]
    rows = [{**GOOD, "url": f"https://a.example/{number}"} for number in range(3)]
    zoned = pl.Series("lastVisited", moments, dtype=pl.Datetime(unit, "UTC"))
    for name, column in (("zoned", zoned), ("plain", zoned.dt.replace_time_zone(None))):
        pl.DataFrame(rows).with_columns(column).write_parquet(tmp_path / f"{name}.parquet")
    told: list[str] = []
    files = [str(tmp_path / "plain.parquet")]
    table = open_known(known_sources(files), PROFILE, policy=policy, on_note=told.append)
    expected = open_known(known_sources([str(tmp_path / "zoned.parquet")]), PROFILE, policy=policy).plan(
        PlanQuery(NOW)
    )
    assert repr(table.plan(PlanQuery(NOW))) == repr(expected)
    assert table.find(["https://a.example/0"])["https://a.example/0"].signals.last_visited == moments[0]
    assert told == [f"{files[0]}: times without a zone are taken as UTC, in last_visited"]
    open_known(known_sources(files * 3), PROFILE, policy=policy, on_note=told.append)
    assert len(told) == 2


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_date_is_its_midnight_in_utc(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {**dict.fromkeys(NAMES), **GOOD, "url": f"https://a.example/{place}", "last_changed": text}
        for place, text in enumerate(["2024-06-14", "2024-06-15", "2024-W24-6", None])
    ]
    path = write(tmp_path / f"known.{kind}", rows)
    plan = open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW))
    read = {entry.scored.url[-1]: entry.scored.signals.last_changed for entry in plan.entries}
    midnight = datetime(2024, 6, 15, tzinfo=UTC)
    assert read == {"0": midnight - timedelta(days=1), "1": midnight, "2": midnight, "3": None}
    if kind != "parquet":
        assert repr(plan) == repr(by_rows(path, PlanQuery(NOW), monkeypatch))


BAD: list[tuple[str, object]] = [
    ("visits", -1), ("visits", 1.5), ("visits", True), ("visits", "x"), ("visits", "1e400"), ("visits", float("nan")),
    ("last_visited", "2024-06-31"), ("last_visited", "yesterday"), ("last_visited", -1), ("last_visited", 10**15),
    ("last_visited", "9999-06-10T00:00:00Z"), ("last_visited", "2024-06-10T00:00:60Z"),
    ("last_changed", "2024-02-30T00:00:00Z"), ("last_visited", "2024-06-10 24:00:00"),
    ("topic_relevance", 1.5), ("topic_relevance", -0.1), ("topic_relevance", float("nan")), ("topic_relevance", "1.0001"),
    ("hub_depth", -2), ("hub_depth", [1]), ("is_hub", "maybe"), ("is_hub", 2), ("is_hub", 1.0),
    ("url", ""), ("url", None), ("url", "nonsense"), ("url", "ftp://a.example/"), ("url", 5),
]  # fmt: skip


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize(("field", "value"), BAD)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_a_wrong_value_is_the_same_sentence_both_ways(
    kind: str, field: str, value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(value, list) and kind != "parquet":
        return
    good = {**dict.fromkeys(NAMES), **GOOD}
    rows = [{**good, "url": f"https://a.example/{number}"} for number in range(3)]
    if kind == "parquet":  # a column has one type
        rows = [{**row, field: value if field == "url" else None} for row in rows[:2]]
        bad = {**rows[-1], field: value}
        expected = f"{tmp_path / 'known.parquet'}, row {1 if field == 'url' else 3}, field {field}: "
    else:
        bad = {**good, field: value}
        expected = f"{tmp_path / f'known.{kind}'} line {5 if kind == 'csv' else 4}, row 4, field {field}: "
    path = write(tmp_path / f"known.{kind}", [*rows, bad])
    with pytest.raises(InputError) as error:
        open_known(known_sources([path]), PROFILE, check_urls=True).plan(PlanQuery(NOW))
    assert str(error.value).startswith(expected)
    if kind != "parquet":
        with pytest.raises(InputError) as same:
            by_rows(path, PlanQuery(NOW), monkeypatch)
        assert str(same.value) == str(error.value)


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("field_value", [("visits", " 3 "), ("visits", "1_0"), ("visits", "3.0"), ("topic_relevance", "5e-1"),
    ("is_hub", " Yes "), ("last_visited", " 2024-06-10T08:00:00+02:00 "), ("last_visited", "2024-06-10 08:00:00Z"),
    ("last_visited", "1718006400.5"), ("hub_depth", ""), ("last_visited", "  ")])  # fmt: skip
def test_what_only_python_reads_is_read_by_python(
    field_value: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {**dict.fromkeys(NAMES), **GOOD}
    rows = [{**good, "url": f"https://a.example/{number}"} for number in range(3)]
    path = write(tmp_path / "known.csv", [*rows, {**good, field_value[0]: field_value[1]}])
    found = open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW))
    assert repr(found) == repr(by_rows(path, PlanQuery(NOW), monkeypatch))


@pytest.mark.parametrize("engine_bytes", [0, 10**9])
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_the_last_of_rows_with_the_same_url_counts(
    kind: str, engine_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "SMALL_BYTES", engine_bytes)
    rows = [{**GOOD, "url": f"https://a.example/{number % 4}", "visits": number} for number in range(10)]
    plan = open_known(known_sources([write(tmp_path / f"known.{kind}", rows)]), PROFILE).plan(PlanQuery(NOW))
    assert [entry.scored.signals.visits for entry in plan.entries] == [6, 7, 8, 9]
    assert (plan.rows, plan.repeated.rows, plan.repeated.first) == (4, 6, "row 5")


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_wrong_rows_are_put_out_once_and_the_rest_is_ranked(kind: str, tmp_path: Path) -> None:
    rows = rows_of(200)
    rows[20]["visits"] = -1
    rows[150]["topic_relevance"] = 2.0
    best = max(range(200), key=lambda number: (number not in (20, 150), rows[number]["is_hub"] or False))
    rows[best]["url"] = "nonsense"
    rejected = Rejected()
    path = write(tmp_path / f"known.{kind}", rows)
    plan = open_known(known_sources([path]), PROFILE, reject=rejected).plan(PlanQuery(NOW, top=200))
    rejected.close()
    lines = [json.loads(line) for line in Path(f"{path}.rejected").read_text("utf-8").splitlines()]
    assert plan.rows == 197
    assert sorted((line["row"], line["field"]) for line in lines) == sorted(
        [(21, "visits"), (151, "topic_relevance"), (best + 1, "url")]
    )
    assert all("should" in line["reason"] or "is not" in line["reason"] for line in lines)


@pytest.mark.usefixtures("columns")
def test_lines_that_are_no_rows_are_put_out_too(tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    path.write_text(json.dumps(GOOD) + '\n{"url":\n[1]\n{"visits": 1}\n', "utf-8")
    rejected = Rejected()
    plan = open_known(known_sources([str(path)]), PROFILE, reject=rejected).plan(PlanQuery(NOW))
    rejected.close()
    assert (plan.rows, rejected.rows) == (1, 3)


@pytest.mark.usefixtures("columns")
@pytest.mark.parametrize("rest", ["csv", "jsonl", "parquet"])
def test_find_and_rank_of(rest: str, tmp_path: Path) -> None:
    rows = rows_of(150)
    files = [write(tmp_path / "a.parquet", rows[:60]), write(tmp_path / f"b.{rest}", rows[60:])]
    table = open_known(known_sources(files), PROFILE)
    plan = table.plan(PlanQuery(NOW))
    for entry in (plan.entries[0], plan.entries[77], plan.entries[-1]):
        row = table.find([entry.scored.url])[entry.scored.url]
        assert row.signals == entry.scored.signals
        assert table.rank_of(row, NOW) == entry.rank
    assert table.find(["https://nowhere.example/"]) == {}


@pytest.mark.usefixtures("columns")
def test_the_future_is_counted_and_the_first_is_named(tmp_path: Path) -> None:
    rows = [
        {**GOOD, "url": f"https://a.example/{number}", "lastVisited": None, "lastChanged": None}
        for number in range(99)
    ]
    rows[80]["lastChanged"] = rows[90]["lastVisited"] = "2030-01-01T00:00:00Z"
    for kind in ("csv", "jsonl", "parquet"):
        plan = open_known(known_sources([write(tmp_path / f"known.{kind}", rows)]), PROFILE).plan(
            PlanQuery(NOW, top=1)
        )
        assert (plan.future.rows, plan.future.first) == (2, "row 81 (last_changed)")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (lambda data: data[: len(data) // 2], "is not Parquet that can be read"),
        (lambda _: b"", "is not Parquet that can be read"),
        (lambda _: b"url,visits\n", "is not Parquet that can be read"),
    ],
)
def test_a_file_cut_in_half_is_one_sentence(
    content: Callable[[bytes], bytes], sentence: str, tmp_path: Path
) -> None:
    path = tmp_path / "known.parquet"
    write(path, rows_of(500))
    path.write_bytes(content(path.read_bytes()))
    with pytest.raises(InputError, match=sentence):
        open_known(known_sources([str(path)]), PROFILE).plan(PlanQuery(NOW))


def test_a_page_of_a_file_that_is_broken_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "known.parquet"
    write(path, rows_of(500))
    data = bytearray(path.read_bytes())
    data[4:2000] = bytes(1996)
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not Parquet that can be read"):
        open_known(known_sources([str(path)]), PROFILE).plan(PlanQuery(NOW))


def test_columns_that_are_missing_or_twice(tmp_path: Path) -> None:
    path = tmp_path / "known.parquet"
    write(path, [{"visits": 1, "is_hub": True}])
    with pytest.raises(InputError, match="has no column url; it has visits, is_hub"):
        open_known(known_sources([str(path)]), PROFILE)
    write(path, [{**GOOD, "isHub": True}])
    with pytest.raises(InputError, match="is given twice"):
        open_known(known_sources([str(path)]), PROFILE)


def test_patterns_name_files_and_no_file_is_an_error(tmp_path: Path) -> None:
    for number in range(3):
        write(tmp_path / f"part-{number}.csv", [{**GOOD, "url": f"https://a.example/{number}"}])
    plan = plan_file(str(tmp_path / "part-*.csv"), now=NOW, top=2)
    assert [entry.scored.url[-1] for entry in plan.entries] == ["0", "1"]
    with pytest.raises(InputError, match="no file matches"):
        plan_file(str(tmp_path / "none-*.csv"), now=NOW)
    odd = tmp_path / "odd[1].parquet"
    write(odd, [GOOD])
    assert plan_file(str(odd), now=NOW).rows == 1


@pytest.mark.parametrize(
    "path", ["gs://bucket/known.parquet", "https://a.example/known.parquet", "nowhere.parquet", "a\0.parquet"]
)
def test_only_files_are_read(path: str) -> None:
    with pytest.raises(InputError, match=r"check the path|usable path|not a file|only s3://"):
        plan_file(path, now=NOW)


def test_an_object_store_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))  # nobody listens there
        address = "http://{}:{}".format(*port.getsockname())
        settings = {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "x", "ALLOW_HTTP": "true"}
        for name, value in {**settings, "ENDPOINT_URL": address}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        with pytest.raises(
            InputError, match=r"^s3://bucket/a\.parquet: cannot be read: .*; check the address"
        ):
            plan_file("s3://bucket/a.parquet", now=NOW)


@pytest.mark.usefixtures("columns")
def test_without_the_extra_rows_are_enough_but_for_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_has_polars", lambda: False)
    assert plan_file(write(tmp_path / "known.csv", rows_of(50)), now=NOW).rows == 50
    with pytest.raises(InputError, match=r"pip install 'polars>=2\.1'"):
        plan_file("known.parquet", now=NOW)


@pytest.mark.usefixtures("columns")
def test_all_rows_are_too_many(tmp_path: Path) -> None:
    path = write(tmp_path / "known.csv", rows_of(50))
    with pytest.raises(InputError, match="has more than 20 rows; ask for the best of them"):
        open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW, limit=20))
    entries: list[PlanEntry] = (
        open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW, top=20, limit=20)).entries
    )
    assert len(entries) == 20


@pytest.mark.usefixtures("columns")
def test_written_numbers_are_the_floats_that_python_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(5)  # noqa: S311 - made-up numbers
    shares = [rng.choice([repr, "{:.3f}".format, "{:.30f}".format])(rng.random()) for _ in range(2000)]
    rows = [
        {**dict.fromkeys(NAMES), **GOOD, "url": f"https://a.example/{place}", "topic_relevance": share}
        for place, share in enumerate(shares)
    ]
    path = write(tmp_path / "known.csv", rows)
    found = open_known(known_sources([path]), PROFILE).plan(PlanQuery(NOW))
    assert repr(found) == repr(by_rows(path, PlanQuery(NOW), monkeypatch))


@pytest.mark.parametrize("rest", ["csv", "parquet"])
@pytest.mark.parametrize("top", [1, 5, 40, 60, 61])
def test_both_ways_count_what_ties_with_the_last(
    rest: str, top: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{**GOOD, "url": f"https://a.example/{n}", "topic_relevance": (n * 7 % 4) / 4} for n in range(60)]
    file = write(tmp_path / f"known.{rest}", rows)
    scores = sorted(((n * 7 % 4) / 4 for n in range(60)), reverse=True)
    expected = max(0, sum(score == scores[min(top, 60) - 1] for score in scores[top:]))
    for small in (0, 10**9):
        monkeypatch.setattr(sources, "SMALL_BYTES", small)
        monkeypatch.setattr(csv_blocks, "BLOCK_BYTES", 300)
        plan = open_known(known_sources([file]), PROFILE).plan(PlanQuery(NOW, top=top))
        assert plan.tied == expected
        assert open_known(known_sources([file]), PROFILE).plan(PlanQuery(NOW, top=top, per_host=9)).tied == 0
