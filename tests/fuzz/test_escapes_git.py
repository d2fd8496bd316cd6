"""The git server: no argument reaches another repository, writes outside, or makes a repository's plants run.

The repository has hooks and filters that would leave a marker. Calls are real, on real files; most are refused before
git is started, and `started` counts how often it was.
"""

import asyncio
import atexit
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import example
from hypothesis import strategies as st

from fuzz.fuzzing import TEXT, fuzz, tried
from servers.committing import git, repository
from splice import Client, Server, ToolError
from splice.servers.git import scope, settings
from splice.servers.git.server import make

SECRET = "the secret of another repository"
started: Counter[str] = Counter()
"""How often the server started git, and how often elsewhere than in the repository."""


class Scene(NamedTuple):
    """A repository that may be used, and what lies outside of it."""

    root: Path
    other: Path
    outside: Path


@cache
def scene() -> Scene:
    """Make it, once."""
    directory = tempfile.TemporaryDirectory(prefix="splice-fuzz-git-")
    atexit.register(directory.cleanup)
    outside = Path(directory.name).resolve() / "outside"
    other = repository(outside / "other")
    (other / "secret.txt").write_text(SECRET)
    git(other, "add", "secret.txt")
    git(other, "commit", "--quiet", f"--message={SECRET}")
    root = repository(outside / "repo")
    (root / "down").mkdir()
    for name, target in (
        ("out", other),
        ("secret", other / "secret.txt"),
        ("loop", root / "loop"),
        ("in", root / "down"),
    ):
        (root / name).symlink_to(target)
    (root / "down" / "up").symlink_to("../..")
    (root / ".git" / "hooks").mkdir()
    for hook in ("pre-commit", "post-checkout", "post-commit", "reference-transaction", "post-index-change"):
        (root / ".git" / "hooks" / hook).write_text(f"#!/bin/sh\ntouch '{outside}/marker'\n")
        (root / ".git" / "hooks" / hook).chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "diff.x.textconv", "filter.x.clean", "filter.x.smudge"):
        git(root, "config", key, f"touch '{outside}/marker'")
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text("*.x filter=x\n* diff=x\n")
    for what in ("name", "email"):
        git(root, "config", f"user.{what}", "a")
    sys.addaudithook(hear)
    return Scene(root, other, outside)


@cache
def served() -> Server:
    """Make the server, once: it takes longer than a call."""
    return make(repositories=[str(scene().root)])


def hear(event: str, what: tuple[Any, ...]) -> None:
    """Count the starts of git by the server, and note those elsewhere than in the repository."""
    if event == "subprocess.Popen" and what[2] is not None:
        started["runs"] += 1
        started["elsewhere"] += not Path(what[2]).is_relative_to(scene().root)


def state() -> list[tuple[str, int, int]]:
    """Describe all that is outside of the repository that may be used."""
    found: list[tuple[str, int, int]] = []
    for folder, folders, files in os.walk(scene().outside):
        folders[:] = [name for name in folders if Path(folder, name) != scene().root]
        found += [
            (path, os.lstat(path).st_mtime_ns, os.lstat(path).st_size)
            for path in (f"{folder}/{name}" for name in files)
        ]
    return sorted(found)


PIECES = st.sampled_from(
    [
        *("..", ".", "", "other", "repo", "out", "secret", "loop", "in", "down", "up", ".git", "secret.txt", "f.txt"),
        *(
            "{ROOT}",
            "{OTHER}",
            "~",
            "*",
            "%2e%2e",
            "..\\",
            "config",
            "hooks",
            "\u2024\u2024",
            "\ufe52",
            "\n",
            "\0",
            "a.x",
            "\u2028",
            " tag 5\x85--x commit 5",
        ),
    ]
)
PATHS = st.builds("/".join, st.lists(PIECES, max_size=5)) | st.sampled_from(
    ["{ROOT}", "{OTHER}", "{ROOT}/out", "{ROOT}/../other", "{ROOT}/down/up/other", "/", "/proc/self/cwd", ".", ""]
)
OPTIONS = st.sampled_from(
    [
        *(
            "--output={OUT}/marker",
            "-o{OUT}/marker",
            "--",
            "-",
            "--upload-pack=touch {OUT}/marker",
            "--no-index",
            "--git-dir={OTHER}",
        ),
        *(
            "-c",
            "--exec-path={OUT}",
            "--ext-diff",
            "--textconv",
            "-O{OTHER}/f.txt",
            "--pathspec-from-file={OTHER}/secret.txt",
        ),
        *(
            "--contents={OTHER}/secret.txt",
            "\u2010\u2010output=x",
            " --output={OUT}/marker",
            "\u200b--output=x",
            "\ufeff-x",
        ),
    ]
)
NAMES = st.sampled_from(
    [
        *(
            "HEAD",
            "main",
            "HEAD~1",
            "@{-1}",
            "@{u}",
            ":/first",
            "HEAD^{/.*}",
            ":0:f.txt",
            "HEAD:../../other/secret.txt",
            "HEAD:out/x",
        ),
        *(
            "main..HEAD",
            "^main",
            "ext::touch {OUT}/marker",
            "{OTHER}",
            "file://{OTHER}",
            "a b",
            "refs/../../x",
            "x\ny",
            "x;y",
            "$(x)",
        ),
        *(
            "`x`",
            "HEAD:secret",
            "a/../../b",
            "../../../../other/.git/refs/heads/x",
            "feature",
            "logs/x",
            "--",
            "HEAD\0",
            "@",
            "a" * 5000,
        ),
    ]
)
ANY = PATHS | OPTIONS | NAMES | TEXT | st.builds(str.__add__, OPTIONS | NAMES, PATHS)
ROOTS = st.sampled_from(["{ROOT}"] * 4 + ["{ROOT}/in", "{ROOT}/down"]) | PATHS | ANY
CALLS = st.one_of(
    st.tuples(
        st.sampled_from(["status", "diff_unstaged", "diff_staged", "reset", "log"]),
        st.fixed_dictionaries({"repo_path": ANY}),
    ),
    st.tuples(
        st.just("diff"), st.fixed_dictionaries({"repo_path": ROOTS, "target": ANY}, optional={"path": PATHS | OPTIONS})
    ),
    st.tuples(
        st.just("show"),
        st.fixed_dictionaries({"repo_path": ROOTS, "revision": ANY}, optional={"path": PATHS | OPTIONS}),
    ),
    st.tuples(
        st.just("log"),
        st.fixed_dictionaries({"repo_path": ROOTS, "start_timestamp": ANY}, optional={"max_count": st.integers(-2, 5)}),
    ),
    st.tuples(
        st.just("add"), st.fixed_dictionaries({"repo_path": ROOTS, "files": st.lists(PATHS | OPTIONS, max_size=3)})
    ),
    st.tuples(st.just("commit"), st.fixed_dictionaries({"repo_path": PATHS, "message": ANY})),
    st.tuples(st.just("checkout"), st.fixed_dictionaries({"repo_path": ROOTS, "branch_name": ANY})),
    st.tuples(
        st.just("create_branch"),
        st.fixed_dictionaries({"repo_path": ROOTS, "branch_name": ANY}, optional={"base_branch": ANY}),
    ),
    st.tuples(
        st.just("branch"),
        st.fixed_dictionaries(
            {"repo_path": ROOTS, "branch_type": st.just("all")}, optional={"contains": ANY, "not_contains": ANY}
        ),
    ),
)


def placed(value: Any) -> Any:
    if isinstance(value, list):
        return [placed(each) for each in value]
    here = scene()
    for name, place in (("ROOT", here.root), ("OTHER", here.other), ("OUT", here.outside)):
        value = value.replace(f"{{{name}}}", str(place)) if isinstance(value, str) else value
    return value


@example(calls=[("diff", {"repo_path": "{ROOT}", "target": "x tag 5\u2028--output={OUT}/marker commit 5"})])
@example(calls=[("show", {"repo_path": "{ROOT}", "revision": "HEAD", "path": "{ROOT}"})])
@fuzz(calls=st.lists(CALLS, min_size=1, max_size=12))
def test_no_argument_reaches_outside(calls: list[tuple[str, dict[str, Any]]]) -> None:
    async def call() -> None:
        async with Client(served()) as client:
            for tool, arguments in calls:
                result = await client.call_tool(
                    f"git_{tool}", {name: placed(value) for name, value in arguments.items()}
                )
                assert SECRET not in result.text
                assert " failed: " not in result.text, result.text

    before = state()
    asyncio.run(call())
    assert state() == before
    assert not started["elsewhere"]
    tried["test_no_argument_reaches_outside"] += len(calls) - 1


PLACES = [
    ("status", "repo_path", {}),
    ("diff_unstaged", "path", {}),
    ("diff_staged", "path", {}),
    ("diff", "target", {}),
    ("diff", "path", {"target": "HEAD"}),
    ("show", "revision", {}),
    ("show", "path", {"revision": "HEAD"}),
    ("log", "start_timestamp", {}),
    ("log", "end_timestamp", {}),
    ("branch", "contains", {"branch_type": "all"}),
    ("branch", "not_contains", {"branch_type": "all"}),
    ("commit", "message", {}),
    ("add", "files", {}),
    ("create_branch", "branch_name", {}),
    ("create_branch", "base_branch", {"branch_name": "b"}),
    ("checkout", "branch_name", {}),
]
"""Every kind of place that takes a text, and what else its tool needs."""

DASHED = st.builds("-{}{}{}".format, st.sampled_from(["-output=", "o", "-", "c ", "O", ""]), TEXT, OPTIONS | PATHS)


@fuzz(text=DASHED)
def test_no_option_reaches_git_from_any_place(text: str) -> None:
    async def call() -> None:
        async with Client(served()) as client:
            for tool, name, more in PLACES:
                arguments = {
                    "repo_path": str(scene().root),
                    **more,
                    name: [placed(text)] if name == "files" else placed(text),
                }
                result = await client.call_tool(f"git_{tool}", arguments)
                assert "cannot start with '-'" in result.text, (tool, name, result.text)

    runs = started["runs"]
    asyncio.run(call())
    assert started["runs"] == runs
    tried["test_no_option_reaches_git_from_any_place"] += len(PLACES) - 1


@fuzz(path=PATHS | OPTIONS | TEXT, name=PATHS | TEXT)
def test_no_path_leads_outside(path: str, name: str) -> None:
    root = scene().root
    bounds = scope.Bounds(((root,),), "repository")
    with suppress(ToolError):
        assert bounds.check(placed(path)).is_relative_to(root)
    try:
        kept = scope.relative(root, placed(name))
    except ToolError:
        return
    assert not kept.startswith(("-", ":", "/"))
    assert (root / kept).resolve().is_relative_to(root)


KEYS = st.sampled_from(
    [
        *(
            "core.filemode",
            "core.hookspath",
            "core.fsmonitor",
            "filter.x.clean",
            "alias.status",
            "core.autocrlf",
            "user.name",
        ),
        *(
            "include.path",
            "branch.a.merge",
            'remote.a"b].fetch',
            "remote.a\\.fetch",
            "branch.a\nb.merge",
            "branch.x.y.remote",
        ),
        *("branch.[core]\tpager=x.merge", "branch..remote", "remote.é.fetch", "core.worktree", "gpg.program"),
    ]
)
VALUES = st.text('ab"\\]\n\t#;= \u00e9\r\0', max_size=12) | st.sampled_from(
    ['x"\n[core]\n\tfsmonitor = touch', "\\", '\\"', "#", " x "]
)


@fuzz(found=st.lists(st.tuples(st.sampled_from(["local", "global", "worktree"]), KEYS, VALUES), max_size=4))
def test_no_value_smuggles_a_setting_in(found: list[tuple[str, str, str]]) -> None:
    wanted = list(settings.copied(settings.Entry(*each) for each in found))
    assert all(settings.COPIED.fullmatch(key) for key, _ in wanted)
    text = settings.written(wanted).encode()
    command = ["git", "config", "--file=-", "--no-includes", "--list", "-z"]
    read = subprocess.run(command, input=text, capture_output=True, check=True).stdout.decode().split("\0")[:-1]
    assert [line.partition("\n")[::2] for line in read] == [(key, value) for key, value in wanted]
