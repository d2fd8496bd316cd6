"""`splice auth`: a server, its users and clients, in one file."""

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from joserfc.jwk import ECKey

from splice.cli.outcomes import FAILED, OK, USAGE
from support.warm import warm_python


def run(*words: str, password: str = "") -> subprocess.CompletedProcess[str]:
    command = [warm_python(), "-m", "splice.cli", "auth", *words]
    return subprocess.run(command, input=password, capture_output=True, text=True, timeout=30, check=False)


def test_users_come_and_go(tmp_path: Path) -> None:
    file = ["--file", str(tmp_path / "auth.db")]
    added = run("add-user", "anna", *file, password="correct horse\n")
    assert (added.returncode, added.stdout) == (OK, "anna may sign in.\n")
    assert run("remove-user", "anna", *file).returncode == OK
    gone = run("remove-user", "anna", *file)
    assert gone.returncode == FAILED
    assert "there is no user 'anna'" in gone.stderr


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["add-user", "an na"], USAGE, "letters"),
        (["add-user", "anna"], USAGE, "8 to 1000 characters"),
        (["add-client", "app", "--redirect-uri", "http://app.example/"], USAGE, "https"),
        (["serve", "--client", "x"], USAGE, "demo=http"),
        (["serve", "--host", "0.0.0.0"], USAGE, "--issuer"),
        (["serve", "--host", "0.0.0.0", "--issuer", "http://127.0.0.1", "--auto-approve", "a"], USAGE, "an https URL"),
        (["serve", "--issuer", "http://auth.example", "--port", "0"], USAGE, "https"),
        (["serve", "--issuer", "https://auth.example", "--auto-approve", "anna", "--port", "0"], USAGE, "this machine"),
        (["nothing"], USAGE, "No such command"),
    ],
)
def test_what_cannot_be_meant_is_told(words: list[str], code: int, told: str, tmp_path: Path) -> None:
    done = run(*words, *([] if words == ["nothing"] else ["--file", str(tmp_path / "auth.db")]), password="short\n")
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_it_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    words = ["serve", "--port", "0", "--file", str(tmp_path / "auth.db"), "--client", "demo=http://127.0.0.1/back"]
    command = [sys.executable, "-m", "splice.cli", "auth", *words, "--scope", "read"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("Authorization server at http://127.0.0.1:")
        issuer = said.split()[-1]
        for _ in range(100):
            try:
                with urllib.request.urlopen(f"{issuer}/.well-known/oauth-authorization-server", timeout=5) as reply:
                    metadata = json.load(reply)
                break
            except OSError:
                continue
        assert metadata["issuer"] == issuer
        assert metadata["scopes_supported"] == ["read", "offline_access"]
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(10) == OK


def test_a_client_gets_a_secret_once(tmp_path: Path) -> None:
    done = run("add-client", "api", "--secret", "--file", str(tmp_path / "auth.db"))
    secret = done.stdout.strip()
    assert len(secret) >= 24
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.encode() not in kept


def test_a_client_with_a_public_key_is_not_replaced_by_mistake(tmp_path: Path) -> None:
    key = ECKey.generate_key("P-256")
    public, private = tmp_path / "public.pem", tmp_path / "key.pem"
    public.write_bytes(key.as_pem(private=False))
    private.write_bytes(key.as_pem(private=True))
    file = ["--file", str(tmp_path / "auth.db")]
    words = ["add-client", "robot", "--public-key", str(public), "--scope", "read", *file]
    added = run(*words)
    assert (added.returncode, added.stdout) == (OK, "robot is known.\n")
    again = run(*words)
    assert again.returncode == USAGE
    assert "there is a client 'robot' already" in again.stderr
    assert "--replace" in again.stderr
    assert run(*words, "--replace").returncode == OK
    assert "private key in it" in run("add-client", "other", "--public-key", str(private), *file).stderr
    assert "not both" in run("add-client", "other", "--secret", "--public-key", str(public), *file).stderr


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = ["--file", str(tmp_path / "auth.db")]
    gone = run("remove-user", "anna", *file)
    assert gone.returncode == FAILED
    assert "there is no file" in gone.stderr
    assert "splice auth serve" in gone.stderr
    assert list(tmp_path.iterdir()) == []
    made = run("add-user", "anna", "--scope", "read", "--scope", "write", *file, password="correct horse\n")
    assert made.stdout == "anna may sign in, and be granted read, write only.\n"
    assert "Made a new file" in made.stderr
    assert "Made a new file" not in run("add-client", "app", "--redirect-uri", "http://127.0.0.1/", *file).stderr
