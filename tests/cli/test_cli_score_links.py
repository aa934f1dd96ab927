"""`honeyguide score links`: files of links, row by row and by columns, with the same scores as one link at a time."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from honeyguide import score_link, score_links
from honeyguide.adapters.files import sources
from honeyguide.app.known_urls import files as known_urls
from honeyguide.core.url.url import Url

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    Run = Callable[..., Result]

TOPIC = "asyncio|coroutine|接口"
WORDS = (
    "asyncio",
    "Coroutine",
    "await",
    "event loop",
    "guide",
    "login",
    "privacy",
    "API",
    "naïve",
    "接口",
    "ſocket",
    " ",
    "\t",
    "",
)
PATHS = ("", "a", "asyncio", "Await/Guide", "x.y/index.html", "b//c", "caf%C3%A9", "a%2fb", "./z", "login/", "p?asyncio=1", "q?", "r#asyncio", "s/?x=.")  # fmt: skip


def made(count: int, seed: int = 3) -> list[dict[str, Any]]:
    rng = random.Random(seed)  # noqa: S311 - made-up links
    hosts = (
        "docs.example.org",
        "DOCS.example.org",
        "docs.example.org:443",
        "xn--bcher-kva.example",
        "a-b.c.example",
    )
    return [
        {
            "url": f"{rng.choice(('http', 'https'))}://{rng.choice(hosts)}/{rng.choice(PATHS)}",
            "anchor": " ".join(rng.choices(WORDS, k=2)),
            "context": "  ".join(rng.choices(WORDS, k=5)),
            "position": rng.choice(("main", "navigation", "footer", "", None)),
        }
        for _ in range(count)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    if path.suffix == ".parquet":
        frame = pytest.importorskip("polars").DataFrame(rows, infer_schema_length=None)  # an extra
        frame.write_parquet(path, row_group_size=100)
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def records(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize("name", ["links.csv", "links.jsonl", "links.parquet"])
def test_every_row_scores_as_a_link_alone(run: Run, folder: Path, name: str) -> None:
    rows = made(60)
    found = records(run("score", "links", write(folder / name, rows), "--topic", TOPIC, "--related", "await"))
    assert len(found) == len(rows)
    for row, record in zip(rows, found, strict=True):
        alone = score_link(
            row["url"],
            topic=TOPIC,
            anchor=row["anchor"],
            context=row["context"],
            position=row["position"] or None,
            related=["await"],
        )
        assert record["relevance_score"] == alone.value
        assert [entry["rule"] for entry in record["points"]] == [reason.rule for reason in alone.reasons]


@pytest.mark.parametrize("name", ["links.csv", "links.jsonl", "links.parquet"])
@pytest.mark.parametrize("more", [{}, {"min_score": 4.0}, {"profile": "news"}], ids=str)
def test_columns_find_the_same_best_as_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, more: dict[str, Any]
) -> None:
    pytest.importorskip("polars")  # an extra
    path = write(tmp_path / name, made(4000))

    def best() -> list[tuple[int, float]]:
        found = score_links(path, topic=TOPIC, related=["await"], top=300, **more)
        return [(link.row.number, link.score.value) for link in found]

    monkeypatch.setattr(sources, "SMALL_BYTES", 1)
    by_columns = best()
    monkeypatch.setattr(known_urls, "pays_by_columns", lambda _: False)
    assert by_columns == best()
    assert len(by_columns) > 50


def test_a_card_that_reads_other_facts_scores_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("polars")  # an extra
    (tmp_path / "slugs.toml").write_text(
        'schema = 1\nextends = "docs"\nname = "slugs"\ndescription = "By slug."\n'
        'replace = ["scorecard.link"]\n'
        '[scorecard.link]\nrange = [0, 10]\n[[scorecard.link.group]]\nname = "slug"\nmode = "all"\n'
        'rules = [{ id = "slug", reason = "named so", points = 5, when = { slug = { has = ["asyncio"] } } }]\n',
        "utf-8",
    )
    monkeypatch.setattr(sources, "SMALL_BYTES", 1)
    path = write(tmp_path / "links.csv", made(500))
    found = list(score_links(path, topic=TOPIC, profile=tmp_path / "slugs.toml", top=100))
    assert {link.score.value for link in found} == {0.0, 5.0}


def test_plain_urls_are_normal_but_for_their_last_slash() -> None:
    pl = pytest.importorskip("polars")  # an extra
    from honeyguide.bulk.links import _URL, _fact

    rng = random.Random(5)  # noqa: S311 - made-up URLs
    parts = ("a", "B", "-", "_", ".", "/", "?", "=", "&", "9", "%41", "index.html", "..", "x")
    urls = [f"https://a.example/{''.join(rng.choices(parts, k=rng.randrange(9)))}" for _ in range(20_000)]
    frame = pl.DataFrame({"url": urls}).filter(pl.col("url").str.contains(_URL))
    assert frame.height > 1000
    facts = frame.select(pl.col("url").alias("given"), _fact("url"), _fact("path"), _fact("target"))
    for given, *columns in facts.iter_rows():
        url = Url.parse(given)
        assert columns == [url.text.lower(), url.path.lower(), url.target.lower()], given


def test_the_best_first_and_filtered(run: Run, folder: Path) -> None:
    path = write(folder / "links.csv", made(80))
    best = records(run("score", "links", path, "--topic", TOPIC, "--top", "5"))
    assert [one["relevance_score"] for one in best] == sorted(
        (one["relevance_score"] for one in best), reverse=True
    )
    assert len(best) == 5
    least = records(run("score", "links", path, "--topic", TOPIC, "--min-score", "6"))
    assert 0 < len(least) < 80
    assert all(one["relevance_score"] >= 6 for one in least)
    table = run("score", "links", path, "--topic", TOPIC, "--top", "1", "--format", "table").stdout
    assert "Score" in table
    rows = list(
        csv.DictReader(io.StringIO(run("score", "links", path, "--topic", TOPIC, "--format", "csv").stdout))
    )
    assert len(rows) == 80


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("link\nhttps://a.example/\n", "names no column url"),
        (
            "url\nnot a url\n",
            "links.csv line 2, row 1, field url: 'not a url' should be an absolute http(s) URL",
        ),
        ("url\na.example/x\n", "field url: 'a.example/x' has no scheme; write https://a.example/x"),
        ("url,position\nhttps://a.example/,top\n", "field position: 'top' is no position"),
        ("url,anchor\nhttps://a.example/\n", "has 1 fields where the header has 2"),
    ],
)
def test_wrong_rows_are_named(run: Run, folder: Path, text: str, words: str) -> None:
    (folder / "links.csv").write_text(text, "utf-8")
    for more in ((), ("--top", "1")):
        result = run("score", "links", "links.csv", "--topic", TOPIC, *more)
        assert result.exit_code == 1
        assert words in result.stderr


@pytest.mark.parametrize("is_large", [False, True])
def test_wrong_rows_can_be_skipped(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, is_large: bool
) -> None:
    if is_large:
        pytest.importorskip("polars")  # an extra
        monkeypatch.setattr(sources, "SMALL_BYTES", 1)
    rows = [
        {"url": "https://a.example/asyncio"},
        {"url": 7},
        {"url": "ftp://a.example/"},
        {"url": "https://a.example/", "anchor": ["x"]},
    ]
    (folder / "links.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "{\n", "utf-8")
    result = run("score", "links", "links.jsonl", "--topic", TOPIC, "--on-error", "skip", "--top", "9")
    assert result.exit_code == 3
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == "Note: 4 rows are rejected; see links.jsonl.rejected\n"
    fields = [
        json.loads(line)["field"]
        for line in (folder / "links.jsonl.rejected").read_text("utf-8").splitlines()
    ]
    assert fields == ["url", "url", "anchor", None]


def test_a_parquet_file_that_is_none_is_said(run: Run, folder: Path) -> None:
    pl = pytest.importorskip("polars")  # an extra
    (folder / "links.parquet").write_bytes(b"PAR1" * 9)
    assert "is not Parquet that can be read" in run("score", "links", "links.parquet", "--topic", "x").stderr
    pl.DataFrame({"link": ["x"]}).write_parquet(folder / "links.parquet")
    assert "has no column url" in run("score", "links", "links.parquet", "--topic", "x").stderr
    pl.DataFrame({"url": [1, 2]}).write_parquet(folder / "links.parquet")
    for more in ((), ("--top", "1")):
        assert "'1' should be text" in run("score", "links", "links.parquet", "--topic", "x", *more).stderr


def test_standard_input_needs_a_format(run: Run) -> None:
    assert run("score", "links", "-", "--topic", "x", input="url\n").exit_code == 2
