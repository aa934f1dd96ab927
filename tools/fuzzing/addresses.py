"""URLs and hrefs: what a page links to, and what must hold of it.

Owns: pieces, seeds and promises. Must not know: how cases are run (`running.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fuzzing.documents import Documents, expect, pieces_of, text_of
from honeyguide.adapters.files.sites import check_sites, unique
from honeyguide.core.url.scope import LinkKind, Scope, classify
from honeyguide.core.url.url import Tracking, Url, display, explain, normalize
from honeyguide.errors import UrlError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

PAGE = Url.parse("https://a.example/b/c/?d=1")
SCOPE = Scope(frozenset({"pdf", "jpg"}), Tracking(("utm_*", "gclid")))
MAX_MESSAGE = 1_000  # characters of an error

URL_PIECES = (
    *pieces_of(
        "http: https: HTTP: // / / / \\ ? # @ : :80 :443 :8080 :65536 . .. ./ ../ %2e %2E%2e %252e % %4 %41 %7e %2f %C3%A9",
        "%00 %ff %uD800 a B c-d example.com xn-- xn--bcher-kva xn--a xn--é 0x7f 0177.1 127.0.0.1 1 256 4294967296 [::1]",
        "[ ] [::ffff:1.2.3.4] [1:2:3:4:5:6:7:8] [::1%25eth0] é ß İ ſ K 价格 א ١ 1 ａ | ^ ` { } \" ' < > ; = & + ~ 🌡 ␣",
        "www. index.html about services/ q=1 utm_source=x // h user:pw@ javascript: mailto: data: file: ftp: blob: a+b.c-d:",
    ),
    *(
        text.encode("utf-8", "surrogatepass")
        for text in ["\u200d", "\u200c", "�", "�", "\x00", "\t", "\n", "\r", "\x0b", "\x1f", "\x7f", "\x85", "\u2028", "．", "。", "\xad", "\ufeff"]
    ),
)  # fmt: skip


class Urls(Documents):
    """URLs on bases: one spelling that stays, two forms that agree, every property of what was read."""

    name = "urls"
    pieces = URL_PIECES
    seeds = (
        b"https://example.com/a/b/?q=1&r=2#f", b"http://user:pw@h.example:8080/%7Eu/%e4", b"//cdn.example/x", b"../../x?y",
        "https://bücher.example/straße?q=ü".encode(), b"http://[2001:db8::1]:80/", b"http://0x7f.0.0.1/", b"?q", b"x y/../z",
    )  # fmt: skip
    most = 9
    bases = (None, "http://example.com/a/b/?q#f", "https://user:p%41@h.example:8443/x//y/", "http://1.2.3.4/%7e/{x}", "about:blank")  # fmt: skip
    starts = (b"", b"http://", b"https://", b"https://example.com/", b"/", b"http://example.com")

    def begin(self, chance: Random, corpus: Sequence[bytes]) -> None:
        """Get ready; URLs are small, so fewer are pumped up."""
        super().begin(chance, [document for document in corpus if len(document) <= 2_000])
        self.maker.pumped = 0.0002
        self.nth = 0

    def make(self) -> tuple[str, str | None]:
        """Make a URL and its base."""
        chance = self.chance
        return text_of(chance.choice(self.starts) + self.maker.document()), chance.choice(self.bases)

    def given(self, document: bytes) -> Iterable[tuple[str, str | None]]:
        """Take every line for a URL."""
        return ((line, base) for line in text_of(document[:100_000]).split("\n") for base in self.bases[:2])

    def check(self, case: tuple[str, str | None]) -> None:
        """Read a URL, and what comes out again."""
        text, base = case
        try:
            url = Url.parse(text, base)
        except UrlError as error:
            expect(len(str(error)) <= MAX_MESSAGE, "a message without end")
            return
        again, linked = Url.parse(url.text), Url.parse(url.as_linked)
        expect(again.text == url.text == linked.text == normalize(text, base), "not the one spelling")
        expect(linked.as_linked == url.as_linked, "not what is linked")
        expect(url.as_linked.isascii(), "not ASCII")
        self.nth += 1
        if not self.nth & 15:
            expect(explain(text, base)[-1].after == url.text, "the long way round")
            expect(
                url.site == again.site
                and url.host
                and url.path.startswith("/")
                and url.scheme in ("http", "https"),
                "out of bounds",
            )
            expect(display(url).isprintable(), "shows what nobody can see")
            url.key(SCOPE.tracking)


class Hrefs(Urls):
    """Hrefs on pages: a verdict for each, and a site or a sentence for what people write into lists."""

    name = "hrefs"

    def make(self) -> tuple[str, str | None]:
        """Make an href; it has no base but the page."""
        return text_of(self.maker.document()), None

    def check(self, case: tuple[str, str | None]) -> None:
        """Judge an href."""
        href, _ = case
        verdict = classify(href, PAGE, SCOPE)
        expect(verdict.rule and verdict.id and len(verdict.detail) <= 70_000, "out of bounds")
        expect((verdict.url is None) <= (verdict.kind is LinkKind.SKIP), "inside or outside, but no URL")
        if verdict.url is not None and verdict.kind is not LinkKind.SKIP:
            expect(
                classify(verdict.url.as_linked, PAGE, SCOPE).kind is verdict.kind,
                "judged otherwise by itself",
            )
        kept, repeated = unique(check_sites([href, href]))
        expect(len(kept) + len(repeated) == 2, "out of bounds")
