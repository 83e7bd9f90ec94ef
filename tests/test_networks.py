"""What kind of address a text is."""

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ronda import networks, urls
from ronda.networks import Kind, inside, is_own, kind, literal, parse

PUBLIC, LOOPBACK, PRIVATE = Kind.PUBLIC, Kind.LOOPBACK, Kind.PRIVATE
LINK_LOCAL, SHARED, UNSPECIFIED = Kind.LINK_LOCAL, Kind.SHARED, Kind.UNSPECIFIED
METADATA, MULTICAST, RESERVED = Kind.METADATA, Kind.MULTICAST, Kind.RESERVED

shorts = st.ip_addresses(v=4)
longs = st.ip_addresses(v=6)


def nearby(rows: tuple[tuple[str, Kind], ...]) -> st.SearchStrategy[int]:
    """Addresses in the networks of a table, and just beside their ends."""
    networks_ = [ip_network(text) for text, _ in rows]
    ends = [int(n[end]) for n in networks_ for end in (0, -1)]
    most = 2 ** networks_[0].max_prefixlen - 1
    steps = st.integers(-2, 2)
    return st.builds(
        lambda end, step: min(max(end + step, 0), most), st.sampled_from(ends), steps
    )


def by_the_closest_network(number: int, rows: tuple[tuple[str, Kind], ...]) -> Kind:
    """The slow and obvious way: of all that hold an address, the smallest decides."""
    width = ip_network(rows[0][0]).max_prefixlen
    bits = f"{number:0{width}b}"
    holding = [
        (network.prefixlen, found)
        for network, found in ((ip_network(text), found) for text, found in rows)
        if bits.startswith(f"{int(network[0]):0{width}b}"[: network.prefixlen])
    ]
    return max(holding)[1]


# -- the forms of a short address --------------------------------------------------

FORMS = {
    "mapped": lambda n: 0xFFFF << 32 | n,
    "translated": lambda n: 0xFFFF << 48 | n,
    "compatible": lambda n: n,
    "NAT64": lambda n: 0x64_FF9B << 96 | n,
    "NAT64 of a network's own": lambda n: 0x64_FF9B_0001 << 80 | n,
    "6to4": lambda n: 0x2002 << 112 | n << 80 | 0x1234,
    "Teredo": lambda n: 0x2001 << 112 | 0x0808_0808 << 64 | n ^ 0xFFFF_FFFF,
    "Teredo's server": lambda n: 0x2001 << 112 | n << 64 | 0x0808_0808 ^ 0xFFFF_FFFF,
}
every_form = pytest.mark.parametrize("form", FORMS)


class TestShortAddresses:
    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("93.184.216.34", PUBLIC),
            ("1.0.0.0", PUBLIC),
            ("9.255.255.255", PUBLIC),
            ("11.0.0.0", PUBLIC),
            ("100.63.255.255", PUBLIC),
            ("100.128.0.0", PUBLIC),
            ("172.15.255.255", PUBLIC),
            ("172.32.0.0", PUBLIC),
            ("192.0.1.0", PUBLIC),
            ("192.167.255.255", PUBLIC),
            ("192.169.0.0", PUBLIC),
            ("223.255.255.255", PUBLIC),
            ("0.0.0.0", UNSPECIFIED),
            ("0.255.255.255", UNSPECIFIED),
            ("10.0.0.0", PRIVATE),
            ("10.255.255.255", PRIVATE),
            ("100.64.0.0", SHARED),
            ("100.127.255.255", SHARED),
            ("127.0.0.0", LOOPBACK),
            ("127.255.255.255", LOOPBACK),
            ("169.254.0.1", LINK_LOCAL),
            ("169.254.255.255", LINK_LOCAL),
            ("169.254.169.254", METADATA),
            ("169.254.170.2", METADATA),
            ("169.254.170.23", METADATA),
            ("169.254.0.23", METADATA),
            ("169.254.42.42", METADATA),
            ("100.100.100.200", METADATA),
            ("168.63.129.16", METADATA),
            ("192.0.0.192", METADATA),
            ("172.16.0.0", PRIVATE),
            ("172.31.255.255", PRIVATE),
            ("192.0.0.1", RESERVED),
            ("192.0.2.1", RESERVED),
            ("192.88.99.1", RESERVED),
            ("192.168.0.0", PRIVATE),
            ("192.168.255.255", PRIVATE),
            ("198.17.255.255", PUBLIC),
            ("198.18.0.0", RESERVED),
            ("198.19.255.255", RESERVED),
            ("198.20.0.0", PUBLIC),
            ("198.51.100.7", RESERVED),
            ("203.0.113.7", RESERVED),
            ("224.0.0.1", MULTICAST),
            ("239.255.255.255", MULTICAST),
            ("240.0.0.1", RESERVED),
            ("255.255.255.255", RESERVED),
        ],
    )
    def test_each_network_has_its_kind(self, address: str, expected: Kind) -> None:
        assert kind(address) is expected

    @given(st.one_of(nearby(networks._SHORT), shorts.map(int)))
    def test_the_smallest_network_around_an_address_decides(self, number: int) -> None:
        expected = by_the_closest_network(number, networks._SHORT)

        assert kind(str(IPv4Address(number))) is expected

    @given(st.one_of(nearby(networks._SHORT), shorts.map(int)))
    def test_what_is_public_to_us_is_public_to_python(self, number: int) -> None:
        address = IPv4Address(number)

        assert kind(str(address)) is not PUBLIC or address.is_global


class TestLongAddresses:
    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("2606:2800:220:1::1", PUBLIC),
            ("2001:200::1", PUBLIC),
            ("2a00::1", PUBLIC),
            ("3ffe:ffff::1", PUBLIC),
            ("::", UNSPECIFIED),
            ("::1", LOOPBACK),
            ("0:0:0:0:0:0:0:1", LOOPBACK),
            ("fc00::1", PRIVATE),
            ("fdff:ffff::1", PRIVATE),
            ("fd00:ec2::254", METADATA),
            ("fd00:ec2::23", METADATA),
            ("fd20:ce::254", METADATA),
            ("fd00:42::42", METADATA),
            ("fe80::a9fe:a9fe", METADATA),
            ("fe80::1", LINK_LOCAL),
            ("fe80::1%eth0", LINK_LOCAL),
            ("FE80::1%1", LINK_LOCAL),
            ("fe90::1", LINK_LOCAL),
            ("fea0::1", LINK_LOCAL),
            ("febf:ffff::1", LINK_LOCAL),
            ("fec0::1", PRIVATE),
            ("feff::1", PRIVATE),
            ("ff02::1", MULTICAST),
            ("ff0e::1", MULTICAST),
            ("100::1", RESERVED),  # to be thrown away
            ("2001:2::1", RESERVED),  # benchmarks
            ("2001:10::1", RESERVED),
            ("2001:db8::1", RESERVED),
            ("3fff:fff::1", RESERVED),
            ("3fff:1000::1", PUBLIC),
            ("5f00::1", RESERVED),
            ("4000::1", RESERVED),
            ("64:ff9b:2::1", RESERVED),
            ("64:ff9b:1:a00:0:100:808:808", PRIVATE),  # whatever its layout hides
            ("1:2:3:4:5:6:7:8", RESERVED),
        ],
    )
    def test_each_network_has_its_kind(self, address: str, expected: Kind) -> None:
        assert kind(address) is expected

    @given(st.one_of(nearby(networks._LONG), longs.map(int)))
    def test_the_smallest_network_around_an_address_decides(self, number: int) -> None:
        address = IPv6Address(number)
        expected = by_the_closest_network(number, networks._LONG)

        assert inside(address) or kind(str(address)) is expected

    @given(st.one_of(nearby(networks._LONG), longs.map(int)))
    def test_what_is_public_to_us_is_public_to_python(self, number: int) -> None:
        address = IPv6Address(number)

        assert inside(address) or kind(str(address)) is not PUBLIC or address.is_global

    @given(longs)
    def test_the_spelling_does_not_matter(self, address: IPv6Address) -> None:
        found = kind(str(address))

        assert kind(address.exploded.upper()) is found
        assert kind(f"{address}%eth0") is found


class TestFormsThatCarryAnother:
    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("::ffff:127.0.0.1", LOOPBACK),
            ("::ffff:7f00:1", LOOPBACK),
            ("::ffff:10.0.0.1", PRIVATE),
            ("::ffff:169.254.169.254", METADATA),
            ("::ffff:93.184.216.34", PUBLIC),
            ("::ffff:0:10.0.0.1", PRIVATE),
            ("::127.0.0.1", LOOPBACK),
            ("::10.0.0.1", PRIVATE),
            ("::2", UNSPECIFIED),
            ("64:ff9b::10.0.0.1", PRIVATE),
            ("64:ff9b::a9fe:a9fe", METADATA),
            ("64:ff9b::93.184.216.34", PUBLIC),
            ("64:ff9b:1::192.168.0.1", PRIVATE),
            ("64:ff9b:1::93.184.216.34", PUBLIC),
            ("2002:7f00:1::1", LOOPBACK),
            ("2002:a00:1::1", PRIVATE),
            ("2002:a9fe:a9fe::", METADATA),
            ("2002:5db8:d822::1", PUBLIC),
            ("2001:0:808:808::f5ff:fffe", PRIVATE),  # the client is 10.0.0.1
            ("2001:0:a00:1::f7f7:f7f7", PRIVATE),  # the server is
            ("2001:0:808:808::f7f7:f7f7", PUBLIC),
        ],
    )
    def test_the_inner_one_decides(self, address: str, expected: Kind) -> None:
        assert kind(address) is expected

    @every_form
    @given(st.one_of(nearby(networks._SHORT), shorts.map(int)))
    def test_each_form_of_an_address_is_of_its_kind(
        self, form: str, number: int
    ) -> None:
        whole = FORMS[form](number)
        expected = kind(str(IPv4Address(number)))

        # The first two compatible ones are no addresses of that form.
        assert whole < 2 or kind(str(IPv6Address(whole))) is expected

    @every_form
    @given(shorts)
    def test_the_inner_one_can_be_had(self, form: str, address: IPv4Address) -> None:
        whole = FORMS[form](int(address))

        assert whole < 2 or address in inside(IPv6Address(whole))


class TestSpellings:
    @pytest.mark.parametrize(
        "host",
        [
            "2130706433",
            "0x7f000001",
            "0X7F.1",
            "017700000001",
            "0177.0.0.1",
            "0x7f.0x0.0x0.0x1",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
        ],
    )
    def test_all_spellings_are_the_same_address(self, host: str) -> None:
        found = literal(urls.host(urls.normalise(f"http://{host}/")))

        assert found == "127.0.0.1"
        assert kind(found) is LOOPBACK

    @given(shorts)
    def test_so_it_is_for_every_address(self, address: IPv4Address) -> None:
        number = int(address)
        a, b, c, d = address.packed
        spellings = [
            str(number),
            hex(number),
            f"0{number:o}",
            f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
            f"{a:#x}.{b:#x}.{c:#x}.{d:#x}",
            f"{a}.{number & 0xFFFFFF}",
            f"{a}.{b}.{number & 0xFFFF}",
        ]
        found = {urls.host(urls.normalise(f"http://{text}/")) for text in spellings}

        assert found == {str(address)}

    @pytest.mark.parametrize(
        ("host", "expected"),
        [
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]", "::1"),
            ("[::ffff:7f00:1]", "::ffff:7f00:1"),
            ("a.example", ""),
            ("a1", ""),
            ("mx:", ""),
            ("", ""),
            ("[]", ""),
            ("0x7f000001", ""),  # of a scheme whose hosts are not normalised
        ],
    )
    def test_a_host_may_spell_out_its_address(self, host: str, expected: str) -> None:
        assert literal(host) == expected


class TestWhoseItIs:
    def test_the_operators_own_are_these(self) -> None:
        own = {found for found in Kind if is_own(found)}

        assert own == {LOOPBACK, PRIVATE, LINK_LOCAL, SHARED, UNSPECIFIED}

    @pytest.mark.parametrize("text", ["", "a.example", "127.1", "1.2.3.4/8", "[::1]"])
    def test_what_is_no_address_is_an_error(self, text: str) -> None:
        with pytest.raises(ValueError, match="not appear"):
            kind(text)

    def test_an_interface_is_left_out(self) -> None:
        assert parse("fe80::1%eth0") == IPv6Address("fe80::1")
