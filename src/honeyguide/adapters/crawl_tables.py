"""Records of crawls as Parquet: pages, links, and what was put out.

Owns: the types of their columns. Must not know: which columns a command writes, or where records come from.
Start reading at `crawl_schema`. polars is an extra: whoever needs this module has asked whether it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from honeyguide.adapters.parquet import reason_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

_WHOLE = ("schema", "status", "depth", "seen")
_REAL = ("relevance_score", "priority", "elapsed_s")


def crawl_schema(columns: Sequence[str]) -> dict[str, pl.DataType]:
    """Give the types of columns by their names, which mean the same wherever they are; all others are text."""
    import polars as pl

    whole, real, text = pl.Int64(), pl.Float64(), pl.String()
    link = pl.Struct({
        "url": text, "anchor_text": text, "context": text, "relevance_score": real, "position": text,
        "reasons": reason_type(),
    })  # fmt: skip
    types = {
        **dict.fromkeys(_WHOLE, whole), **dict.fromkeys(_REAL, real), "reasons": reason_type(), "links": pl.List(link),
    }  # fmt: skip
    return {name: types.get(name, text) for name in columns}
