"""The package as others install it: a wheel, built and installed into a fresh environment. Needs the network."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: object, cwd: Path = ROOT) -> str:
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.timeout(300)
def test_an_installed_wheel_shows_the_demo(tmp_path: Path) -> None:
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", tmp_path, ROOT)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "fresh")
    run(tmp_path / "fresh/bin/pip", "install", f"{wheel}[demo]")
    shown = run(tmp_path / "fresh/bin/splice", "demo", "--no-input", cwd=tmp_path)
    assert shown.count("✓") == 6
    assert "site-packages/splice/examples/travel/weather.py" in shown
