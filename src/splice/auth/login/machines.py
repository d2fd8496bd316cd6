"""A program logs in by itself, without a user: client credentials, enterprise-managed authorization, workload identity.

A server names its authorization server. A program that sent its secret or assertion to whichever that is could be
robbed by any server it calls: so all that is sent goes to one issuer. It is the one given as `issuer=`; without that
the first one that is met, and another one is refused from then on.

There are no refresh tokens here: when a token ends, the program asks anew.

https://modelcontextprotocol.io/extensions/auth/oauth-client-credentials
https://modelcontextprotocol.io/extensions/auth/enterprise-managed-authorization
https://www.rfc-editor.org/rfc/rfc7523
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, TypedDict, Unpack

from msgspec.structs import replace

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import scopes_of
from splice.auth.login.discovery import Found, Needed, ServerMetadata, discover
from splice.auth.login.dpop import key_for
from splice.auth.login.kept import Kept, Registration
from splice.auth.login.signing import ALGORITHMS, SigningKey
from splice.auth.login.steps import Flow, Source, Supply
from splice.auth.login.tokens import MAX_TOKEN_CHARACTERS, Assertion, ask, foreign, request_token
from splice.auth.login.urls import is_usable, shown, shown_address
from splice.rules.options import Option, checked, option_table

ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
IDENTITY = "urn:ietf:params:oauth:token-type:id_token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"

MAX_SCOPE_CHARACTERS = 4096
"""Of all scopes together that a server may want."""


def _is_given(key: str | bytes | Path | Mapping[str, Any]) -> bool:
    return isinstance(key, Path) or bool(key)


_KEY = Option((str, bytes, Path, Mapping), "a private key: PEM, a JWK, or the Path of one", _is_given, is_secret=True)
_ADDRESS = Option(str, "a URL: https, or http to this machine", is_usable)


def _are_scopes(texts: Sequence[str]) -> bool:
    return scopes_of(texts) == tuple(texts)


class MachineOptions(TypedDict, total=False):
    """What every program may be told that logs in by itself."""

    issuer: Annotated[str | None, _ADDRESS]
    """The authorization server that is trusted with what is sent. Not given: the first one that a server names."""
    scopes: Annotated[Sequence[str] | None, Option((list, tuple), "a list of scopes", _are_scopes, item=str)]
    """What to ask for, always. Not given: what the server wants."""
    dpop: Annotated[bool, Option(bool, "True or False")]
    """Bind each token to a key (RFC 9449). A server that asks for it gets it anyway."""


class KeyOptions(MachineOptions, total=False):
    """What a program may be told besides that can prove itself by a private key."""

    private_key: Annotated[str | bytes | Path | Mapping[str, Any] | None, _KEY]
    """PEM without a password, a JWK, or the `Path` of a file with one, which is read at once.

    The authorization server has the public key, and nothing that is secret.
    """
    algorithm: Annotated[str, Option(str, f"one of {', '.join(ALGORITHMS)}", ALGORITHMS.__contains__)]
    """The one that the key signs with. Not given: ES256."""


class _Wanted(NamedTuple):
    """A token that is to be asked for."""

    found: Found
    scopes: tuple[str, ...]
    now: float


class _Machine:
    """What all programs have in common. A subclass says by which form it asks for a token."""

    interactive: ClassVar[bool] = False
    needs_id: ClassVar[bool] = True
    known: ClassVar[Mapping[str, Option]] = option_table(KeyOptions)
    """Its options."""

    def __init__(self, client_id: str, secret: str | None, options: Mapping[str, Any]) -> None:
        name = type(self).__name__
        given = checked(name, options, self.known)
        _check(name, client_id=client_id or (None if self.needs_id else "-"))
        if secret is not None:
            _check(name, client_secret=secret)
        key = given.get("private_key")
        if secret is not None and key is not None:
            raise TypeError(f"{name} takes client_secret= or private_key=, not both")
        self.client_id = client_id
        self.scopes: tuple[str, ...] | None = None if "scopes" not in given else tuple(given["scopes"])
        self.dpop: bool = given.get("dpop", False)
        self._secret = secret
        self._key = None if key is None else SigningKey.read(key, given.get("algorithm", "ES256"))
        self._issuer: str | None = given.get("issuer")
        self._met: str | None = None
        """The first issuer that anything was sent to."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(client_id={self.client_id!r})"

    def obtain(self, request: Needed, kept: Kept) -> Flow[Kept]:
        """Get a token for the server that refused a request. Raises `AuthorizationFailed`."""
        trusted = self._trusted(kept)
        found = yield from discover(request.url, request.challenge, issuer=trusted, pkce=False)
        if trusted is None and self._met not in (None, found.issuer):  # by a login that ran meanwhile
            raise foreign(str(self._met), found.issuer)
        self._met = self._met or found.issuer
        scopes = self._scopes_for(request, found, kept)
        registration = self._registration(found.metadata)
        key = key_for(request, found.metadata, is_wanted=self.dpop)
        form = yield from self._form(_Wanted(found, scopes, request.now))
        grant = yield from request_token(
            found.metadata,
            registration,
            form,
            resource=found.resource if found.has_resource_metadata else None,
            asked=scopes,
            now=request.now,
            key=key,
            assertion=self._assertion_for(found.issuer, request.now),
        )
        return Kept(registration=replace(registration, client_secret=None), grant=grant, asked=scopes)

    def _form(self, wanted: _Wanted) -> Flow[dict[str, str]]:
        """Write the fields of the token request, without those that prove who the client is."""
        raise NotImplementedError

    def _trusted(self, kept: Kept) -> str | None:
        """Tell which issuer may be sent something; None: the one that is met now."""
        if self._issuer is not None:
            return self._issuer
        registration = kept.registration
        is_known = registration is not None and registration.client_id == self.client_id
        return registration.issuer if registration is not None and is_known else self._met

    def _scopes_for(self, request: Needed, found: Found, kept: Kept) -> tuple[str, ...]:
        """Choose the scopes: those given; else what the server wants and what was asked for before."""
        wanted = () if request.challenge is None else request.challenge.scopes
        if request.status == 403:
            asked = kept.asked if self.scopes is None else self.scopes
            missing = " ".join(each for each in wanted if each not in asked)
            if not missing or self.scopes is not None:
                does = (
                    f"wants the scope {shown(missing)}: add it to scopes=" if missing else "names no scope to ask for"
                )
                message = f"{shown_address(request.url)} forbids this to {self.client_id!a} (403), and {does}"
                raise AuthorizationFailed(message, code="insufficient_scope")
        if self.scopes is not None:
            return self.scopes
        scopes = scopes_of([*kept.asked, *(wanted or found.scopes_supported or ())])
        if len(" ".join(scopes)) > MAX_SCOPE_CHARACTERS:
            raise AuthorizationFailed(f"{shown_address(request.url)} wants too many scopes: choose some by scopes=")
        return scopes

    def _assertion_for(self, issuer: str, now: float) -> Assertion | None:
        return None if self._key is None else partial(self._key.client_assertion, self.client_id, issuer, now)

    def _registration(self, metadata: ServerMetadata) -> Registration:
        """Choose how the client proves itself: as the authorization server can check it."""
        methods = metadata.token_endpoint_auth_methods_supported or ()
        if self._key is not None:
            method = "private_key_jwt"
        elif self._secret is None:
            method = "none"
        elif "client_secret_post" in methods and "client_secret_basic" not in methods:
            method = "client_secret_post"
        else:
            method = "client_secret_basic"
        return Registration(issuer=metadata.issuer, client_id=self.client_id, client_secret=self._secret, method=method)


class ClientCredentials(_Machine):
    """A program with an account of its own: a client id, and a secret or, better, a private key.

    `KeyOptions` and `MachineOptions` say what else it takes. Raises `TypeError` and `ValueError` for what cannot be
    meant; no message shows secret or key.
    """

    def __init__(self, client_id: str, client_secret: str | None = None, **options: Unpack[KeyOptions]) -> None:
        super().__init__(client_id, client_secret, options)
        if self._secret is None and self._key is None:
            raise TypeError("ClientCredentials takes client_secret= or private_key=")

    def _form(self, wanted: _Wanted) -> Flow[dict[str, str]]:
        yield from ()
        return _scoped({"grant_type": "client_credentials"}, wanted.scopes)


class EnterpriseManaged(_Machine):
    """A program for an employee who is logged in at the company's identity provider, which decides what is allowed.

    The provider exchanges the user's ID token for an assertion made out to one authorization server (ID-JAG), and that
    issues a token for it: the user sees nothing of it. `id_token` is that of the user: the text, a `Path`, or a
    function, async or not, that gives a fresh one each time.
    """

    def __init__(
        self,
        client_id: str,
        client_secret: str | None = None,
        *,
        id_token: Source,
        idp_token_endpoint: str,
        idp_client_id: str,
        idp_client_secret: str | None = None,
        **options: Unpack[KeyOptions],
    ) -> None:
        super().__init__(client_id, client_secret, options)
        _check("EnterpriseManaged", idp_token_endpoint=idp_token_endpoint, idp_client_id=idp_client_id)
        if idp_client_secret is not None:
            _check("EnterpriseManaged", idp_client_secret=idp_client_secret)
        if not is_usable(idp_token_endpoint):
            raise ValueError("idp_token_endpoint= of EnterpriseManaged takes a URL: https, or http to this machine")
        self._id_token, self._provider_url = id_token, idp_token_endpoint
        self._provider = Registration(
            issuer=idp_token_endpoint,
            client_id=idp_client_id,
            client_secret=idp_client_secret,
            method="none" if idp_client_secret is None else "client_secret_post",
        )

    def _form(self, wanted: _Wanted) -> Flow[dict[str, str]]:
        id_token: str = yield Supply(self._id_token, "the ID token of the user (id_token=)")
        form = {
            "grant_type": EXCHANGE,
            "requested_token_type": ID_JAG,
            "audience": wanted.found.issuer,
            "resource": wanted.found.resource,
            "subject_token": id_token,
            "subject_token_type": IDENTITY,
        }
        members = yield from ask(self._provider_url, self._provider, _scoped(form, wanted.scopes), now=wanted.now)
        assertion, kind = members.get("access_token"), members.get("issued_token_type", ID_JAG)
        if kind != ID_JAG or not isinstance(assertion, str) or not 0 < len(assertion) <= MAX_TOKEN_CHARACTERS:
            where, issuer = shown_address(self._provider_url), shown(wanted.found.issuer)
            raise AuthorizationFailed(
                f"{where} gave no assertion for {issuer} (ID-JAG): it must be told to allow this program there"
            )
        return {"grant_type": JWT_BEARER, "assertion": assertion}


class WorkloadIdentity(_Machine):
    """A program that its platform vouches for: Kubernetes, a cloud, a CI runner. It has no secret of its own.

    `assertion` is the JWT of the platform: a `Path`, read anew each time; a function, async or not; or the text.
    Scopes are asked for only if they are given. A refusal is final: there is no second attempt.
    """

    needs_id = False
    known = option_table(MachineOptions)

    def __init__(self, client_id: str = "", *, assertion: Source, **options: Unpack[MachineOptions]) -> None:
        super().__init__(client_id, None, options)
        self.scopes = self.scopes or ()
        self._assertion = assertion

    def _form(self, wanted: _Wanted) -> Flow[dict[str, str]]:
        assertion: str = yield Supply(self._assertion, "the assertion of the platform (assertion=)")
        return _scoped({"grant_type": JWT_BEARER, "assertion": assertion}, wanted.scopes)


def _check(name: str, **texts: object) -> None:
    """Raise `TypeError` for what is not a text, or an empty one. The message does not show it."""
    for each, value in texts.items():
        if not isinstance(value, str) or not value:
            raise TypeError(f"{each}= of {name} takes a text that is not empty")


def _scoped(form: dict[str, str], scopes: tuple[str, ...]) -> dict[str, str]:
    return {**form, "scope": " ".join(scopes)} if scopes else form
