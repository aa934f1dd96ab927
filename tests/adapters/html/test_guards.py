from __future__ import annotations

import pytest

from honeyguide.adapters.html.guards import (
    LARGE_BYTES,
    MANY_TAGS,
    MAX_ATTRIBUTES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_TAGS,
    bound_markup,
    is_page,
)

PADDING = b"<p>words and words</p>\n" * (LARGE_BYTES // 20)
ATTRIBUTES = b" ".join(b"x%d" % n for n in range(MAX_ATTRIBUTES + 1))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"words",
        b"<p>words",
        b"<!doctype html>\0<p>\0",
        b"<A href=x>\x01\x02",
        b"\xef\xbf\xbd<span>\0",
        b'<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" ""><html xmlns="x">',
        b"<?xml version='1.0'?><HTML>",
    ],
)
def test_pages(data: bytes) -> None:
    assert is_page(data)


@pytest.mark.parametrize(
    "data",
    [
        b"\0",
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"GIF89a\x01\0",
        b"PK\x03\x04\x14\0",
        b"%PDF-1.7\n\x01",
        b"  <?xml version='1.0'?><rss><channel><title>x</title><link>y</link>",
        b"<rss version='2.0'><channel><title>x</title>",
        b"<urlset xmlns='x'><url>",
        b"<?xml version='1.0'?><svg><a href='x'/></svg>",
    ],
)
def test_not_pages(data: bytes) -> None:
    assert not is_page(data)


def test_ordinary_markup_is_not_touched() -> None:
    small = b"<b>bold</b> <font size=1>" * 10
    middle = b"<p><b>bold</b> <i class=x>and</i>" * 200
    assert bound_markup(small) == (small, 0)
    assert bound_markup(middle) == (middle, 0)


def test_styling_of_large_documents_becomes_plain() -> None:
    large = PADDING + b"<B class=x>a</B><strong>b</strong><base><body><a>c</a><sup><section><tt/><u\n><em>"
    # The parser ignores an end tag of what is not open.
    plain = b"<embed class=x>a</B><embed>b</strong><base><body><a>c</a><sup><section><embed/><embed\n><embed>"
    assert bound_markup(large) == (PADDING + plain, 0)


def test_unclosed_styling_becomes_plain_where_it_would_multiply() -> None:
    bomb = b"<p>" + b"".join(b"<font size=%d>" % n for n in range(2000)) + b"</p>" + b"<p>x" * 2000
    markup, left_out = bound_markup(bomb)
    assert (b"<font" in markup, markup.count(b"<embed size"), left_out) == (False, 2000, 0)


BOUNDED = [
    ("nesting", b"<div>" * (MAX_DEPTH + 10)),
    ("nesting behind comments", b"<div><!-- </div> -->" * (MAX_DEPTH + 10)),
    ("nesting behind values", b'<div x="</div>">' * (MAX_DEPTH + 10)),
    ("nesting behind scripts", b"<div><script></div></script>" * (MAX_DEPTH + 10)),
    ("nesting of other names", b"<x-y>" * (MAX_DEPTH + 10)),
    ("nesting in capitals", b"<DIV>" * (MAX_DEPTH + 10)),
    ("nesting under what others close", b"<div></span><i></i></DIVE>" * (MAX_DEPTH + 10)),
    ("nesting behind titles", b"<div><title lang=en></div></title >" * (MAX_DEPTH + 10)),
    ("nesting behind short comments", b"<div><!--><div></div>--><!---></div><div>" * (MAX_DEPTH + 10)),
]


@pytest.mark.parametrize(("shape", "markup"), BOUNDED)
def test_nesting_is_cut_off(shape: str, markup: bytes) -> None:
    many = b"<hr>" * 25_001  # so many tags that it is looked at closely
    kept, left_out = bound_markup(PADDING + many + markup)
    assert (kept.count(b"<"), len(kept) + left_out) == (MANY_TAGS, len(PADDING + many + markup)), shape


FLAT = [
    ("closed", b"<div><p>x</p></div>" * 30_000),
    ("closed in capitals", b"<div></DIV>" * 30_000),
    ("closed behind comments", b"<div><!-- <div> - -- ></div> --></div>" * 15_000),
    ("closed by the next of its kind", b"<li>x" * 30_000),
    ("without content", b"<br><img src=x>" * 15_000),
    ("in a script", b"<script>" + b"'<div>'" * 30_000 + b"</script>"),
    ("in a comment", b"<!--" + b"<div>" * 30_000 + b"-->" + b"<p>" * 30_000),
    ("less than", b"<" * 200_000),
]


@pytest.mark.parametrize(("shape", "markup"), FLAT)
def test_what_does_not_nest_is_kept(shape: str, markup: bytes) -> None:
    assert bound_markup(markup) == (markup, 0), shape


BOMBS = [
    ("bare", b"<a " + ATTRIBUTES + b">"),
    ("quoted", b'<a y="<b>" ' + ATTRIBUTES + b">"),
    ("slashes", b"<a/" + ATTRIBUTES.replace(b" ", b"/") + b">"),
]


@pytest.mark.parametrize(("shape", "bomb"), BOMBS)
def test_tags_with_very_many_attributes_are_cut_off(shape: str, bomb: bytes) -> None:
    kept, left_out = bound_markup(PADDING + bomb + b"<p>more")
    assert (kept, left_out) == (PADDING, len(bomb) + 7), shape


HIDING = [
    (b"", b""),
    (b'<!-- <a x=" -->', b'"'),
    (b"<script>a<b x=' </script>", b"'"),
    (b"<title><a x= '</title>", b"'"),
    (b"<a y='<a x=\"'>", b'"'),
    (b'<p class="x"><svg><style>', b"</style>"),
    (b'<p class="x"><? <a x=" ?>', b'"'),
]


@pytest.mark.parametrize(("before", "after"), HIDING)
@pytest.mark.parametrize("attribute", [b" x%d", b"/x%d=''", b'x%d=">"', b"x%d='\">'", b" x%d= '\n\">' "])
def test_no_value_hides_very_many_attributes(before: bytes, after: bytes, attribute: bytes) -> None:
    bomb = b"<a " + b"".join(attribute % n for n in range(MAX_ATTRIBUTES + 1)) + b">"
    for padding in (PADDING, PADDING.replace(b"<p>", b'<p id="x">')):
        kept, left_out = bound_markup(padding + before + bomb + after)
        assert left_out >= len(bomb)
        assert len(kept) >= len(padding)


def test_a_script_that_could_be_a_tag_of_very_many_attributes_ends_a_large_page() -> None:
    script = b"<script>if (a <b " + ATTRIBUTES + b")</script>"
    kept, left_out = bound_markup(PADDING + script + b"<p>more")
    assert (kept[-14:], len(kept) + left_out) == (b"<script>if (a ", len(PADDING + script) + 7)


def test_elements_that_their_parents_close_may_nest_so_a_page_of_many_is_cut() -> None:
    kept, left_out = bound_markup(b"<div><span></div>" * 15_000)
    assert (kept.count(b"<"), left_out > 0) == (MANY_TAGS, True)


def test_size_and_tags_are_bounded() -> None:
    assert bound_markup(b"x" * (MAX_BYTES + 5)) == (b"x" * MAX_BYTES, 5)
    kept, left_out = bound_markup(b"<p>" * (MAX_TAGS + 5))
    assert (len(kept), left_out) == (3 * MAX_TAGS, 15)


@pytest.mark.parametrize("end", [b"<!--", b"<script>", b"<a b='", b"<a b=", b"</", b"<"])
def test_unfinished_markup_is_kept(end: bytes) -> None:
    data = b"<hr>" * 30_000 + PADDING + end
    assert bound_markup(data) == (data, 0)
