"""Made-up company sites with the habits of real ones, for measurements that anybody can repeat.

Owns: `make_site`. Must not know: what is measured.
Habits, in the shares seen on real company sites: menus in header and footer on every page, 30 to 300 links a page,
five of six hrefs relative, some with fragments, a few with queries or percent escapes, links on images, external
profiles, mailto and tel, inline scripts and styles between the words.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_THINGS = (
    "fire alarm", "sprinkler", "extinguisher", "emergency lighting", "access control", "roof", "boiler", "backflow",
    "air conditioning", "granite worktop", "water heater", "kitchen hood", "smoke detector", "cctv", "fire door",
)  # fmt: skip
_DEEDS = (
    "installation",
    "inspection",
    "maintenance",
    "testing",
    "repair",
    "design",
    "monitoring",
    "commissioning",
)
_TOPICS = (
    "about",
    "team",
    "history",
    "careers",
    "contact",
    "projects",
    "certifications",
    "industries",
    "faq",
    "reviews",
)
_TOWNS = (
    "Northam",
    "Eastleigh",
    "Westbrook",
    "Southfield",
    "Millbridge",
    "Oakham",
    "Lakeside",
    "Hillcrest",
    "Fairview",
)
_TEXT = (
    "we keep buildings safe and people calm with careful work by trained engineers who answer the phone on the first ring and "
    "leave every site as they found it while records stay complete for the insurer the landlord and the local authority since "
    "a small family firm opened its workshop near the old harbour and never stopped learning new standards or training more staff"
)
_WORDS = _TEXT.split()
_ICON = '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 2 4 5v6c0 5 3.4 9.7 8 11 4.6-1.3 8-6 8-11V5z"/></svg>'
_SCRIPT = (
    "window.dataLayer=window.dataLayer||[];function gtag(){dataLayer.push(arguments)}gtag('js',new Date());"
    * 20
)
_STYLE = (
    ".card{display:flex;margin:0 auto;padding:1rem 2rem;border-radius:.5rem}.card a:hover{color:#b00}" * 40
)


def make_site(number: int) -> Iterator[tuple[str, str]]:
    """Give the (address, HTML) of each page of one site; the same number gives the same site."""
    random = Random(number)  # noqa: S311 - repeatable is what is wanted
    host = f"https://www.{random.choice(_THINGS).replace(' ', '-')}-{number}.example"
    paths = list(_paths(random))
    menu = [*paths[:9], *random.sample(paths, 6)]
    for path in random.sample(paths, 10):
        yield f"{host}{path}", "".join(_page(random, host, path, menu, paths))


def _paths(random: Random) -> Iterator[str]:
    style = random.choice(("/{}", "/{}/", "/{}.html"))
    yield "/"
    for topic in _TOPICS:
        yield style.format(topic)
    for thing in _THINGS:
        for deed in random.sample(_DEEDS, 3):
            yield style.format(
                f"{random.choice(('services', 'services', 'what-we-do'))}/{thing.replace(' ', '-')}-{deed}"
            )
    for post in range(90):
        yield style.format(
            f"blog/20{16 + post // 12}/{post % 12 + 1:02}/{'-'.join(random.sample(_WORDS, 6))}"
        )
    for town in _TOWNS:
        yield style.format(f"service-areas/{town.lower()}")


def _page(random: Random, host: str, path: str, menu: list[str], paths: list[str]) -> Iterator[str]:
    name = _title(path)
    yield f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name} | Company</title>'
    yield f'<meta name="description" content="{_prose(random, 22)}"><style>{_STYLE}</style><script>{_SCRIPT}</script></head><body>'
    yield '<header class="site-header"><a class="logo" href="/"><img src="/logo.svg" alt="Company home"></a><nav class="menu"><ul>'
    for item in menu:
        yield f'<li class="menu-item"><a class="menu-link" href="{_href(random, host, path, item)}">{_title(item)}</a></li>'
    yield f'</ul></nav></header><main><h1>{name}</h1><p class="lead">{_prose(random, 40)}</p>'
    for _ in range(random.choice((2, 3, 4, 6, 10, 40))):
        yield from _section(random, host, path, paths)
    yield '</main><footer class="site-footer"><div class="columns">'
    for item in random.sample(paths, 12):
        yield f'<p><a href="{_href(random, host, path, item)}">{_title(item)}</a></p>'
    yield '<a href="mailto:office@company.example">Mail us</a> <a href="tel:+1555010203">Call us</a> <a href="#top">Top</a>'
    for other in (
        "https://social.example/company",
        "https://video.example/@company",
        "HTTPS://Maps.Example:443/?q=company+hq",
    ):
        yield f'<a href="{other}" rel="noopener nofollow" target="_blank">{other[8:14]}</a>'
    yield f"</div><small>© Company</small></footer><script>{_SCRIPT}</script></body></html>"


def _section(random: Random, host: str, path: str, paths: list[str]) -> Iterator[str]:
    target, inline, *cards = random.sample(paths, 5)
    yield f'<section class="card"><div class="inner"><h2>{_title(target)}</h2><p>{_prose(random, 90)} '
    yield f'<a href="{_href(random, host, path, inline)}" title="{_title(inline)}">{_title(inline).lower()}</a> {_prose(random, 45)}</p>'
    for card in cards:
        href = _href(random, host, path, card)
        yield f'<div class="tile"><div class="tile-image">{_ICON}<img src="/img/{len(card)}.jpg" alt="{_title(card)}" loading="lazy"></div>'
        yield f'<h3><a href="{href}">{_title(card)}</a></h3><p class="tile-text">{_prose(random, 40)}</p></div>'
    yield f'<a class="more" href="{href}">Read more</a><a href="{_href(random, host, path, target)}">'
    yield f'<img src="/img/wide.jpg" alt="All about {_title(target)}"></a></div></section>'


def _href(random: Random, host: str, path: str, target: str) -> str:
    """Write a link the way some editor would."""
    chance = random.random()
    if chance < 0.02:
        target = target.replace("-", "%2D", 1) if random.random() < 0.5 else f"{target}?q=caf%C3%A9%20bar"
    elif chance < 0.05:
        target += f"?utm_source=menu&utm_medium={random.choice(('web', 'mail'))}&page={random.randrange(9)}"
    if random.random() < 0.05:
        target += f"#part-{random.randrange(9)}"
    form = random.random()
    if form < 0.15:
        return host + target
    if form < 0.17:
        return host.removeprefix("https:") + target
    if form < 0.45:
        return "../" * (path.count("/") - 1) + (target[1:] or "./")
    return target


def _title(path: str) -> str:
    name = path.strip("/").rpartition("/")[2].removesuffix(".html")
    return name.replace("-", " ").title() or "Home"


def _prose(random: Random, words: int) -> str:
    start = random.randrange(len(_WORDS))
    return " ".join(_WORDS[(start + at * 7) % len(_WORDS)] for at in range(words))
