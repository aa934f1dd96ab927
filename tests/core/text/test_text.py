from __future__ import annotations

import pytest

from honeyguide.core.rules.facts import JOIN, join, plain, stem_of
from honeyguide.core.text.fold import fold, fold_case, tokens


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Fire ALARM", "fire alarm"),
        ("Straße", "straße"),
        ("ΟΔΟΣ", "οδοσ"),  # a final sigma is a sigma
        ("İzmir", "izmir"),
        ("ſervice", "service"),
        ("K", "k"),  # the Kelvin sign
        ("soft\u00adhyphen", "softhyphen"),
        ("service‑area", "service-area"),
        ("ＦＵＬＬ　ｗｉｄｔｈ", "full width"),
        ("\u202eevil\u202c", "evil"),
        ("a\t\n b\u00a0c", "a b c"),
        ("Plain LINE\nSTRASSE\u2011É\n\nΟΔΟΣ\nE\n\u0301x", "plain line strasse-é οδοσ e \u0301x"),
        ("\nA\n", "a"),
        ("Ä\n Ö", "ä ö"),
        ("", ""),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded
    assert fold(folded) == folded


def test_fold_case_keeps_whitespace() -> None:
    assert fold_case(" A\n") == " a\n"


def test_tokens() -> None:
    assert tokens("fire-alarms, gas & access: 接口 v2") == [
        "fire",
        "alarm",
        "gas",
        "access",
        "接",
        "口",
        "v2",
    ]


def test_join_keeps_texts_apart() -> None:
    assert join(["A", "", "a", "B"]) == f"a{JOIN}b"
    assert join(["Only"]) == "only"
    assert join([]) == ""


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/fire-alarms_and+more.html", "/fire alarms and more html"),
        ("/%D1%83%D1%81%D0%BB%D1%83%D0%B3%D0%B8", "/услуги"),
        ("/%2573ervice", "/service"),
        ("/%FF", "/\ufffd"),
        ("/100%", "/100%"),
    ],
)
def test_plain(path: str, shown: str) -> None:
    assert plain(path) == shown


@pytest.mark.parametrize(
    ("segment", "stem"),
    [
        ("about.html", "about"),
        ("v2.0", "v2 0"),
        (".hidden", " hidden".strip()),
        ("a.b.php", "a b"),
        ("x.verylong", "x verylong"),
    ],
)
def test_stem(segment: str, stem: str) -> None:
    assert stem_of(segment) == stem
