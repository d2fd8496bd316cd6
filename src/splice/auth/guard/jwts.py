"""Access tokens that are JWTs: checked here, by the keys of their issuer.

    JWTVerifier(issuer="https://login.example", audience="https://shop.example/mcp")

https://www.rfc-editor.org/rfc/rfc9068
https://www.rfc-editor.org/rfc/rfc8725
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import time
from typing import Annotated, Any, TypedDict, Unpack, cast

from splice.auth.fetcher import Fetcher
from splice.auth.guard.claims import audiences, number, texts, words
from splice.auth.guard.published import (
    KEEP_SECONDS,
    ChangingKeys,
    GetsKeys,
    GivenKeys,
    KeysOfFunction,
    PublishedKeys,
)
from splice.auth.guard.refused import Refusals
from splice.auth.guard.remembered import Remembered
from splice.auth.publickeys import ALGORITHMS, GivenKeysOrOne
from splice.auth.signed import Refused, claims_by, header_of
from splice.rules.options import Option, checked, option_table
from splice.rules.principal import Principal

LEEWAY_SECONDS = 60
"""How far the clock of an issuer may be from ours."""

TYPES = (None, "jwt", "at+jwt", "application/at+jwt")
"""What a token may say that it is. Others, such as logout tokens and DPoP proofs, give no access."""

SCOPE_CLAIMS = ("scope", "scp", "permissions")
MAX_KEYS_TRIED = 8

_URL = Option(str, "a URL such as 'https://login.example/jwks.json'")
_KEYS = Option(
    (list, tuple, Mapping, str, bytes, Callable),
    "a public key as JWK, JWK set or PEM, a list of such, or a function that returns them",
    lambda keys: callable(keys) or len(keys),
)


class JWTOptions(TypedDict, total=False):
    """How tokens are checked, where it differs from the default."""

    keys: Annotated[GivenKeysOrOne | GetsKeys, _KEYS]
    """The public keys, instead of those that the issuer publishes; or a function that returns them, `async def` or not.

    It is called for the first token, then each hour, and for a token whose key is unknown, once a minute at the most.
    """
    jwks_url: Annotated[str, _URL]
    """Where it publishes them; by default its metadata say so."""
    algorithms: Annotated[
        Sequence[str],
        Option((list, tuple), f"a list of {', '.join(sorted(ALGORITHMS))}", lambda names: set(names) <= ALGORITHMS),
    ]
    """Those that are taken: by default all that public keys have. `none` and shared secrets are never taken."""
    leeway: Annotated[float, Option((int, float), "seconds, 0 to 600", lambda seconds: 0 <= seconds <= 600)]
    """How far the clock of the issuer may be from ours; 60 by default."""
    scope_claims: Annotated[Sequence[str], Option((list, tuple), "a list of names of claims", item=str)]
    """Where scopes are: text with blanks between them, or a list."""
    fetcher: Annotated[Fetcher, Option(Fetcher, "a Fetcher")]
    """Reads keys and metadata."""


_OPTIONS = option_table(JWTOptions)


class JWTVerifier:
    """Checks JWTs of one issuer that are meant for one of `audience`, and remembers them for an hour at most.

    `audience` is what tokens name in `aud`: the public URL of the endpoint, or what the issuer calls it. Raises
    `TypeError` and `ValueError` for options that make no sense.
    """

    def __init__(self, issuer: str, audience: str | Sequence[str], **options: Unpack[JWTOptions]) -> None:
        given = checked("JWTVerifier", options, _OPTIONS)
        self._audience = audiences("JWTVerifier", audience)
        if not issuer:
            raise ValueError("JWTVerifier needs an issuer: whose tokens are taken")
        self.issuers = (issuer,)
        """Who issues the tokens."""
        keys: Any = given.get("keys")
        self._keys: GivenKeys | ChangingKeys
        if keys is not None:
            self._keys = KeysOfFunction(issuer, cast("GetsKeys", keys)) if callable(keys) else GivenKeys(keys)
        else:
            self._keys = PublishedKeys(issuer, given.get("jwks_url"), given.get("fetcher"))
        self._algorithms = frozenset(given.get("algorithms", ALGORITHMS))
        self._leeway: float = given.get("leeway", LEEWAY_SECONDS)
        self._scope_claims: Iterable[str] = given.get("scope_claims", SCOPE_CLAIMS)
        self._refusals = Refusals()
        self._remembered = Remembered(KEEP_SECONDS)  # no longer than keys: one that its issuer withdrew ends its tokens

    async def verify(self, token: str) -> Principal | None:
        """Tell who a token stands for; why it is none is logged. Raises `Unavailable` when its keys cannot be read."""
        principal = self._remembered.get(token)
        if principal is None:
            try:
                principal = self._principal(await self._claims(token))
            except Refused as refused:
                self._refusals.tell(refused)
                return None
            self._remembered.add(token, principal)
        return principal

    async def _claims(self, token: str) -> dict[str, Any]:
        """Check the signature. Raises `Refused`."""
        header = header_of(token)
        algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise Refused("its algorithm %.40a is not taken", algorithm)
        if (kind.lower() if isinstance(kind, str) else kind) not in TYPES:
            raise Refused("it is no access token: its typ is %.40a", kind)
        keys = await self._keys.find(kid if isinstance(kid, str) else None, algorithm)
        claims = claims_by(keys[:MAX_KEYS_TRIED], token, algorithm)
        if claims is None:
            if not keys:
                raise Refused("its key %.80a is not known", kid)
            raise Refused("its signature is none of its issuer")
        return claims

    def _principal(self, claims: dict[str, Any]) -> Principal:
        """Check the claims. Raises `Refused`."""
        now, (issuer,) = time(), self.issuers
        if claims.get("iss") != issuer:
            raise Refused("it is of %.100a, not of %s", claims.get("iss"), issuer)
        audience = claims.get("aud")
        if self._audience.isdisjoint(texts(audience)):
            raise Refused("it is for %.100a, not for %s", audience, " or ".join(sorted(self._audience)))
        expires = _moment(claims, "exp")
        if expires is None or now >= expires + self._leeway:
            raise Refused("it has expired" if expires is not None else "it has no exp: it would be good for ever")
        if any((_moment(claims, name) or 0) > now + self._leeway for name in ("nbf", "iat")):
            raise Refused("it is of the future")
        client = next((claims[name] for name in ("client_id", "azp", "cid") if isinstance(claims.get(name), str)), "")
        subject = claims.get("sub", client)
        if not isinstance(subject, str) or not subject:
            raise Refused("it names nobody: sub is missing")
        scopes = frozenset(scope for name in self._scope_claims for scope in words(claims.get(name)))
        return Principal(
            subject=subject,
            issuer=issuer,
            client=client,
            scopes=scopes,
            expires=expires + self._leeway,
            claims=claims,
        )


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    """Read a time. Raises `Refused` for what is none."""
    value = claims.get(name)
    if value is None:
        return None
    moment = number(value)
    if moment is None:
        raise Refused("its %s is no time", name)
    return moment
