"""`python -m judgefixtures`: start gating the judge of another repository, join the recordings of two branches."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import judgefixtures
from judgefixtures.cassettes.merges import join_files, mend
from judgefixtures.errors import JudgeFixturesError
from judgefixtures.starter import Start, start

GATES = """\
The gates themselves are run by pytest, which shows their options with `pytest --help`, group "gates of LLM judges".
The simulated judges are served by `python -m judgefixtures.simulator`.
"""


def main(arguments: list[str]) -> int:
    """Run a command; return the exit code: 0 done, 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(
        prog="python -m judgefixtures",
        description="Gate an LLM judge with pytest.",
        epilog=GATES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    init = commands.add_parser(
        "init",
        help="write the test modules and the configuration that gate a repository's judge",
        description="Write test modules of a few lines to tests/judge and the table [tool.judgefixtures], commented, "
        "to the end of pyproject.toml. A file that exists is left alone, and so is a table.",
    )
    init.add_argument("folder", nargs="?", type=Path, default=Path(), metavar="FOLDER",
                      help="root of the repository, where its pyproject.toml is (default: this folder)")  # fmt: skip
    init.set_defaults(run=_init)
    _add_cassettes(commands.add_parser("cassettes", help="join the recordings of two branches"))
    try:
        options = parser.parse_args(arguments)
        return int(options.run(options))
    except JudgeFixturesError as error:
        sys.stderr.write(f"{error}\n")
        return 2


class _Version(argparse.Action):
    """Looks the version up when it is asked for, and not in every run."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"judgefixtures {judgefixtures.__version__}\n")
        parser.exit()


def _add_cassettes(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", required=True)
    merge = commands.add_parser(
        "merge",
        help="join what two branches recorded, after a merge that left its marks",
        description="Join both versions in recordings, pairs.jsonl, sample.json and closest.json in which git left its "
        "marks: every answer that either branch paid for stays; where both asked the same question, the first one "
        "(ours) stays.",
        epilog="As git's merge driver, so that no marks appear: see docs/cassettes.md.",
    )
    merge.add_argument("paths", nargs="*", type=Path, default=[Path("cassettes")], metavar="PATH",
                       help="file, or folder of recordings (default: cassettes)")  # fmt: skip
    merge.add_argument("--driver", nargs=4, type=Path, metavar=("BASE", "OURS", "THEIRS", "NAME"),
                       help="join three files into OURS, as git calls it: --driver %%O %%A %%B %%P")  # fmt: skip
    merge.set_defaults(run=_merge)


def _init(options: argparse.Namespace) -> int:
    sys.stdout.write(_shown(start(options.folder)))
    return 0


def _merge(options: argparse.Namespace) -> int:
    """Join what can be joined; return 2 where something cannot."""
    if options.driver:
        join_files(*options.driver)
        return 0
    code, done = 0, 0
    for path in options.paths:
        inside = sorted(file for pattern in ("*.jsonl", "sample.json", "closest.json") for file in path.rglob(pattern))
        for file in inside if path.is_dir() else [path]:
            try:
                found = mend(file)
            except JudgeFixturesError as error:
                sys.stderr.write(f"{error}\n")
                code = 2
                continue
            if found is not None:
                done += 1
                sys.stdout.write(f"{file}: {found}\n")
    if not done and not code:
        sys.stdout.write("nothing to join\n")
    return code


def _shown(done: Start) -> str:
    steps = [f"{number}. {line}" for number, line in enumerate(done.next, 1)]
    parts = {"written": done.written, "left alone": done.left, "next": steps}
    shown = [line for title, lines in parts.items() if lines for line in (title, *(f"  {each}" for each in lines))]
    return "\n".join(shown) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
