"""Which network addresses a request may go to whose URL a peer chose.

Somebody who chooses the URLs that a program fetches can reach what only that program reaches: services of its own
machine, of its network, and the metadata service of its cloud, which hands out keys. So an address is judged, never its
spelling: what the name or number in a URL stands for is looked up first.

Whatever the tables do not call public is not. An IPv6 address that carries an IPv4 address (mapped, NAT64, 6to4,
Teredo) leads wherever that one leads, and no host of the public web needs one: all are refused. A NAT64 prefix that a
network made up for itself cannot be told from other addresses.

https://modelcontextprotocol.io/docs/tutorials/security/security_best_practices
https://www.iana.org/assignments/iana-ipv4-special-registry
https://www.iana.org/assignments/iana-ipv6-special-registry
"""

from ipaddress import ip_address, ip_network
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["public", "private", "loopback", "refused"]
"""Where an address leads: the internet, the network of an organisation, this machine; or where no request should go."""


def _networks(*texts: str) -> tuple[tuple[int, int, int], ...]:
    """Write networks as version, bits to shift away, and what is left then: comparing integers is quick."""
    read = [ip_network(text) for text in texts]
    return tuple(
        (net.version, shift, int(net.network_address) >> shift)
        for net in read
        for shift in [net.max_prefixlen - net.prefixlen]
    )


_LOOPBACK = _networks("127.0.0.0/8", "::1/128")
_METADATA = _networks(
    "169.254.0.0/16",  # link-local: most clouds
    "100.100.100.200/32",  # Alibaba
    "168.63.129.16/32",  # Azure: a public address that only its machines reach
    "fd00:ec2::/32",  # AWS
    "fd20:ce::/32",  # Google
)
_PRIVATE = _networks("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
_UNUSUAL = _networks(
    "0.0.0.0/8",  # this machine, on many systems
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation, as are the next but two and the one behind it
    "192.88.99.0/24",  # relays of 6to4
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved; broadcast
    "2001::/23",  # Teredo, benchmarking, ORCHID and other protocol assignments
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4
    "3fff::/20",  # documentation
)
_UNICAST = _networks("0.0.0.0/0", "2000::/3")
"""All that can be public. So IPv4-mapped and IPv4-compatible addresses, NAT64 (64:ff9b::/96 and 64:ff9b:1::/48),
link-local, site-local and multicast ones are not, nor anything that is not assigned yet."""


def kind_of(address: str) -> Kind:
    """Tell where an IPv4 or IPv6 address leads. Text that is not one is refused, and so is one with a zone."""
    try:
        read = ip_address(address)
    except ValueError:
        return "refused"
    place = read.version, int(read)
    if getattr(read, "scope_id", None) is not None or _within(place, _METADATA):
        return "refused"
    if _within(place, _LOOPBACK):
        return "loopback"
    if _within(place, _PRIVATE):
        return "private"
    return "public" if _within(place, _UNICAST) and not _within(place, _UNUSUAL) else "refused"


def is_public(address: str) -> bool:
    """Tell whether an address is one of the public internet."""
    return kind_of(address) == "public"


def _within(place: tuple[int, int], networks: tuple[tuple[int, int, int], ...]) -> bool:
    version, value = place
    return any(version == theirs and value >> shift == start for theirs, shift, start in networks)
