"""Job 4: BM25 of a query on 30 short documents, from raw text to scores. Ours says which words matched where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import honeyguide
from bench.measure import Contest, Pair, Unit
from bench.peers import offered
from honeyguide.core.rules.bm25 import contextual

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from bench.sample import Sample

    Document = Mapping[str, str]
    Batch = Sequence[Document]

OURS = "contextual"
_ABOUT = (
    "Each is title, description, anchor and path of a linked page. Ours scores the four fields apart, with reasons, on a scale "
    "that does not depend on the other documents; the peers get the fields as one text, build their index and answer one "
    "query. They are made for many queries on one index: here every page is new."
)
_BATCH = 30  # as many heads as a pick reads (PICK-11)


def contests(sample: Sample) -> Iterator[Contest]:
    batches = _batches(sample)
    profile = honeyguide.load_profile("fire-protection")
    joined = [[" ".join(document.values()) for document in batch] for batch in batches]
    words = sum(len(text.split()) for texts in joined for text in texts)

    def ours() -> None:
        for batch in batches:
            for document in batch:
                contextual(profile.query, document.get)

    entrants = {OURS: ours, **_peers(joined, profile.query.text)}
    goals = {"rank_bm25 BM25Okapi": 3.0}
    yield Contest(
        "BM25, 30 short documents",
        Unit("µs", len(batches), 1e6),
        entrants,
        [Pair(OURS, name, at_least=goals.get(name)) for name in entrants if name != OURS],
        [
            f"BM25: {len(batches)} batches of {_BATCH} documents of {words / len(batches) / _BATCH:.0f} words. {_ABOUT}"
        ],
    )


def _batches(sample: Sample) -> list[Batch]:
    """Read what is known of each page of the sample that another one links to."""
    parsed = [honeyguide.parse_page(page.body, page.url) for page in sample.pages]
    anchors = {link.url.text: link.anchor for page in parsed for link in page.links}
    documents = [
        {
            "head_title": page.title,
            "head_description": page.description,
            "anchor": anchors.get(page.url.text, ""),
            "plain_path": page.url.path.replace("-", " "),
        }
        for page in parsed
    ]
    while len(documents) < _BATCH:
        documents *= 2
    return [documents[at : at + _BATCH] for at in range(0, len(documents) - _BATCH + 1, _BATCH)]


def _peers(batches: Sequence[Sequence[str]], query: str) -> dict[str, Callable[[], None]]:
    found: dict[str, Callable[[], None]] = {}
    if rank := offered("rank_bm25"):

        def okapi() -> None:
            for texts in batches:
                rank.BM25Okapi([text.lower().split() for text in texts]).get_scores(query.lower().split())

        found["rank_bm25 BM25Okapi"] = okapi
    if bm25s := offered("bm25s"):

        def sparse() -> None:
            for texts in batches:
                index = bm25s.BM25()
                index.index(bm25s.tokenize(list(texts), show_progress=False), show_progress=False)
                index.retrieve(bm25s.tokenize(query, show_progress=False), k=len(texts), show_progress=False)

        found["bm25s"] = sparse
    return found
