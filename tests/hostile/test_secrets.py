"""Headers, logins and proxies: who receives them, and that no output ever has them."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from honeyguide import crawl, crawl_site, pick
from honeyguide.adapters.files.logins import MAX_BYTES, read_logins
from honeyguide.cli.main import root
from honeyguide.core.fetching import Access, FetchPolicy, without_login
from honeyguide.core.url.url import Url
from honeyguide.errors import ConfigError, InputError
from honeyguide.testing.fakes import LoopbackServer, response, served

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

KEY, PASSWORD, PROXY_PASSWORD = "k3y-of-the-header", "pa55-of-the-netrc", "pa55-of-the-proxy"
BASIC = b64encode(f"anna:{PASSWORD}".encode()).decode()
PROXY_BASIC = b64encode(f"bob:{PROXY_PASSWORD}".encode()).decode()
SECRETS = (KEY, PASSWORD, BASIC, PROXY_PASSWORD, PROXY_BASIC)
TEXT = "Asyncio in a few words that are the page's own. " * 9


def page(*links: str) -> bytes:
    listed = " ".join(f'<a href="{link}">asyncio {link}</a>' for link in links)
    return response(f"<title>asyncio</title><h1>asyncio</h1><main><p>{TEXT}</p>{listed}</main>".encode())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    netrc = tmp_path / "logins"
    netrc.touch(0o600)
    netrc.write_text(f"machine 127.0.0.1\nlogin anna\npassword {PASSWORD}\n", "utf-8")
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(root, args, prog_name="honeyguide")


def assert_no_secrets(folder: Path, *results: Result) -> None:
    for result in results:
        for secret in SECRETS:
            assert secret not in result.output
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "logins"]
    assert files
    for path in files:
        data = path.read_bytes()
        for secret in SECRETS:
            assert secret.encode() not in data, path.name


OPEN = ("--header", f"X-Key={KEY}", "--netrc", "logins", "--allow-private", "--delay", "0", "--retries", "0")


# --- who receives them ---


@pytest.mark.parametrize("command", ["pick", "crawl"])
def test_the_sites_of_the_command_receive_them_and_nobody_after_a_redirect(
    folder: Path, command: str
) -> None:
    elsewhere = LoopbackServer({"/": page()})
    moved = LoopbackServer({})
    site = LoopbackServer({"/a": page("/b", "/away"), "/b": page()})
    with served(site, elsewhere, moved) as (home, other, _):
        site.answers["/away"] = response(b"", f"Location: {other}", status="302 Found")
        site.answers["/"] = page("/a", "/b", "/away", other)
        topic = ("--topic", "asyncio", "--follow-external", "5") if command == "crawl" else ()
        result = run(command, home, *topic, *OPEN, "--format", "jsonl")
    assert result.exit_code in (0, 3), result.stderr
    assert len(site.requests) > 2
    assert all(f"X-Key: {KEY}" in head and f"Authorization: Basic {BASIC}" in head for head in site.requests)
    assert "/robots.txt" in site.paths
    assert elsewhere.requests or command == "pick"
    assert not any(secret in head for head in elsewhere.requests for secret in SECRETS)
    assert (folder / "logins").exists()


def test_a_watch_sends_them_to_the_seeds_of_the_store(folder: Path) -> None:
    site = LoopbackServer({"/": page("/a"), "/a": page()})
    with served(site) as (home,):
        assert run("crawl", home, "--topic", "asyncio", *OPEN).exit_code == 0
        site.requests.clear()
        watched = run("watch", "--per-hour", "9", "--rounds", "1", "--rest", "0", *OPEN)
        assert watched.exit_code == 0, watched.stderr
        seen = [head for head in site.requests if "/robots.txt" not in head.splitlines()[0]]
    assert seen
    assert all(KEY in head and BASIC in head for head in seen)
    assert_no_secrets(folder, watched)


def test_a_password_does_not_go_over_http_if_nobody_wrote_http() -> None:
    access = Access(headers=(("X-Key", KEY),), logins=(("acme.example", "anna", PASSWORD),))
    secure = access.limited_to([Url.parse("https://acme.example/a")])
    assert secure.headers_for(Url.parse("https://acme.example/b")) == {
        "X-Key": KEY,
        "Authorization": f"Basic {b64encode(f'anna:{PASSWORD}'.encode()).decode()}",
    }
    for other in (
        "http://acme.example/a",
        "https://www.acme.example/",
        "https://acme.example:444/",
        "https://x.example/",
    ):
        assert secure.headers_for(Url.parse(other)) == {}
    assert access.headers_for(Url.parse("https://acme.example/a")) == {}  # before sites are named, nobody
    plain = access.limited_to([Url.parse("http://acme.example/a")])
    assert plain.headers_for(Url.parse("http://acme.example/")) == plain.headers_for(
        Url.parse("https://acme.example/")
    )


def test_a_header_wins_over_the_login() -> None:
    access = Access(headers=(("authorization", "Bearer x"),), logins=(("a.example", "anna", PASSWORD),))
    url = Url.parse("https://a.example/")
    assert access.limited_to([url]).headers_for(url) == {"authorization": "Bearer x"}


# --- no output has them ---


def test_no_output_of_a_crawl_has_them(folder: Path) -> None:
    site = LoopbackServer({"/": page("/a", "/gone"), "/a": page()})
    with served(site) as (home,):
        outputs = (
            "-o",
            "pages.jsonl",
            "--links",
            "--content",
            "--markdown",
            "pages",
            "--warc",
            "pages.warc.gz",
        )
        reports = ("--report", "crawl.html", "--report", "crawl.md")
        crawl = ("crawl", home, "--topic", "asyncio", *OPEN)
        first = run(*crawl, *outputs, *reports, "-vv")
        assert first.exit_code == 0, first.stderr
        table = run(*crawl, "--restart", "-o", "pages.csv")
        shown = run(*crawl, "--show-config")
        runs = run("runs", "--format", "jsonl")
        explained = run("explain", f"{home}a", "--format", "jsonl")
        exported = run("export", "links")
    assert KEY in "".join(site.requests)
    assert f"GET {home}a: 200" in first.stderr
    archive = gzip.decompress((folder / "pages.warc.gz").read_bytes())
    assert b"WARC-Type: request" in archive
    assert not any(secret.encode() in archive for secret in SECRETS)
    assert_no_secrets(folder, first, table, shown, runs, explained, exported)


def test_no_output_of_a_pick_has_them(folder: Path) -> None:
    site = LoopbackServer({"/": page("/services", "/about"), "/services": page(), "/about": page()})
    with served(site) as (home,):
        results = [
            run("pick", home, *OPEN, "--content", "-vv", "-o", "picks.jsonl", "--report", "picks.html"),
            run("pick", home, *OPEN, "-o", "picks.csv"),
            run("pick", home, "127.0.0.1:9", *OPEN, "--format", "jsonl"),
        ]
    assert KEY in "".join(site.requests)
    assert_no_secrets(folder, *results)


def test_no_message_about_a_failing_proxy_has_them(folder: Path) -> None:
    proxy = LoopbackServer({})
    with served(proxy) as (address,):
        secret = address.replace("http://", f"http://bob:{PROXY_PASSWORD}@")
        asked = run(
            "pick",
            "http://acme.example/",
            "--proxy",
            secret,
            "--retries",
            "0",
            "--format",
            "jsonl",
            "-vv",
            "-o",
            "a.jsonl",
        )
        tunnelled = run(
            "pick", "https://acme.example/", "--proxy", secret, "--retries", "0", "--format", "jsonl", "-vv"
        )
        shown = run("pick", "--proxy", secret, "--show-config")
    closed = run(
        "pick", "http://acme.example/", "--proxy", secret, "--retries", "0", "--format", "jsonl", "-vv"
    )
    assert any(PROXY_BASIC in head for head in proxy.requests)
    assert [json.loads(result.stdout)["status"] for result in (tunnelled, closed)] == [
        "unreachable",
        "unreachable",
    ]
    assert "(not shown)" in shown.stdout
    assert_no_secrets(folder, asked, tunnelled, closed, shown)


def test_a_proxy_of_the_command_wins_over_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert folder.exists()
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "acme.example")
    proxy = LoopbackServer({"http://acme.example/": page("/a"), "http://acme.example/a": page()})
    with served(proxy) as (address,):
        result = run("pick", "http://acme.example/", "--proxy", address, "--delay", "0", "--format", "jsonl")
    assert json.loads(result.stdout)["homepage"] == "http://acme.example/"
    assert "http://acme.example/" in proxy.paths


def test_behind_a_proxy_private_names_and_addresses_are_still_refused(folder: Path) -> None:
    assert folder.exists()
    proxy = LoopbackServer({})
    with served(proxy) as (address,):
        for site in (
            "http://127.0.0.1/",
            "http://localhost/",
            "http://169.254.169.254/",
            "http://db.internal/",
        ):
            result = run("pick", site, "--proxy", address, "--format", "jsonl")
            assert json.loads(result.stdout)["status"] == "unreachable"
            assert "not on the public web" in result.stdout
    assert proxy.requests == []


# --- what is refused, without a word of it ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--header", f"Authorization: Basic {BASIC}="), "number 1 has no usable name; write NAME=VALUE"),
        (("--header", KEY), "write NAME=VALUE, such as Accept-Language=de"),
        (("--header", f"X-Key={KEY}\r\nHost: evil.example"), "the value of X-Key must be printable ASCII"),
        (("--header", f"X-K\ney={KEY}"), "number 1 has no usable name"),
        (("--header", f"Host={KEY}"), "Host is not yours to set"),
        (("--header", f"Proxy-Authorization={KEY}"), "Proxy-Authorization is not yours to set"),
        (("--header", f"transfer-encoding={KEY}"), "transfer-encoding is not yours to set"),
        (("--header", f"X-Key={KEY}ü"), "the value of X-Key must be printable ASCII"),
        (("--header", "X-Key="), "the value of X-Key must be printable ASCII, not empty"),
        (("--header", "X-Key=" + KEY * 500), "at most 8,000 characters"),
        (("--header", f"X-Key={KEY}") * 51, "51 are too many; 50 are allowed"),
        (("--proxy", f"socks5://bob:{PROXY_PASSWORD}@127.0.0.1:9"), "SOCKS is not supported"),
        (("--proxy", f"bob:{PROXY_PASSWORD}@127.0.0.1:9"), "must be http://HOST:PORT"),
        (("--proxy", f"http://bob:{PROXY_PASSWORD}@127.0.0.1:99999"), "must be http://HOST:PORT"),
        (("--proxy", f"http://bob:{PROXY_PASSWORD}@"), "must be http://HOST:PORT"),
        (("--netrc", "none"), "cannot be read"),
        (("--netrc", "."), "must be a file of at most 65,536 bytes"),
    ],
)
@pytest.mark.parametrize("command", ["pick", "crawl"])
def test_what_cannot_be_sent_is_refused_before_anything_is_done(
    folder: Path, command: str, options: tuple[str, ...], words: str
) -> None:
    result = run(command, "https://acme.example/", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert not any(secret in result.output for secret in SECRETS)
    assert sorted(path.name for path in folder.iterdir()) == ["logins"]


def test_a_netrc_file_that_others_may_read_is_refused(folder: Path) -> None:
    (folder / "logins").chmod(0o640)
    result = run("pick", "https://acme.example/", "--netrc", "logins")
    assert result.exit_code == 2
    assert "can be read or changed by others; chmod 600 logins" in result.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"machine a login anna\npasword {PASSWORD}\n", "it is not of the form: machine HOST"),
        (f"{PASSWORD}\n", "it is not of the form: machine HOST"),
        ("#".ljust(MAX_BYTES + 1, "x"), "must be a file of at most"),
        (f"machine a login \udcff password {PASSWORD}", "cannot be read: it is not text"),
    ],
)
def test_a_wrong_netrc_file_is_one_sentence_without_its_words(folder: Path, text: str, words: str) -> None:
    (folder / "logins").write_bytes(text.encode("utf-8", "surrogateescape"))
    result = run("pick", "https://acme.example/", "--netrc", "logins")
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert not any(secret in result.output for secret in SECRETS)


def test_logins_are_read_by_host_and_a_default_is_not_used(folder: Path) -> None:
    (folder / "logins").write_text(
        f"machine A.example login anna password {PASSWORD}\ndefault login bob password x\n", "utf-8"
    )
    assert read_logins("logins") == (("a.example", "anna", PASSWORD),)
    os.mkfifo(folder / "pipe", 0o600)
    with pytest.raises(InputError, match="must be a file"):
        read_logins("pipe")


def test_secrets_are_in_no_representation() -> None:
    access = Access((("X-Key", KEY),), (("a.example", "anna", PASSWORD),), f"http://bob:{PROXY_PASSWORD}@h:1")
    out = io.StringIO()
    print(access, FetchPolicy(access=access), file=out)
    assert not any(secret in out.getvalue() for secret in SECRETS)
    with pytest.raises(ConfigError) as caught:
        Access(headers=((f"{KEY} x", KEY),), proxy=f"socks5://{PROXY_PASSWORD}@h")
    assert not any(secret in str(caught.value) for secret in SECRETS)


# --- a password in an address ---

LOGIN = f"http://anna:{PASSWORD}@127.0.0.1:9/"
LISTED = f"anna:{PASSWORD}@127.0.0.1"
TOPIC = ("--topic", "asyncio")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("pick", LOGIN), 3),
        (("pick", LISTED), 3),
        (("pick", "-i", "list.txt", "-o", "picks.jsonl", "--report", "picks.html"), 3),
        (("pick", "-i", "list.csv", "-o", "picks.csv"), 3),
        (("crawl", LOGIN, *TOPIC), 1),
        (("crawl", LISTED, *TOPIC), 1),
        (("crawl", "-i", "list.txt", *TOPIC, "-o", "pages.jsonl"), 1),
        (
            (
                "crawl",
                "-i",
                "mixed.txt",
                *TOPIC,
                "-o",
                "pages.jsonl",
                "--warc",
                "p.warc.gz",
                "--report",
                "p.md",
            ),
            3,
        ),
        (("crawl", "http://127.0.0.1:9/", "--sitemap", f"{LOGIN}sitemap.xml", *TOPIC), 1),
        (("select", "home.html", "--base", LOGIN), 2),
    ],
)
@pytest.mark.parametrize("verbose", [(), ("-vv",)])
def test_a_password_in_an_address_is_refused_and_nowhere_to_be_found(
    folder: Path, command: tuple[str, ...], code: int, verbose: tuple[str, ...]
) -> None:
    (folder / "home.html").write_text('<a href="/a">A</a>')
    lists = {
        "list.txt": f"{LOGIN}\n",
        "list.csv": f"name,website\nAcme,{LOGIN}\n",
        "mixed.txt": f"{LOGIN}\nhttp://127.0.0.1:9/\n",
    }
    for name, text in lists.items():
        (folder / name).write_text(text)
    quick = () if command[0] == "select" else ("--allow-private", "--delay", "0", "--retries", "0")
    result = run(*command, *quick, *verbose)
    assert result.exit_code == code, result.output
    assert "--netrc" in result.output
    for name in lists:
        (folder / name).unlink()
    assert_no_secrets(folder, result)


def test_programs_are_refused_too(folder: Path) -> None:
    for call in (
        lambda: crawl(LOGIN, topic="x"),
        lambda: list(crawl("http://127.0.0.1:9/", topic="x", sitemaps=[f"{LOGIN}sitemap.xml"])),
        lambda: pick(LOGIN),
        lambda: asyncio.run(crawl_site(LOGIN, FetchPolicy(), "docs", folder / "h.db", lambda *_: None)),
    ):
        with pytest.raises(InputError, match="has a user or a password in it") as caught:
            call()
        assert PASSWORD not in str(caught.value)
    assert not (folder / "h.db").exists()


@pytest.mark.parametrize(
    ("address", "bare"),
    [
        ("https://a:b@h.example/x@y", "https://h.example/x@y"),
        ("https://token@h.example", "https://h.example"),
        ("//a:b@h.example/", "//h.example/"),
        ("https:\\\\a:b@h.example", "https:\\\\h.example"),
        ("a:b@h.example/", "h.example/"),
        ("https://a@b:c@h.example/", "https://h.example/"),
        ("info@acme.example", "info@acme.example"),
        ("MailTo:info@acme.example", "MailTo:info@acme.example"),
        ("https://h.example/?q=a:b@c", "https://h.example/?q=a:b@c"),
        ("h.example/a:b@c", "h.example/a:b@c"),
    ],
)
def test_a_login_is_recognised_however_it_is_written(address: str, bare: str) -> None:
    assert without_login(address) == bare
