"""A made-up forum and a made-up blog: lists with page numbers, on which a focused crawl lives or dies.

Owns: `forum`, `blog`: paths to HTML, the same everywhere. Must not know: who crawls them.
Habits of real ones: a third of the titles do not name what the page is about, lists name nothing but titles, half of the
URLs are numbers, each page links a few others that are about the same.
"""

from __future__ import annotations

from random import Random

_TOPICS = (
    "solar", "kubernetes", "sourdough", "bicycle", "violin", "compost", "latex", "drone", "aquarium", "chess", "camera",
    "espresso", "tax", "gravel", "knitting", "router", "tomato", "sailing", "printer", "guitar", "welding", "pension",
)  # fmt: skip
_AFTER = (
    "setup",
    "beginner question",
    "advice",
    "problem",
    "repair",
    "comparison",
    "costs",
    "for small rooms",
    "again",
)
_VAGUE = (
    "What am I doing wrong here?", "A strange noise", "Thoughts after one year", "Is this normal?", "Which one would you buy?",
    "Help needed", "An unexpected result", "Small update", "Lessons learned",
)  # fmt: skip
_WORDS = [
    "people",
    "often",
    "ask",
    "whether",
    "the",
    "second",
    "attempt",
    "was",
    "better",
    "than",
    "the",
    "first",
    "and",
    "we",
    "answer",
    "that",
    "patience",
    "matters",
    "more",
    "than",
    "tools",
    "because",
    "every",
    "house",
    "is",
    "different",
    "while",
    "weather",
    "changes",
    "plans",
    "and",
    "neighbours",
    "have",
    "opinions",
    "about",
    "noise",
]


def board() -> dict[str, str]:
    """Make a forum without tags, in which nothing but page numbers leads on."""
    pages = forum(has_tags=False)
    return {path: html.partition("<h3>Related")[0] for path, html in pages.items()}


def forum(questions: int = 2400, *, has_tags: bool = True) -> dict[str, str]:
    """Make a forum: lists of questions by page number, lists by tag, users, questions with related ones beside them."""
    random = Random(11)  # noqa: S311 - a site, not a secret
    rows = [_thread(number, random, "/questions/{0}/{1}") for number in range(1, questions + 1)]
    tags = {tag: [row for row in rows if row[2] == tag] for tag in _TOPICS}
    pages = {path: _thread_page(row, tags[row[2]], random) for row in rows for path in [row[0]]}
    menu = '<nav><a href="/questions">Questions</a> <a href="/tags">Tags</a> <a href="/users">Users</a> <a href="/help">Help</a></nav>'
    pages |= _lists("/questions?page={0}", "All questions", rows[::-1], 20)
    pages["/questions"] = pages["/"] = pages["/questions?page=1"]
    for tag, tagged in tags.items() if has_tags else ():
        pages |= _lists(f"/questions/tagged/{tag}?page={{0}}", "Tagged questions", tagged[::-1], 20)
        pages[f"/questions/tagged/{tag}"] = pages[f"/questions/tagged/{tag}?page=1"]
    listed = [f'<li><a href="/questions/tagged/{tag}">{tag}</a></li>' for tag in _TOPICS if has_tags]
    pages["/tags"] = _html("Tags", f"<ul>{''.join(listed)}</ul>")
    users = [f'<li><a href="/users/{number}">user{number}</a></li>' for number in range(1, 200)]
    pages["/users"] = _html("Users", f"<ul>{''.join(users)}</ul>")
    pages |= {f"/users/{number}": _html(f"user{number}", _text(random, 60)) for number in range(1, 200)}
    pages["/help"] = _html("Help", _text(random, 300))
    return {path: html.replace("<body>", f"<body>{menu}") for path, html in pages.items()}


def blog(posts: int = 500) -> dict[str, str]:
    """Make a blog: pages of posts by number, months, categories that name other things than the topics."""
    random = Random(12)  # noqa: S311 - a site, not a secret
    rows = [
        _thread(number, random, f"/{2012 + number // 40}/{1 + number % 12:02}/{{1}}-{{0}}")
        for number in range(1, posts + 1)
    ]
    pages = {
        row[0]: _thread_page(row, rows[max(0, index - 1) : index + 2], random)
        for index, row in enumerate(rows)
    }
    pages |= _lists("/page/{0}/", "The workshop", rows[::-1], 10)
    pages["/"] = pages["/page/1/"]
    for number, category in enumerate(("home", "garden", "craft", "code", "notes")):
        pages |= _lists(f"/category/{category}/page/{{0}}/", category, rows[number::5][::-1], 10)
        pages[f"/category/{category}/"] = pages[f"/category/{category}/page/1/"]
    months = sorted({row[0][:9] for row in rows})
    for month in months:
        listed = [_item(row) for row in rows if row[0].startswith(month)]
        pages[month] = _html(f"Archive {month}", f"<ul>{''.join(listed)}</ul>")
    side = "".join(f'<li><a href="{month}">{month[1:8]}</a></li>' for month in months[::-1])
    side += "".join(
        f'<li><a href="/category/{name}/">{name}</a></li>'
        for name in ("home", "garden", "craft", "code", "notes")
    )
    return {
        path: html.replace("</body>", f"<aside><ul>{side}</ul></aside></body>")
        for path, html in pages.items()
    }


_Row = tuple[str, str, str]  # path, title, topic


def _thread(number: int, random: Random, shape: str) -> _Row:
    topic = _TOPICS[min(int(random.expovariate(0.12)), len(_TOPICS) - 1)]
    title = random.choice(_VAGUE) if random.random() < 0.33 else f"{topic.title()} {random.choice(_AFTER)}"
    slug = "-".join(title.lower().replace("?", "").split()) if random.random() < 0.5 else "post"
    return shape.format(number, slug), title, topic


def _thread_page(row: _Row, like: list[_Row], random: Random) -> str:
    path, title, topic = row
    others = random.sample(like, min(5, len(like)))
    related = "".join(map(_item, others))
    body = " ".join(
        f"<p>{_text(random, 30)} the {topic} {_text(random, 12)}.</p>" for _ in range(random.randint(3, 14))
    )
    return _html(
        title,
        f"{body}<h3>Related</h3><ul>{related}</ul><p>by <a href='/users/{1 + len(path) % 190}'>someone</a></p>",
    )


def _lists(shape: str, title: str, rows: list[_Row], size: int) -> dict[str, str]:
    """Make the pages of a list, each with the neighbours of its number."""
    last = max(1, -(-len(rows) // size))
    found = {}
    for number in range(1, last + 1):
        near = [n for n in (1, *range(number - 2, number + 3), last) if 1 <= n <= last and n != number]
        pager = " ".join(f'<a href="{shape.format(n)}">{n}</a>' for n in dict.fromkeys(near))
        if number < last:
            pager += f' <a rel="next" href="{shape.format(number + 1)}">next</a>'
        listed = "".join(map(_item, rows[(number - 1) * size : number * size]))
        found[shape.format(number)] = _html(title, f"<ul>{listed}</ul><div>{pager}</div>")
    return found


def _item(row: _Row) -> str:
    return f'<li><a href="{row[0]}">{row[1]}</a></li>'


def _text(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words))


def _html(title: str, body: str) -> str:
    return f"<!doctype html><html><head><title>{title}</title></head><body><main><h1>{title}</h1>{body}</main></body></html>"
