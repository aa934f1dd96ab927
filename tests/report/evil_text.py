"""What pages say to become more than text in a report, and what may be in a report all the same."""

from __future__ import annotations

from html.parser import HTMLParser

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</title></style></details><iframe src=javascript:alert(1)>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    'https://acme.example/"onclick="alert(1)',
    "https://acme.example/<b>",
    "HTTPS://acme.example/x",
    "\u202egnp.exe \u2066x\u2069 a\u200bb",
    "&lt;b&gt; &#60;i&#62;",
    "]]> --> <!-- {{x}} ${y}",
    "| a | b |\n| --- | --- |\n\n# head\n\n```\ncode",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png) <https://evil.example> www.evil.example",
    "\x00\x1b[31m\x7f\x85\ud800",
    "=HYPERLINK(1)",
]

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "h3", "p", "div", "b", "i", "small", "span", "a",
    "details", "summary", "ol", "ul", "li", "q",
}  # fmt: skip
ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "id",
    "open",
    "href",
    "rel",
    "dir",
}
# The script of a report, and the form that it shows.
TOOLS = {"noscript", "nav", "script", "label", "form", "input", "select", "option"}
TOOL_ATTRIBUTES = {"aria-label", "type", "hidden", "value", "role", "data-status", "data-picks"}


class Tags(HTMLParser):
    """Every tag with its attributes, and all text, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
