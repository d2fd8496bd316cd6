"""Users sign in, on whichever page wants to know who they are."""

from msgspec import Struct, structs

from splice.auth.issuer.pages import Form, login_page
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.sessions import Sessions, Visitor
from splice.auth.issuer.users import Users
from splice.auth.issuer.web import Answer, Request, redirect


class Visit(Struct, frozen=True):
    """A request for a page: from which browser, and where the forms of the page lead, which is back to it."""

    visitor: Visitor
    here: str
    leads_to: str | None = None
    """Where the page leads in the end, if that is another host."""


class SigningIn:
    """Tells who is in front of the browser, and lets users sign in and out. `server` is its name, for people."""

    def __init__(self, users: Users, sessions: Sessions, server: str) -> None:
        self._users = users
        self._sessions = sessions
        self._server = server

    async def visit(self, request: Request, leads_to: str | None = None) -> Visit:
        """Tell from which browser a request is, and who signed in with it."""
        visitor = await self._sessions.visitor(request)
        if visitor.user is not None and await self._users.mark(visitor.user) != visitor.mark:
            visitor = Visitor(visitor.cookie)  # removed in the meantime, or the password is another one
        here = f"{request.path}?{request.query}" if request.query else request.path
        return Visit(visitor, here, leads_to)

    def form(self, visit: Visit) -> Form:
        """Return what a form of the page needs."""
        token = self._sessions.form_token(visit.visitor, visit.here)
        return Form(token, tuple(self._sessions.headers(visit.visitor)), visit.leads_to)

    def checked(self, visit: Visit, request: Request) -> dict[str, str]:
        """Return the form that was sent, if it is ours. Raises `Refused`."""
        form = request.form()
        self._sessions.check_form(visit.visitor, visit.here, form.get("token", ""))
        return form

    def page(self, visit: Visit, *, wrong: str | None = None, user: str = "", status: int = 200) -> Answer:
        """Ask for name and password."""
        return login_page(self.form(visit), server=self._server, wrong=wrong, user=user, status=status)

    async def answer(self, visit: Visit, form: dict[str, str]) -> Answer | None:
        """Act on a form that signs in or out; None if this one does neither, and a user is there for it."""
        match form.get("answer"):
            case "login":
                return await self._sign_in(visit, form.get("user", ""), form.get("password", ""))
            case "switch":
                await self._sessions.sign_out(visit.visitor)
                return redirect(visit.here)
            case _ if visit.visitor.user is None:
                return self.page(visit)
            case _:
                return None

    async def _sign_in(self, visit: Visit, user: str, password: str) -> Answer:
        try:
            is_right = await self._users.check(user, password)
        except Refused as refused:
            page = self.page(visit, wrong=refused.description, user=user, status=refused.status)
            return structs.replace(page, headers=(*page.headers, *refused.headers))
        if not is_right:
            return self.page(visit, wrong="Name or password is wrong", user=user)
        visitor = await self._sessions.sign_in(visit.visitor, user, await self._users.mark(user))
        return redirect(visit.here, headers=self._sessions.headers(visitor))
