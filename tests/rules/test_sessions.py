"""Sessions: what `initialize` opens, and how they end."""

import pytest

from splice.protocol.capabilities import ClientCapabilities, RootsCapability
from splice.protocol.jsonrpc import Notification
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, VERSIONS
from splice.protocol.wire import Implementation
from splice.rules.principal import Principal
from splice.rules.sessions import DEFAULT_LEVEL, NO_CAPABILITIES, Declared, Session

CLIENT = Implementation(name="client", version="2")


def test_a_new_session_has_declared_nothing() -> None:
    session = Session()
    assert (session.declared, session.facts, session.batches, session.ready) == (None, None, False, False)


@pytest.mark.parametrize("version", VERSIONS)
def test_opening_a_session_settles_the_version(version: str) -> None:
    session = Session(id="s", principal=Principal(subject="me"))
    assert session.open(version) is FACTS[version]
    assert session.facts is FACTS[version]
    assert session.batches is FACTS[version].batches
    assert session.declared is not None
    assert (session.declared.capabilities, session.declared.client_info) == (NO_CAPABILITIES, None)
    assert session.declared.log_level == DEFAULT_LEVEL
    assert not session.ready


def test_opening_a_session_keeps_what_the_client_declared() -> None:
    capabilities = ClientCapabilities(roots=RootsCapability())
    session = Session()
    session.open(LATEST_HANDSHAKE, capabilities, CLIENT)
    assert session.declared is not None
    assert session.declared.capabilities is capabilities
    assert session.declared.client_info is CLIENT


def test_a_version_nobody_knows_opens_nothing() -> None:
    session = Session()
    with pytest.raises(KeyError):
        session.open("1999-01-01")
    assert session.declared is None


def test_ending_a_session_lets_go_of_it_once() -> None:
    ended: list[str] = []
    session = Session(ended=lambda _: ended.append("ended"))
    session.end()
    session.end()
    assert ended == ["ended"]
    Session().end()


def test_a_session_without_a_stream_drops_what_it_is_told() -> None:
    Session().push(Notification("n"))


def test_sessions_share_nothing() -> None:
    one, other = Session(), Session()
    one.subscriptions.add("a:")
    assert other.subscriptions == set()
    assert one != Session(id=one.id)


def test_a_client_that_declares_nothing_has_no_capabilities() -> None:
    declared = Declared(facts=FACTS[LATEST_HANDSHAKE])
    assert declared.capabilities == NO_CAPABILITIES
    assert (declared.client_info, declared.log_level) == (None, None)
