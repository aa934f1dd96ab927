"""Pages that declare no encoding, and text that is no markup."""

from __future__ import annotations

import pytest

from honeyguide.adapters.html.charset import PRESCAN_BYTES, charset_of, to_utf8
from honeyguide.adapters.html.content import main_content
from honeyguide.adapters.html.page import parse_page
from honeyguide.core.url.url import Url

URL = Url.parse("https://a.example/")
RUSSIAN = (
    "Мы устанавливаем пожарную сигнализацию и проверяем огнетушители каждый год. Звоните нам в любое время."
)
UKRAINIAN = (
    "Ми встановлюємо пожежну сигналізацію та перевіряємо вогнегасники щороку. Телефонуйте нам будь-коли."
)
GREEK = "Εγκαθιστούμε συστήματα πυρανίχνευσης και ελέγχουμε τους πυροσβεστήρες κάθε χρόνο. Καλέστε μας."
HEBREW = "אנחנו מתקינים מערכות גילוי אש ובודקים מטפים בכל שנה. התקשרו אלינו בכל עת."
ARABIC = "نقوم بتركيب أنظمة إنذار الحريق وفحص طفايات الحريق كل عام. اتصل بنا في أي وقت."
THAI = "เราติดตั้งระบบแจ้งเตือนอัคคีภัยและตรวจสอบถังดับเพลิงทุกปี โทรหาเราได้ตลอดเวลา"
POLISH = "Zakładamy instalacje przeciwpożarowe i sprawdzamy gaśnice każdego roku. Zadzwoń do nas, żeby się umówić; też w święta."
CZECH = "Montujeme požární hlásiče a každý rok kontrolujeme hasicí přístroje. Zavolejte nám, přijedeme včas i během svátků."
HUNGARIAN = "Tűzjelző rendszereket telepítünk, és évente ellenőrizzük a tűzoltó készülékeket. Hívjon minket bármikor, örömmel jövünk."
TURKISH = "Yangın alarm sistemleri kuruyor ve yangın söndürücüleri her yıl kontrol ediyoruz. Bizi dilediğiniz zaman arayın."
LITHUANIAN = "Įrengiame priešgaisrinę signalizaciją ir kasmet tikriname gesintuvus. Skambinkite mums bet kada, atvyksime tą pačią dieną."
FRENCH = "Nous installons des systèmes de détection incendie et vérifions vos extincteurs chaque année, même à l'étranger."
GERMAN = "Wir montieren Brandmelder und prüfen Feuerlöscher jährlich. Rufen Sie uns an: wir kommen pünktlich, größere Häuser zuerst."
SPANISH = "Instalamos sistemas de detección y revisamos extintores cada año. ¿Necesita más información? Llámenos mañana."
JAPANESE = "当社は火災報知設備の設置と消火器の点検を毎年行っています。お気軽にお電話ください。"
CHINESE = "我们安装火灾报警系统,每年检查灭火器。如果您需要帮助,请随时打电话给我们。"
TAIWAN = "我們安裝火災警報系統,每年檢查滅火器。如果您需要幫助,請隨時打電話給我們。"
KOREAN = "우리는 화재 경보 시스템을 설치하고 매년 소화기를 점검합니다. 언제든지 전화 주세요."
PAGES = [
    (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (RUSSIAN, "iso8859-5"), (RUSSIAN, "cp866"), (UKRAINIAN, "cp1251"),
    (UKRAINIAN, "koi8-u"), (GREEK, "iso8859-7"), (GREEK, "cp1253"), (HEBREW, "cp1255"), (ARABIC, "cp1256"),
    (THAI, "cp874"), (POLISH, "cp1250"), (POLISH, "iso8859-2"), (CZECH, "cp1250"), (CZECH, "iso8859-2"),
    (HUNGARIAN, "cp1250"), (TURKISH, "cp1254"), (LITHUANIAN, "cp1257"), (FRENCH, "cp1252"), (GERMAN, "cp1252"),
    (SPANISH, "cp1252"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (CHINESE, "gb18030"), (TAIWAN, "big5hkscs"),
    (KOREAN, "cp949"),
]  # fmt: skip


def page_of(text: str) -> str:
    return f"<!doctype html><html><head><title>{text}</title></head><body><p>{text}</p></body></html>"


@pytest.mark.parametrize(("text", "codec"), PAGES, ids=lambda value: value[:12])
def test_a_page_that_declares_no_encoding_is_read_as_it_was_written(text: str, codec: str) -> None:
    page = parse_page(page_of(text).encode(codec), URL, "text/html")
    assert page.title == text


@pytest.mark.parametrize(("text", "codec"), PAGES, ids=lambda value: value[:12])
def test_what_is_declared_counts_more_than_what_is_detected(text: str, codec: str) -> None:
    body = page_of(text).encode(codec)
    assert charset_of("text/html; charset=iso-8859-10", body) == "iso8859-10"
    assert to_utf8(body, f"text/html; charset={codec}").decode() == page_of(text)


ENGLISH = "<p>We’re on call – “day” and “night” – at your “service”… It’s “our” duty.</p>\n" * 30
MIXED = [
    (RUSSIAN, "cp1251"),
    (GREEK, "cp1253"),
    (GREEK, "iso8859-7"),
    (ARABIC, "cp1256"),
    (CHINESE, "gb18030"),
]


@pytest.mark.parametrize(("text", "codec"), MIXED, ids=lambda value: value[:12])
def test_quotation_marks_of_an_english_page_do_not_hide_its_menu_in_another_script(
    text: str, codec: str
) -> None:
    page = parse_page((page_of(text) + ENGLISH).encode(codec, "ignore"), URL, "text/html")
    assert page.title == text


def test_a_few_letters_say_too_little_for_another_encoding_than_the_usual_one() -> None:
    assert charset_of(None, b"<html lang=ru><p>\xef\xf0\xe8") == "cp1252"
    assert charset_of(None, b"<html lang=en><p>caf\xe9!") == "cp1252"


def test_no_more_than_the_start_of_a_page_is_looked_at() -> None:
    start = b"<p>\xe9t\xe9 " + b"caf\xe9 \xe0 " * 20 + b"a" * PRESCAN_BYTES
    assert charset_of(None, start + RUSSIAN.encode("cp1251") * 1000) == "cp1252"


def test_utf8_with_one_broken_byte_is_utf8() -> None:
    text = "été à côté ".encode() * 20
    assert charset_of(None, b"<p>\xff" + text) == "utf-8"
    assert charset_of(None, b"<p>" + b"\xe9t\xe9 " * 20 + text) != "utf-8"


@pytest.mark.parametrize(
    "content_type", ["text/plain", "TEXT/PLAIN; charset=utf-8", " text/plain ;format=flowed"]
)
def test_plain_text_is_text(content_type: str) -> None:
    body = b"1 < 2 &amp; <a href=/about>About</a> <script>x</script> <title>No</title>"
    page = parse_page(body, URL, content_type)
    assert page.text == "1 < 2 &amp; <a href=/about>About</a> <script>x</script> <title>No</title>"
    assert (page.links, page.title, page.skipped) == ((), "", ())
    assert "<script>x</script>" in main_content(body, URL, content_type).text


def test_an_english_page_with_typographic_signs_is_western() -> None:
    text = "© 2024 Acme “Fire” – we’re on call… ® “24/7” \xa0\xa0\xa0 • Alarms • Sprinklers • Doors •"
    assert charset_of(None, page_of(text).encode("cp1252")) == "cp1252"
