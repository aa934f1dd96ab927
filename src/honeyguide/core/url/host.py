"""Host names and addresses, read as browsers read them (URL-1): Unicode names by UTS 46, IPv4 in all its spellings, IPv6.

Must not know: the other parts of a URL. Start reading at `parse_host`. Only this module uses the `idna` package.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import unquote_to_bytes

from honeyguide.errors import UrlError

_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_NUMBER = re.compile(r"0x([0-9a-f]*)|0([0-7]*)|([1-9][0-9]*)")
_BASES = {1: 16, 2: 8, 3: 10}
_JOINERS = "\u200c\u200d"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
_ACE = "xn--"
# Of an international name as written; the DNS allows 253, but mapping may shorten a name.
MAX_NAME_CHARS = 1_000
# Of an international label: the DNS has no longer one, and Punycode takes quadratic time.
MAX_LABEL_CHARS = 63


@lru_cache(maxsize=256)  # a crawl meets few hosts and many URLs
def parse_host(text: str) -> str:
    """Return the one ASCII spelling of a host: `0x7F.1` is `127.0.0.1`."""
    if text.startswith("["):
        if not text.endswith("]"):
            raise UrlError(text, "the bracket of its IPv6 address is not closed")
        return f"[{_parse_ipv6(text[1:-1])}]"
    name = text
    if "%" in text:  # bytes that are not UTF-8 become U+FFFD, which no host may contain
        name = unquote_to_bytes(text.encode("utf-8", "replace")).decode("utf-8", "replace")
    # Browsers only lower-case names that are ASCII already, and never check their Punycode.
    name = name.lower() if name.isascii() else _to_ascii(name)
    if not name:
        raise UrlError(text, "it has no host")
    if found := _FORBIDDEN.search(name):
        raise UrlError(text, f"a host cannot contain {found[0]!r}")
    return _parse_ipv4(name) if _ends_in_number(name) else name


def _to_ascii(name: str) -> str:
    """Map a Unicode name by UTS 46: non-transitional, CheckBidi and CheckJoiners on, the other checks off."""
    import idna  # here, because its tables are large and most hosts are ASCII

    if len(name) > MAX_NAME_CHARS:
        raise UrlError(name, f"its international host is longer than {MAX_NAME_CHARS:,} characters")
    try:
        labels = [_read_label(label) for label in idna.uts46_remap(name, std3_rules=False).split(".")]
        bidi = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for label in labels for char in label)
        for label in filter(None, labels):
            _check_label(label)
            if bidi:
                idna.check_bidi(label, check_ltr=True)
    except ValueError:  # what idna and the Punycode codec raise is one of these
        raise UrlError(name, "its host is not a valid international name") from None
    return ".".join(
        label if label.isascii() else _ACE + label.encode("punycode").decode() for label in labels
    )


def _read_label(label: str) -> str:
    """Decode a Punycode label; raises ValueError if it decodes to plain ASCII, or if a label is too long."""
    if len(label) > MAX_LABEL_CHARS and not (label.isascii() and not label.startswith(_ACE)):
        raise ValueError(label)
    if not label.startswith(_ACE):
        return label
    decoded = label[len(_ACE) :].encode("ascii").decode("punycode")
    if decoded.isascii():
        raise ValueError(label)
    return decoded


def _check_label(label: str) -> None:
    """Apply the validity criteria of UTS 46, which allow more than IDNA 2008: a heart is a valid label."""
    import idna  # as above

    mapped = idna.uts46_remap(label, std3_rules=False) != label
    if mapped or label.startswith(_ACE) or "." in label or unicodedata.category(label[0]).startswith("M"):
        raise ValueError(label)
    if not all(idna.valid_contextj(label, at) for at, char in enumerate(label) if char in _JOINERS):
        raise ValueError(label)


def _ends_in_number(name: str) -> bool:
    """Return whether the last label is a number: then the whole host must be an IPv4 address."""
    last = name.removesuffix(".").rpartition(".")[2]
    return last.isdigit() or (last.startswith("0x") and _parse_number(last) is not None)


def _parse_number(text: str) -> int | None:
    """Read one number of an IPv4 address: decimal, octal after 0, hexadecimal after 0x; None for any other text."""
    found = _NUMBER.fullmatch(text)
    if found is None or found.lastindex is None:
        return None
    base, digits = _BASES[found.lastindex], found[found.lastindex].lstrip("0")
    # More digits than 2**32 has in any base: too large whatever the value, and slow to convert.
    return int(digits or "0", base) if len(digits) <= 11 else 1 << 40


def _parse_ipv4(name: str) -> str:
    """Read an address of one to four numbers; the last one fills the bytes that the others leave."""
    numbers = [_parse_number(part) for part in name.removesuffix(".").split(".", 4)]
    known = [number for number in numbers if number is not None]
    if len(known) != len(numbers) or len(known) > 4:
        raise UrlError(name, "its host ends in a number but is not an IPv4 address")
    *first, last = known
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        raise UrlError(name, "a number of its IPv4 address is too large")
    value = last + sum(number << (24 - 8 * at) for at, number in enumerate(first))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _parse_ipv6(text: str) -> str:
    """Write an IPv6 address with its first longest run of zeros left out; a zone (`%eth0`) is refused, as in browsers."""
    from ipaddress import IPv6Address  # here, because few hosts are addresses

    try:
        packed = IPv6Address(text.replace("%", " ")).packed
    except ValueError:
        raise UrlError(text, "its IPv6 address is malformed") from None
    pieces = ":".join(f"{int(piece, 16):x}" for piece in packed.hex(":", 2).split(":"))
    zeros = max(re.finditer(r"\b0(?::0)+\b", pieces), key=lambda run: len(run[0]), default=None)
    if zeros is None:
        return pieces
    return f"{pieces[: zeros.start()].rstrip(':')}::{pieces[zeros.end() :].lstrip(':')}"
