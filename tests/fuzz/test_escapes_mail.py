"""Mails that a model writes: they have the headers, recipients and text they were given, or are refused.

https://www.rfc-editor.org/rfc/rfc5322
"""

import re
from datetime import UTC, datetime
from email import message_from_bytes
from email.policy import SMTP, default

from examples.travel.mail import MAX_RECIPIENTS, MailServer, recipients, written
from hypothesis import strategies as st

from fuzz.fuzzing import fuzz

SERVER = MailServer()
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HEADERS = {"From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
PIECES = [
    *("\r\n", "\n", "\r", "\r\n\r\n", "\n.\n", "\r\n.\r\n", ".", "\x00", "\x0b", "\x0c", "\x85", "\u2028", "\ud800"),
    *(
        "Bcc: x@example.com",
        "ann@example.com",
        "bob@example.com",
        ",",
        "<",
        ">",
        '"',
        "@",
        "(",
        ")",
        ":",
        ";",
        " ",
        "\t",
    ),
    *("=?utf-8?q?=0D=0ABcc=3A_x?=", "=?utf-8?b?DQo=?=", "é", "\u202e", "RCPT TO:<x@example.com>", "a" * 80, "-"),
]
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=6).map("".join)


def lines(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text.rstrip("\r\n"))


@fuzz(to=texts | st.just("ann@example.com, bob@example.com"), subject=texts, body=texts)
def test_a_mail_is_what_it_was_to_be(to: str, subject: str, body: str) -> None:
    try:
        addresses = recipients(to)
        message = written(SERVER, addresses, subject, body, NOW)
    except ValueError:
        return
    assert 1 <= len(addresses) <= MAX_RECIPIENTS
    assert all(re.fullmatch(r"[!-~]+@[A-Za-z0-9.-]+", each) for each in addresses)
    sent = message.as_bytes(policy=SMTP)
    assert re.search(rb"(?<!\r)\n|\r(?!\n)", sent) is None, "a lone line end is one too many for some mail servers"
    read = message_from_bytes(sent, policy=default)
    assert set(read.keys()) == HEADERS
    assert len(read.keys()) == len(HEADERS)
    assert read["To"] == ", ".join(addresses)
    assert lines(read.get_content()) == lines(body)
    assert not read.defects
