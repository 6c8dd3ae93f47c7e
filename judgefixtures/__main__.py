"""`python -m judgefixtures`: start gating a judge, import answers, join recordings and reports, canary, paper."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import judgefixtures
from judgefixtures.cassettes.merges import join_files, mend
from judgefixtures.starter import Start, start
from judgefixtures.words.errors import JudgeFixturesError
from judgefixtures.words.secrets import presentable

if TYPE_CHECKING:
    from judgefixtures.report.writing import Record

R = TypeVar("R")
NOT_READ = 141  # as a shell tells that a pipe was closed
EXITS = (
    "Exit code: 0 all passed, 1 something failed or the swap is not approved, 10 it could not be measured, "
    "11 nothing applied, 2 the folders cannot be put together."
)
STOPPED = 130  # as shells have it
GATES = """\
The gates themselves are run by pytest, which shows their options with `pytest --help`, group "gates of LLM judges".
The simulated judges are served by `python -m judgefixtures.simulator`.
"""


def main(arguments: list[str]) -> int:
    """Run a command; return the exit code: 0 done, 2 for a mistake of the user's, others as the command says."""
    parser = argparse.ArgumentParser(
        prog="python -m judgefixtures",
        description="Gate an LLM judge with pytest.",
        epilog=GATES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_paper(commands.add_parser("paper", help="write the tables and the figure of The Silent Judge from recordings"))
    init = commands.add_parser(
        "init",
        help="write the test modules and the configuration that gate a repository's judge",
        description="Write test modules of a few lines to tests/judge and the table [tool.judgefixtures], commented, "
        "to the end of pyproject.toml. A file that exists is left alone, and so is a table.",
    )
    init.add_argument(
        "folder",
        nargs="?",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="root of the repository, where its pyproject.toml is (default: this folder)",
    )
    init.set_defaults(run=_init)
    _add_import(commands)
    _add_canary(commands)
    _add_cassettes(commands.add_parser("cassettes", help="join the recordings of two branches"))
    _add_report(commands.add_parser("report", help="put reports of several runs together, or compare two"))
    try:
        options = parser.parse_args(arguments)
        code = int(options.run(options))
        sys.stdout.flush()
    except JudgeFixturesError as error:
        sys.stderr.write(f"{presentable(str(error))}\n")
        return 2
    except BrokenPipeError:  # whoever read what is printed had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return NOT_READ
    except OSError as error:  # a name or a disk that no room thought of
        sys.stderr.write(f"{presentable(str(error.filename or ''))}: {error.strerror}.\n")
        return 2
    return code


class _Version(argparse.Action):
    """Looks the version up when it is asked for, and not in every run."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"judgefixtures {judgefixtures.__version__}\n")
        parser.exit()


def _add_import(commands: Any) -> None:
    parser = commands.add_parser(
        "import",
        help="make a judge of answers that you already have: a log, or an export of promptfoo, deepeval or Inspect",
        description="Write the answers of a log beside the recordings, as those of an imported judge, and print the "
        "tables that the configuration lacks. Nobody is asked, and no configuration is changed.",
        epilog="Formats, columns and what can be checked: see docs/imported.md.",
    )
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="log: JSON lines, or an export in JSON")
    add("--judge", required=True, metavar="NAME", help="name of the judge that the answers are of")
    add(
        "--dataset",
        metavar="NAME",
        help="what the pairs are called: a dataset of the configuration, or a new name "
        "(default: the name of the --pairs file)",
    )
    add(
        "--pairs",
        type=Path,
        metavar="FILE",
        help="pairs that the log is about (default: those of --dataset in the "
        "configuration, else the texts in the log)",
    )
    add(
        "--columns",
        type=_mapping,
        action="append",
        default=[],
        metavar="FIELD=COLUMN,...",
        help="where the log holds a field, as a name or a path such as vars.id (default: by the format)",
    )
    add(
        "--where",
        type=_value,
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="use these rows alone (repeatable)",
    )
    add("--format", choices=("jsonl", "promptfoo", "deepeval", "inspect"), help="format (default: by what FILE holds)")
    add(
        "--verdict",
        choices=("json", "brackets"),
        default="json",
        help="form of the verdict where a column holds the judge's whole text (default: json)",
    )
    add(
        "--numbers",
        choices=("shown", "own"),
        default="shown",
        help="selected_response 1 is what stood first (shown, the default), or the pair's response 1",
    )
    add(
        "--into",
        type=Path,
        metavar="FOLDER",
        help="folder of the recordings (default: cassettes, beside the configuration)",
    )
    add("--config", type=Path, metavar="FILE", help="configuration (default: pyproject.toml)")
    parser.set_defaults(run=_import)


def _mapping(text: str) -> list[tuple[str, str]]:
    """Return what an option says as NAME=VALUE, several of them with commas between."""
    parts = [part.partition("=") for part in text.split(",")]
    if any(not (name.strip() and sign and value.strip()) for name, sign, value in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, or several of these with commas between")
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _value(text: str) -> list[tuple[str, str]]:
    """Return what an option says as COLUMN=VALUE; a value may hold anything."""
    column, sign, value = text.partition("=")
    if not (column and sign):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=VALUE")
    return [(column, value)]


def _import(options: argparse.Namespace) -> int:
    from judgefixtures.imports.logs import Request, import_log, summary

    done = import_log(
        Request(
            tuple(options.files),
            options.judge,
            options.dataset,
            options.pairs,
            _joined("--columns", options.columns),
            _joined("--where", options.where),
            options.format,
            options.verdict,
            options.numbers == "own",
            options.into,
            options.config,
        )
    )
    sys.stdout.write("\n".join(summary(done)) + "\n")
    return 0


def _joined(option: str, given: list[list[tuple[str, str]]]) -> dict[str, str]:
    """Return what an option that was given several times says; raises JudgeFixturesError where it says two things."""
    joined: dict[str, str] = {}
    for name, value in chain.from_iterable(given):
        if joined.setdefault(name, value) != value:
            raise JudgeFixturesError(f"{option} says {name}={joined[name]} and {name}={value}: give one of the two.")
    return joined


def _add_canary(commands: Any) -> None:
    parser = commands.add_parser(
        "canary",
        help="ask a few recorded prompts again, and tell when the judge behind them is another one",
        description="Ask a judge some prompts that are recorded of it ([tool.judgefixtures.canary]), compare the "
        "answers with the recordings and those of earlier runs, and add a line to cassettes/JUDGE/canary.jsonl. No "
        "recording changes.",
        epilog="Exit code: 0 quiet, 20 its verdicts moved, 21 another model answers, 10 it could not be measured, 2 a "
        "mistake, 130 stopped by Ctrl-C. Without a change at most 1% of all canaries ever end with 20: see "
        "docs/canary.md.",
    )
    add = parser.add_argument
    add("--judge", metavar="NAME", help="the judge (default: that of the configuration)")
    add("--max-cost", type=_amount, metavar="USD", help="ask nothing that could cost more in this run")
    add("--dry-run", action="store_true", help="say what would be asked and what it costs at most, and ask nothing")
    add(
        "--restart",
        action="store_true",
        help="begin a new series with this run: what the log holds so far no longer counts",
    )
    add("--config", type=Path, metavar="FILE", help="configuration (default: pyproject.toml)")
    add("--cassettes", type=Path, metavar="DIR", help="recordings (default: cassettes beside the configuration)")
    parser.set_defaults(run=_canary)


def _amount(text: str) -> float:
    """Return an amount of US dollars above 0."""
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not 0 < amount < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of US dollars above 0")
    return amount


def _canary(options: argparse.Namespace) -> int:
    """Run the canary once, and say what it found."""
    try:
        from judgefixtures.canary.messages import exit_code, said, said_before
        from judgefixtures.canary.watching import Request, outlook, watch

        request = Request(options.judge, options.config, options.cassettes, options.max_cost, options.restart)
        if options.dry_run:
            sys.stdout.write("\n".join([*said_before(outlook(request)), ""]))
            return 0
        found = watch(request)
    except KeyboardInterrupt:
        sys.stderr.write("stopped: this run is not in the log.\n")
        return STOPPED
    sys.stdout.write("\n".join([*said(found), ""]))
    return exit_code(found)


def _add_cassettes(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", required=True)
    merge = commands.add_parser(
        "merge",
        help="join what two branches recorded, after a merge that left its marks",
        description="Join both versions in recordings, pairs.jsonl, sample.json, closest.json and batches.jsonl in "
        "which git left its marks: every answer that either branch paid for stays; where both asked the same "
        "question, the first one (ours) stays.",
        epilog="As git's merge driver, so that no marks appear: see docs/cassettes.md.",
    )
    merge.add_argument(
        "paths",
        nargs="*",
        type=Path,
        default=[Path("cassettes")],
        metavar="PATH",
        help="file, or folder of recordings (default: cassettes)",
    )
    merge.add_argument(
        "--driver",
        nargs=4,
        type=Path,
        metavar=("BASE", "OURS", "THEIRS", "NAME"),
        help="join three files into OURS, as git calls it: --driver %%O %%A %%B %%P",
    )
    merge.set_defaults(run=_merge)


def _add_report(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", required=True)
    merge = commands.add_parser(
        "merge",
        help="put the reports of machines that each ran some of the checks together, as one run of all",
        description="Read folders that --judge-report wrote, each of a part of the checks, and write the report that "
        "one run of all of them writes: Holm's method, rankings and decisions are computed anew.",
        epilog=EXITS,
    )
    merge.add_argument("folders", nargs="+", type=Path, metavar="DIR", help="folder that --judge-report wrote")
    merge.add_argument(
        "--into", type=Path, default=Path("report"), metavar="DIR", help="folder to write to (default: report)"
    )
    merge.set_defaults(run=_merge_reports)
    compare = commands.add_parser(
        "compare",
        help="say which estimates differ between two reports, and whether by more than chance",
        description="Compare two reports of the same judge, as of last month and of today: which statuses changed, "
        "which estimates, and whether a change is more than noise.",
        epilog="Exit code: 0 nothing changed by more than chance, 1 something did, or the new run did not "
        "pass or did not come to its end, 2 the reports cannot be compared.",
    )
    compare.add_argument("old", type=Path, metavar="OLD", help="folder that --judge-report wrote before")
    compare.add_argument("new", type=Path, metavar="NEW", help="folder that --judge-report wrote now")
    compare.set_defaults(run=_compare_reports)


def _say(lines: Iterable[str]) -> None:
    """Print what files say that came from elsewhere: no text of theirs commands a terminal or a CI service."""
    for line in lines:
        sys.stdout.write(f"{presentable(line)}\n")


def _merge_reports(options: argparse.Namespace) -> int:
    from judgefixtures.report import report_of, summary, texts_of, write_texts
    from judgefixtures.report.outcome import exit_code
    from judgefixtures.report.together import together
    from judgefixtures.report.writing import Record

    def merged(records: Mapping[Path, Record]) -> tuple[dict[str, str], list[str], int]:
        record = together(records)
        report = report_of(record)
        return texts_of(record, report), summary(report, record.alpha), exit_code(record, report)

    texts, lines, code = _read_well(merged, {folder: Record.read(folder) for folder in options.folders})
    write_texts(options.into, texts)
    _say([*lines, f"report: {options.into / 'report.json'}"])
    return code


def _compare_reports(options: argparse.Namespace) -> int:
    from judgefixtures.report.comparison import compared
    from judgefixtures.report.writing import Record

    old, new = Record.read(options.old), Record.read(options.new)
    changes = _read_well(
        lambda records: compared(records.get(options.old, new), records.get(options.new, old)),
        {options.old: old, options.new: new},
    )
    _say(changes.lines)
    return changes.exit_code


def _read_well(use: Callable[[Mapping[Path, Record]], R], records: Mapping[Path, Record]) -> R:
    """Return what is made of records; raises JudgeFixturesError naming the folder of which nothing can be made.

    Its digests may be right and its rows of another form all the same: somebody wrote them, and not this version.
    """
    from judgefixtures.report.writing import MISREAD, not_ours

    try:
        return use(records)
    except MISREAD:
        for folder, record in records.items():
            try:
                use({folder: record})
            except JudgeFixturesError:
                continue
            except MISREAD:
                raise not_ours(folder) from None
        named = " and ".join(map(str, records))
        raise JudgeFixturesError(
            f"{named} cannot be used together: one of them holds what no run with --judge-report "
            "of this version of judgefixtures wrote. Run its tests again."
        ) from None


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


def _add_paper(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write Tables 1 to 5 and Figure 1 of The Silent Judge (arXiv 2509.26072) from recordings, beside the published "
        "numbers. Nothing is asked: what is not recorded is named with the command that records it."
    )
    parser.epilog = (
        "Exit code: 0 every number that was asked for is equal to the published one, or nothing was published; 1 one "
        "differs; 10 one could not be measured; 2 a mistake, or no figure for want of matplotlib. Asked for are the "
        "judges named, and without --judge the simulated ones."
    )
    parser.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="a judge (repeatable; default: the simulated judges that stand for the paper's, and the "
        "paper's own where they are recorded)",
    )
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME",
        help="a dataset (repeatable; default: those of the paper's experiment for its judges, for "
        "others those that the configuration asks about cues)",
    )
    parser.add_argument(
        "--into",
        type=Path,
        default=Path("report/paper"),
        metavar="DIR",
        help="where paper.md, figure-1.svg and figure-1.png go (default: report/paper)",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="configuration (default: pyproject.toml of this folder, where there is one)",
    )
    parser.add_argument(
        "--cassettes", type=Path, metavar="DIR", help="recordings (default: cassettes beside the configuration)"
    )
    parser.set_defaults(run=_paper)


def _paper(options: argparse.Namespace) -> int:
    """Write the tables and the figure, and say how many of the published numbers are equal."""
    from judgefixtures.paper import measure_paper, open_run, write_paper

    with open_run(options.config, options.cassettes) as run:
        done = write_paper(measure_paper(run, options.judge, options.dataset), options.into)
    sys.stdout.write("\n".join([*done.lines, *(f"written: {presentable(str(file))}" for file in done.files)]) + "\n")
    if done.trouble:
        sys.stderr.write(f"{done.trouble}\n")
    return done.exit_code


def _shown(done: Start) -> str:
    steps = [f"{number}. {line}" for number, line in enumerate(done.next, 1)]
    parts = {"written": done.written, "left alone": done.left, "next": steps}
    shown = [line for title, lines in parts.items() if lines for line in (title, *(f"  {each}" for each in lines))]
    return "\n".join(shown) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
