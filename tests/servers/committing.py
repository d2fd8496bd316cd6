"""Git repositories made for a test, by the same few commands each time: who commits, and when, is fixed."""

import atexit
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

WHO = {
    f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "A"), ("EMAIL", "a@b"))
}
FIRST_DATE = {f"GIT_{who}_DATE": "2026-01-01T00:00:00+00:00" for who in ("AUTHOR", "COMMITTER")}
BLANK = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def git(root: Path, *words: str, stdin: bytes = b"", check: bool = True) -> str:
    """Run git in a repository as its owner would, with everything that the repository configures."""
    command = ["git", "-c", "protocol.file.allow=always", *words]
    env = {**BLANK, **WHO, **FIRST_DATE}
    return subprocess.run(command, cwd=root, env=env, input=stdin, capture_output=True, check=check).stdout.decode()


def repository(root: Path) -> Path:
    """Make a repository with a commit, in which `f.txt` has one line; in its working tree it has two."""
    shutil.copytree(_template(), root)
    return root


@cache
def _template() -> Path:
    """Make it once: to copy it is quicker than to run git four times."""
    directory = tempfile.TemporaryDirectory(prefix="splice-test-git-")
    atexit.register(directory.cleanup)
    root = Path(directory.name) / "template"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main", "--template=")
    (root / "f.txt").write_text("one\n")
    git(root, "add", "f.txt")
    git(root, "commit", "--quiet", "--message=first")
    (root / "f.txt").write_text("one\ntwo\n")
    return root
