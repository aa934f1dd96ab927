"""What people hand over as files: profiles, patterns, CSV, JSON lines, Parquet. What must hold of each.

Owns: pieces, seeds and promises of these formats. Must not know: how cases are run (`running.py`).
Files are written to a folder of their own, one after the other.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fuzzing.documents import Documents, expect, pieces_of, text_of
from honeyguide import load_profile, score_link, select_links
from honeyguide.adapters.files.rows import Rejected
from honeyguide.adapters.files.sites import read_sites, unique
from honeyguide.app.known_urls.files import known_sources, open_known
from honeyguide.core.recrawl.plan import PlanQuery
from honeyguide.core.text.fold import fold
from honeyguide.core.text.pattern import compile_pattern
from honeyguide.errors import ConfigError, InputError, PatternError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

MAX_MESSAGE = 100_000  # characters of an error, which may tell many mistakes at once
NOW = datetime(2024, 6, 15, 8, 0, tzinfo=UTC)
PAGE = "<nav><a href=/services/fire>Fire alarms</a><a href=/about>About us</a></nav><p>Text <a href=/blog/1>one</a> x"


class Files(Documents):
    """A format that is read from a file."""

    suffix = ""

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready."""
        super().begin(chance, corpus)
        memory = Path("/dev/shm")  # noqa: S108 - a folder of our own in it, where there is one: files stay in memory
        self.folder = TemporaryDirectory(dir=memory if memory.is_dir() else None)
        self.path = Path(self.folder.name) / f"case.{self.suffix}"

    def end(self) -> None:
        """Remove the files."""
        self.folder.cleanup()


class Profiles(Files):
    """Profiles: usable, or refused with sentences; what is usable can be used."""

    name = "profiles"
    suffix = "toml"
    pieces = (
        *pieces_of(
            'schema␣=␣1 extends␣=␣"base" extends␣=␣"company" extends␣=␣"case.toml" name␣= description␣= [terms] [topic] [scope]',
            "[query] [content] [family] [crawl] [traps] [plan] [[filter]] [[skip]] [[bucket]] [scorecard.a] [[scorecard.a.group]]",
            "[strategy.s] [traversal.t] rules␣= when␣= points␣= per␣= at_most␣= mode␣= id␣= reason␣= range␣= base␣= pattern␣= cap␣=",
            "keywords␣= places␣= card␣= order␣= tag␣= quiet␣= decimals␣= path anchor target card.a is_hub hub_depth starts ends has word is",
            "matches below above all any not {␣path␣=␣{␣has␣=␣[\"x\"]␣}␣} [ ] { } = , . \" ' \"\"\" ''' \\u0000 \\ud800 \\\" # - + _ 0x 1e9",
            '1e400 nan inf true false 1979-05-27T07:32:00Z 07:32:00 "$a" "$topic" "x*" a b "a"."b" é 99999999999999999999 (a+)+$',
        ),
        b"\n", b"\n", b"\n", b" ", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"1" * 5000, b'""', b"[]", b"{}",
    )  # fmt: skip
    seeds = (
        b'schema = 1\nextends = "base"\nname = "a"\ndescription = "b"\n[terms]\na = ["x", "$b"]\nb = ["y"]\n[content]\nkeywords = ["$a"]\n',
        (b'schema = 1\nname = "a"\ndescription = "b"\n[scope]\nskip_extensions = ["pdf"]\ntracking = ["utm_*"]\n[query]\ntext = "q"\n'
        b'fields = { anchor = { weight = 0.5, usual_words = 3.0 } }\n[plan]\nlevels = [{ name = "l", at_least = 0.0, advice = "m" }]\n'
        b'[scorecard.a]\nrange = [0, 100]\n[[scorecard.a.group]]\nname = "g"\nmode = "first"\nrules = [\n'
        b'  { id = "r", reason = "s", points = 3, when = { path = { has = ["x"] }, not = { hub_depth = { above = 3 } } } },\n'
        b'  { id = "t", reason = "u", points = 2, per = "hub_depth", at_most = 9, when = { any = [{ anchor = { matches = "a.b|c" } }] } },\n]\n'
        b'[strategy.s]\ncard = "a"\ncap = 4\norder = ["score", "url"]\n[[filter]]\nid = "f"\nreason = "g"\nwhen = { path = { is = "/" } }\n'
        b'[[bucket]]\nname = "k"\npriority = 1\nwhen = { path = { starts = "/k" } }\n'),
    )  # fmt: skip

    def check(self, document: bytes) -> None:
        """Load a profile, and use it."""
        self.path.write_bytes(document)
        try:
            profile = load_profile(self.path)
            for strategy in profile.strategies:
                select_links(PAGE, "https://a.example/", strategy=strategy, profile=profile)
            if "link" in profile.cards:
                score_link("https://a.example/fire", topic="fire", profile=self.path)
        except ConfigError as error:
            expect(0 < len(str(error)) <= MAX_MESSAGE, "a message without end")


class JsonProfiles(Profiles):
    """Profiles in JSON."""

    name = "json-profiles"
    suffix = "json"
    pieces = pieces_of(
        '{ } [ ] : , " null true false 0 4 -1 1e400 NaN Infinity 99999999999999999999 "\\ud800" "\\u0000" "a" "x*" "$a" ␣ [[[[[[[[[[',
        '"schema":1, "extends":"company", "extends":"base", "extends":"case.json", "name":"a", "description":"b", "page_cap":4, "page_cap":',
        '"disallowed_paths":["/a"], "disallowed_paths":{"add":["/a"]}, "terms":{ "strategy":{"rules":{ "cap":2 "reserve":["about"] "replace":[',
        '"strategy":{"blend":{"quota":{"blog":0}}} "scorecard":{ "filter":[{"id":"homepage","remove":true}], "when":{"path":{"has":["x"]}}',
    )
    seeds = (
        b'{"extends": "company", "page_cap": 4, "disallowed_paths": ["/privacy"]}',
        b'{"extends": "company", "strategy": {"blend": {"cap": 2, "reserve": ["about", "contact"], "quota": {"about": 0}}}}',
    )


class Patterns(Documents):
    """Patterns: refused, or matched in time that grows with the text and no faster."""

    name = "patterns"
    pieces = (
        *pieces_of(
            "a b fire alarm | || ( ) [ ] { } * + ? *? . ^ $ \\ \\d \\w \\W \\b \\B \\1 \\p{L} \\pN \\x{10FFFF} \\Q \\E \\C \\z (?: (?i) (?=",
            "(?! (?<= (?P<n> (?P=n) (?s:.*) {0} {1,} {1000} {1001} {2,1} {999999999} [a-z] [^a] [[:alpha:]] [z-a] [\\d-z] (a+)+ (a|a)*",
            "(a|aa)+ .* .*.* (x+x+)+y é ß İ ſ K 接口 ж 🌡 - _ , : # ~ & && ␣ ␣␣",
        ),
        b"\n", b"\0", b"\xff", b"\xed\xa0\x80", "\u200d".encode(), "\xad".encode(), "\u0301".encode(), "\ufb03".encode(),
    )  # fmt: skip
    seeds = (b"fire|alarm", b"fire.*(alarm|door)s?", "接口|api".encode(), b"(a+)+$", b"^[a-z]{2,5}\\b")
    most = 12

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready, with texts to match."""
        super().begin(chance, [document for document in corpus if len(document) <= 2_000])
        long = ("a" * 3_000, "ab " * 1_000, "fire alarm, 接口 é " * 200, "x" * 2_999 + "y", "aaab" * 700)
        self.texts = tuple(fold(text) for text in ("", "a", "fire alarm", "API 接口", *long))

    def check(self, document: bytes) -> None:
        """Compile a pattern, and match."""
        try:
            pattern = compile_pattern(text_of(document))
        except PatternError as error:
            expect(0 < len(str(error)) <= 1_000, "a message without end")
            return
        for text in self.texts:
            found = pattern.count(text)
            expect((found > 0) == pattern.search(text), "searching and counting disagree")
            expect(found <= 1_000, "out of bounds")


class Rows(Files):
    """Rows of known URLs and lists of sites: every row is used or named, whatever is in it."""

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready."""
        super().begin(chance, corpus)
        self.profile = load_profile("news")

    def check(self, document: bytes) -> None:
        """Read a file both ways."""
        self.path.write_bytes(document)
        self._plan()
        try:
            rows = read_sites(str(self.path), None if len(document) % 2 else "site")
        except InputError as error:
            _check_error(error)
            return
        kept, repeated = unique(rows)
        expect(len(kept) + len(repeated) == len(rows), "rows were lost")
        json.dumps([(row.text, row.line, row.problem) for row in rows])

    def _plan(self) -> None:
        rejected = Rejected()
        try:
            table = open_known(known_sources([str(self.path)]), self.profile, reject=rejected)
            plan = table.plan(PlanQuery(NOW, top=5))
            expect(len(plan.entries) <= 5, "out of bounds")
            open_known(known_sources([str(self.path)]), self.profile).plan(PlanQuery(NOW, top=5))
        except InputError as error:
            _check_error(error)
        finally:
            rejected.close()


def _check_error(error: InputError) -> None:
    expect(0 < len(str(error)) <= 5_000, "a message without end")
    str(error).encode()


FIELDS = (
    "url visits last_visited last_changed topic_relevance hub_depth is_hub lastVisited topicRelevance hubDepth isHub domain website site"
)  # fmt: skip
VALUES = (
    "https://a.example/ acme.com 3 0.5 -1 1e400 nan Infinity true no 2024-06-10T08:00:00Z 1718006400000 0001-01-01 9999-12-31T23:59:59-14:00 "
    "2024-06-10 null \\ud800 é 价 🌡 ١ ² ½ 1_000 0x10"
)  # fmt: skip


class Csv(Rows):
    """CSV of any quality."""

    name = suffix = "csv"
    pieces = (
        *pieces_of(FIELDS, VALUES, "\" \"\" ; , , , ' | # = @ +1 -1"),
        b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\t", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc2\x85", b"\xe2\x80\xa8",
        b"url,visits,topic_relevance,hub_depth,is_hub\n", b"https://a.example/,1,0.5,1,true\n", b"domain\n", b'"a\nb"', b"1" * 400,
    )  # fmt: skip
    seeds = (
        (b"url,visits,last_visited,last_changed,topic_relevance,hub_depth,is_hub\nhttps://a.example/,3,2024-06-10T08:00:00Z,,0.5,1,true\n"
        b'"https://b.example/?a,b",0,,1718006400,1,0,no\n'),
        b'domain;name\nacme.com;Acme\n"b.example";"x\ny"\n',
        b"url,visits,topicRelevance,hubDepth,isHub\nhttps://a.example/,1,0.5,1,1\nhttps://a.example/,1,0.5,1,1\n",
    )  # fmt: skip


class JsonLines(Rows):
    """JSON lines of any quality."""

    name = suffix = "jsonl"
    pieces = (
        *(f'"{word}":'.encode() for word in FIELDS.split()),
        *(f'"{word}"'.encode() for word in VALUES.split()),
        *pieces_of('{ } [ ] , , : 1 -0 1e5 1e400 -1e400 NaN Infinity true false null 3.0 1.5 " \\u0000 \\ud800\\udc00 \\ [[[[ {"a":'),
        b"\n", b"\n", b"\r\n", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b"1" * 4400, b"[" * 985, b"\xed\xa0\x80",
        b'{"url":"https://a.example/","visits":1,"topic_relevance":0.5,"hub_depth":1,"is_hub":true}\n', b'{"domain":"acme.com"}\n',
    )  # fmt: skip
    seeds = (
        (b'{"url":"https://a.example/","visits":3,"last_visited":"2024-06-10T08:00:00Z","topic_relevance":0.5,"hub_depth":1,"is_hub":true}\n'
        b'{"url":"https://b.example/","visits":0,"lastChanged":1718006400,"topicRelevance":1,"hubDepth":0,"isHub":"no"}\n'),
        b'{"domain":"acme.com","name":"Acme"}\n"b.example"\n{"url":"https://c.example/"}\n',
    )  # fmt: skip


class Parquet(Rows):
    """Parquet with bytes changed."""

    name = suffix = "parquet"
    pieces = (
        b"PAR1",
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
        b"\x15\x04",
        b"\x19",
        b"url",
        b"\x80\x80\x80\x80\x08",
    )

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready, with files to start from; other files are no Parquet, and soon told."""
        import polars as pl  # an extra

        super().begin(chance, [document for document in corpus if document.startswith(b"PAR1")])
        self.maker.pumped = 0.0
        rows: dict[str, list[Any]] = {
            "url": ["https://a.example/", "https://b.example/", None], "visits": [1, 2, 3], "is_hub": [True, False, None],
            "topic_relevance": [0.5, 1.0, None], "hub_depth": [1, 0, 2], "last_visited": [NOW, None, NOW],
        }  # fmt: skip
        for kind in ("uncompressed", "zstd", "snappy", "gzip"):
            pl.DataFrame(rows).write_parquet(self.path, compression=kind)
            self.maker.seeds.append(self.path.read_bytes())
