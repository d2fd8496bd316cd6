"""Mail: an address is an address, a header is one line, and a mail server has some seconds and no more.

By default mail goes to port 8025 of this machine, where `sink.py` keeps it. Any other server is a matter of settings.
"""

import re
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid
from threading import Timer
from typing import Literal

MAX_RECIPIENTS = 20
"""How many people one mail goes to."""

MAX_SUBJECT = 200
"""Characters of a subject."""

MAX_BODY = 100_000
"""Characters of a text."""

_ADDRESS = re.compile(
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_CONTROL_IN_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

Security = Literal["none", "starttls", "tls"]


class MailError(Exception):
    """A mail was not sent, or may not have been. The message is for a model."""


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail goes, and in whose name. Raises `ValueError` for settings that give a password away."""

    host: str = "127.0.0.1"
    port: int = 8025
    sender: str = "traveller@example.com"
    user: str = ""
    password: str = field(default="", repr=False)
    security: Security = "none"
    seconds: float = 10.0

    def __post_init__(self) -> None:
        if self.security not in {"none", "starttls", "tls"}:
            raise ValueError(f"the security of a mail server is none, starttls or tls, not {self.security!r}")
        if self.user and self.security == "none":
            raise ValueError("a password goes to a mail server over TLS only: say starttls or tls")
        if not _ADDRESS.fullmatch(self.sender):
            raise ValueError(f"{self.sender!r} is not a mail address")

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.host}:{self.port}"

    def send(self, message: EmailMessage, to: list[str]) -> dict[str, str]:
        """Send a mail; tell who was refused, and why. Raises `MailError`. Takes `seconds` at most."""
        given = False
        try:
            with self._connected() as smtp:
                smtp.ehlo_or_helo_if_needed()
                if self.security == "starttls":
                    smtp.starttls(context=ssl.create_default_context())
                if self.user:
                    smtp.login(self.user, self.password)
                _must(smtp.mail(self.sender), "does not take mail of this sender")
                replies = {each: smtp.rcpt(each) for each in to}
                refused = {each: _said(*reply) for each, reply in replies.items() if reply[0] not in {250, 251}}
                if len(refused) == len(to):
                    raise MailError(f"{self.name} refused every recipient, so nothing was sent: {_listed(refused)}")
                given = True
                _must(smtp.data(message.as_bytes(policy=SMTP)), "did not take the mail")
                with suppress(smtplib.SMTPException, OSError):
                    smtp.quit()  # it has the mail, whatever becomes of the connection
                return refused
        except smtplib.SMTPResponseException as error:
            raise MailError(f"{self.name}: {_said(error.smtp_code, error.smtp_error)}. Nothing was sent.") from error
        except (smtplib.SMTPException, OSError) as error:
            fate = "The mail may have been sent: ask before you send it again." if given else "Nothing was sent."
            raise MailError(f"The mail server {self.name} {_trouble(error)}. {fate}") from error

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """Connect, and hang up when the time is over, whatever the server does meanwhile."""
        smtp = (Encrypted if self.security == "tls" else Plain)(self)
        timer = Timer(self.seconds, _hang_up, (smtp,))
        timer.daemon = True
        timer.start()
        try:
            _must(smtp.connect(self.host, self.port), "does not want to talk")
            yield smtp
        finally:
            timer.cancel()
            smtp.close()


class Plain(smtplib.SMTP):
    """A connection that is there to be hung up before it is made; `starttls` is told whose certificate to expect."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=server.seconds)
        self._host = server.host


class Encrypted(smtplib.SMTP_SSL):
    """The same, over TLS from its beginning."""

    def __init__(self, server: MailServer) -> None:
        super().__init__(timeout=server.seconds, context=ssl.create_default_context())
        self._host = server.host


def recipients(text: str) -> list[str]:
    """Read mail addresses, with commas between them. Raises `ValueError` with words for a model."""
    found = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for each in found:
        if len(each) > 254 or len(each.partition("@")[0]) > 64 or not _ADDRESS.fullmatch(each):
            raise ValueError(f"{each[:80]!a} is not a mail address such as ann@example.com; put commas between several")
    if len(found) > MAX_RECIPIENTS:
        raise ValueError(f"A mail goes to at most {MAX_RECIPIENTS} people, not to {len(found)}")
    return found


def written(server: MailServer, to: list[str], subject: str, body: str, now: datetime) -> EmailMessage:
    """Write a mail. Raises `ValueError` with words for a model."""
    if not subject.strip() or len(subject) > MAX_SUBJECT:
        raise ValueError(f"The subject has 1 to {MAX_SUBJECT} characters")
    if _CONTROL.search(subject):
        raise ValueError("The subject is one line, without control characters")
    if "=?" in subject:  # an encoded word may hide a line end, which the email package of older Pythons writes as one
        raise ValueError("The subject has =? in it, with which mail begins what is encoded; leave that out")
    if len(body) > MAX_BODY:
        raise ValueError(f"The text has at most {MAX_BODY} characters, not {len(body)}")
    if _CONTROL_IN_TEXT.search(body):
        raise ValueError("The text has control characters in it")
    message = EmailMessage(SMTP)
    message["From"] = server.sender
    message["To"] = ", ".join(to)
    message["Subject"] = subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = make_msgid(domain=server.sender.partition("@")[2])
    message.set_content(body)
    return message


def _must(reply: tuple[int, bytes], otherwise: str) -> None:
    if not 200 <= reply[0] < 400:
        raise MailError(f"The mail server {otherwise}: {_said(*reply)}. Nothing was sent.")


def _said(code: int, text: bytes | str) -> str:
    """Tell a reply of a mail server, which is a stranger's text."""
    shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return f"{code} {ascii(shown)[1:-1][:200]}"


def _listed(refused: dict[str, str]) -> str:
    return "; ".join(f"{address} ({why})" for address, why in refused.items())


def _trouble(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "does not answer, so perhaps it does not run"
    if isinstance(error, TimeoutError):
        return "took too long"
    if isinstance(error, smtplib.SMTPServerDisconnected):
        return "hung up, or took too long"
    return f"cannot be talked to ({type(error).__name__})"


def _hang_up(smtp: smtplib.SMTP) -> None:
    with suppress(OSError, AttributeError):
        if smtp.sock is not None:
            smtp.sock.shutdown(socket.SHUT_RDWR)
