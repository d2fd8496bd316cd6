"""A key that tokens are bound to: each proof is signed anew, and says what it is for."""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from functools import cache

import pytest
from joserfc import jwk
from joserfc import jwt as jose

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.dpop import DPoPKey
from splice.auth.login.signing import ALGORITHMS, SigningKey
from support.flows import jwt

NOW = 1_800_000_000.7


@cache
def rsa() -> SigningKey:
    return SigningKey.make("RS256")


ROW = [name for name in ALGORITHMS if not name.startswith(("RS", "PS"))]


@pytest.mark.parametrize("algorithm", ROW)
def test_a_proof_can_be_checked_with_the_key_in_it(algorithm: str) -> None:
    key = DPoPKey.make(algorithm)
    proof = key.proof("POST", "https://as.example/token", NOW)
    header, claims = jwt(proof)
    public = jwk.import_key(header["jwk"])
    assert jose.decode(proof, public, algorithms=[algorithm]).claims == claims
    assert not public.is_private
    assert header == {"typ": "dpop+jwt", "alg": algorithm, "jwk": header["jwk"]}
    assert claims == {"jti": claims["jti"], "htm": "POST", "htu": "https://as.example/token", "iat": int(NOW)}
    assert public.thumbprint() == key.thumbprint


def test_a_proof_is_for_one_request_to_one_place() -> None:
    key = DPoPKey.make()
    url = "https://as.example/token?tenant=a#top"
    proofs = [jwt(key.proof("GET", url, NOW, access_token="abc", nonce="n1"))[1] for _ in range(2)]
    digest = urlsafe_b64encode(hashlib.sha256(b"abc").digest()).rstrip(b"=").decode()
    assert [(each["htu"], each["htm"]) for each in proofs] == [("https://as.example/token", "GET")] * 2
    assert [(each["ath"], each["nonce"]) for each in proofs] == [(digest, "n1")] * 2
    assert proofs[0]["jti"] != proofs[1]["jti"]
    assert len(proofs[0]["jti"]) >= 16


@pytest.mark.parametrize("algorithm", ["ES256", "Ed25519"])
def test_a_key_is_kept_and_loaded(algorithm: str) -> None:
    key = DPoPKey.make(algorithm)
    again = DPoPKey.load(key.dump())
    assert (again.algorithm, again.public, again.thumbprint) == (algorithm, key.public, key.thumbprint)
    assert jwt(again.proof("GET", "https://a.example/", NOW))[0]["alg"] == algorithm


def test_no_text_shows_the_private_key() -> None:
    key = DPoPKey.make()
    private = json.loads(key.dump())["d"]
    assert repr(key) == "DPoPKey(algorithm='ES256')"
    assert private not in json.dumps(key.public)
    with pytest.raises(AuthorizationFailed) as caught:
        DPoPKey.load(key.dump().replace("ES256", "ES384"))
    assert private not in str(caught.value)
    assert caught.value.__suppress_context__
    assert private not in str(caught.value.__context__)


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "{}", '{"kty":"EC"}', '{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"c"}']
)
def test_what_is_not_a_key_is_refused(text: str) -> None:
    with pytest.raises(AuthorizationFailed, match="is lost: log in again"):
        DPoPKey.load(text)


def test_a_public_key_does_not_sign() -> None:
    with pytest.raises(ValueError, match="the private key is not one for ES256"):
        SigningKey.read(SigningKey.make().public)


@pytest.mark.parametrize("algorithm", ["none", "HS256", "ES256K", "RSA1_5", "", "es256"])
def test_only_algorithms_with_a_private_key_are_known(algorithm: str) -> None:
    with pytest.raises(ValueError, match="is not an algorithm that signs with a private key"):
        SigningKey.make(algorithm)


@pytest.mark.parametrize(
    ("made", "algorithm"),
    [
        (lambda: SigningKey.make("ES256"), "ES384"),
        (lambda: SigningKey.make("Ed25519"), "ES256"),
        (rsa, "ES256"),
        (SigningKey.make, "RS256"),
    ],
    ids=["curve", "okp-for-ec", "rsa-for-ec", "ec-for-rsa"],
)
def test_a_key_must_suit_its_algorithm(made: Callable[[], SigningKey], algorithm: str) -> None:
    pem = made()._key.as_pem(private=True)
    with pytest.raises(ValueError, match=f"not one for {algorithm}, which needs"):
        SigningKey.read(pem, algorithm)


@pytest.mark.parametrize("algorithm", ["RS256", "PS384"])
def test_an_rsa_key_signs_by_each_of_its_algorithms(algorithm: str) -> None:
    key = SigningKey.read(rsa()._key.as_pem(private=True).decode(), algorithm)
    assert jose.decode(key.sign({}, {"a": 1}), rsa()._key, algorithms=[algorithm]).claims == {"a": 1}


@pytest.mark.filterwarnings("ignore:Key size")
def test_a_short_rsa_key_is_refused() -> None:
    short = jwk.RSAKey.generate_key(1024).as_dict(private=True)
    with pytest.raises(ValueError, match="which needs RSA 2048"):
        SigningKey.read(short, "RS256")


@pytest.mark.parametrize(
    ("supported", "algorithm"),
    [(None, "ES256"), (("RS256", "ES256"), "ES256"), (("Ed25519",), "Ed25519"), (("ES512", "ES384"), "ES384")],
)
def test_a_new_key_is_one_the_server_takes(supported: tuple[str, ...] | None, algorithm: str) -> None:
    assert DPoPKey.agreed(supported).algorithm == algorithm


@pytest.mark.parametrize("supported", [(), ("RS256",), ("none", "HS256")])
def test_no_key_is_made_that_the_server_would_not_take(supported: tuple[str, ...]) -> None:
    with pytest.raises(AuthorizationFailed, match="turn DPoP off"):
        DPoPKey.agreed(supported)
