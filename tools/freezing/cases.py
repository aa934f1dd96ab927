"""The commands whose output is frozen, and the files they read.

Owns: the list `CASES`, in the order in which it is run, and `write_inputs`. Must not know: how a command is run, or how
its output is kept. Start reading at `CASES`. All inputs are about the made-up company of the demo site.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from honeyguide import FetchPolicy, pick
from honeyguide.testing.fakes import FakeFetcher, FrozenClock

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = "2024-06-15T08:30:00Z"  # when commands are run that do not say otherwise; half past, so that no hour is crossed
LATER = "2024-06-17T08:30:00Z"
THEN = "2024-06-20T08:30:00Z"


@dataclass(frozen=True, slots=True)
class Case:
    """A command line without the program; {site} is the demo site's address, `< FILE` at its end standard input."""

    name: str
    command: str
    at: str = BEGIN
    is_later: bool = False  # whether the site has changed


_POLITE = "--allow-private --delay 0 --retries 0"
_PICK = f"pick {{site}} {_POLITE} --no-timings"
_TOPIC = "--topic 'sprinkler|alarm'"
# One request after the other, with a pause: pages then have different times, and plans of equal pages an order.
_SLOW = "--allow-private --delay 0.01 --retries 0 --concurrency 1"
_CRAWL = f"crawl {{site}} {_TOPIC} {_SLOW}"
_BASE = "--base https://larkspur.example/"
_PLAN = "--now 2024-06-15T08:00:00Z"
_WORLD = "simulate recrawl poisson:pages=6,days=4 --budgets 2d"

_HELP = tuple(
    Case(f"help{'-' if command else ''}{command.replace(' ', '-')}", f"{command} --help".strip())
    for command in (
        "", "pick", "crawl", "explain", "runs", "export", "eval", "learn", "select", "links", "score", "score link",
        "score links", "score page", "plan", "import", "simulate", "simulate recrawl", "simulate crawl", "watch", "url", "url normalize", "url classify", "url explain",
        "profile", "profile list", "profile show", "profile check", "profile init", "schema", "demo",
    )
)  # fmt: skip

_PICKS = (
    Case("demo", "demo"),
    Case("pick-table", f"{_PICK} --format table"),
    Case("pick-jsonl", f"{_PICK} --format jsonl"),
    Case("pick-csv", f"{_PICK} --format csv"),
    Case("pick-timings", f"pick {{site}} {_POLITE} --cap 1 --include about"),
    Case("pick-content", f"{_PICK} --content --cap 2"),
    Case("pick-rules-table", f"{_PICK} --strategy rules --cap 6 --format table"),
    Case("pick-blend-table", f"{_PICK} --strategy blend --query 'sprinkler alarm' --format table"),
    Case(
        "pick-profile-csv",
        f"{_PICK} --profile fire-protection --include services --exclude lighting --format csv",
    ),
    Case("pick-file-jsonl", f"pick -i sites.csv {_POLITE} --no-timings -o picks.jsonl"),
    Case("pick-file-goes-on", f"pick -i sites.csv {_POLITE} --no-timings -o picks.jsonl"),
    Case("pick-file-csv", f"{_PICK} --cap 2 -o picks.csv"),
    Case("pick-file-parquet", f"{_PICK} --cap 2 -o picks.parquet"),
    Case("pick-reports", f"{_PICK} -o shown.csv --report picks.html --report picks.md --quiet"),
    Case("pick-list-from-stdin", f"pick - {_POLITE} --no-timings --cap 1 --format csv < sites.txt"),
    Case("pick-private", "pick {site} --delay 0 --no-timings --format table"),
    Case("pick-unreachable", f"pick http://127.0.0.1:9/ {_POLITE} --no-timings"),
    Case("explain-picks-table", "explain /about --picks picks.jsonl --format table"),
    Case("explain-picks-jsonl", "explain /about --picks picks.jsonl"),
    Case("diff-picks-table", "diff before.jsonl picks.jsonl --format table"),
    Case("diff-picks-jsonl", "diff before.jsonl picks.jsonl"),
    Case("learn-table", "learn wants.jsonl --picks seven.jsonl -o wanted.toml --format table --quiet"),
    Case(
        "learn-jsonl", "learn wants.jsonl --picks seven.jsonl -o wanted.toml --force --format jsonl --quiet"
    ),
    Case("eval-table", "eval picks.jsonl --gold gold.jsonl --format table"),
    Case("eval-jsonl", "eval picks.jsonl --gold gold.jsonl --format jsonl"),
    Case("eval-csv", "eval picks.jsonl --gold gold.jsonl --cap 2 --format csv"),
    Case("eval-missing-record", "eval before.jsonl --gold more-gold.jsonl --format table"),
)

_CRAWLS = (
    Case("crawl-jsonl", f"{_CRAWL} --format jsonl"),
    Case("crawl-goes-on", f"{_CRAWL} --format jsonl"),
    Case("crawl-table", f"{_CRAWL} --store table.db --max-pages 9 --format table"),
    Case(
        "crawl-csv",
        f"crawl {{site}} --traversal bfs {_SLOW} --store bfs.db --max-depth 1 --max-pages 6 --format csv",
    ),
    Case("crawl-dfs", f"crawl {{site}} --traversal dfs {_SLOW} --store dfs.db --max-pages 5 --format table"),
    Case(
        "crawl-hybrid",
        f"{_CRAWL} --traversal hybrid --related pump --store hybrid.db --exclude blog --format table",
    ),
    Case("crawl-links", f"{_CRAWL} --store links.db --links --max-pages 1"),
    Case("crawl-content", f"{_CRAWL} --store content.db --content --max-pages 2"),
    Case("crawl-content-text", f"{_CRAWL} --store text.db --content text --max-pages 1"),
    Case("crawl-file-parquet", f"{_CRAWL} --store parquet.db --max-pages 4 -o pages.parquet"),
    Case("crawl-file-csv", f"{_CRAWL} --store csv.db --max-pages 4 -o pages.csv"),
    Case("crawl-file-jsonl", f"{_CRAWL} --store lines.db --max-pages 4 --quiet -o pages.jsonl"),
    Case(
        "crawl-folder-warc",
        f"{_CRAWL} --store folder.db --max-pages 3 --quiet --markdown pages --warc pages.warc",
    ),
    Case(
        "crawl-reports",
        f"{_CRAWL} --store report.db --quiet --report crawl.html --report crawl.md -o all.csv",
    ),
    Case("crawl-sitemap", f"{_CRAWL} --store sitemap.db --sitemap sitemap.xml --max-pages 3 --format table"),
    Case("crawl-private", f"crawl {{site}} {_TOPIC} --delay 0 --store private.db"),
    Case("runs-table", "runs --format table"),
    Case("runs-jsonl", "runs --store bfs.db"),
    Case("runs-csv", "runs --store links.db --format csv"),
    *(
        Case(f"export-{kind}-{shape}", f"export {kind} --format {shape}")
        for kind in ("pages", "links", "external", "out")
        for shape in ("jsonl", "csv")
    ),
    Case("export-best", "export pages --top 2 --content text"),
    Case("export-chunks", "export pages --top 2 --chunks 300"),
    Case("rescore", "rescore --topic extinguisher --top 2"),
    Case("export-pages-parquet", "export pages -o exported.parquet"),
    Case("export-links-parquet", "export links --store table.db -o links.parquet"),
    Case("export-external-parquet", "export external -o external.parquet"),
    Case("export-out-file", "export out --rule other-site -o out.jsonl"),
    Case("explain-table", "explain /services --format table", LATER),
    Case("explain-jsonl", "explain /services/kitchen-suppression", LATER),
    Case("explain-csv", "explain /calendar?month=2026-01 --format csv", LATER),
    Case("explain-other-site", "explain https://social.example/larkspur --run 1 --format table", LATER),
)

# Each page on a day of its own: a plan of pages that were visited in one second would hang on milliseconds.
_DAYS = tuple(
    Case(f"crawl-more-{pages}", f"{_CRAWL} --store days.db --max-pages {pages} --format table", f"2024-06-{day:02}T08:30:00Z")
    for pages, day in ((1, 1), (2, 2), (3, 4), (4, 7), (5, 11))
)  # fmt: skip
_NOW = f"--store days.db --now {LATER}"

_AGAIN = (
    *_DAYS,
    Case("plan-store-table", f"plan {_NOW} --top 9 --format table"),
    Case("plan-store-jsonl", f"plan {_NOW} --per-host 7"),
    Case("plan-store-csv", f"plan --store honeyguide.db --now {LATER} --policy heuristic --format csv"),
    Case("plan-store-explain", f"plan {_NOW} --explain /about --format table"),
    Case("plan-store-explain-jsonl", f"plan {_NOW} --explain /"),
    Case("plan-store-file", f"plan {_NOW} -o store-plan.parquet"),
    Case("plan-store-enqueue", f"plan {_NOW} --policy uniform --top 3 --enqueue --format table", LATER),
    Case("crawl-due", f"crawl --due --store days.db {_SLOW}", LATER),
    Case("watch-jsonl", f"watch --store days.db {_SLOW} --per-hour 240 --rounds 1", THEN),
    Case("watch-table", f"watch {_SLOW} --policy heuristic --per-hour 240 --rounds 1 --format table", THEN),
    Case("watch-file-csv", f"watch --store bfs.db {_SLOW} --per-hour 60 --rounds 1 -o watched.csv", THEN),
    Case("watch-over", f"watch --per-hour 3 --until {LATER} --store links.db", THEN),
    Case("watch-private", "watch --store csv.db --per-hour 60 --rounds 1 --delay 0", THEN),
)

_FILES = (
    Case("plan-table", f"plan known.csv {_PLAN} --format table"),
    Case("plan-jsonl", f"plan known.jsonl {_PLAN}"),
    Case("plan-csv", f"plan known.csv known.jsonl {_PLAN} --top 2 --format csv"),
    Case("plan-stdin", f"plan - --input-format csv {_PLAN} --min-score 40 --format csv < known.csv"),
    Case("plan-explain", f"plan known.csv {_PLAN} --explain https://larkspur.example/blog --format table"),
    Case("plan-explain-jsonl", f"plan known.csv {_PLAN} --explain https://larkspur.example/blog"),
    Case("plan-file-jsonl", f"plan known.csv {_PLAN} -o plan.jsonl"),
    Case("plan-file-parquet", f"plan known.csv {_PLAN} -o plan.parquet"),
    Case("plan-parquet-in", f"plan plan-input.parquet {_PLAN} --level low --level 'very high' --format csv"),
    Case("plan-reports", f"plan known.csv {_PLAN} --report plan.html --report plan.md --quiet -o reported.csv"),
    Case("plan-file-later", "plan known.csv --now 2024-06-18T08:00:00Z -o later.jsonl"),
    Case("diff-plans-table", "diff plan.jsonl later.jsonl --format table"),
    Case("diff-plans-jsonl", "diff plan.jsonl later.jsonl"),
    Case("diff-plans-csv", "diff plan.jsonl later.jsonl --format csv"),
    Case("plan-skip", f"plan wrong.csv {_PLAN} --on-error skip --format csv"),
    *(
        Case(f"plan-{policy}", f"plan rates.csv {_PLAN} --policy {policy} --format table")
        for policy in ("learned", "uniform", "proportional", "adaptive-interval")
    ),
    Case("select-table", "select --demo --format table"),
    Case("select-all-table", f"select home.html {_BASE} --all --format table"),
    Case("select-jsonl", f"select home.html {_BASE} --cap 3"),
    Case("select-csv", f"select - {_BASE} --strategy rules --format csv < home.html"),
    Case("select-blend", f"select home.html {_BASE} --strategy blend --heads heads.jsonl --format csv"),
    Case("select-markdown", f"select notes.md {_BASE} --format table"),
    Case("select-file-table", "select links.csv --cap 1 --format table"),
    Case("select-file-jsonl", "select links.csv --strategy rules --cap 2"),
    Case("links-table", f"links home.html {_BASE} --format table"),
    Case("links-jsonl", f"links home.html {_BASE}"),
    Case("links-csv", f"links - {_BASE} --input-format markdown --format csv < notes.md"),
    *(
        Case(
            f"score-link-{shape}",
            "score link https://larkspur.example/services/fire-alarm-inspection --topic 'alarm|pump' --anchor 'Alarms'"
            f" --context 'We test every pump.' --position main --related inspection --format {shape}",
        )
        for shape in ("table", "jsonl", "csv")
    ),
    *(
        Case(f"score-links-{shape}", f"score links hrefs.csv --topic 'alarm|sprinkler' --format {shape}")
        for shape in ("table", "jsonl", "csv")
    ),
    Case("score-links-top", "score links hrefs.csv --topic 'alarm|sprinkler' --top 1 --min-score 1"),
    *(
        Case(f"score-page-{shape}", f"score page home.html --topic 'fire|alarm' {_BASE} --format {shape}")
        for shape in ("table", "jsonl", "csv")
    ),
    Case("simulate-table", f"{_WORLD} --format table --quiet"),
    Case("simulate-jsonl", f"{_WORLD} --policies learned,uniform --quiet"),
    Case("simulate-csv", f"{_WORLD} --policies heuristic --seed 2 --format csv"),
    Case("simulate-changes", "simulate recrawl changes.csv --policies learned --budgets 3d,6/day --quiet --format table"),
    Case("simulate-report", f"{_WORLD} --policies uniform --report simulated.html -o simulated.csv"),
    Case("simulate-crawl", "simulate crawl honeyguide.db --traversals focused,bfs --format table"),
    Case("simulate-crawl-jsonl", "simulate crawl honeyguide.db --traversals hybrid --topic alarm --max-pages 3"),
    Case("profile-list-table", "profile list --format table"),
    Case("profile-list-jsonl", "profile list"),
    Case("profile-list-csv", "profile list --format csv"),
    *(Case(f"profile-show-{name}", f"profile show {name}") for name in ("docs", "news", "fire-protection")),
    Case("profile-show-json", "profile show docs --format json"),
    Case("profile-check-table", "profile check company larkspur.toml --format table"),
    Case("profile-check-jsonl", "profile check larkspur.toml wrong.toml"),
    Case("profile-check-csv", "profile check wrong.toml --format csv"),
    Case("profile-init", "profile init ladders"),
    Case("profile-init-stdout", "profile init ladders --extends base -o -"),
    Case("schema-plan", "schema plan"),
    Case("url-normalize", "url normalize HTTP://Larkspur.example:80/%7Eanna/ https://larkspur.example/a/../b?x=1#top"),
    Case("url-normalize-stdin", "url normalize - < urls.txt"),
    Case("url-normalize-base", "url normalize team/ //cdn.example/x mailto:a@larkspur.example --base https://larkspur.example/about/"),
    *(
        Case(
            f"url-classify-{shape}",
            "url classify /about mailto:office@larkspur.example https://social.example/larkspur /brochure.pdf #top"
            f" https://www.larkspur.example/ --base https://larkspur.example/ --format {shape}",
        )
        for shape in ("table", "jsonl", "csv")
    ),
    *(
        Case(
            f"url-explain-{shape}",
            f"url explain HTTP://Larkspur.example:80/a/../%7Eanna/?utm_source=x&b=1#top --format {shape}",
        )
        for shape in ("table", "jsonl", "csv")
    ),
)  # fmt: skip

_ERRORS = (
    Case("error-no-command", "fetch"),
    Case("error-no-option", "pick --depth 3"),
    Case("error-no-site", "pick"),
    Case("error-format", f"{_PICK} --format xml"),
    Case("error-cap", f"{_PICK} --cap 0"),
    Case("error-schema", "schema plans"),
    Case("error-strategy", f"{_PICK} --strategy luck"),
    Case("error-profile", f"{_PICK} --profile roofers"),
    Case("error-profile-file", f"select home.html {_BASE} --profile wrong.toml"),
    Case("error-no-list", "pick -i nothing.csv"),
    Case("error-column", "pick -i sites.csv --column address"),
    Case("error-ending", f"{_PICK} -o picks.docx"),
    Case("error-report-ending", f"{_PICK} --report picks.pdf"),
    Case("error-no-topic", "crawl {site}"),
    Case("error-topic", "crawl {site} --topic '(' --store error.db"),
    Case("error-seed", "crawl mailto:office@larkspur.example --topic fire --store error.db"),
    Case("error-traversal", f"{_CRAWL} --traversal luck --store error.db"),
    Case("error-crawl-unreachable", f"crawl http://127.0.0.1:9/ {_TOPIC} {_SLOW} --store unreachable.db"),
    Case("error-table-in-file", f"{_CRAWL} --format table -o pages.jsonl --store error.db"),
    Case("error-no-store", "explain /about --store nothing.db"),
    Case("error-store", "runs --store home.html"),
    Case("error-run", "export pages --run 9"),
    Case("error-kind", "export everything"),
    Case("error-explain-path", "explain /nothing"),
    Case("error-plan-row", f"plan wrong.csv {_PLAN}"),
    Case("error-plan-column", f"plan links.csv {_PLAN}"),
    Case("error-plan-now", "plan known.csv --now yesterday"),
    Case("error-plan-nothing", "plan"),
    Case("error-watch-per-hour", "watch"),
    Case("error-watch-until", "watch --per-hour 3 --until tomorrow"),
    Case("error-learn-few", "learn gold.jsonl --picks picks.jsonl -o learned.toml"),
    Case("error-eval-gold", "eval picks.jsonl --gold home.html"),
    Case("error-select-no-page", "select nothing.html"),
    Case("error-select-no-base", "select home.html"),
    Case("error-position", "score link https://larkspur.example/ --topic fire --position side"),
    Case("error-score-url", "score link larkspur --topic fire"),
    Case("error-world", "simulate recrawl poisson:pages=x"),
    Case("error-budget", "simulate recrawl poisson:pages=6,days=4 --budgets soon"),
    Case("error-policy", f"{_WORLD} --policies luck"),
    Case("error-simulate-store", "simulate recrawl --store honeyguide.db --budgets 2d --quiet"),
    Case("error-profile-show", "profile show roofers"),
    Case("error-profile-init", "profile init ladders"),
    Case("error-url", "url explain http://"),
    Case("error-page", "url classify /about --base about"),
)

_AGED = "--store aged.db"
_CHANGED = (
    Case("changed-crawl", f"{_CRAWL} {_AGED} --max-pages 4 --quiet", "2024-06-01T08:30:00Z"),
    Case("changed-enqueue", f"plan {_AGED} --now 2024-06-08T08:30:00Z --policy heuristic --top 30 --enqueue -q --format csv", "2024-06-08T08:30:00Z"),
    Case("changed-due-table", f"crawl --due {_AGED} {_SLOW} --max-pages 20 --format table", "2024-06-08T08:30:00Z", is_later=True),
    Case("changed-enqueue-again", f"plan {_AGED} --now 2024-06-15T08:30:00Z --policy heuristic --top 30 --enqueue -q --format csv"),
    Case("changed-due-csv", f"crawl --due {_AGED} {_SLOW} --max-pages 30 --format csv"),
    Case("changed-watch", f"watch {_AGED} {_SLOW} --policy heuristic --per-hour 180 --rounds 1", LATER, is_later=True),
    Case("changed-export", f"export pages {_AGED} --changed --format csv", LATER),
    Case("changed-explain", f"explain / {_AGED} --format table", LATER),
    Case("changed-explain-jsonl", f"explain / {_AGED}", LATER),
    Case("changed-explain-gone", f"explain /blog/how-often-to-check-an-alarm {_AGED} --format table", LATER),
    Case("changed-runs", f"runs {_AGED} --format table", LATER),
    Case("changed-plan-explain", f"plan {_AGED} --now {THEN} --explain / --format table"),
    Case("changed-simulate", f"simulate recrawl {_AGED} --policies uniform --budgets 2d --days 2 --quiet", THEN),
)  # fmt: skip

CASES = (*_HELP, *_PICKS, *_CRAWLS, *_FILES, *_AGAIN, *_CHANGED, *_ERRORS)

_KNOWN = """url,visits,lastVisited,lastChanged,topicRelevance,hubDepth,isHub
https://larkspur.example/services,0,,,0.4,1,yes
https://larkspur.example/blog,150,2024-06-10T08:00:00Z,2024-06-14T22:00:00Z,0.9,1,true
https://larkspur.example/blog/our-new-van,1,2024-06-15T07:30:00Z,,0.3,5,false
"""
_RATES = """url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub,rate_a,rate_b,importance
https://larkspur.example/services,9,2024-06-10T08:00:00Z,2024-06-09T08:00:00Z,0.4,1,yes,4,800,
https://larkspur.example/blog,15,2024-06-14T08:00:00Z,2024-06-14T08:00:00Z,0.9,1,true,12,700,0.9
https://larkspur.example/privacy,3,2024-05-15T07:30:00Z,,0.3,5,false,1,9000,
"""
_LINKS = """page,url,anchor,context,position
https://larkspur.example/,/services,Services,,navigation
https://larkspur.example/,/services/fire-alarm-inspection,Fire alarm inspection,Every alarm once a year.,main
https://larkspur.example/,/privacy,Privacy,,footer
https://larkspur.example/blog,/blog/our-new-van,Our new van is here,,main
https://larkspur.example/blog,/sprinkler-service-ashbrook,Ashbrook,Where we keep sprinklers running,footer
"""
_PROFILE = """schema = 1
extends = "company"
name = "larkspur"
description = "Larkspur Fire."
"""
_WRONG_PROFILE = """schema = 1
extends = "company"
name = 7
colour = "red"
[strategies.luck]
"""
_SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{site}services/fire-alarm-inspection</loc><lastmod>2024-06-01</lastmod></url>
<url><loc>{site}privacy</loc></url>
</urlset>
"""


def write_inputs(folder: Path, site: str) -> None:
    """Write every file that a command reads; `site` is the demo site's address."""
    demo = files("honeyguide") / "demo" / "site"
    home = (demo / "index.html").read_text("utf-8")
    known = [line.split(",") for line in _KNOWN.splitlines()]
    records = [dict(zip(known[0], row, strict=True)) for row in known[1:]]
    texts = {
        "home.html": home,
        "notes.md": "# Fire\n\nSee [services](/services), [the van](/blog/our-new-van 'New') and [mail](mailto:a@larkspur.example).\n",
        "urls.txt": "https://Larkspur.example/a/\n\nhttps://larkspur.example/b#c\nmailto:a@larkspur.example\n",
        "sites.csv": f"name,website\nLarkspur,{site}\nNobody,http://127.0.0.1:9/\n",
        "sites.txt": f"{site}\n",
        "sitemap.xml": _SITEMAP.replace("{site}", site),
        "known.csv": _KNOWN,
        "known.jsonl": _lines(records),
        "rates.csv": _RATES,
        "wrong.csv": _KNOWN + "https://larkspur.example/about,many,,,2,1,no\n",
        "links.csv": _LINKS,
        "hrefs.csv": _LINKS.replace(",/", ",https://larkspur.example/"),
        "larkspur.toml": _PROFILE,
        "wrong.toml": _WRONG_PROFILE,
        "heads.jsonl": _lines([{"url": "/about", "title": "Fire alarms and sprinklers", "description": "Who we are"}]),
        "gold.jsonl": _lines([{"site": site, "core": ["/services", "/about"], "junk": ["/blog"]}]),
        "more-gold.jsonl": _lines([{"site": site, "core": ["/services"]}, {"site": "larkspur.example", "core": ["/"]}]),
        "before.jsonl": _lines([_before(site)]),
        "seven.jsonl": _lines([_picked(number) for number in range(7)]),
        "wants.jsonl": _lines([{"site": f"larkspur{n}.example", "core": ["/projects"]} for n in range(7)]),
        "changes.csv": "page,timestamp\n" + "".join(_changes()),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    _write_parquet(folder / "plan-input.parquet")


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _before(site: str) -> dict[str, Any]:
    """Make a record of an earlier pick, which had another page at its end."""
    paths = ("services", "about", "blog")
    selected = [{"url": f"{site}{path}", "rank": rank} for rank, path in enumerate(paths, 1)]
    return {"site": site, "status": "ok", "selected": selected}


def _picked(number: int) -> dict[str, Any]:
    """Make the record of a pick from a small site."""
    site = f"larkspur{number}.example"
    names = ("services", "about", "alarm-repair", "roof-cleaning", "door-design", "projects")
    pages = {
        f"https://{site}/": "".join(f'<nav><a href="/{name}">{name}</a></nav>' for name in names).encode()
    }
    for name in names:
        text = f"{name} of the company in words of its own, number {number}. " * 9
        pages[f"https://{site}/{name}"] = f"<title>{name}</title><main><p>{text}</main>".encode()
    policy = FetchPolicy(delay_s=0, jitter=0)
    found = pick(f"https://{site}/", policy=policy, fetcher=FakeFetcher(pages), clock=FrozenClock())
    return {key: value for key, value in found.record.items() if key != "elapsed_s"} | {"site": site}


def _changes() -> list[str]:
    """List changes of three pages: every day, every second and every third day."""
    pages = enumerate(("blog", "services", "about"), 1)
    return [f"{page},2024-06-{day:02}T08:00:00Z\n" for step, page in pages for day in range(1, 13, step)]


def _write_parquet(path: Path) -> None:
    import polars as pl

    pl.DataFrame(
        {
            "url": ["https://larkspur.example/services", "https://larkspur.example/privacy"],
            "visits": [0, 12],
            "topic_relevance": [0.4, 0.1],
            "hub_depth": [1, 4],
            "is_hub": [True, False],
        }
    ).write_parquet(path)
