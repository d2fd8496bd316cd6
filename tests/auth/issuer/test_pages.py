"""What people see, and what their browsers are told."""

import pytest

from splice.auth.issuer.clients import Client
from splice.auth.issuer.pages import Form, Question, consent_page, fill, login_page, message_page
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.sessions import Sessions, Visitor
from splice.auth.issuer.store import Records
from splice.auth.issuer.web import Answer, Request
from splice.stores.memory import MemoryStore

BACK = "https://app.example/back"
EVIL = "\"'><script>alert(1)</script>&{x}"


def text(answer: Answer) -> str:
    return answer.body.decode()


def header(answer: Answer, name: str) -> str:
    return dict(answer.headers)[name]


def client(**members: object) -> Client:
    given: dict[str, object] = {"client_id": "c", "name": "App", "origin": "registered"}
    return Client(**{**given, "redirect_uris": ("https://app.example/back",), **members})  # type: ignore[arg-type]  # members of several types


def test_whatever_others_wrote_is_text() -> None:
    question = Question(client(name=EVIL), EVIL, (EVIL,), EVIL, f"https://{EVIL}/back", code=EVIL)
    for page in (
        consent_page(Form(EVIL), question),
        login_page(Form(EVIL), server=EVIL, wrong=EVIL, user=EVIL),
        message_page(EVIL, EVIL, back=f"https://app.example/{EVIL}"),
    ):
        assert "<script" not in text(page)
        assert "alert(1)" in text(page)
        assert 'value=""' not in text(page)
    assert fill("<a href='{url}'>", url="'\"<>&") == "<a href='&#x27;&quot;&lt;&gt;&amp;'>"


@pytest.mark.requirement(442, 461)
def test_a_question_says_who_asks_for_what_and_where_the_answer_goes() -> None:
    question = Question(client(), "anna", ("read",), "https://notes.example", "https://app.example:8443/back")
    page = text(consent_page(Form("t"), question))
    for shown in ("App", "app.example:8443", "read", "https://notes.example", "anna", "registered itself"):
        assert shown in page
    assert page.index(">Deny<") < page.index(">Allow<")


@pytest.mark.requirement(442)
@pytest.mark.parametrize(
    ("members", "warning"),
    [
        ({}, "Nobody has checked this program"),
        ({"redirect_uris": ("http://127.0.0.1/",)}, "a program on your own computer"),
        ({"origin": "document", "redirect_uris": ("http://localhost/",)}, "a program on your own computer"),
        ({"origin": "document", "client_id": "https://app.example/c.json"}, None),
        ({"origin": "operator", "redirect_uris": ("http://127.0.0.1/",)}, None),
    ],
)
def test_a_question_warns_of_what_cannot_be_known(members: dict[str, object], warning: str | None) -> None:
    asker = client(**members)
    page = text(consent_page(Form("t"), Question(asker, "anna", (), None, asker.redirect_uris[0])))
    assert (warning is None) is ('class="note warn"' not in page)
    assert warning is None or warning in page


@pytest.mark.parametrize(
    ("leads_to", "policy"),
    [
        (None, "form-action 'self';"),
        ("https://app.example/back", "form-action 'self' https:;"),
        ("http://127.0.0.1:1/back", "form-action 'self' https: http:;"),
    ],
)
def test_a_form_leads_to_us_and_on_as_the_client_needs_it(leads_to: str | None, policy: str) -> None:
    page = login_page(Form("t", (), leads_to), server="s")
    assert policy in header(page, "content-security-policy")


def request(cookie: str | None = None) -> Request:
    return Request("GET", "/", "", {"cookie": (cookie,)} if cookie else {}, b"")


async def test_over_https_a_cookie_is_of_this_host_alone() -> None:
    sessions = Sessions(Records(MemoryStore()), "secret", is_https=True, name="auth")
    visitor = await sessions.visitor(request())
    given = dict(sessions.headers(visitor))["set-cookie"]
    assert given.startswith("__Host-auth=")
    assert given.endswith("; HttpOnly; SameSite=Lax; Path=/; Secure")
    back = await sessions.visitor(request(given.partition(";")[0]))
    assert (back.cookie, back.is_new) == (visitor.cookie, False)
    assert sessions.headers(back) == []
    assert visitor.cookie not in repr(visitor)


@pytest.mark.parametrize("cookie", ["auth=short", "auth=", f"auth={'a' * 43}; auth={'b' * 43}", "other=x", "auth"])
async def test_a_cookie_that_is_none_of_ours_is_replaced(cookie: str) -> None:
    sessions = Sessions(Records(MemoryStore()), "secret", is_https=False, name="auth")
    assert (await sessions.visitor(request(cookie))).is_new


async def test_a_session_ends() -> None:
    now = [0.0]
    sessions = Sessions(Records(MemoryStore()), "secret", is_https=False, name="auth", clock=lambda: now[0])
    visitor = await sessions.sign_in(Visitor("x" * 43), "anna", None)
    cookie = f"auth={visitor.cookie}"
    assert (await sessions.visitor(request(cookie))).user == "anna"
    now[0] += 8 * 3600
    assert (await sessions.visitor(request(cookie))).user is None


def test_the_token_of_a_form_fits_one_form_browser_and_user() -> None:
    sessions = Sessions(Records(MemoryStore()), "secret", is_https=False, name="auth")
    token = sessions.form_token(Visitor("a"), "/x")
    sessions.check_form(Visitor("a"), "/x", token)
    for visitor, form in ((Visitor("b"), "/x"), (Visitor("a"), "/y"), (Visitor("a", user="anna"), "/x")):
        with pytest.raises(Refused):
            sessions.check_form(visitor, form, token)


def test_who_mistyped_a_password_goes_on_there() -> None:
    first, again = text(login_page(Form("t"), server="s")), text(login_page(Form("t"), server="s", user="anna"))
    assert [page.count("autofocus") for page in (first, again)] == [1, 1]
    assert first.index("autofocus") < first.index('type="password"')
    assert again.index("autofocus") > again.index('type="password"')


def test_the_scope_of_a_refresh_token_is_told_in_words() -> None:
    question = Question(client(), "anna", ("read", "offline_access"), None)
    page = text(consent_page(Form("t"), question))
    assert "<li><code>read</code></li><li>go on while you are away (<code>offline_access</code>)</li>" in page


@pytest.mark.parametrize(("status", "back", "is_told"), [(403, None, True), (200, None, False), (400, BACK, False)])
def test_who_gets_stuck_is_told_what_to_do(status: int, back: str | None, is_told: bool) -> None:
    page = text(message_page("This did not work", "Too late", status=status, back=back))
    assert ("begin anew there" in page) is is_told


def test_what_goes_wrong_is_described_in_a_sentence() -> None:
    assert "<p>It is gone.</p>" in text(message_page("Title", "It is gone", status=400))
    assert "<p>Allow it. Twice.</p>" in text(message_page("Title", "Allow it. Twice."))
