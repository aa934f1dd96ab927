"""Records read back from what Honeyguide has written, each with the types of its fields; and what changed between two files.

Owns: which record a file holds. Must not know: options. Start reading at `read`, then `compare_picks` and `compare_plans`. A table
of cells has less than a record: what is no cell is missing, and points have no rule.
"""

from __future__ import annotations

import csv
import re
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, NotRequired, get_args, get_origin, is_typeddict

from honeyguide.adapters.files.read import name_of, opened, read_lines
from honeyguide.adapters.files.results import MAX_RECORD_BYTES, NO_TABLE, NoRecordError, read_picks
from honeyguide.adapters.files.rows import json_object
from honeyguide.adapters.files.sources import kind_of, need_parquet, reading_parquet
from honeyguide.adapters.output.tables import PICK_COLUMNS, column_names
from honeyguide.adapters.output.xlsx import read_xlsx
from honeyguide.core.pick.evaluate import compare_sites
from honeyguide.core.records import SCHEMA, text_of_cell
from honeyguide.core.records import fields as table
from honeyguide.core.records.fields import OutputRecord, PickRecord, Point, fields, is_record, known
from honeyguide.core.rules.language import half_up
from honeyguide.core.text.printable import tidy
from honeyguide.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from honeyguide.core.records import Record

_KINDS = tuple(
    kind
    for kind in vars(table).values()
    if is_typeddict(kind) and kind is not OutputRecord and "schema" in fields(kind)
)
MAX_ENTRIES = 1_000_000  # of a plan
_NEEDED = {"rank", "url", "score", "points"}  # what an entry of a plan has in every format
_NO_ENTRY = "is no entry of a plan; give what `plan --format jsonl` or `-o` wrote"
_CSV_STEP = 0.000_6  # CSV has three decimals: a smaller difference is none
_PAID = re.compile(r" \(([+-][0-9.]+|-)\)(?:; |$)")


def read(path: str | Path) -> Iterator[Record]:
    """Read the records of a file: JSON lines, CSV, Parquet or xlsx, by its name; raises `InputError` for what is no record."""
    file = str(path)
    match "xlsx" if file.lower().endswith(".xlsx") else kind_of(file) or _kind_of_text(file):
        case "csv":
            try:
                yield from _read_cells(csv.reader(text for _, text in read_lines(file)), file)
            except csv.Error as error:
                raise InputError(f"is not CSV: {error}", file=name_of(file)) from None
        case "xlsx":
            with opened(file):  # a file that cannot be opened is an error of ours
                yield from _read_cells(_sheet_rows(file), file)
        case "parquet":
            yield from _read_parquet(file)
        case _:
            for line, text in read_lines(file, limit=MAX_RECORD_BYTES):
                if text.strip():
                    where = f"{name_of(file)} line {line}"
                    yield _checked(dict(json_object(text, where)), where)


def _kind_of_text(file: str) -> str:
    """Tell the kind of a file whose name does not: CSV begins with the columns of a record."""
    first = next((text for _, text in read_lines(file, limit=MAX_RECORD_BYTES)), "").rstrip("\r\n")
    return "csv" if any(tuple(first.split(",")) in _headers(kind) for kind in _KINDS) else "jsonl"


def _checked(record: Record, where: str) -> Record:
    if not any(is_record(record, kind) and set(record) <= set(fields(kind)) for kind in _KINDS):
        raise NoRecordError(where)
    return record


def _read_parquet(file: str) -> Iterator[Record]:
    need_parquet(file)
    import polars as pl  # an extra

    with opened(file), reading_parquet(file):
        frame = pl.scan_parquet(file, glob=False).collect()
    kind = next((kind for kind in _KINDS if set(frame.columns) <= set(fields(kind))), None)
    for place, row in enumerate(frame.iter_rows(named=True), 1):
        where = f"{name_of(file)} row {place}"
        yield _checked(row if kind is None else _restored(row, kind), where)


def _restored(row: Record, kind: Any) -> Record:
    """Undo what Parquet needs: mappings are lists of names and values there, and absent fields are null."""
    found = {}
    for name, hint in fields(kind).items():
        value = row.get(name)
        if value is None and get_origin(hint) is NotRequired:
            continue
        found[name] = None if value is None else _as(value, known(hint))
    return found


def _as(value: Any, hint: Any) -> Any:
    if get_origin(hint) is dict:
        return {item["name"]: _as(item["value"], known(get_args(hint)[1])) for item in value}
    if get_origin(hint) is list:
        return [_as(item, known(get_args(hint)[0])) for item in value]
    return _restored(value, hint) if is_typeddict(hint) else value


def _sheet_rows(file: str) -> Iterator[list[str]]:
    try:
        for place, row in enumerate(read_xlsx(Path(file))):
            if place == 0:
                yield list(row)
            yield list(row.values())
    except ValueError:
        raise NoRecordError(name_of(file)) from None


def _read_cells(reader: Iterator[list[str]], file: str) -> Iterator[Record]:
    header = tuple(next(reader, ()))
    kind = next((kind for kind in _KINDS if header in _headers(kind)), None)
    if kind is None and header[:1] == PICK_COLUMNS[:1] and set(PICK_COLUMNS) < set(header):
        kind = PickRecord  # with columns of the list of sites
    if kind is None:
        raise NoRecordError(name_of(file))
    hints = [_hint_of(name, kind) for name in header]
    for place, cells in enumerate(reader, 1):
        try:
            record = {
                name: _of_cell(cell, hint) for name, hint, cell in zip(header, hints, cells, strict=True)
            }
        except ValueError as error:
            raise InputError(
                f"has a cell that is none: {shown(str(error))}", file=name_of(file), row=place
            ) from None
        yield record


def _headers(kind: Any) -> tuple[tuple[str, ...], ...]:
    names = column_names(kind)
    return names, tuple(name.replace(".", "_") for name in names)


def _hint_of(name: str, kind: Any) -> Any:
    """Find the type of a column: of a field, or of a field of a record inside of it, such as `selected_rank`."""
    if name in fields(kind):
        return fields(kind)[name]
    for outer, hint in fields(kind).items():
        inner, rest = known(hint), name[len(outer) + 1 :]
        if name[: len(outer) + 1] not in (f"{outer}_", f"{outer}."):
            continue
        if get_origin(inner) is dict:
            return get_args(inner)[1]
        inner = get_args(inner)[0] if get_origin(inner) is list else inner
        if is_typeddict(inner) and rest in fields(inner):
            return fields(inner)[rest]
    return None


def _of_cell(cell: str, hint: Any) -> Any:
    """Read a cell as the type of its field; of a column that is nobody's field, a text."""
    part = None if hint is None else known(hint)
    if cell == "":
        return [] if get_origin(part) is list else None
    if part is int:
        return int(cell)
    if part is float:
        if not isfinite(number := float(cell)):
            raise ValueError(cell)
        return number
    if part is bool:
        return cell == "true"
    text = text_of_cell(cell)
    if get_origin(part) is not list:
        return text
    if get_args(part)[0] is Point:
        return _points(text)
    return text.split("; ")


def _points(text: str) -> list[Record]:
    found: list[Record] = []
    at = 0
    for paid in _PAID.finditer(text):
        found.append(
            {"reason": text[at : paid.start()], "points": None if paid[1] == "-" else float(paid[1])}
        )
        at = paid.end()
    if at < len(text):
        raise ValueError(text)
    return found


# --- what changed ---


def is_pick_file(file: str) -> bool | None:
    """Tell whether the first record of a file is that of a pick: it has a site; None if the file has no record."""
    if kind_of(file) == "parquet":
        return False
    is_sheet = file.lower().endswith(".xlsx")
    first = (
        "site,"
        if is_sheet
        else next((text for _, text in read_lines(file, limit=MAX_RECORD_BYTES) if text.strip()), "")
    )
    if first.startswith("site,"):
        raise InputError(NO_TABLE, file=file)
    return None if not first else first.startswith("{") and "site" in json_object(first, file)


def compare_picks(earlier: str, later: str) -> tuple[list[Record], list[str]]:
    """List the pages that entered, left or moved from one file of picks to another, and the sites that only one has."""
    before, now = (read_picks(file, keep_others=True, by_path=True) for file in (earlier, later))
    changes: list[Record] = [
        {"schema": SCHEMA, "site": site, "url": one.url, "change": one.kind, "reason": one.why}
        for site, picked in now.items()
        if site in before
        for one in compare_sites(picked, before[site])
    ]
    alone = [site for site in {**now, **before} if site not in now or site not in before]
    if not now.keys() & before.keys():
        raise InputError(f"has no site of {name_of(earlier)}, so that nothing can be compared", file=later)
    return changes, alone


def compare_plans(earlier: str, later: str) -> list[Record]:
    """List the URLs that entered, left and changed from one plan in a file to another."""
    plans = [{record["url"]: record for record in read_plan(file)} for file in (earlier, later)]
    entries = [entry for plan in plans for record in plan.values() for entry in record["points"]]
    if any(entry.get("rule") is None for entry in entries):  # CSV names no rules: sentences are compared
        for entry in entries:
            entry["rule"] = None
        plans[0] = {url: {**record, "is_rounded": True} for url, record in plans[0].items()}
    before, after = plans
    kept = (_change("changed", before[url], record) for url, record in after.items() if url in before)
    return [
        *(_entered(record) for url, record in after.items() if url not in before),
        *(
            _change("left", before[url], None, "is not in the later plan")
            for url in before
            if url not in after
        ),
        *(change for change in kept if change["points"]),
    ]


def read_plan(file: str) -> Iterator[Record]:
    """Read an earlier plan; raises `InputError` if the file is not one."""
    try:
        for place, record in enumerate(read(file), 1):
            if place > MAX_ENTRIES:
                raise InputError(f"has more than {MAX_ENTRIES:,} entries", file=file)
            if not record.keys() >= _NEEDED or None in map(record.get, _NEEDED):
                raise InputError(_NO_ENTRY, file=file, row=place)
            yield {**record, "score": tidy(record["score"])}
    except NoRecordError as error:
        raise InputError(_NO_ENTRY, file=error.file) from None


def _entered(after: Record) -> Record:
    paid = [entry for entry in after["points"] if entry["points"]]
    more = "; these points bring it in now" if paid else ""
    return _change("entered", None, after, f"was not in the earlier plan{more}", paid)


def _change(
    kind: str, before: Record | None, after: Record | None, sentence: str = "", paid: Sequence[Record] = ()
) -> Record:
    """Write a change; `points` lists the rules whose points differ, `reasons` begins with the sentence."""
    known = after or before or {}
    points = _differences(before, after) if before and after else list(paid)
    return {
        "schema": SCHEMA,
        "url": known["url"],
        "change": kind,
        "rank": after["rank"] if after else None,
        "rank_before": before["rank"] if before else None,
        "score": after["score"] if after else None,
        "score_before": before["score"] if before else None,
        "reasons": [*([sentence] if sentence else []), *(entry["reason"] for entry in points)],
        "points": points,
    }


def _differences(before: Record, after: Record) -> list[Record]:
    old, new = _by_rule(before), _by_rule(after)
    least = _CSV_STEP if before.get("is_rounded") else 0.0
    return [
        {"rule": entry["rule"], "points": tidy(half_up(paid, 6)), "reason": entry["reason"]}
        for key, entry in {**old, **new}.items()
        if abs(paid := _paid(new, key) - _paid(old, key)) > least
    ]


def _by_rule(record: Record) -> dict[str, Record]:
    """Map the payments by their rules, or by their sentences where rules are not known."""
    return {entry["rule"] or f"'{entry['reason']}'": entry for entry in record["points"]}


def _paid(entries: Mapping[str, Record], key: str) -> float:
    return float(entries[key]["points"]) if key in entries else 0.0
