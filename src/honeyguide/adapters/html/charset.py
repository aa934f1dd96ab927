"""The character encoding of a page's bytes.

Owns: the evidence of byte-order mark, HTTP header, meta element and bytes, in that order; and the Python codec of each
encoding label. Must not know: how the bytes were fetched. Start reading at `charset_of`. The order of evidence and the scan
for meta elements are those of the WHATWG HTML standard, the labels those of its Encoding standard. Bytes that declare
nothing are judged by how often letters occur in languages, in whole numbers, so that every machine gives the same answer.
"""

from __future__ import annotations

import codecs
import re
import string
from functools import lru_cache

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

# How far a meta element is searched: the standard stops at 1024 bytes, because its parser can start again; ours cannot.
PRESCAN_BYTES = 65536

# Python codec: the labels that mean it. Old names stand for their Microsoft supersets, as browsers have it. Encodings
# that the standard replaces because they hide markup (iso-2022-kr, hz …) are read as ASCII.
_LABELS = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
    "iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
    "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 "
    "x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022_jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16-be": "unicodefffe utf-16be",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "ascii": "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}

_DECLARED = re.compile(
    r"charset[ \t\n\f\r]*=[ \t\n\f\r]*(?:\"([^\"]*)\"|'([^']*)'|(?![\"'])([^ \t\n\f\r;]+))", re.IGNORECASE
)
_XML = re.compile(rb"<\?xml[^>]{0,200}?[ \t\r\n]encoding[ \t\r\n]*=[ \t\r\n]*[\"']([^\"'>]{1,40})[\"']")
_WIDE = (b"<\0?\0x\0", b"\0<\0?\0x")  # an XML declaration in a 16-bit encoding
# What may start at a `<`: a comment, a tag, or something else that ends at the next `>`.
_MARKUP = re.compile(rb"<(?:(!--)|/?([A-Za-z][^ \t\n\f\r>]*+)|[!/?])")
_ATTRIBUTE = re.compile(
    rb"[ \t\n\f\r/]*+(?:(>)|([^ \t\n\f\r/>][^ \t\n\f\r/>=]*+)"
    rb"(?:[ \t\n\f\r]*+=[ \t\n\f\r]*+(?:\"([^\"]*+)(?:\"|\Z)|'([^']*+)(?:'|\Z)|([^ \t\n\f\r>]*+)))?+)"
)


def charset_of(content_type: str | None, body: bytes) -> str:
    r"""Return the Python codec of a body, by its byte-order mark, the header, a meta element, or the bytes themselves.

    >>> charset_of("text/html; charset=ISO-8859-1", b""), charset_of(None, "é".encode()), charset_of(None, b"\xe9t")
    ('cp1252', 'utf-8', 'cp1252')
    """
    for mark, codec in BOMS:
        if body.startswith(mark):
            return codec
    declared = _in_header(content_type) if content_type else None
    return declared or _in_markup(body[:PRESCAN_BYTES]) or _in_bytes(body)


def to_utf8(body: bytes, content_type: str | None = None) -> bytes:
    r"""Return a body as UTF-8 without a byte-order mark; bytes that are invalid in its encoding become U+FFFD.

    UTF-8 itself is returned as it is, invalid bytes included: the parser replaces them.

    >>> to_utf8(b"\xcf\xf0\xe8\xe2\xe5\xf2", "text/html; charset=windows-1251").decode()
    'Привет'
    """
    codec = charset_of(content_type, body)
    if codec == "utf-8":
        return body.removeprefix(codecs.BOM_UTF8)
    if body.isascii() and not codec.startswith(("utf-16", "iso2022")):
        return body
    return body.decode(codec, "replace").removeprefix("\ufeff").encode("utf-8", "replace")


def to_markup(body: bytes, content_type: str | None = None) -> bytes:
    """Return a body as UTF-8 markup; `text/plain` has none, so tags in it are text, and nothing in it is a link.

    >>> to_markup(b"1 < 2 <a href=/x>", "text/plain"), to_markup(b"<a href=/x>", "text/html")
    (b'<pre>1 &lt; 2 &lt;a href=/x>', b'<a href=/x>')
    """
    text = to_utf8(body, content_type)
    if (content_type or "").partition(";")[0].strip().lower() != "text/plain":
        return text
    return b"<pre>" + text.replace(b"&", b"&amp;").replace(b"<", b"&lt;")


def codec_of(label: str) -> str | None:
    """Return the Python codec of an encoding label, if it has one on the web.

    >>> codec_of(" Latin1 "), codec_of("utf-7")
    ('cp1252', None)
    """
    return _CODECS.get(label.strip("\t\n\f\r ").lower())


@lru_cache(maxsize=256)
def _in_header(content_type: str) -> str | None:
    """Read the charset parameter of a Content-Type, or of a meta element's content."""
    found = _DECLARED.search(content_type)
    return codec_of(found[1] or found[2] or found[3] or "") if found else None


def codec_of_xml(start: bytes) -> str | None:
    """Return the Python codec that the XML declaration at the start of a document names, if there is one.

    >>> codec_of_xml(b'<?xml version="1.0" encoding="ISO-8859-1"?>'), codec_of_xml(b"<urlset>")
    ('cp1252', None)
    """
    if start.startswith(_WIDE):
        return "utf-16-le" if start[0] else "utf-16-be"
    declared = _XML.match(start)
    return _narrow(codec_of(declared[1].decode("ascii", "replace"))) if declared else None


def _in_markup(start: bytes) -> str | None:
    """Search the first bytes of a document for a declaration, as the standard's prescan does."""
    found = None if start.startswith(_WIDE) else _narrow(_in_metas(start))
    return found or codec_of_xml(start)


def _narrow(codec: str | None) -> str | None:
    """Correct a 16-bit encoding to UTF-8, because its declaration was readable as ASCII."""
    return "utf-8" if codec and codec.startswith("utf-16") else codec


def _in_metas(start: bytes) -> str | None:
    """Return the codec of the first meta element that declares a known one."""
    at = 0
    while markup := _MARKUP.search(start, at):
        comment, name = markup.groups()
        if comment:
            at = start.find(b"-->", markup.start() + 2) + 3  # <!--> is a whole comment
        elif name:
            is_meta = name.lower() == b"meta" or name[:5].lower() == b"meta/"
            attributes, at = _attributes(start, markup.start(2) + 4 if is_meta else markup.end())
            if is_meta and at > 0 and markup[0][1:2] != b"/" and (found := _in_meta(attributes)):
                return found
        else:
            at = start.find(b">", markup.start()) + 1
        if at <= 2:  # the document ends inside this markup
            return None
    return None


def _attributes(start: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Read the attributes of a tag, and where the tag ends, or 0 if the document ends first."""
    attributes: dict[bytes, bytes] = {}
    while (found := _ATTRIBUTE.match(start, at)) and (found[1] or found.end() < len(start)):
        at = found.end()
        if found[1]:
            return attributes, at
        attributes.setdefault(found[2].lower(), found[3] or found[4] or found[5] or b"")
    return {}, 0


def _in_meta(attributes: dict[bytes, bytes]) -> str | None:
    """Read one meta element: `charset`, or `content` if `http-equiv` is Content-Type."""
    if b"charset" in attributes:
        return codec_of(attributes[b"charset"].decode("ascii", "replace"))
    if attributes.get(b"http-equiv", b"").lower() == b"content-type":
        return _in_header(attributes.get(b"content", b"")[:200].decode("ascii", "replace"))
    return None


def _in_bytes(body: bytes) -> str:
    """Guess from the bytes: valid UTF-8 is UTF-8; otherwise its letters decide, and cp1252 by default."""
    if body.isascii():
        return "cp1252"  # the standard's default; any other would read the same
    try:
        codecs.utf_8_decode(body, "strict", False)  # not final: a character may be cut in two
    except UnicodeDecodeError:
        return detect_codec(body[:PRESCAN_BYTES]) or "cp1252"
    return "utf-8"


# --- bytes that declare nothing ---

_LEAST_HIGH_BYTES = 6  # fewer say too little, and matter as little

# The letters of a language beyond ASCII, the most frequent first, and the codecs that its pages used before UTF-8.
_LETTERS = (
    ("оеаинтрслвпкдмуязьыйбчгжфцхюшщэё", "cp1251 koi8-r iso8859-5 cp866"),  # Russian
    ("оаниевтрікслдпумзябйчьгжцєфхюшїщ", "cp1251 koi8-u"),  # Ukrainian
    ("аениотрсвдпзклмъябучжгйфцшщхю", "cp1251"),  # Bulgarian
    ("аеионртскупдвмзјлбгњшчцљжћхфђ", "cp1251"),  # Serbian
    ("αοετνισρμηπκυςλίδγήέόάχωθφύβώξζψ", "cp1253 iso8859-7"),  # Greek
    ("יותמלהרנאשבקדפסעגםחטכןצזךץף", "cp1255"),  # Hebrew
    ("اليمرتوةنفدعسبحقكصأجطخهشإذغضزىثءئظؤ", "cp1256"),  # Arabic
    ("า่อรมก้นเงดัลีแยบตไสขวิทจพหคปืูะำชใ์ถฟุ็ผโณซึ", "cp874"),  # Thai
    ("łżąęśóćńź", "cp1250 iso8859-2"),  # Polish
    ("íářčéýžěšůúóňťď", "cp1250 iso8859-2"),  # Czech
    ("áíčýúéťžľšôóäňĺď", "cp1250 iso8859-2"),  # Slovak
    ("áéíóöőüúű", "cp1250 iso8859-2"),  # Hungarian
    ("čšžćđ", "cp1250 iso8859-2"),  # Croatian, Slovenian
    ("ăţşîâ", "cp1250 iso8859-2"),  # Romanian
    ("ışçüğöâî", "cp1254"),  # Turkish
    ("šėųįąžčūę", "cp1257"),  # Lithuanian
    ("āēīšūļņķžģč", "cp1257"),  # Latvian
    ("éàèêôîçâùûœë", "cp1252"),  # French
    ("üäößé", "cp1252"),  # German
    ("óáéíñúü", "cp1252"),  # Spanish
    ("ãçáíéóõúêâàôºª", "cp1252"),  # Portuguese
    ("èàòùéì", "cp1252"),  # Italian
    ("äöåéü", "cp1252"),  # Swedish, Finnish
    ("æøåéö", "cp1252"),  # Danish, Norwegian
    ("ëéïèöüáó", "cp1252"),  # Dutch
    ("óàéíèòçúïü", "cp1252"),  # Catalan
    ("ðáæíóöþúýé", "cp1252"),  # Icelandic
    ("äõüöžš", "cp1257 cp1252"),  # Estonian
)
_SIGNS = frozenset("\xa0«»„“”‘’‚–—…•·°§©®™€£№¿¡ºª²³½×")
# In tenths of a bit: the first letter, the last one, a capital more; signs that every language has; what it has not.
_FIRST, _LAST, _CAPITAL, _SIGN, _FOREIGN, _INVALID = 25, 85, 15, 80, 140, 250
_PREFERRED = 60  # how much more another codec must say than cp1252, the usual one
# Two bytes a character: all pairs of the codec, those that are common, and their least share of all pairs, in percent.
_PAIRS = (
    ("cp932", rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xfc]", rb"\x82[\x9f-\xf1]|\x83[\x40-\x96]|\x81[\x40-\xac]|[\x88-\x97][\x40-\xfc]", 90),
    ("euc_jp", rb"[\xa1-\xfe][\xa1-\xfe]", rb"[\xa4\xa5][\xa1-\xf6]", 25),
    ("cp949", rb"[\x81-\xfe][\x41-\x5a\x61-\x7a\x81-\xfe]", rb"[\xb0-\xc8][\xa1-\xfe]", 97),
    ("gb18030", rb"[\x81-\xfe](?:[\x40-\x7e\x80-\xfe]|[0-9][\x81-\xfe][0-9])", rb"[\xb0-\xd7][\xa1-\xfe]|\xa8[\x40-\xfe]|\x81\x30[\x81-\x8b][0-9]", 90),
    ("big5hkscs", rb"[\x87-\xfe][\x40-\x7e\xa1-\xfe]", rb"[\xa4-\xc6][\x40-\x7e\xa1-\xfe]", 90),
)  # fmt: skip
_HIGH = re.compile(rb"[\x80-\xff]")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_RUN = re.compile(rb"[A-Za-z]?[\x80-\xff]+[A-Za-z]?")
_LETTERS_OF_ASCII = string.ascii_letters.encode()
_SHORTEST_WORD = 4  # bytes
_SIGN_BYTES = re.compile(rb"[\x82-\x85\x91-\x97\xa0\xa9\xab\xae\xbb]")  # quotes, dashes, © in most encodings

Model = tuple[str, tuple[int, ...]]
Models = list[Model]


def detect_codec(sample: bytes) -> str | None:
    """Return the codec that the bytes beyond ASCII suggest, or None if they are too few; the caller bounds the sample."""
    high = len(_HIGH.findall(sample))
    if high < _LEAST_HIGH_BYTES:
        return None
    if len(_HIGH.findall(_UTF8.sub(b"", sample))) * 100 <= high:
        return "utf-8"  # a broken byte or two does not make it another encoding
    others, latin = _models()
    runs = [
        (len(run), len(run.strip(_LETTERS_OF_ASCII))) for run in _RUN.findall(sample.replace(b"\xa0", b" "))
    ]
    singles = sum(count == 1 and length > 1 for length, count in runs)
    # One byte beside an ASCII letter is a letter like é, or half of a pair; a quotation mark of two bytes is neither.
    if singles * 4 < len(runs) * 3 and (codec := _of_pairs(sample, high)):
        return codec
    # Words in other scripts are runs of bytes beyond ASCII; in Latin ones only single letters are, and signs.
    in_words = sum(count for _, count in runs if count >= _SHORTEST_WORD)
    is_latin = in_words * 3 <= len(_HIGH.findall(_SIGN_BYTES.sub(b"", sample)))
    return _of_letters(sample, latin if is_latin else latin + others)


def _of_pairs(sample: bytes, high: int) -> str | None:
    """Find an encoding whose pairs of bytes leave nothing over, and are common ones."""
    for codec, pairs, common, least in _PAIRS:
        found = [pair for pair in re.findall(pairs, sample) if not 0xA1 <= pair[0] <= 0xA3]  # no signs
        left = len(_HIGH.findall(re.sub(pairs, b"", sample)))
        usual = sum(re.fullmatch(common, pair) is not None for pair in found)
        if left * 100 <= high + 100 and usual * 100 >= least * len(found) > 0:
            return codec
    return None


def _of_letters(sample: bytes, models: Models) -> str:
    """Find the encoding of one byte a letter whose languages would need the fewest bits."""
    counts = [(byte, count) for byte in range(128, 256) if (count := sample.count(byte))]

    def bits(model: Model) -> int:
        return (
            sum(model[1][byte - 128] * count for byte, count in counts) + (model[0] != "cp1252") * _PREFERRED
        )

    return min(models, key=bits)[0]


@lru_cache(maxsize=1)
def _models() -> tuple[Models, Models]:
    """Give the models of other scripts and those of Latin: how many tenths of a bit each byte from 128 on takes."""
    models: tuple[list[Model], list[Model]] = ([], [])
    for letters, names in _LETTERS:
        for codec in names.split():
            bits = tuple(_bits(bytes((byte,)).decode(codec, "replace"), letters) for byte in range(128, 256))
            models[letters[0] < "\u0300"].append((codec, bits))
    return models


def _bits(letter: str, letters: str) -> int:
    place = letters.find(letter.lower())
    if place >= 0:
        rank = _FIRST + (_LAST - _FIRST) * place // max(1, len(letters) - 1)
        return rank + (_CAPITAL if letter != letter.lower() else 0)
    if letter in _SIGNS:
        return _SIGN
    return _FOREIGN if letter.isalpha() else _INVALID
