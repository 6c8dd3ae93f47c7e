"""Judge in the user's own code: callable(prompt: str) -> str, sync or async."""

import asyncio
import contextlib
import contextvars
import functools
import importlib
import inspect
import json
import re
import socket
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from judgefixtures.cassettes.calls import AnswerTooLargeError, CassetteMissError, DeferredToBatchError, JudgeCall
from judgefixtures.cassettes.network import NetworkBlockedError
from judgefixtures.models.probabilities import ROUNDING
from judgefixtures.parsing.verdict_probabilities import stated_probability
from judgefixtures.prompts.inputs import Inputs
from judgefixtures.prompts.templates import LAYOUTS
from judgefixtures.providers import FatalJudgeError, ProviderResponse, ProviderSpec, RetryableError, UnreachableError
from judgefixtures.util.errors import JudgeFixturesError
from judgefixtures.util.secrets import redact_message
from judgefixtures.util.texts import word_set

from .code_table import check_code, code_identity, package_versions
from .error_classification import classify_error, error_object
from .http import HttpResponse, causes_of
from .judge_table import JudgeTable
from .messages import MESSAGES
from .observed_usage import ObservedUsage
from .result_json import to_json
from .result_reading import error_text, read_result
from .result_recording import ResultExchange, error_fields
from .threads import LoopThread, Worker, in_time

_Outcome = tuple[Any, BaseException | None]  # what a function returned, or raised

MOST_THREADS = 64
NOT_LET_IN = (401, 403)  # statuses that every call will get
OVERLOADED = (429, 498, 503, 529)  # statuses that say nothing of one call
OURS = (
    CassetteMissError,
    NetworkBlockedError,
    AnswerTooLargeError,
    DeferredToBatchError,
)  # raised through the function
# With a host or without: some clients name only the path that they asked for.
QUERY = re.compile(r"(/[^\s?'\"]*)\?[^\s'\"]*")


class PythonProvider:
    """Provider that calls the function "package.module:function"."""

    sent: frozenset[str] = frozenset()

    def __init__(self, table: JudgeTable) -> None:
        self._table = table
        self._target = str(table.target)
        self._logprobs, self._ties = table.logprobs, table.counts_ties
        or_else = '; with logprobs = true in its table it may be {"text": ..., "probabilities": ...}'
        self._or_else = or_else if LAYOUTS[table.mode].shows_both else ""
        self._function: Callable[..., Any] | None = None
        self.packages: Mapping[str, str] = {}  # versions of what the target is made with, if results are recorded
        self._timeout = table.timeout
        self._turns: asyncio.Semaphore | None = None
        self._idle: list[Worker] = []
        self._loop: LoopThread | None = None
        self.dropped: frozenset[str] = frozenset()
        self.last_error: BaseException | None = None  # that was recorded

    async def complete(self, prompt: str, call: JudgeCall) -> ProviderResponse:
        """Return the function's answer."""
        if self._table.inputs is not None and not isinstance(prompt, Inputs):
            raise FatalJudgeError(MESSAGES.prompt_without_inputs(self._target))
        call.hosts = frozenset(self._table.hosts or ())
        if self._table.records_results:
            exchange = ResultExchange(call, prompt)
            recorded = exchange.find()
            return read_result(await self._new_result(exchange) if recorded is None else recorded, self._table)
        function = self._loaded()
        call.abandoned = False
        try:
            returned, error = await self._call(function, prompt, call)
        except TimeoutError:
            call.abandoned = True
            return ProviderResponse("", "timeout", self._late)
        if isinstance(error, (JudgeFixturesError, RetryableError, *OURS)):
            raise error
        call.check()
        if error is not None:
            return _classified(_own(error), self._target)
        if self._table.inputs is not None:
            return read_result({"result": to_json(returned)}, self._table)
        if isinstance(returned, str):
            return ProviderResponse(returned)
        if self._logprobs and isinstance(returned, Mapping):
            return self._with_probability(returned)
        raise FatalJudgeError(MESSAGES.not_a_text(self._target, type(returned).__name__, self._or_else))

    async def _new_result(self, exchange: ResultExchange) -> Mapping[str, Any]:
        """Make a call, write what came of it, and return it as recorded."""
        call, usage, began = exchange.call, ObservedUsage(), time.monotonic()
        function = self._loaded()
        call.check_packages(self.packages)
        call.abandoned, call.listener = False, usage.take

        def about() -> dict[str, Any]:
            return {**usage.to_json(), "seconds": round(time.monotonic() - began, 3)}

        try:
            returned, error = await self._call(function, exchange.prompt, call)
        except TimeoutError:
            call.abandoned = True
            return exchange.keep({"invalid": "timeout", "detail": self._late, **about()})
        except RetryableError as passing:
            exchange.put({"invalid": passing.invalid or "raised", "detail": str(passing)})
            raise
        if isinstance(error, (JudgeFixturesError, RetryableError, *OURS)):
            raise error
        call.check()
        if error is None:
            return exchange.keep({"result": to_json(returned), **about()})
        raised = _own(error)
        if not isinstance(raised, Exception) or _status(raised) in NOT_LET_IN:
            _classified(raised, self._target)
        self.last_error = raised
        recorded = {"invalid": "raised", "error": error_fields(raised, _message(raised)), **about()}
        try:
            _classified(raised, self._target)
        except RetryableError as passing:
            if passing.status not in OVERLOADED:
                detail = error_text(exchange.put(recorded), self._table)  # written if the last attempt fails, too
                passing.args, passing.invalid = (detail,), "raised"
            raise
        except FatalJudgeError:
            pass
        return exchange.keep(recorded)

    def _loaded(self) -> Callable[..., Any]:
        """Return the target, imported at the first call."""
        if self._function is None:
            target, adapt = load_target(self._target), self._table.record.adapt
            try:
                target = target() if self._table.factory else target
                function = target if adapt is None else adapt(target, self._table)
            except Exception as error:
                raise FatalJudgeError(MESSAGES.not_made(self._target, _describe(error), _place(error))) from error
            if not callable(function):
                raise FatalJudgeError(MESSAGES.target_not_callable(self._target, type(target).__name__))
            if self._table.records_results:
                self.packages = package_versions(self._table, target)
            self._function = function
        return self._function

    @property
    def _late(self) -> str:
        return f"{self._target} gave no answer within {self._timeout:g} s, the timeout of its table"

    def _with_probability(self, returned: Mapping[Any, Any]) -> ProviderResponse:
        text, stated = returned.get("text"), returned.get("probabilities")
        if not isinstance(text, str) or returned.keys() != {"text", "probabilities"}:
            raise FatalJudgeError(
                f'{self._target} returned a mapping with {sorted(map(str, returned))}: return {{"text": what the model '
                'wrote, "probabilities": {"1": p, "2": q}}, or the text alone.'
            )
        first, second, tie = _chances(stated)
        if first is None or second is None or tie is None or first + second + tie > 1 + ROUNDING:
            raise FatalJudgeError(MESSAGES.not_probabilities(self._target, stated))
        # A tie that is no verdict is elsewhere.
        return ProviderResponse(text, probability=stated_probability(first, second, tie if self._ties else 0.0))

    async def _call(self, function: Callable[..., Any], prompt: str, call: JudgeCall) -> _Outcome:
        asked = functools.partial(function, **prompt.values) if isinstance(prompt, Inputs) else function
        arguments = () if isinstance(prompt, Inputs) else (prompt,)
        if inspect.iscoroutinefunction(function):
            return await self._in_loop(_started(asked, arguments), call)
        if self._turns is None:
            # vcrpy unpatches http.client for the whole process while it makes a connection: a second thread would
            # get an unrecorded one. So functions that block are asked one at a time when they are recorded; async ones
            # need not be. (Without that reset http.client and httplib2 make no connection: they find vcrpy's classes.)
            self._turns = asyncio.Semaphore(1 if call.is_routed and call.listener is None else MOST_THREADS)
        async with self._turns:  # the time that a function has begins when its turn comes
            worker = self._idle.pop() if self._idle else Worker()
            try:
                context = contextvars.copy_context()  # which cassette the call belongs to
                outcome: _Outcome = await in_time(worker.call(context.run, _called, asked, *arguments), self._timeout)
            except BaseException:
                worker.end()  # if it ever returns
                raise
            self._idle.append(worker)
        return await self._in_loop(outcome[0], call) if inspect.isawaitable(outcome[0]) else outcome

    async def _in_loop(self, answer: Awaitable[Any], call: JudgeCall) -> _Outcome:
        if self._loop is None or self._loop.loop.is_closed():
            self._loop = LoopThread()
        there = self._loop
        try:
            return await in_time(there.start(_awaited(answer)), self._timeout)
        except TimeoutError:
            if await there.reacts():
                raise
            blocking = there.busy_with
            there.give_up(self._timeout)
            self._loop = None if self._loop is there else self._loop
        if blocking is None or blocking is call:
            raise TimeoutError
        raise RetryableError("another call of the judge blocks its event loop", invalid="timeout")

    async def close(self) -> None:
        """End the threads."""
        for worker in self._idle:
            worker.end()
        if self._loop is not None:
            self._loop.close()
        self._turns, self._idle, self._loop = None, [], None

    def forget(self) -> None:
        """Drop waiting calls."""
        self._turns = None


def _chances(stated: object) -> tuple[float | None, float | None, float | None]:
    if not isinstance(stated, Mapping) or stated.keys() - {"1", "2", "tie"}:
        return None, None, None
    first, second = (_chance(stated.get(name)) for name in ("1", "2"))
    return first, second, _chance(stated.get("tie", 0), none=True)


def _chance(value: object, *, none: bool = False) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # a number of numpy's, too
    except (TypeError, ValueError, OverflowError):
        return None
    may_be = 0 < number < 1 or (none and number == 0)
    return number if may_be and not isinstance(value, str | bool) else None


def load_target(target: str) -> Any:
    """Return the object named by "package.module:name", or raise FatalJudgeError."""
    module_name, _, path = target.partition(":")
    try:
        resolved: Any = importlib.import_module(module_name)
        for name in path.split("."):
            resolved = getattr(resolved, name)
    except (ImportError, AttributeError) as error:
        raise FatalJudgeError(MESSAGES.target_not_imported(target, error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise FatalJudgeError(
            f"target = {target!r} cannot be imported: its module raised {_describe(error)}, {_place(error)}."
        ) from None
    return resolved


async def _started(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return await function(*arguments)


def _called(function: Callable[..., Any], *arguments: Any) -> _Outcome:
    try:
        return function(*arguments), None
    except BaseException as error:  # whatever it is, it is the function's, and ends the thread's work
        return None, error


async def _awaited(answer: Awaitable[Any]) -> _Outcome:
    try:
        return await answer, None
    except BaseException as error:
        if _is_ended(error):
            raise  # by us, who ask no further: not by the function
        return None, error


def _is_ended(error: BaseException) -> bool:
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs
        task = None
    if isinstance(error, GeneratorExit):
        return task is None
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _own(error: BaseException) -> BaseException:
    cause = error.__cause__
    return cause if isinstance(error, RuntimeError) and isinstance(cause, StopIteration) else error


def _classified(error: BaseException, target: str) -> ProviderResponse:
    raised = f"{target} raised {_describe(error)}"
    if (status := _status(error)) is not None:
        return classify_error(status, _error_object(error, status), HttpResponse(status, _headers(error), ""), target)
    causes = list(causes_of(error))
    if isinstance(reason := getattr(error, "reason", None), BaseException):  # urllib's way
        causes += causes_of(reason)
    names = [kind.__name__ for cause in causes for kind in type(cause).__mro__]
    if any(isinstance(cause, NOBODY_THERE) for cause in causes):
        raise UnreachableError(raised) from error
    passing = any(isinstance(cause, TimeoutError | ConnectionError) for cause in causes)
    if (passing or any(name.endswith(PASSING) for name in names)) and not any(name in LASTING for name in names):
        raise RetryableError(raised) from error
    raise FatalJudgeError(f"{raised}, {_place(error)}.") from error


NOBODY_THERE = (ConnectionRefusedError, socket.gaierror)
# How HTTP clients name a failed exchange, or a class above it; they share no base class.
PASSING = tuple(
    word_set(
        "Timeout TimeoutError TimeoutException NetworkError ConnectionError ConnectError ReadError RemoteProtocolError "
        "ProtocolError DisconnectedError ClientOSError ClientPayloadError ChunkedEncodingError IncompleteRead "
        "MaxRetryError"
    )
)
# What is named or derived like one of these and stays as it is, however often it is asked.
LASTING = ("SSLError", "SSLCertVerificationError", "ClientSSLError", "LocalProtocolError", "UnsupportedProtocol")


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {_message(error)}".rstrip(": ")


def _message(error: BaseException) -> str:
    return QUERY.sub(r"\1?...", redact_message(str(error)))


def _place(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "(nowhere)"


def _error_object(error: BaseException, status: int) -> Mapping[str, Any]:
    response = getattr(error, "response", None)
    for holder, name in ((error, "body"), (error, "details"), (response, "text")):
        with contextlib.suppress(Exception):  # a body that was streamed, or closed, cannot be read again
            kept = getattr(holder, name, None)
            if isinstance(kept, dict | list):
                kept = json.dumps(kept)
            if isinstance(kept, str) and kept.lstrip().startswith(("{", "[")):
                error_fields = error_object(HttpResponse(status, {}, kept))
                return error_fields if error_fields.get("message") else {**error_fields, "message": _describe(error)}
    return {"message": _describe(error)}


def _status(error: BaseException) -> int | None:
    response = getattr(error, "response", None)
    for holder in (error, response):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            if type(value) is int and 400 <= value <= 599:
                return value
    return None


def _headers(error: BaseException) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None) or {}
    try:
        return {str(name).lower(): str(value) for name, value in headers.items()}
    except AttributeError:
        return {}


RECORD = ProviderSpec(answers=PythonProvider, key=None, is_code=True, check=check_code, identity=code_identity)
