"""Main content: Markdown and text of what a page is about, bounded, whatever the markup."""

from __future__ import annotations

from itertools import pairwise

import pytest
from markdown_it import MarkdownIt

from honeyguide.adapters.html.content import MAX_HEADING_CHARS, MAX_HEADINGS, main_content
from honeyguide.adapters.html.rendering.writer import MAX_CHARS
from honeyguide.core.url.url import Url
from honeyguide.ports.fetch import Content

URL = Url.parse("https://acme.example/services/sprinklers")
PAGE = """<!doctype html><title>Sprinklers</title>
<nav><a href="/">Home</a> <a href="/blog">Our blog</a></nav>
<main><h1>Sprinkler inspection</h1>
<p>We inspect sprinkler systems every year, in hotels &amp; offices, and write a <b>report</b> that insurers accept.</p>
<h2>What it costs</h2><ul><li>A flat price for each floor of the building</li><li>Nothing for the report</li></ul>
<table><tr><th>Size</th><th>Price</th></tr><tr><td>small | tiny</td><td>100</td></tr></table></main>
<footer><p>All rights reserved by somebody.</p></footer>"""
PROSE = "<p>Pumps move water from where it is to where it is needed, and most of them last for years.</p>"


def render(body: str) -> str:
    """Return the Markdown of a main element."""
    return main_content(f"<main>{body}</main>".encode(), URL).markdown


def test_a_page_as_markdown_text_and_headings() -> None:
    found = main_content(PAGE.encode(), URL)
    assert found.headings == ("Sprinkler inspection", "What it costs")
    assert found.markdown == (
        "# Sprinkler inspection\n\n"
        "We inspect sprinkler systems every year, in hotels & offices, and write a **report** that insurers accept.\n\n"
        "## What it costs\n\n"
        "- A flat price for each floor of the building\n- Nothing for the report\n\n"
        "| Size | Price |\n| --- | --- |\n| small \\| tiny | 100 |"
    )
    assert "in hotels & offices, and write a report that insurers accept." in found.text
    assert "small | tiny 100" in found.text


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        ("<p>Run <code>ls -l</code> now, <em>please</em>.</p>", "Run `ls -l` now, *please*."),
        ("<p><code>a`b</code> and <kbd>Ctrl</kbd></p>", "``a`b`` and `Ctrl`"),
        ("<p>See <a href=/a>the<b> bold </b>page</a>.</p>", "See [the **bold** page](https://acme.example/a)."),
        ("<p><code><a href=x.html>run()</a></code></p>", "[`run()`](https://acme.example/services/x.html)"),
        ("<p>Wow!<a href=/a>it</a></p>", r"Wow\![it](https://acme.example/a)"),
        ("<p><a href=/a>[1]</a> [2] a](b</p>", r"[\[1\]](https://acme.example/a) [2] a\](b"),
        ("<p><a href='/a (b)'>c</a></p>", "[c](https://acme.example/a%20(b))"),
        ("<p><a href='/a)'>c</a></p>", "[c](https://acme.example/a%29)"),
        ("<p><a href=#top>top</a> <a href='javascript:x()'>js</a></p>", "top js"),
        ("<p><a href=mailto:a@b.example>mail</a></p>", "[mail](mailto:a@b.example)"),
        ("<p><a href=b.html#part>part</a></p>", "[part](https://acme.example/services/b.html#part)"),
        ("<p>1. May 2026<br># one<br>- two<br>---</p>", "1\\. May 2026  \n\\# one  \n\\- two  \n\\---"),
        ("<p>a * b, *c* and snake_case, _d_ &lt;b> &amp;amp; \\*</p>", r"a * b, \*c\* and snake_case, \_d\_ \<b> \&amp; \\\*"),
        ("<p>x<b>!</b>y <b>a</b><b>b</b> <b></b>c</p>", "x!y **ab** c"),
        ("<p><b>a <i>b</b> c</i></p>", "**a b** c"),
        ("<h2>C #</h2><h3><a href=/a>Card</a><a href=#c>¶</a></h3>", "## C \\#\n\n### [Card](https://acme.example/a)"),
        ("<a href=/a><h3>Card</h3><p>All about it</p></a>", "### [Card](https://acme.example/a)\n\nAll about it"),
        ("<a href=/a><img src=i.png alt='A pump'>P1</a>", "[A pump P1](https://acme.example/a)"),
        ("<p><a href=/a>a</a><a href=/b>b</a></p>", "[a](https://acme.example/a) [b](https://acme.example/b)"),
        ("<p><img src=/i.png alt='A [pump]'><img src=/j.png></p>", r"![A \[pump\]](https://acme.example/i.png)"),
        ("<ol start=3><li>a<ul><li>b</ul><li><p>c</p><p>d</p></ol>", "3. a\n   - b\n4. c\n\n   d"),
        ("<blockquote><p>a</p><ul><li>b</ul></blockquote><p>c", "> a\n>\n> - b\n\nc"),
        ("<dl><dt>Pump<dd>Moves water<dt class='sig x'>f(<em>a</em>)<dd>Calls</dl>",
         "- Pump\n\n  Moves water\n\n- `f(a)`\n\n  Calls"),
        ("<pre class=language-py>a\n  b &lt; 1\n</pre>", "```py\na\n  b < 1\n```"),
        ("<div class='highlight-c notranslate'><div><pre><span class=k>int</span> x;</pre></div></div>", "```c\nint x;\n```"),
        ("<pre>```\nx</pre>", "````\n```\nx\n````"),
        ("<ul><li>a<pre>b\n\nc</pre></ul>", "- a\n\n  ```\n  b\n\n  c\n  ```"),
        ("<table><caption>Sizes<tr><th colspan=2>A<th>B<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td><code>|</code></table>",
         "Sizes\n\n| A |  | B |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 1 | 4 | `\\|` |"),
        ("<table><tr><td><ul><li>a</ul><td><p>b</table>", "- a\n\nb"),
        ("<table><tr><td>only</table>", "only"),
        ("a<hr>b", "a\n\n---\n\nb"),
    ],
)  # fmt: skip
def test_markdown_of(body: str, markdown: str) -> None:
    assert render(body) == markdown


@pytest.mark.parametrize(
    "body",
    [
        "<h2>Title *with* `marks` # 1</h2><p>Text_ _with_ **marks** [a](b) ![c](d) <b>bold</b>text &lt;div&gt;</p>",
        "<p>* a<br>+ b<br>1) c<br>=== <br>| - |<br>[a]: b<br>~~~ d<br>> e</p>",
        "<p><a href='/x_(y)'>one [two] `three`</a> <code>`</code> <code>``a``</code></p>",
        "<ul><li><h3>In a list</h3><pre>code *in*\n  it</pre><li><blockquote>q<pre>`````</pre></blockquote></ul>",
        "<dl><dt>t<dd><ol><li>1<li>2</ol><dd><pre>x\n\n\ny</pre></dl>",
    ],
)
def test_a_commonmark_parser_reads_headings_links_and_code_back(body: str) -> None:
    parsed = MarkdownIt("commonmark").parse(render(body))
    inline = [child for token in parsed for child in token.children or ()]
    heads = [
        "".join(child.content for child in after.children or ())
        for before, after in pairwise(parsed)
        if before.type == "heading_open"
    ]
    code = [child.content for child in inline if child.type == "code_inline"]
    code += [token.content.rstrip("\n") for token in parsed if token.type == "fence"]
    links = [child.attrs["href"] for child in inline if child.type == "link_open"]
    tree = f"<main>{body}</main>"
    assert heads == [text for tag in ("h2", "h3") for text in _texts(tree, tag)]
    assert code == [*_texts(tree, "code"), *_texts(tree, "pre")]
    assert links == [f"https://acme.example{href}" for href in _hrefs(tree)]
    assert not [child for child in inline if child.type in ("image", "html_inline")]
    assert not [token for token in parsed if token.type in ("html_block", "hr")]


def _texts(tree: str, tag: str) -> list[str]:
    from selectolax.lexbor import LexborHTMLParser

    return [node.text() for node in LexborHTMLParser(tree).css(tag)]


def _hrefs(tree: str) -> list[str | None]:
    from selectolax.lexbor import LexborHTMLParser

    return [node.attributes["href"] for node in LexborHTMLParser(tree).css("a")]


@pytest.mark.parametrize(
    ("body", "kept", "left_out"),
    [
        (f"<header><h1>Acme</h1></header><main>{PROSE}</main><aside>Ads</aside>", "# Acme", "Ads"),
        (f"<div class=sidebar><a href=/a>One</a> <a href=/b>Two</a></div>{PROSE}", "Pumps", "Two"),
        (f"<div class=sidebar>{PROSE}<a href=/a>One</a></div>", "One", "nothing"),
        (f"<main>{PROSE}<aside class=note>Take care with pumps</aside></main>", "Take care", "nothing"),
        (f"<p><a href=/a>A</a> <a href=/b>B</a> <a href=/c>C</a></p>{PROSE}", "Pumps", "[B]"),
        ("<ul><li><a href=/a>Alpha</a><li><a href=/b>Beta</a><li><a href=/c>Gamma</a></ul>", "Beta", "nothing"),
        (f"{PROSE}<p>{'<a href=/a>Chapter</a> ' * 40}</p>", "Chapter", "nothing"),
        (f"<div id=content>{PROSE}</div><div>Imprint</div>", "Pumps", "Imprint"),
        (f"{PROSE}<div hidden>secret</div><div style='display:none'>secret</div><button>Go</button>", "Pumps", "secret"),
        (f"<div class=menu>{PROSE * 20}</div>", "Pumps", "nothing"),
        (f"<title>Pumping | Acme</title><h1>Pumping</h1><div id=content><h1>More</h1>{PROSE}</div>", "# Pumping\n\n# More", "nothing"),
        (f"<title>Acme | All about pumping</title><h1>Acme</h1><div id=content><h1>More</h1>{PROSE}</div>", "# More", "# Acme"),
        (f"<title>More</title><h1>Acme</h1><div id=content><h1>More</h1>{PROSE}</div>", "# More", "# More\n\n# More"),
        ("<p>Small</p><div class=menu>A <a href=/b>B</a> of all we do</div>", "Small", "all we do"),
    ],
)  # fmt: skip
def test_the_main_part(body: str, kept: str, left_out: str) -> None:
    markdown = main_content(body.encode(), URL).markdown
    assert kept in markdown
    assert left_out not in markdown


def test_the_same_content_gives_the_same_markdown_whatever_its_size() -> None:
    body = (
        "<p>Use <code>a</code>, <b>b</b> and <i>c</i>.</p><pre><span class='k'>if</span> <code>x</code></pre>"
    )
    padding = f"<script>{'x' * 200_000}</script>"
    assert render(body + padding) == render(body)
    assert "`a`, **b** and *c*" in render(body)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "cp1252"])
def test_bytes_in_any_encoding(codec: str) -> None:
    page = PAGE.replace("hotels", "Löschanlagen für Hôtels")
    meta = f'<meta charset="{codec}">' if codec == "cp1252" else ""
    assert "Löschanlagen für Hôtels" in main_content((meta + page).encode(codec), URL).text


def test_an_encoding_that_only_the_header_names() -> None:
    page = PAGE.replace("hotels", "Пожарная сигнализация").encode("cp1251")
    assert "Пожарная сигнализация" in main_content(page, URL, "text/html; charset=windows-1251").text


def test_a_base_is_honoured() -> None:
    page = b"<base href=https://other.example/x/><main><a href=y>Y</a></main>"
    assert main_content(page, URL).markdown == "[Y](https://other.example/x/y)"


def test_a_page_with_little_text_has_content() -> None:
    assert main_content(b"<h1>Hi</h1>", URL) == Content("Hi", "# Hi", ("Hi",), is_cut=False)


def test_content_that_a_limit_cut_says_so() -> None:
    long = b"<main><p>" + b"word " * 300_000 + b"</p></main>"
    assert main_content(long, URL).is_cut
    assert main_content(b"<main><p>" + b"x" * (2 * 2**20) + b"</p>", URL).is_cut
    assert not main_content(b"<main><p>" + b"word " * 10_000 + b"</p></main>", URL).is_cut


@pytest.mark.parametrize(
    "data", [b"", b" \n", b"%PDF-1.7\x00\x01\x02", b"\x89PNG\r\n\x1a\n\x00\x00", b"\x1f\x8b\x08\x00"]
)
def test_what_is_no_page_has_no_content(data: bytes) -> None:
    assert main_content(data, URL).headings == ()


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 20_000 + "deep",
        "<ul><li>a" * 3_000,
        "<table>" * 5_000 + "<tr><td>cell",
        "<p " + "a=b " * 50_000 + ">x",
        "<p>word " * 20_000,
        "<p>" + "word " * 200_000,
        "<h2>"
        + "x" * 5_000
        + "</h2>"
        + "".join(f"<h2>Heading {n}</h2><p>Text of number {n}.</p>" for n in range(500)),
        "<p>\ud800 \x00 \x0b lone</p>" * 50,
        "<!--" * 1_000 + "<script>" * 1_000,
        "<p>" + "-" * 300_000 + "x",
        "<ul><li>" * 20 + "<pre>" + "\n x" * 200_000,
        "<table><tr>" + f"<td rowspan=999>{'y' * 2_900}" * 100 + "<tr><td>z" * 900,
        "<table>" + ("<tr>" + "<td>x" * 500) * 100,
        "<b>x<i>y</b>z</i>" * 20_000,
        "<a href=/x>" * 20_000 + "x",
        "[" * 100_000 + "](" * 50_000,
    ],
    ids=["deep", "lists", "tables", "attributes", "paragraphs", "one", "headings", "surrogates", "comments", "dashes",
         "indented", "rowspans", "cells", "styling", "links", "brackets"],
)  # fmt: skip
@pytest.mark.slow
def test_hostile_markup_stays_within_bounds(markup: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = markup.encode("utf-8", "surrogatepass")
    found = main_content(data, URL)
    assert max(len(found.markdown), len(found.text)) <= MAX_CHARS * 1.1
    assert len(found.headings) <= MAX_HEADINGS
    assert max(map(len, found.headings), default=0) <= MAX_HEADING_CHARS
    assert found == main_content(data, URL)
    assert capsys.readouterr() == ("", "")
