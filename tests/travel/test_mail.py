"""Mail of the travel example, to real mail servers: kind ones, those that refuse, hang up, or take their time."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session
from examples.travel.mail import MAX_BODY, MAX_RECIPIENTS, MailServer, recipients
from examples.travel.office import make
from examples.travel.sink import kept, mail_sink, serving

from splice import Client
from splice.types import CallToolResult

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MAIL = {"to": "team@work.com", "subject": "Out of Office", "body": "Back on Monday.\n.\nHasta la vista — ¡adiós!"}
AWAY = {"startDate": "2027-06-15", "endDate": "2027-06-22", "message": "In Barcelona."}


@asynccontextmanager
async def office(folder: Path, port: int, seconds: float = 10.0) -> AsyncIterator[Client]:
    server = make(folder, mail=MailServer(port=port, seconds=seconds), now=lambda: NOW)
    async with Client(server) as client:
        yield client
    await server.service.close()


async def sent(client: Client, **mail: str) -> CallToolResult:
    return await client.call_tool("sendEmail", {**MAIL, **mail})


@asynccontextmanager
async def odd_server(
    talk: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[Any]],
) -> AsyncIterator[int]:
    """Serve a mail server that is none of the kind ones."""
    talks: list[asyncio.Task[None] | None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        talks.append(asyncio.current_task())
        with suppress(ConnectionError):
            await talk(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        async with asyncio.timeout(10):
            await asyncio.gather(*filter(None, talks))


async def test_a_mail_lies_in_the_sink(tmp_path: Path) -> None:
    async with mail_sink(tmp_path / "mails") as port, office(tmp_path, port) as client:
        result = (await sent(client, to="team@work.com, ann@example.com,team@work.com")).structured_content
        assert (result["sentTo"], result["refused"]) == (["team@work.com", "ann@example.com"], {})
        away = await client.call_tool("setOutOfOffice", {**AWAY, "notify": "team@work.com"})
        assert away.structured_content == AWAY
        text = (await client.read_resource("calendar://out-of-office")).contents[0].text
        assert text is not None
        assert json.loads(text) == AWAY
        tools = {tool.name: tool.annotations for tool in await client.list_tools()}
        for name in ("sendEmail", "setOutOfOffice"):
            assert (hints := tools[name]) is not None
            assert (hints.destructive_hint, hints.open_world_hint, hints.idempotent_hint) == (True, True, False)
    mail, notice = kept(tmp_path / "mails")
    assert mail["X-Envelope-To"] == "team@work.com"
    assert (mail["To"], mail["Subject"]) == ("team@work.com, ann@example.com", "Out of Office")
    assert mail["Message-ID"] == result["messageId"]
    assert mail.get_content().splitlines() == MAIL["body"].splitlines()
    assert notice["Subject"] == "Out of office from 2027-06-15 to 2027-06-22"
    assert notice["Auto-Submitted"] == "auto-generated"


@pytest.mark.parametrize(
    ("mail", "said"),
    [
        ({"subject": "Hi\r\nBcc: everybody@example.com"}, "one line"),
        ({"subject": "Hi\nX: y"}, "one line"),
        ({"subject": "Hi\u2028X"}, "one line"),
        ({"subject": "Hi\x85X"}, "one line"),
        ({"subject": "=?utf-8?q?=0D=0ABcc=3A_x=40example.com?="}, "encoded"),
        ({"subject": " "}, "1 to 200 characters"),
        ({"subject": "x" * 201}, "1 to 200 characters"),
        ({"body": "a\x00b"}, "control characters"),
        ({"body": "x" * (MAX_BODY + 1)}, f"at most {MAX_BODY}"),
        ({"to": ""}, "is not a mail address"),
        ({"to": "ann"}, "is not a mail address"),
        ({"to": "ann@example.com\nBcc: x@example.com"}, r"'ann@example.com\\nBcc"),
        ({"to": "ann@example.com>\r\nRCPT TO:<x@example.com"}, "is not a mail address"),
        ({"to": "Ann <ann@example.com>"}, "is not a mail address"),
        ({"to": "ann@example..com"}, "is not a mail address"),
        ({"to": "ann@bücher.example"}, "is not a mail address"),
        ({"to": f"{'a' * 65}@example.com"}, "is not a mail address"),
        ({"to": ",".join(f"a{n}@example.com" for n in range(MAX_RECIPIENTS + 1))}, f"at most {MAX_RECIPIENTS}"),
    ],
)
async def test_what_would_be_more_than_a_mail_is_refused(tmp_path: Path, mail: dict[str, str], said: str) -> None:
    async with mail_sink(tmp_path / "mails") as port, office(tmp_path, port) as client:
        result = await sent(client, **mail)
        assert result.is_error
        assert said.replace("\\\\", "\\") in result.text
        assert result.text.endswith("Nothing was sent.")
    assert kept(tmp_path / "mails") == []


@pytest.mark.timeout(20)  # what goes back takes hours
def test_addresses_are_read_in_no_time() -> None:
    for text in ("a" * 200_000, "a@" + "a." * 100_000, "@" * 200_000, "a@" + "-" * 200_000):
        with pytest.raises(ValueError, match="is not a mail address"):
            recipients(text)


class Picky:
    """Takes mail for some people only."""

    async def handle_RCPT(self, _: SMTP, _session: Session, envelope: Envelope, address: str, _options: Any) -> str:
        if address.startswith("no"):
            return "550 5.1.1 nobody \x1b[31mhere"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _: SMTP, _session: Session, envelope: Envelope) -> str:
        return "554 we do not like it" if b"Subject: spam" in (envelope.content or b"") else "250 OK"


async def test_who_is_refused_is_told(tmp_path: Path) -> None:
    async with serving(Picky()) as port, office(tmp_path, port) as client:
        some = (await sent(client, to="no@example.com, ann@example.com")).structured_content
        assert some["sentTo"] == ["ann@example.com"]
        assert some["refused"]["no@example.com"].startswith("550 5.1.1 nobody")
        assert "\x1b" not in some["refused"]["no@example.com"]
        none = await sent(client, to="no@example.com, noone@example.com")
        assert none.is_error
        assert "refused every recipient, so nothing was sent: no@example.com (550" in none.text
        unloved = await sent(client, subject="spam")
        assert unloved.is_error
        assert "554 we do not like it. Nothing was sent." in unloved.text


async def test_a_mail_server_that_is_not_there(tmp_path: Path) -> None:
    async with odd_server(lambda _reader, _writer: asyncio.sleep(0)) as port:
        pass
    async with office(tmp_path, port) as client:
        result = await sent(client)
        assert f"127.0.0.1:{port} does not answer" in result.text
        assert result.text.endswith("Nothing was sent.")
        away = await client.call_tool("setOutOfOffice", {**AWAY, "notify": "team@work.com"})
        assert away.is_error
        assert (await client.read_resource("calendar://out-of-office")).contents[0].text == "null", (
            "half of it is nothing"
        )


@pytest.mark.parametrize(("replies", "fate"), [(2, "Nothing was sent."), (5, "The mail may have been sent")])
async def test_a_mail_server_that_hangs_up(tmp_path: Path, replies: int, fate: str) -> None:
    """A connection lost before the text was given is one thing; after it nobody knows."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for reply in [b"220 hello", b"250 hello", b"250 ok", b"250 ok", b"354 go on"][:replies]:
            writer.write(reply + b"\r\n")
            await reader.readline()

    async with odd_server(talk) as port, office(tmp_path, port) as client:
        result = await sent(client)
        assert result.is_error
        assert fate in result.text


async def test_a_mail_server_has_so_many_seconds_and_no_more(tmp_path: Path) -> None:
    """Each byte comes in time, the greeting never."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _number in range(100):
            writer.write(b"2")
            await writer.drain()
            await asyncio.sleep(0.05)

    async with odd_server(talk) as port, office(tmp_path, port, seconds=0.3) as client:
        result = await sent(client)
        assert result.is_error
        assert "took too long. Nothing was sent." in result.text


async def test_a_mail_server_without_tls_gets_no_password(tmp_path: Path) -> None:
    mail = MailServer(user="ann", password="a secret", security="starttls")
    assert "a secret" not in repr(mail)
    heard: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 hello\r\n")
        while line := await reader.readline():
            heard.append(line)
            writer.write(b"250 hello\r\n")

    async with odd_server(talk) as port:
        server = make(tmp_path, mail=MailServer(port=port, user="ann", password="a secret", security="starttls"))
        async with Client(server) as client:
            assert "Nothing was sent." in (await sent(client)).text
        await server.service.close()
    assert [line[:4] for line in heard] == [b"ehlo"]
