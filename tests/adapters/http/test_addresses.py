from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.adapters.http.addresses import RefusedAddressError, guarded_socket, refusal, refused_host


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("0.0.0.0", "this network"),  # noqa: S104 - refused, not bound
        ("0.1.2.3", "this network"),
        ("10.255.255.255", "private"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("100.100.100.200", "carrier-grade NAT"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("168.63.129.16", "cloud metadata"),
        ("169.254.169.254", "link-local or cloud metadata"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.192", "reserved"),
        ("192.0.2.1", "documentation"),
        ("192.168.1.1", "private"),
        ("198.19.0.1", "benchmarking"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.7", "documentation"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::7f00:1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local or cloud metadata"),
        ("64:ff9b::a00:1", "private"),
        ("64:ff9b:1::1", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("2002:c0a8:101::1", "private"),
        ("2001::1", "reserved"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("fc00::1", "private"),
        ("fd00:ec2::254", "private"),
        ("fe80::1%eth0", "link-local"),
        ("fec0::1", "private"),
        ("ff02::1", "multicast"),
        ("100::1", "reserved"),
        ("4000::1", "reserved"),
        ("nonsense", "not an IP address"),
        ("", "not an IP address"),
    ],
)
def test_refused(address: str, why: str) -> None:
    assert refusal(address) == why


@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1",
     "192.169.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
     "2002:808:808::1"],
)  # fmt: skip
def test_public(address: str) -> None:
    assert refusal(address) is None


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("localhost", "local name"),
        ("LOCALHOST.", "local name"),
        ("a.localhost", "local name"),
        ("printer.local", "local name"),
        ("metadata.google.internal", "local name"),
        ("router.home.arpa", "local name"),
        ("127.1", "loopback"),
        ("0x7f.1", "loopback"),
        ("0177.0.0.1", "loopback"),
        ("2130706433", "loopback"),
        ("[::1]", "loopback"),
        ("[::ffff:10.0.0.1]", "private"),
        ("169.254.169.254", "link-local or cloud metadata"),
        ("example.com", None),
        ("notlocalhost", None),
        ("8.8.8.8", None),
        ("[2606:4700::1111]", None),
        ("a\0b", None),
        ("é", None),
    ],
)
def test_hosts_by_name_alone(host: str, why: str | None) -> None:
    assert refused_host(host) == why


@given(st.ip_addresses())
def test_every_address_has_a_verdict(address: object) -> None:
    assert refusal(str(address)) is None or refusal(str(address)) != "not an IP address"


@given(st.text())
def test_no_text_raises(text: str) -> None:
    refusal(text)
    refused_host(text)


def test_the_hook_refuses_before_there_is_a_socket() -> None:
    with pytest.raises(RefusedAddressError, match="loopback"):
        guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80)))


def test_the_hook_makes_a_socket_for_the_public_web() -> None:
    guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", ("1.1.1.1", 80))).close()
