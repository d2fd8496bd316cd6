"""Which addresses are public: one table of all that are not, and why."""

import pytest

from splice.auth.addresses import is_public, kind_of
from support.tables import rows


@rows(
    "address",
    [
        *("1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.255.255"),
        *("172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "223.255.255.255"),
        *("2606:4700:4700::1111", "2a00:1450:4001::200e", "2001:200::1", "2003::1", "3ffe::1"),
    ],
)
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.0", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1"])
def test_this_machine_is_loopback(address: str) -> None:
    assert kind_of(address) == "loopback"


@pytest.mark.parametrize(
    "address",
    [
        *("10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"),
        *("100.64.0.0", "100.127.255.255", "fc00::1", "fd12:3456::1", "fdff:ffff::1"),
    ],
)
def test_networks_of_organisations_are_private(address: str) -> None:
    assert kind_of(address) == "private"


@rows(
    ("address", "why"),
    [
        ("169.254.169.254", "metadata of clouds"),
        ("169.254.170.2", "metadata of containers"),
        ("169.254.0.0", "link-local"),
        ("100.100.100.200", "metadata within a private range"),
        ("168.63.129.16", "metadata at a public address"),
        ("fd00:ec2::254", "metadata within a private range"),
        ("fd20:ce::254", "metadata within a private range"),
        ("0.0.0.0", "this machine"),
        ("0.1.2.3", "this machine"),
        ("192.0.0.192", "protocol assignments, and metadata of a cloud"),
        ("192.0.2.1", "documentation"),
        ("198.51.100.7", "documentation"),
        ("203.0.113.9", "documentation"),
        ("192.88.99.1", "relays of 6to4"),
        ("198.18.0.1", "benchmarking"),
        ("198.19.255.255", "benchmarking"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.250", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("::ffff:10.0.0.1", "IPv4-mapped"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::127.0.0.1", "IPv4-compatible"),
        ("::808:808", "IPv4-compatible"),
        ("::ffff:0:127.0.0.1", "IPv4-translated"),
        ("64:ff9b::7f00:1", "NAT64"),
        ("64:ff9b::808:808", "NAT64"),
        ("64:ff9b:1::a00:1", "NAT64 of a network"),
        ("100::1", "discarded"),
        ("2001::7f00:1", "Teredo"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
        ("2001:2::1", "benchmarking"),
        ("2001:10::1", "ORCHID"),
        ("2001:20::1", "ORCHID"),
        ("2001:db8::1", "documentation"),
        ("3fff:0::1", "documentation"),
        ("2002:7f00:1::", "6to4"),
        ("2002:a00:1::1", "6to4"),
        ("2002:808:808::1", "6to4"),
        ("4000::1", "not assigned"),
        ("5f00::1", "segment routing"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local, with a zone"),
        ("2a00::1%eth0", "a zone"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("ff0e::1", "multicast"),
    ],
)
def test_no_request_goes_anywhere_else(address: str, why: str) -> None:
    assert kind_of(address) == "refused", why


@rows(
    "text",
    [
        *(
            "",
            "127.1",
            "0",
            "2130706433",
            "0x7f000001",
            "017700000001",
            "0177.0.0.1",
            "08.8.8.8",
            "8.8.8.8.",
            " 8.8.8.8",
        ),
        *("8.8.8.8/32", "\uff11.1.1.1", "[::1]", "localhost", "1.1.1.1\n", "1.1.1.1:80", "1.1.1.256"),
    ],
)
def test_what_is_not_an_address_in_its_one_spelling_is_not_public(text: str) -> None:
    assert kind_of(text) == "refused"
