"""The pages of an authorization server: sign in, allow a program, enter a code, and what else is to be told.

They have no scripts and load nothing; no other page may frame them. All text is escaped, and what a client says of
itself stands beside a stitched line, in words that say whose it is.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from splice.auth.issuer.clients import Client, is_loopback
from splice.auth.issuer.web import Answer

STYLE = Path(__file__).with_name("pages.css").read_text(encoding="utf-8")
_STYLE_HASH = b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()

_MARK = "M2.5 6.5h3.8l7.4 7h3.8M2.5 13.5h3.8l2-1.9M11.7 8.4l2-1.9h3.8"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<p class="mark"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="{mark}"/></svg>Splice</p>
<main>
<header><h1>{title}</h1><p>{under}</p></header>
{content}
</main>
</body>
</html>
"""

_FIELD = """<label class="field"><span>{label}</span><input name="{name}" {attributes} required></label>"""

_FORM = """<form method="post">
<input type="hidden" name="token" value="{token}">
<div class="body">{fields}</div>
<div class="foot">{buttons}</div>
</form>"""

_BUTTON = """<button class="btn{kind}" name="answer" value="{value}">{label}</button>"""


class HTML(str):
    """Text that is HTML already."""

    __slots__ = ()


def fill(template: str, **values: str) -> HTML:
    """Put values into a template, escaped unless they are `HTML`."""
    return HTML(template.format(**{key: _escaped(value) for key, value in values.items()}))


def _escaped(value: str) -> str:
    return value if isinstance(value, HTML) else escape(value)


def _joined(parts: Iterable[HTML]) -> HTML:
    return HTML("".join(parts))


def page(
    title: str,
    content: HTML,
    *,
    under: str = "",
    status: int = 200,
    headers: Iterable[tuple[str, str]] = (),
    leads_to: str | None = None,
) -> Answer:
    """Answer with a page. `leads_to` is the address that its form may lead to, through redirects, besides our own."""
    whole = fill(_PAGE, title=title, under=under, mark=_MARK, style=HTML(STYLE), content=content)
    # Browsers check where a form leads after each redirect, too, and a client's page may redirect on: so what is named
    # is how they may go on, not whereto. Nobody can put a form of his own into these pages.
    onward = "" if leads_to is None else " https:" + (" http:" if is_loopback(leads_to) else "")
    policy = (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; img-src data:; form-action 'self'{onward}; "
        "frame-ancestors 'none'; base-uri 'none'"
    )
    always = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
    )
    return Answer(status, whole.encode(), (*always, *headers))


def message_page(title: str, text: str, *, status: int = 200, back: str | None = None) -> Answer:
    """Tell something. `back` is the address of a client, which nobody vouches for: the reader may go on to it."""
    texts = [text if text.endswith(".") else f"{text}."]
    if status >= 400 and back is None:
        texts.append("If a program sent you here, begin anew there. If you began nothing, close this page.")
    paragraphs = _joined(fill("<p>{each}</p>", each=each) for each in texts)
    parts = [fill("""<div class="body">{paragraphs}</div>""", paragraphs=paragraphs)]
    if back is not None:
        template = """<div class="foot"><a class="btn" rel="noreferrer" href="{back}">Go back to {host}</a></div>"""
        parts.append(fill(template, back=back, host=urlsplit(back).hostname or ""))
    return page(title, _joined(parts), status=status)


class Form(Struct, frozen=True):
    """What the forms of a page need: the token against forged ones, headers with the cookie, and where it may lead."""

    token: str
    headers: tuple[tuple[str, str], ...] = ()
    leads_to: str | None = None


def _filled(form: Form, fields: list[HTML], wrong: str | None, *, value: str, label: str) -> HTML:
    """Write a form of fields with one button, below what was wrong the last time."""
    if wrong is not None:
        fields = [fill("""<p class="note bad" role="alert">{wrong}</p>""", wrong=wrong), *fields]
    button = fill(_BUTTON, kind=" primary", value=value, label=label)
    return fill(_FORM, token=form.token, fields=_joined(fields), buttons=button)


def login_page(form: Form, *, server: str, wrong: str | None = None, user: str = "", status: int = 200) -> Answer:
    """Ask for a name and a password. `wrong` says why the last ones were not taken."""
    named = fill("""autocomplete="username" autocapitalize="none" spellcheck="false" value="{user}" """, user=user)
    typed = 'type="password" autocomplete="current-password" maxlength=1000'
    name_focus, password_focus = ("", " autofocus") if user else (" autofocus", "")
    fields = [
        fill(_FIELD, label="Name", name="user", attributes=HTML(f"{named}maxlength=100{name_focus}")),
        fill(_FIELD, label="Password", name="password", attributes=HTML(typed + password_focus)),
    ]
    content = _filled(form, fields, wrong, value="login", label="Sign in")
    return page("Sign in", content, under=f"at {server}", status=status, headers=form.headers, leads_to=form.leads_to)


class Question(Struct, frozen=True):
    """What a user is to decide: whether a client may act for them, and where."""

    client: Client
    user: str
    scopes: tuple[str, ...]
    resource: str | None
    redirect_uri: str | None = None
    """Where the answer goes; None: to a device that shows a code."""
    code: str | None = None
    """The code that the device shows."""
    may_switch: bool = True
    """Whether the user can sign in as somebody else."""
    barred: str | None = None
    """Why nothing of it can be allowed to this user."""


def consent_page(form: Form, question: Question, *, under: str = "Nothing happens until you decide") -> Answer:
    """Ask whether a client may act for the user."""
    client = question.client
    fields = [
        fill("""<p class="theirs" dir="auto"><small>It calls itself</small>{name}</p>""", name=client.name),
        fill("<dl>{rows}</dl>", rows=_joined(_rows(question))),
        *_warnings(question),
    ]
    buttons = [
        fill(_BUTTON, kind="", value="deny", label="Deny"),
        fill(_BUTTON, kind=" primary", value="allow", label="Allow"),
    ]
    if question.barred is not None:
        told = f"{question.barred}. Sign in as somebody else, or ask who runs this server."
        fields.insert(0, fill("""<p class="note bad" role="alert">{told}</p>""", told=told))
        buttons = [fill(_BUTTON, kind="", value="deny", label="Go back without")]
    content = fill(_FORM, token=form.token, fields=_joined(fields), buttons=_joined(buttons))
    title = "Allow this program to act for you?"
    if question.code is not None:
        title = "Allow this device to act for you?"
    return page(title, content, under=under, headers=form.headers, leads_to=form.leads_to)


_IN_WORDS = {"offline_access": "<li>go on while you are away (<code>{scope}</code>)</li>"}
"""Scopes that mean the same everywhere."""

_ROW = "<dt>{name}</dt><dd>{value}</dd>"


def _rows(question: Question) -> Iterable[HTML]:
    client = question.client
    host = HTML("""<span class="host">{host}</span>""")
    if client.origin == "document":
        yield fill(_ROW, name="Known by", value=fill(host, host=urlsplit(client.client_id).netloc))
    elif client.origin == "registered":
        yield fill(_ROW, name="Known by", value="nobody: it registered itself")
    else:
        yield fill(_ROW, name="Known by", value="this server, where it was added by hand")
    if question.redirect_uri is not None:
        leads_to = urlsplit(question.redirect_uri).netloc
        yield fill(_ROW, name="Answer goes to", value=fill(host, host=leads_to))
    if question.code is not None:
        yield fill(_ROW, name="Code", value=fill("""<span class="key">{code}</span>""", code=question.code))
    if question.resource is not None:
        yield fill(_ROW, name="To use", value=fill("<code>{uri}</code>", uri=question.resource))
    scopes = [fill(_IN_WORDS.get(scope, "<li><code>{scope}</code></li>"), scope=scope) for scope in question.scopes]
    listed = fill("<ul>{scopes}</ul>", scopes=_joined(scopes)) if scopes else "what needs no scope"
    yield fill(_ROW, name="It may" if question.barred is None else "It asks for", value=listed)
    if question.may_switch:
        button = HTML("""<button class="link" name="answer" value="switch">Sign in as somebody else</button>""")
        both = fill("""<span class="both"><span>{user}</span>{button}</span>""", user=question.user, button=button)
        yield fill(_ROW, name="You are", value=both)


_WARNING = """<p class="note warn"><b>{loud}</b>{text}</p>"""


def _warnings(question: Question) -> Iterable[HTML]:
    """Say what cannot be known of a client."""
    client = question.client
    if question.code is not None:
        loud = "Did you start this yourself, just now?"
        text = (
            "Allow it only if the device in front of you shows this code. If somebody sent it to you, they would act "
        )
        text += "as you: deny it."
        yield fill(_WARNING, loud=loud, text=text)
    elif all(map(is_loopback, client.redirect_uris)) and client.origin != "operator":
        loud = "This is a program on your own computer."
        text = "Any program there can use this name and get the answer. Allow it only if you have just started it."
        yield fill(_WARNING, loud=loud, text=text)
    elif client.origin == "registered":
        loud = "Nobody has checked this program."
        text = "Allow it only if you know the host that the answer goes to."
        yield fill(_WARNING, loud=loud, text=text)


def code_page(form: Form, *, code: str = "", wrong: str | None = None, status: int = 200) -> Answer:
    """Ask for the code that a device shows."""
    shown = fill("""class="code" autocomplete="off" autocapitalize="characters" value="{code}" """, code=code)
    fields = [fill(_FIELD, label="Code", name="user_code", attributes=HTML(f"{shown}maxlength=20 autofocus"))]
    content = _filled(form, fields, wrong, value="code", label="Continue")
    return page("Connect a device", content, under="Enter the code that it shows", status=status, headers=form.headers)
