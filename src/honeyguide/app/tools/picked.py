"""What a pick decided about a URL, and why: one record, with sentences.

Must not know: how anything was decided, terminals. Start reading at `explain_pick`; a selection among the links of a page
that was not picked is explained by `explain_selection`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from honeyguide.app.arguments import complete_address, is_path
from honeyguide.app.tools.results import read
from honeyguide.core.pick.evaluate import site_key
from honeyguide.core.records import SCHEMA, Record, candidate_record
from honeyguide.core.text.printable import number, points
from honeyguide.core.url.scope import RULE_WORDS
from honeyguide.core.url.url import Tracking, Url
from honeyguide.errors import InputError, UrlError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from honeyguide.app.pick import PageSelection
    from honeyguide.core.records.fields import CandidateRecord, PickRecord

    Note = Callable[[str], None]

_NAMED_AT_MOST = 5  # other sites in a note
_NO_LINKS = "has no links of homepages; give JSON lines or Parquet that honeyguide pick wrote"
_NO_TRACKING = Tracking()
_CARDS = {"intrinsic": "intrinsic_score", "contextual": "contextual_score", "total": "total_score"}


def explain_pick(path: str | Path, text: str, on_note: Note | None = None) -> Record:
    """Explain a URL, or a path alone, by the records of a pick: that of the first site that links it, or of its own site."""
    if str(path).lower().endswith((".csv", ".xlsx")):
        raise InputError(_NO_LINKS, file=str(path))
    own: PickRecord | None = None
    found: list[PickRecord] = []
    for record in cast("Iterable[PickRecord]", read(path)):
        if "candidates" not in record or "selected" not in record:
            raise InputError(_NO_LINKS, file=str(path))
        if record["homepage"] is None and is_path(text):
            continue
        if _skipped(record, text) or _candidate(record, _address(text, record)) is not None:
            found.append(record)
        elif own is None and _is_own(record, text, _address(text, record)):
            own = record
    if len(found) > 1 and on_note is not None:
        others = [record["site"] for record in found[1:]]
        more = f" and {len(others) - _NAMED_AT_MOST} more" if len(others) > _NAMED_AT_MOST else ""
        on_note(f"also linked by {', '.join(others[:_NAMED_AT_MOST])}{more}; a whole URL chooses")
    if own is None and not found:
        what = "no homepage here links that path" if is_path(text) else "no record here is of its site"
        raise InputError(f"{shown(text)}: {what}", file=str(path))
    return _explained(text, own if own is not None and not found else found[0])


def explain_selection(selection: PageSelection, text: str, profile: str) -> Record:
    """Explain a URL, or a path alone, by what was selected among the links of a page."""
    page, chosen = selection.page, selection.selection
    record: Any = {
        "site": page.url.site,
        "homepage": page.url.text,
        "status": "ok",
        "reason": None,
        "strategy": chosen.strategy,
        "profile": profile,
        "selected": [candidate_record(one) for one in chosen.selected],
        "candidates": [candidate_record(one) for one in chosen.candidates],
        "skipped": [{"href": href, "rule": rule} for href, rule in page.skipped],
        "replaced": [],
    }
    return _explained(text, record)


def _address(text: str, record: PickRecord) -> Url:
    try:
        page = None if record["homepage"] is None else Url.parse(record["homepage"])
        return Url.parse(text, page) if is_path(text) else Url.parse(complete_address(text))
    except UrlError as error:
        raise InputError(f"{shown(text)} is not an address: {error.why}") from None


def _is_own(record: PickRecord, text: str, url: Url) -> bool:
    """Tell whether a URL is of the record's site; a path must be that of its homepage."""
    if is_path(text):
        return _is_homepage(record, url)
    for site in (record["site"], record["homepage"]):
        try:
            if site is not None and site_key(site).removeprefix("www.") == url.site.removeprefix("www."):
                return True
        except UrlError:
            continue
    return False


def _is_homepage(record: PickRecord, url: Url) -> bool:
    return record["homepage"] is not None and _is_same(record["homepage"], url)


def _candidate(record: PickRecord, url: Url) -> CandidateRecord | None:
    same = (one for one in record["candidates"] if one["url"] == url.text)
    return next(same, None) or next((one for one in record["candidates"] if _is_same(one["url"], url)), None)


def _is_same(text: str, url: Url) -> bool:
    try:
        return Url.parse(text).key(_NO_TRACKING) == url.key(_NO_TRACKING)
    except UrlError:  # an href that is no URL
        return False


def _skipped(record: PickRecord, text: str) -> str | None:
    return next((one["rule"] for one in record["skipped"] if one["href"] == text), None)


def _explained(text: str, record: PickRecord) -> Record:
    url = None if _skipped(record, text) else _address(text, record)
    candidate = None if url is None else _candidate(record, url)
    name = candidate["url"] if candidate else text if url is None else url.text
    page = next((one for one in record["selected"] if one["url"] == name), None)
    replaced = next((one for one in record["replaced"] if one["url"] == name), None)
    explained: dict[str, Any] = {
        "schema": SCHEMA,
        "text": text,
        "url": name,
        "site": record["site"],
        "homepage": record["homepage"],
        "strategy": record["strategy"],
        "profile": record["profile"],
        "rank": None if page is None else page["rank"],
        "rejected": None if candidate is None else candidate["rejected"],
        "replaced": replaced,
        "replaces": [one["url"] for one in record["replaced"] if one["by"] == name],
        "candidate": candidate,
    }
    is_home = url is not None and _is_homepage(record, url)
    explained["sentences"] = [*_lines(explained, record, page, is_home=is_home)]
    return explained


def _lines(explained: Record, record: PickRecord, page: Any, *, is_home: bool) -> Iterator[str]:
    yield explained["url"]
    where = (
        f"{record['homepage']}, the homepage of {record['site']}" if record["homepage"] else record["site"]
    )
    yield f"Picked from {where}, by strategy {record['strategy']} of profile {record['profile'] or 'unknown'}."
    if record["reason"]:
        yield f"The site is {record['status']}: {record['reason']}."
    candidate, replaced = explained["candidate"], explained["replaced"]
    if is_home:
        yield "It is the homepage itself, which is never a pick."
    elif candidate is None and record["homepage"] is None:
        yield "No homepage was read, so no link is known."
    elif candidate is None:
        rule = _skipped(record, explained["text"])
        why = f"leads to no page: {RULE_WORDS.get(rule, rule)} ({rule})" if rule else "is not linked"
        yield f"On the homepage it {why}."
    if candidate is None:
        return
    if not is_home:
        yield _place_line(candidate)
    yield from _fact_lines(candidate)
    yield from _score_lines(candidate)
    yield from _fate_lines(explained, record, page)
    if replaced:
        yield f"It was selected at first, and lost its place: {replaced['reason']}."
        yield f"{replaced['by']} took it." if replaced["by"] else "No other page took it."
    for url in explained["replaces"]:
        yield f"It took the place of {url}."


def _place_line(candidate: CandidateRecord) -> str:
    rejected = candidate["rejected"]
    is_outside = rejected is not None and rejected["rule"] in RULE_WORDS
    return f"By its address it is {'no page of the site' if is_outside else 'inside the site'}."


def _fact_lines(candidate: CandidateRecord) -> Iterator[str]:
    """Say where the homepage has the link, and what is known of its page."""
    anchor = f"as {_quoted(candidate['anchor_text'])}" if candidate["anchor_text"] else "without a text"
    yield f"The homepage links it {anchor}, in {' and '.join(candidate['positions']) or candidate['position']}."
    for kind, names in (("the submenu", candidate["menus"]), ("the heading", candidate["headings"])):
        if names:
            yield f"It is listed under {kind} {', '.join(map(_quoted, names))}."
    if candidate["title"]:
        yield f"The title of the link is {_quoted(candidate['title'])}."
    if (head := candidate["head_data"]) is not None:
        yield f"The head of its page says {_quoted(head['title'] or '')}, {_quoted(head['description'] or '')}."


def _score_lines(candidate: CandidateRecord) -> Iterator[str]:
    if candidate["score"] is None:
        return
    kind = f"a page of the kind {candidate['bucket']}" if candidate["bucket"] else "a page of no known kind"
    category = f", category {candidate['category']}" if candidate["category"] else ""
    yield f"It is {kind}{category}. Its score is {number(candidate['score'])}:"
    yield from map(_paid, candidate["points"])
    for card, paid in candidate["parts"].items():
        score: Any = candidate.get(_CARDS.get(card, ""))
        yield f"Its score {card}{'' if score is None else f' is {number(score)}'}:"
        yield from map(_paid, paid)
    if candidate["matched"]:
        yield f"Words of the query that were found: {', '.join(candidate['matched'])}."
    if candidate["unknown"]:
        yield f"Not known, though a rule needs it: {', '.join(candidate['unknown'])}."


def _quoted(text: str) -> str:
    """Write a text of a page in quotes."""
    return f"'{text}'"


def _paid(point: Any) -> str:
    return f"    {points(point['points'])} {point['reason']} ({point['rule']})"


def _fate_lines(explained: Record, record: PickRecord, page: Any) -> Iterator[str]:
    if page is not None:
        yield f"It was selected as number {page['rank']}."
        for point in (one for one in page["points"] if one not in explained["candidate"]["points"]):
            yield f"Of the page itself: {point['reason']} ({point['rule']})."
        if page.get("status"):
            title = f", its title is {_quoted(page['title'])}" if page["title"] else ""
            yield f"It was fetched with status {page['status']}{title}; it has {page['text_chars'] or 0:,} characters of text."
        return
    if (rejected := explained["rejected"]) is not None:
        yield f"It was rejected by {rejected['rule']}: {rejected['reason']}."
    if explained["candidate"]["score"] is not None and record["selected"]:
        yield "Selected were:"
        for one in record["selected"]:
            yield f"    {one['rank']}. {one['url']}, {one['bucket'] or 'other'}, score {number(one['score'])}"
