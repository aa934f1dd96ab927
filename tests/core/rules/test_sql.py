"""A plan card as SQL gives the scores, levels, reasons and order of the rows (PLAN-1, PLAN-2), in each database that is installed.

PostgreSQL runs where its programs and psycopg are; DuckDB and Spark are no part of [dev]: tools/check_spark.py installs them.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from honeyguide import InputError, UrlSignals, load_profile, plan_file, plan_sql, score_url
from honeyguide.cli.main import root

NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
ROWS = 200_000
NAMES = ("url", "visits", "last_visited", "last_changed", "topic_relevance", "hub_depth", "is_hub")
OWN = r"""
extends = "news"
name = "own"
[scorecard.plan]
base = 10.25
range = [0, 15.5]
decimals = 2
[[scorecard.plan.group]]
name = "capped"
mode = "all"
at_most = 7.25
rules = [
  { id = "per", reason = "it's a \\ sign of ${spark.app.name}; 100 %s -- $1 €", points = 9.705, per = "relevance", at_most = 8.1 },
  { id = "not", reason = "no hub", points = 1.005, when = { not = { is_hub = { is = true } } } },
]
[[scorecard.plan.group]]
name = "depth"
mode = "first"
rules = [
  { id = "flat", reason = "flat", points = 0.115, when = { any = [{ hub_depth = { is = 0 } }, { hub_depth = { is = 1 } }, { visits = { above = 50 } }] } },
  { id = "other", reason = "other", points = -20, per = "visits", when = { hub_depth = { above = 2 } } },
]
"""
HOURS = """
extends = "news"
name = "hours"
[scorecard.plan]
decimals = 9
[[scorecard.plan.group]]
name = "age"
mode = "all"
rules = [{ id = "age", reason = "age", points = 0.00001, per = "since_visit_s" }]
"""  # the score tells an hour more from an hour less
Row = dict[str, Any]
ZONES = (UTC, timezone(timedelta(hours=5, minutes=45)), timezone(timedelta(hours=-9, minutes=-30)))


def moment(chance: random.Random) -> datetime | None:
    edges = (3600, 86400, 604800, 2592000)
    microsecond = timedelta(microseconds=chance.choice([-1, 0, 0, 1]))
    ago = chance.choice(
        [*edges, 0, chance.choice(edges) - 1, chance.uniform(-1e5, 1e7), chance.uniform(0, 1.7e9)]
    )
    return chance.choice(
        [None, (NOW - timedelta(seconds=ago) + microsecond).astimezone(chance.choice(ZONES))]
    )


def random_rows(count: int) -> list[Row]:
    """Rows as files have them: every value may be missing, times are at the edges of the rules and in several zones."""
    chance = random.Random(22)  # noqa: S311 - made-up rows
    near = [0.3, 0.5, 0.7, math.nextafter(0.3, 0), math.nextafter(0.7, 1)]
    return [
        {
            "url": f"https://a.example/{chance.choice(['', 'Z', 'ä', '-', '_'])}{number:06}",
            "visits": chance.choice([None, 0, 1, chance.randrange(200), 2**53 + 1, 2**62]),
            "last_visited": moment(chance),
            "last_changed": moment(chance),
            "topic_relevance": chance.choice([None, 0.0, 1.0, *near, chance.random(), 5e-324]),
            "hub_depth": chance.choice([None, 0, 1, 2, 3, 9]),
            "is_hub": chance.choice([None, True, False]),
        }
        for number in range(count)
    ]


class Duckdb:
    """A database in memory, whose session is in New York, as the others' are."""

    double = "DOUBLE"

    def __init__(self, folder: Path) -> None:
        module = pytest.importorskip(
            "duckdb", reason="DuckDB is no part of [dev]: tools/check_spark.py runs it"
        )
        self._database, self._folder = module.connect(), folder
        self.do("SET TimeZone = 'America/New_York'")

    def do(self, sql: str) -> list[Any]:
        return list(self._database.execute(sql).fetchall())

    def load(self, rows: list[Row]) -> None:
        self.do(f"CREATE TABLE known AS SELECT * FROM '{written(rows, self._folder)}'")  # noqa: S608 - a file of ours

    def close(self) -> None:
        self._database.close()


class Postgres:
    double = "DOUBLE PRECISION"

    def __init__(self, _folder: Path) -> None:
        from postgres_server import server

        address = server().new_database()
        import psycopg

        self._database = psycopg.connect(address, autocommit=True)
        self.do("SET TimeZone = 'America/New_York'")

    def do(self, sql: str) -> list[Any]:
        cursor = self._database.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []

    def load(self, rows: list[Row]) -> None:
        # The order of texts is that of a language here, in which capitals and dashes hardly count.
        self.do(
            'CREATE TABLE known (url TEXT COLLATE "en-x-icu", visits BIGINT, last_visited TIMESTAMPTZ, last_changed TIMESTAMPTZ,'
            " topic_relevance DOUBLE PRECISION, hub_depth INTEGER, is_hub BOOLEAN)"
        )
        with self._database.cursor().copy("COPY known FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row[name] for name in NAMES])

    def close(self) -> None:
        self._database.close()


class Spark:
    """Spark on this machine alone."""

    double = "DOUBLE"

    def __init__(self, folder: Path) -> None:
        from spark_session import session

        self._session, self._folder = session(), folder
        self._session.conf.set("spark.sql.session.timeZone", "America/New_York")

    def do(self, sql: str) -> list[Any]:
        made = "CREATE TABLE known AS "
        if sql.startswith(made):
            self._session.sql(sql.removeprefix(made)).createOrReplaceTempView("known")
            return []
        return [tuple(row) for row in self._session.sql(sql).collect()]

    def load(self, rows: list[Row]) -> None:
        self._session.read.parquet(str(written(rows, self._folder))).createOrReplaceTempView("known")

    def close(self) -> None:
        self._session.conf.unset("spark.sql.session.timeZone")


ENGINES: dict[str, type[Duckdb | Postgres | Spark]] = {"duckdb": Duckdb, "postgres": Postgres, "spark": Spark}
Engine = Duckdb | Postgres | Spark


@pytest.fixture(params=ENGINES)
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(dialect: str, tmp_path: Path) -> Iterator[Engine]:
    made = ENGINES[dialect](tmp_path)
    yield made
    made.close()


def written(rows: list[Row], folder: Path) -> Path:
    """Write rows to a file."""
    pl = pytest.importorskip("polars", reason="polars is an extra")
    utc = pl.Datetime("us", "UTC")
    types = {"visits": pl.Int64, "hub_depth": pl.Int64, "last_visited": utc, "last_changed": utc}
    columns = {name: [row[name] for row in rows] for name in NAMES}
    for name in ("last_visited", "last_changed"):
        columns[name] = [None if at is None else at.astimezone(UTC) for at in columns[name]]
    pl.DataFrame(columns, schema_overrides=types).write_parquet(folder / "known.parquet")
    return folder / "known.parquet"


def expected(rows: list[Row], profile: Any) -> list[tuple[Any, ...]]:
    scored = [score_url(UrlSignals(**row), now=NOW, profile=profile) for row in rows]
    scored.sort(key=lambda one: (-one.score.value, one.url))
    return [(one.url, one.score.value, one.level.name, "; ".join(one.reasons)) for one in scored]


@pytest.mark.parametrize("given", ["news", OWN], ids=["news", "own"])
def test_a_database_scores_and_orders_as_rows_do(engine: Engine, dialect: str, given: str) -> None:
    rows, profile = random_rows(5_000), load_profile(given)
    engine.load(rows)
    assert engine.do(plan_sql(dialect, now=NOW, profile=profile)) == expected(rows, profile)


@pytest.mark.slow
def test_two_hundred_thousand_rows(engine: Engine, dialect: str) -> None:
    rows, profile = random_rows(ROWS), load_profile("news")
    engine.load(rows)
    found = engine.do(plan_sql(dialect, now=NOW, profile=profile))
    assert len(found) == ROWS
    assert found == expected(rows, profile)


ZONELESS = {"duckdb": "TIMESTAMP", "postgres": "TIMESTAMP", "spark": "TIMESTAMP_NTZ"}
WRONG = {
    "topic_relevance": ("CAST('NaN' AS {double})", "-0.5", "1.5", "CAST('Infinity' AS {double})"),
    "visits": ("CAST('NaN' AS {double})", "-1", "1.5", "CAST('Infinity' AS {double})"),
    "last_visited": ("{zoneless} '1969-12-31 23:59:59'", "{zoneless} '9999-01-01 00:00:00'"),
    "last_changed": ("CAST(NULL AS TIMESTAMP)",),
    "hub_depth": ("CAST('NaN' AS {double})", "-1", "3.5"),
    "is_hub": ("CAST(NULL AS BOOLEAN)",),
}
INFINITE = (
    "CAST('infinity' AS TIMESTAMP)",
    "CAST('-infinity' AS TIMESTAMP WITH TIME ZONE)",
    "CAST('infinity' AS DATE)",
)


@pytest.mark.parametrize("name", WRONG)
def test_a_value_that_no_file_may_have_is_unknown(engine: Engine, dialect: str, name: str) -> None:
    plain = {
        "url": "'https://a.example/'",
        "visits": "1",
        "topic_relevance": "0.9",
        "hub_depth": "1",
        "is_hub": "TRUE",
    }
    plain |= dict.fromkeys(("last_visited", "last_changed"), f"{ZONELESS[dialect]} '2024-06-14 07:00:00'")
    at = datetime(2024, 6, 14, 7, tzinfo=UTC)
    row = {"url": "https://a.example/", "visits": 1, "topic_relevance": 0.9, "hub_depth": 1, "is_hub": True}
    unknown = {**row, "last_visited": at, "last_changed": at, name: None}
    is_infinite = name == "last_visited" and dialect != "spark"  # Spark has no infinite times
    for value in (*WRONG[name], *(INFINITE if is_infinite else ())):
        columns = {**plain, name: value.format(double=engine.double, zoneless=ZONELESS[dialect])}
        columns |= {"last_visited_us": "0", "moment_us": "0"}  # columns of a user do not matter
        if dialect != "spark":
            engine.do("DROP TABLE IF EXISTS known")
        engine.do(
            "CREATE TABLE known AS SELECT " + ", ".join(f"{text} AS {one}" for one, text in columns.items())
        )
        found = engine.do(plan_sql(dialect, now=NOW))
        assert found == expected([unknown], load_profile("news")), value


@pytest.mark.parametrize(
    "given", ["{} '2024-06-14 08:00:00'", "{} '2024-03-10 02:30:00.000001'", "DATE '2024-06-14'"]
)
def test_times_without_a_zone_are_utc_whatever_the_zone_of_the_session(
    engine: Engine, dialect: str, given: str
) -> None:
    """The second is a time that New York does not have; the first is a day ago to the microsecond, an edge of the rules."""
    text = given.format(ZONELESS[dialect])
    at = datetime.fromisoformat(text.partition("'")[2].rstrip("'")).replace(tzinfo=UTC)
    columns = {"url": "'https://a.example/'", "visits": "1", "last_visited": text, "last_changed": text}
    columns |= {"topic_relevance": "0.9", "hub_depth": "1", "is_hub": "FALSE"}
    engine.do(
        "CREATE TABLE known AS SELECT " + ", ".join(f"{value} AS {one}" for one, value in columns.items())
    )
    row = {"url": "https://a.example/", "visits": 1, "topic_relevance": 0.9, "hub_depth": 1, "is_hub": False}
    rows = [{**row, "last_visited": at, "last_changed": at}]
    for profile in ("news", HOURS):
        found = engine.do(plan_sql(dialect, now=NOW, profile=load_profile(profile)))
        assert found == expected(rows, load_profile(profile))


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_the_text_has_every_rule_and_no_greatest(dialect: str) -> None:
    text = plan_sql(dialect, now=NOW)
    rules = [rule for group in load_profile("news").cards["plan"].card.groups for rule in group.rules]
    assert all(f"'{rule.reason}'" in text for rule in rules if not rule.quiet)
    assert "greatest" not in text.lower()
    assert "2024-06-15T08:00:00.000000+00:00" in text
    told = CliRunner().invoke(
        root, ["plan", "--sql", dialect, "--now", "2024-06-15T08:00:00Z"], prog_name="honeyguide"
    )
    assert (told.exit_code, told.stdout) == (0, text)


def test_files_are_not_ranked_by_sql_and_dialects_are_known() -> None:
    told = CliRunner().invoke(root, ["plan", "known.csv", "--sql", "duckdb"], prog_name="honeyguide")
    assert told.exit_code == 2
    assert "--sql ranks nothing" in told.stderr
    told = CliRunner().invoke(root, ["plan", "--sql", "duckdb", "--top", "5", "-o", "plan.sql"])
    assert (told.exit_code, "leave out --top, --output" in told.stderr) == (2, True)
    with pytest.raises(InputError, match="no dialect"):
        plan_sql("oracle")


# --- the example of the guide ---

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "planning.md"


def test_the_query_of_the_guide_gives_the_plan_of_a_file_that_is_sorted_by_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is no part of [dev]: tools/check_spark.py runs it")
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text("utf-8")
    head, *rows = text.partition("```csv\n")[2].partition("```")[0].splitlines()
    rows += [f"https://tied.example/{number},1,,,,," for number in (3, 1, 2)]
    code = text.partition("```text\nimport duckdb")[2].partition("```")[0]
    *lines, last = f"import duckdb{code}".splitlines()
    Path("known.csv").write_text("\n".join((head, *sorted(rows))) + "\n", "utf-8")
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)  # noqa: S102 - our own page
    found = eval(last.replace(".show()", ".fetchall()"), names)  # noqa: S307 - as above
    plan = plan_file("known.csv", top=100)
    assert [row[:2] for row in found] == [
        (entry.scored.url, entry.scored.score.value) for entry in plan.entries
    ]
    assert len(found) == len(rows) > 5
