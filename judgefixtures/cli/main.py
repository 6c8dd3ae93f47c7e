"""Command `judgefixtures` and its subcommands."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import judgefixtures
from judgefixtures.cassettes.merges import JOINED, merge_conflicted_file, merge_files
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.exit_codes import ExitCode
from judgefixtures.util.patterns import load_table
from judgefixtures.util.secrets import safe_message
from judgefixtures.util.shell import parse_dollars, parse_megabytes, parse_share

from .messages import MESSAGES
from .scaffold import ScaffoldResult, write_scaffold

if TYPE_CHECKING:
    from judgefixtures.report.run_record import RunRecord

R = TypeVar("R")
GATES = """\
pytest runs the gates. Their options: `pytest --help`, group "gates of LLM judges".
The simulated judges: `python -m judgefixtures.simulator`.
"""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="judgefixtures",
        description="Gate an LLM judge with pytest.",
        epilog=GATES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    _add_commands(parser, load_table("commands"))
    return parser


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code: 0 done, 2 user's mistake."""
    parser = build_parser()
    for stream in (sys.stdout, sys.stderr):  # ASCII has no form for most texts
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = parser.parse_args(arguments)
        code = int(options.run(options))
        sys.stdout.flush()
    except JudgeFixturesError as error:
        sys.stderr.write(f"{safe_message(str(error))}\n")
        return 2
    except BrokenPipeError:  # whoever read what is printed had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return ExitCode.PIPE_CLOSED
    except OSError as error:  # a name or a disk that no room thought of
        sys.stderr.write(f"{safe_message(str(error.filename or ''))}: {error.strerror}.\n")
        return 2
    return code


def _add_commands(parser: argparse.ArgumentParser, tables: Mapping[str, Any], group: str = "") -> None:
    """Add commands and options to a parser; `group` prefixes names in `RUNS`."""
    dest = "what" if group else "command"
    commands = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)
    for name, table in tables.items():
        texts = {key: table[key] for key in ("help", "description", "epilog") if key in table}
        command = commands.add_parser(name, **texts)
        if "commands" in table:
            _add_commands(command, table["commands"], f"{name} ")
            continue
        for flag, option in table["options"].items():
            taken = {"type": TYPES[option["type"]]} if "type" in option else {}
            several = {"metavar": tuple(option["metavar"])} if isinstance(option.get("metavar"), list) else {}
            command.add_argument(flag, **{**option, **taken, **several})
        command.set_defaults(run=RUNS[f"{group}{name}"])


class _Version(argparse.Action):
    """Action that looks up the version only on request."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"judgefixtures {judgefixtures.__version__}\n")
        parser.exit()


def _mapping(text: str) -> list[tuple[str, str]]:
    parts = [part.partition("=") for part in text.split(",")]
    if any(not (name.strip() and sign and value.strip()) for name, sign, value in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE or a comma-separated list of these")
    return [(name.strip(), value.strip()) for name, _, value in parts]


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _value(text: str) -> list[tuple[str, str]]:
    column, sign, value = text.partition("=")
    if not (column and sign):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=VALUE")
    return [(column, value)]


def _import(options: argparse.Namespace) -> int:
    from judgefixtures.importers import ImportRequest, import_log, summary
    from judgefixtures.sources.size_limits import limited

    names = ("judge", "dataset", "pairs", "format", "verdict", "into", "config", "metric", "label_metric", "allow")
    same = {name: getattr(options, name) for name in names}
    named = [each for each in chain.from_iterable(options.columns) if each[0] == "labels"]
    raters = tuple(dict.fromkeys(column for _, column in named)) if len(named) > 1 else ()  # a column for each person
    others = [[each for each in given if not (raters and each[0] == "labels")] for given in options.columns]
    columns, where = _joined("--columns", others), _joined("--where", options.where)
    same |= {"raters": raters, "own_numbers": options.numbers == "own"}
    with limited(options.max_row_mb, options.max_file_mb):
        done = import_log(ImportRequest(tuple(options.files), columns=columns, where=where, **same))
    sys.stdout.write("\n".join(summary(done)) + "\n")
    return 0


def _joined(option: str, given: list[list[tuple[str, str]]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in chain.from_iterable(given):
        if joined.setdefault(name, value) != value:
            raise JudgeFixturesError(f"{option} has both {name}={joined[name]} and {name}={value}. Remove one.")
    return joined


def _label(options: argparse.Namespace) -> int:
    """Serve the labeling page until Ctrl-C."""
    from judgefixtures.labeling import LabelingRequest, end_message, open_labeling_server, start_message

    columns = None if options.columns is None else list(chain.from_iterable(options.columns))
    try:
        request = LabelingRequest(options.data, options.by, columns, options.port, options.config)
        with open_labeling_server(request) as server:
            _say(start_message(server))
            sys.stdout.flush()
            with contextlib.suppress(KeyboardInterrupt):
                server.serve_forever()
            _say(end_message(server))
    except KeyboardInterrupt:  # once more, or before there was a page
        return ExitCode.STOPPED
    return 0


def _watch(options: argparse.Namespace) -> int:
    """Run the canary once and print its findings."""
    try:
        from judgefixtures.canary.messages import canary_exit_code, describe_forecast, describe_run
        from judgefixtures.canary.monitor import CanaryRequest, forecast_run, run_canary

        request = CanaryRequest(options.judge, options.config, options.cassettes, options.max_cost, options.restart)
        if options.dry_run:
            sys.stdout.write("\n".join([*describe_forecast(forecast_run(request)), ""]))
            return 0
        result = run_canary(request)
    except KeyboardInterrupt:
        sys.stderr.write("stopped: this run is not in the log.\n")
        return ExitCode.STOPPED
    sys.stdout.write("\n".join([*describe_run(result), ""]))
    return canary_exit_code(result)


def _say(lines: Iterable[str]) -> None:
    """Print texts without terminal or CI commands."""
    for line in lines:
        sys.stdout.write(f"{safe_message(line)}\n")


def _merge_reports(options: argparse.Namespace) -> int:
    from judgefixtures.report import report_and_questions, report_files, write_files
    from judgefixtures.report.exit_code import exit_code
    from judgefixtures.report.merge_runs import merge_runs
    from judgefixtures.report.run_record import RunRecord
    from judgefixtures.report.summary import SummaryOptions, short_summary

    def merged(records: Mapping[Path, RunRecord]) -> tuple[dict[str, str], list[str], int]:
        record = merge_runs(records)
        report = report_and_questions(record)
        return report_files(record, report), short_summary(record, report, view), exit_code(record, report)

    view = SummaryOptions(folder=str(options.into), ending=[f"report: {options.into / 'report.html'}"])
    texts, lines, code = _read_well(merged, {folder: RunRecord.from_folder(folder) for folder in options.folders})
    write_files(options.into, texts)
    _say(lines)
    return code


def _compare_reports(options: argparse.Namespace) -> int:
    from judgefixtures.report.comparison import compare_reports
    from judgefixtures.report.run_record import RunRecord

    old, new = RunRecord.from_folder(options.old), RunRecord.from_folder(options.new)
    changes = _read_well(
        lambda records: compare_reports(records.get(options.old, new), records.get(options.new, old)),
        {options.old: old, options.new: new},
    )
    _say(changes.lines)
    return changes.exit_code


def _check_report(options: argparse.Namespace) -> int:
    from judgefixtures.report.freshness import check_report

    line, code = check_report(options.folder, options.max_age)
    _say([line])
    return code


def _read_well(use: Callable[[Mapping[Path, RunRecord]], R], records: Mapping[Path, RunRecord]) -> R:
    """Return the records' use; JudgeFixturesError names a folder with other rows."""
    from judgefixtures.report.run_record import MISREAD, foreign_folder_note

    try:
        return use(records)
    except MISREAD:
        for folder, record in records.items():
            try:
                use({folder: record})
            except JudgeFixturesError:
                continue
            except MISREAD:
                raise foreign_folder_note(folder) from None
        named = " and ".join(map(str, records))
        raise JudgeFixturesError(MESSAGES.reports_do_not_match(named)) from None


def _demo(options: argparse.Namespace) -> int:
    try:
        from .demo import run_demo

        for line in run_demo(options.into):
            _say([line])
            sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitCode.STOPPED
    return 0


def _init(options: argparse.Namespace) -> int:
    sys.stdout.write(_steps_text(write_scaffold(options.folder, options.mode, options.provider)))
    return 0


def _merge_cassettes(options: argparse.Namespace) -> int:
    """Merge what can be merged; return 2 if something cannot."""
    if options.driver:
        merge_files(*options.driver)
        return 0
    code, done = 0, 0
    for path in options.paths or [Path("cassettes")]:
        for file in sorted(_joinable(path)) if path.is_dir() else [path]:
            try:
                merged = merge_conflicted_file(file)
            except JudgeFixturesError as error:
                sys.stderr.write(f"{error}\n")
                code = 2
                continue
            if merged is not None:
                done += 1
                sys.stdout.write(f"{file}: {merged}\n")
    if not done and not code:
        sys.stdout.write("nothing to join\n")
    return code


def _joinable(path: Path) -> Iterator[Path]:
    seen = set()
    for folder, inside, names in os.walk(path, followlinks=True):
        status = os.stat(folder)  # noqa: PTH116
        if (place := (status.st_dev, status.st_ino)) in seen:
            inside.clear()
            continue
        seen.add(place)
        inside[:] = sorted(name for name in inside if not name.startswith("."))
        shown = (name for name in names if not name.startswith("."))
        yield from (Path(folder, name) for name in shown if name in JOINED or name.endswith(".jsonl"))


def _write_paper(options: argparse.Namespace) -> int:
    from judgefixtures.paper import measure_paper, open_run, write_paper

    with open_run(options.config, options.cassettes) as run:
        done = write_paper(measure_paper(run, options.judge, options.dataset), options.into)
    sys.stdout.write("\n".join([*done.lines, *(f"written: {safe_message(str(file))}" for file in done.files)]) + "\n")
    if done.trouble:
        sys.stderr.write(f"{done.trouble}\n")
    return done.exit_code


def _steps_text(done: ScaffoldResult) -> str:
    steps = [f"{number}. {line}" for number, line in enumerate(done.next, 1)]
    parts = {"written": done.written, "left alone": done.left, "next": steps, "besides": done.besides}
    printed = [line for title, lines in parts.items() if lines for line in (title, *(f"  {each}" for each in lines))]
    return "\n".join(printed) + "\n"


TYPES: dict[str, Callable[[str], Any]] = {
    "path": Path,
    "mapping": _mapping,
    "value": _value,
    "names": _names,
    "number": int,
    "megabytes": parse_megabytes,
    "amount": parse_dollars,
    "share": parse_share,
}
RUNS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "paper": _write_paper,
    "init": _init,
    "import": _import,
    "label": _label,
    "canary": _watch,
    "cassettes merge": _merge_cassettes,
    "report merge": _merge_reports,
    "report check": _check_report,
    "report compare": _compare_reports,
}


def run() -> int:
    """Run the console script's command and return its exit code."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(run())
