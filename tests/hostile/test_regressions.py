"""What fuzzing found, once each: inputs that hung, crashed, or filled the memory."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fuzzing.files import Profiles

from honeyguide import load_profile
from honeyguide.adapters.files.markdown import parse_markdown_links
from honeyguide.adapters.files.rows import MAX_NESTED, Rejected
from honeyguide.adapters.files.sites import MAX_SITES, read_sites
from honeyguide.adapters.html.content import main_content
from honeyguide.adapters.html.page import parse_head, parse_page
from honeyguide.adapters.html.sitemaps import MAX_PAGES, read_sitemap
from honeyguide.adapters.store.sqlite.store import APPLICATION_ID, VERSION, SqliteStore
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.config.files import MAX_PROBLEMS
from honeyguide.core.crawl.frontier import Done
from honeyguide.core.crawl.sitemap import Sitemap
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.core.text.printable import is_deeper
from honeyguide.core.url.url import Url
from honeyguide.errors import ConfigError, InputError, PatternError, SchemaMismatchError, StoreError
from honeyguide.ports.store import Intake
from honeyguide.testing.contracts import ask, digest, page, spec
from honeyguide.testing.contracts import found as link

HANG_CPU_S = (
    60  # what took minutes takes milliseconds now; this only keeps a broken version from running all day
)
MB = 1 << 20
PAGE = Url.parse("https://a.example/")
NOW = datetime(2024, 6, 15, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """Let a test fail that would not end, also where a library takes the exception for one of its own."""
    late = []

    def give_up(*_: object) -> None:
        late.append("too late")
        raise TimeoutError

    old = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, HANG_CPU_S)  # of this process, however many others there are
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, old)
    assert not late


def peak_of(call: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- Markdown and sitemaps ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["_", "*", "__ ", "_*", "~_"])
@pytest.mark.slow
def test_long_runs_of_emphasis_take_linear_time(run: str) -> None:
    size = 90_000 // len(run)
    links = parse_markdown_links(f"[a{run * size}b](/c)")
    assert [url for _, url in links] == ["/c"]


@pytest.mark.parametrize(
    ("anchor", "plain"),
    [("_a_", "a"), ("__a__ b", "a b"), ("a_b_c", "a_b_c"), ("._", "._"), ("__.", "__."), ("_ .", "_ ."), ("a_ b", "a_ b"), ("é__", "é__")],
)  # fmt: skip
def test_emphasis_means_what_commonmark_says(anchor: str, plain: str) -> None:
    assert parse_markdown_links(f"[x{anchor and ' '}{anchor}](u)")[0][0].strip() == f"x {plain.strip()}"


@pytest.mark.slow
def test_megabytes_of_open_links_end_and_take_little_memory() -> None:
    assert parse_markdown_links("[a](" * 1_250_000) == []
    assert peak_of(lambda: parse_markdown_links("[" * 1_000_000)) < 50 * MB


@pytest.mark.slow
def test_the_content_of_a_table_that_is_one_long_row_ends() -> None:
    content = main_content(b"<main><table><tr>" + b"<td>a" * 160_000, PAGE)
    assert (content.text[:7], content.is_cut) == ("a\na\na\na", True)


@pytest.mark.parametrize(
    "unit", [b"<!--xy", b"<!---->", b"<loc>  ", b"<lastmod>", b"http://a\n", b"\n", b"x\n"]
)
@pytest.mark.slow
def test_a_sitemap_takes_memory_in_proportion_to_its_size(unit: bytes) -> None:
    data = (b"<urlset>" if unit.startswith(b"<") else b"") + unit * (2 * MB // len(unit))
    found: list[Sitemap] = []
    assert peak_of(lambda: found.append(read_sitemap(data))) < 6 * len(data)
    assert len(found[0].pages) <= MAX_PAGES


def test_comments_end_where_they_end() -> None:
    data = b"<urlset><!-- <loc>a</loc> --><loc>b</loc><!-- <!-- --><loc>c</loc><!-- <loc>d</loc>"
    assert [url for url, _ in read_sitemap(data).pages] == ["b", "c"]


# --- HTML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "markup", [b"<rp>" * 31_000, b"<rp>" * 15_000 + b"<li>" * 15_000, b"<svg>" * 12_000 + b"</x>" * 15_000]
)
@pytest.mark.slow
def test_deep_markup_is_cut_even_where_it_is_short(markup: bytes) -> None:
    page = parse_page(markup + b"<a href=/b>b</a>", PAGE)
    assert [rule for _, rule in page.skipped] == ["limit"]
    parse_head(markup)


# --- profiles -------------------------------------------------------------------------------------------------------

START = 'schema = 1\nextends = "base"\nname = "a"\ndescription = "b"\n'
WHOLE = Profiles.seeds[1].decode()


def filters(count: int, when: str) -> str:
    return "".join(f'[[filter]]\nid = "f{n}"\nreason = "r"\nwhen = {when}\n' for n in range(count))


def cards(count: int) -> str:
    rule = '{ id = "x", reason = "y", points = 1, per = "card.c%d" }'
    card = '[scorecard.c%d]\n[[scorecard.c%d.group]]\nname = "g"\nmode = "all"\nrules = [%s]\n'
    return "".join(card % (n, n, rule % (n + 1)) for n in range(count)) + card % (count, count, "")


def doubled(last: str) -> str:
    steps = "".join(f't{n} = ["$t{n + 1}", "$t{n + 1}", "$t{n + 1}", "$t{n + 1}"]\n' for n in range(18))
    return f'{START}[terms]\n{steps}t18 = ["{last}"]\n[content]\nkeywords = ["$t0"]\n'


LONG = ", ".join(f'"{n}"' for n in range(20_000))
PROFILES = {
    "a number of 5,000 digits": ("a = " + "1" * 5_000, "is not TOML: a number is too long"),
    "a key with 100,000 parts": ("a" + ".a" * 100_000 + " = 1", "line 1: has more than 100 dots"),
    "quoted parts of a key": ('"a"' + '."a"' * 50_000 + " = 1", "line 1: has more than 100 dots"),
    "lists in lists": (START + "a = " + "[" * 200 + "]" * 200, "is nested too deeply"),
    "terms that double in a circle": (doubled("$t0"), "in a circle"),
    "terms that name each other without end": (START + "[terms]\n" + "".join(f't{n} = ["$t{n + 1}"]\n' for n in range(9_000)) + '[content]\nkeywords = ["$t0"]\n', "over more than 20 steps"),
    "facts that are none": (START + "[[filter]]\nid = 'f'\nreason = 'r'\nwhen = { any = [" + "{ a = {} }," * 20_000 + "] }", "more mistakes; correct these first"),
    "terms that are none": (START + "[terms]\n" + "".join(f"t{n} = []\n" for n in range(9_000)) + filters(2_000, "{ path = { has = '$u' } }"), "more mistakes; correct these first"),
    "a long list named often": (START + f"[terms]\nlong = [{LONG}]\n" + filters(900, "{ path = { has = '$long' } }"), "100,000 words in all"),
    "too many tests": (START + filters(1_300, "{ path = { has = 'a', ends = 'b', is = 'c', word = 'd' } }"), "5,000 tests in all"),
    "too many patterns": (START + filters(300, "{ path = { matches = 'a.b' } }"), "200 patterns in all"),
    "too many cards": (WHOLE + cards(1_000), "scorecard: dictionary should have at most 100 items"),
    "too many rules": (WHOLE.replace("rules = [", "rules = [" + "".join(f'{{ id = "i{n}", reason = "j" }},' for n in range(2_000))), "at most 500 items"),
    "a number beyond floats": (WHOLE.replace("above = 3", "above = 1" + "0" * 400), "should be a number up to 1e+15"),
    "a number that is none": (WHOLE.replace("above = 3", "is = nan"), "should be a number up to 1e+15"),
    "a date for a number": (WHOLE.replace("above = 3", "above = 1979-05-27"), "should be a number up to 1e+15"),
    "a name that no system takes": (f'extends = "{"a" * 5_000}.toml"', "cannot read"),
    "a folder": ('extends = "/"', "extends: '/' is not a file"),
}  # fmt: skip


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    text, sentence = PROFILES[name]
    file = tmp_path / "p.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as error:
        load_profile(file)
    assert sentence in str(error.value)
    assert len(error.value.problems) <= MAX_PROBLEMS + 1
    assert len(str(error.value)) < 40_000


def test_terms_may_name_each_other_many_times(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(doubled("fire"), "utf-8")
    assert load_profile(file).content.keywords == ("fire",)


def test_cards_and_rules_within_the_limits_can_be_used(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    rules = "".join(
        f'{{ id = "i{n}", reason = "j", points = 1, when = {{ path = {{ has = "{n}" }} }} }},'
        for n in range(490)
    )
    file.write_text(WHOLE.replace("rules = [", "rules = [" + rules) + cards(90), "utf-8")
    assert len(load_profile(file).chains["c0"]) == 91


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    file = tmp_path / "p.toml"
    file.write_text('extends = "pipe.toml"', "utf-8")
    for named in (file, tmp_path / "pipe.toml", str(tmp_path / "pipe.toml")):
        with pytest.raises(ConfigError, match="is not a file"):
            load_profile(named)


def test_mistakes_are_counted_where_there_are_too_many(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    file.write_text(START + "".join(f"k{n} = 1\n" for n in range(500)), "utf-8")
    with pytest.raises(ConfigError) as error:
        load_profile(file)
    assert str(error.value.problems[-1]) == f"{500 - MAX_PROBLEMS} more mistakes; correct these first"


# --- patterns -------------------------------------------------------------------------------------------------------


def test_a_pattern_that_grows_when_compiled_is_refused() -> None:
    for pattern in ("a{1000}" * 100 + "b", "a.{900}b", "(?:.?){900}z"):
        with pytest.raises(
            PatternError, match=r"steps for each character of a page, and at most 1,500|too large"
        ):
            compile_pattern(pattern)
    assert compile_pattern("a.{0,100}b").search("a to b")


@pytest.mark.parametrize("letters", [3_990, 1_600])
def test_a_word_that_repeats_itself_is_no_word(letters: int) -> None:
    for pattern in ("a" * letters + "!?b", "|".join(["a" * letters, *"bcdefghijklmnopqrstuvwxyz" * 2])):
        with pytest.raises(PatternError, match="steps for each character of a page"):
            compile_pattern(pattern[:4_000])


def test_as_many_words_as_fit_into_a_pattern_are_allowed() -> None:
    words = "|".join(
        f"{name}{tail}"
        for name in ("alarm", "sprinkler", "hydrant")
        for tail in map("q{:x}".format, range(110))
    )
    for pattern in (words, rf"\b(?:{words})s?\b", f"{words}|fire.{{0,50}}door"):
        assert compile_pattern(pattern).search("a hydrantq6ds b")
        assert compile_pattern(pattern).count("a hydrantq6ds b") == 1


def test_half_a_character_is_no_match_and_no_error() -> None:
    for pattern in ("fire.*door", "fire", "|".join(f"fire{n}" for n in range(50)) + "|fire"):
        assert compile_pattern(pattern).search("\ud800 fire door")
        assert compile_pattern(pattern).count("\ud800 fire door") == 1


def test_a_thousand_words_cost_no_more_than_one() -> None:
    words = "|".join(f"a{chr(0x4E00 + n)}" for n in range(1_300))
    assert compile_pattern(words).engine.__class__.__module__.startswith("re2")
    assert compile_pattern(words).count("a" * 3_000_000 + "a\u4e00") == 1


# --- rows -----------------------------------------------------------------------------------------------------------

ROW = {"url": "https://a.example/", "visits": 1, "topic_relevance": 0.5, "hub_depth": 1, "is_hub": True}


def planned(file: Path) -> Rejected:
    rejected = Rejected()
    open_known(known_sources([str(file)]), load_profile("news"), reject=rejected).plan(PlanQuery(NOW, top=3))
    rejected.close()
    return rejected


@pytest.mark.parametrize("depth", [MAX_NESTED, 500, *range(980, 995), 100_000])
def test_rows_nested_too_deeply_are_named(depth: int, tmp_path: Path) -> None:
    file = tmp_path / "known.jsonl"
    deep = "[" * depth + "]" * depth
    file.write_text(json.dumps(ROW)[:-1] + f', "last_visited": {deep}}}\n', "utf-8")
    assert planned(file).rows == 1
    with pytest.raises(InputError, match=r"nested|should|is not a time"):
        open_known(known_sources([str(file)]), load_profile("news")).plan(PlanQuery(NOW, top=3))
    assert read_sites(str(file))[0].text or depth > 900


def test_depth_is_counted_without_recursion() -> None:
    value: list[object] = []
    for _ in range(200_000):
        value = [value]
    assert is_deeper(value, 1_000)
    while value:  # or taking it apart would be the recursion
        value = value.pop()  # type: ignore[assignment]  # lists all the way down


def test_half_a_character_in_a_url_is_named(tmp_path: Path) -> None:
    file = tmp_path / "known.jsonl"
    file.write_text(json.dumps(ROW | {"url": "https://a.example/\ud800"}) + "\n", "utf-8")
    with pytest.raises(InputError, match=r"field url: .* half a character"):
        open_known(known_sources([str(file)]), load_profile("news")).plan(PlanQuery(NOW, top=3))


@pytest.mark.parametrize("line", ['{"a": 1}', "[1]", '{"visits": 1}'])
def test_a_large_file_without_any_url_is_rows_without_url(line: str, tmp_path: Path) -> None:
    pytest.importorskip("polars")  # an extra
    file = tmp_path / "known.jsonl"
    file.write_text((line + " " * 1_000 + "\n") * 200, "utf-8")
    assert planned(file).rows == 200


def test_a_small_parquet_file_of_very_many_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    file = tmp_path / "sites.parquet"
    pl.DataFrame({"domain": pl.repeat("a.example", MAX_SITES + 1, eager=True)}).write_parquet(file)
    with pytest.raises(InputError, match="has more than 1,000,000 sites"):
        read_sites(str(file))


def test_a_time_that_python_does_not_have_is_wrong_in_its_own_row(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    file = tmp_path / "known.parquet"
    rows = [
        ROW | {"last_visited": moment} for moment in (1_718_006_400_000_000, 570_000_000_000_000_000, None)
    ]
    pl.DataFrame(rows).with_columns(pl.col("last_visited").cast(pl.Datetime("us", "UTC"))).write_parquet(file)
    assert planned(file).rows == 1


# --- stores ---------------------------------------------------------------------------------------------------------


def damaged(path: Path, *statements: str) -> Path:
    store = SqliteStore(path)
    run = store.runs.begin(spec(), 0.0)
    frontier = store.queue(run)
    frontier.add([link(f"/{n}") for n in range(9)])
    for lease in frontier.claim(ask(limit=2)).leases[:1]:
        frontier.commit_page(lease, Intake(Done(), page("/a")))
    store.close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for statement in statements:
            db.executescript(statement)
    return path


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, x AS key FROM c"

FORGED = "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES "
RETOLD = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "


@pytest.mark.parametrize(
    "statement",
    [
        f"DROP TABLE run; CREATE VIEW run AS {ENDLESS}",
        "CREATE TRIGGER t AFTER UPDATE ON entry BEGIN DELETE FROM entry; END",
        "CREATE VIEW v AS SELECT 1",
        f"{FORGED}('trigger', 'sqlite_t', 'entry', 0, 'CREATE TRIGGER sqlite_t AFTER UPDATE ON entry BEGIN SELECT 1; END')",
        f"{FORGED}('view', 'sqlite_stat1', 'sqlite_stat1', 0, 'CREATE VIEW sqlite_stat1 AS SELECT 1')",
        f"ANALYZE; {RETOLD}'CREATE TABLE sqlite_stat1(tbl,idx,stat AS (1))' WHERE name = 'sqlite_stat1'",
        f"{RETOLD}'CREATE TABLE sqlite_sequence(name,seq,more AS (1))' WHERE name = 'sqlite_sequence'",
        "ALTER TABLE site ADD COLUMN more TEXT",
        "DROP INDEX entry_identity",
        "DROP TABLE tally",
        "PRAGMA user_version = -5",
    ],
)
def test_a_store_with_another_schema_is_refused(statement: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatchError, match="name another file"):
        SqliteStore(damaged(tmp_path / "s.db", statement))


def test_a_file_of_others_with_our_mark_is_refused_and_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"CREATE TABLE mine (a); PRAGMA user_version = {VERSION}; PRAGMA application_id = {APPLICATION_ID}"
        )
    before = path.read_bytes()
    with pytest.raises(SchemaMismatchError, match="has other tables"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]


def test_a_log_of_others_is_not_moved_over(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.db", tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as db:
        db.executescript(
            f"PRAGMA journal_mode = WAL; PRAGMA application_id = {APPLICATION_ID}; CREATE TABLE mine (a)"
        )
        for end in ("", "-wal"):
            shutil.copyfile(f"{path}{end}", f"{copy}{end}")
    before = [Path(f"{copy}{end}").read_bytes() for end in ("", "-wal")]
    with pytest.raises(SchemaMismatchError):
        SqliteStore(copy)
    assert [Path(f"{copy}{end}").read_bytes() for end in ("", "-wal")] == before


def test_statistics_are_no_other_schema(tmp_path: Path) -> None:
    SqliteStore(damaged(tmp_path / "s.db", "ANALYZE")).close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE site SET leased = x''", "UPDATE site SET name = 7", "UPDATE entry SET state = 9e999", "UPDATE entry SET url = 'x'",
        "UPDATE entry SET url = x'ff'", "UPDATE entry SET visits = ''", "UPDATE entry SET claim = zeroblob(9)", "UPDATE run SET claims = 'x'",
        "UPDATE visit SET record = ''", "DELETE FROM entry", "UPDATE entry SET priority = 'high'", "UPDATE worker SET pid = 9e999",
        "INSERT INTO shape VALUES (1, 1, 'f', 0, 0, 9e999)", "INSERT INTO shape VALUES (1, 1, 'f', 0, 0, x'ff')", "UPDATE run SET topic = x'00'",
        "INSERT INTO worker (id, host, pid, token, started_at, seen_at, expires_at) VALUES (99, 7, 'x', 'y', 0, 0, 0)",
    ],
)  # fmt: skip
def test_values_that_we_never_write_are_damage(statement: str, tmp_path: Path) -> None:
    """SQLite keeps it out, or it does no harm, or a `StoreError` says so: nothing else comes out."""
    try:
        path = damaged(tmp_path / "s.db", statement)
    except sqlite3.IntegrityError:
        return  # SQLite itself keeps it out
    store = SqliteStore(path)
    try:
        frontier = store.queue(store.runs.begin(spec(), 9.0))
        leases = [*frontier.adopt(ask(700.0, limit=9)), *frontier.claim(ask(700.0, limit=9)).leases]
        assert all(type(lease.claim) is int and lease.url.site == "a.example" for lease in leases)
        list(frontier.rows()), list(frontier.pages()), frontier.shapes(), frontier.find(digest("/1"))
    except StoreError as error:
        assert "restore it from a copy" in str(error)  # noqa: PT017 - both ways are right
    finally:
        store.abandon()
