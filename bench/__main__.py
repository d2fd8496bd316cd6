"""The command: `python -m bench` measures, `python -m bench setup` installs the peers first.

python -m bench --quick --only stdio
python -m bench --markdown --json results.json
"""

import argparse
import json
import signal
import sys
from pathlib import Path

from bench.goals import summary
from bench.install import install
from bench.peers import BENCH
from bench.report import markdown, table
from bench.runner import Results, Section, Settings, run
from bench.sections import SECTIONS

TABLES = BENCH / "RESULTS.md"
QUICK = Settings(rounds=1, seconds=0.2, scale=0.2)


def main() -> int:
    """Run the command and return its exit code: 0 unless the command line is wrong."""
    options = _parser().parse_args()
    if options.command == "setup":
        return 1 if install() else 0
    signal.signal(signal.SIGTERM, _leave)
    settings = QUICK if options.quick else Settings(rounds=options.rounds)
    chosen = [section for section in SECTIONS if not options.only or section.name in options.only]
    results = run(chosen, settings, lambda line: print(line, file=sys.stderr, flush=True))
    _show(chosen, results)
    if options.markdown:
        options.markdown.write_text(_document(chosen, results))
    if options.json:
        options.json.write_text(json.dumps(_plain(results), indent=1))
    return 0


def _leave(number: int, frame: object) -> None:
    """Leave through every `finally`, so that no child stays behind."""
    del frame
    sys.exit(128 + number)


def _parser() -> argparse.ArgumentParser:
    names = [section.name for section in SECTIONS]
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Splice beside its peers.")
    parser.add_argument("command", nargs="?", choices=("run", "setup"), default="run")
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured (3)")
    parser.add_argument("--quick", action="store_true", help="one short round")
    parser.add_argument("--only", action="append", choices=names, metavar="SECTION", help=", ".join(names))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", nargs="?", const=TABLES, help="write the tables (bench/RESULTS.md)"
    )
    return parser


def _document(chosen: list[Section], results: Results) -> str:
    return markdown(chosen, results) + "\n## Goals\n\n" + "\n".join(summary(results)) + "\n"


def _show(chosen: list[Section], results: Results) -> None:
    for section in chosen:
        print(f"\n{section.title}\n")
        print("\n".join(table(section, results)))
    print("\nGoals\n")
    print("\n".join(summary(results)))


def _plain(results: Results) -> dict[str, object]:
    rows = [
        {"section": row.section, "group": row.group, "peer": row.peer, "failure": row.failure, "samples": row.samples}
        for row in results.rows.values()
    ]
    return {"rounds": results.rounds, "seconds": results.seconds, "rows": rows}


if __name__ == "__main__":
    sys.exit(main())
