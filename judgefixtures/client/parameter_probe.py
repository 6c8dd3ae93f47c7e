"""Probe: the first request finds the parameters that the model accepts."""

import contextlib
from collections.abc import Generator
from dataclasses import dataclass

from judgefixtures.providers import LOGPROBS, FatalJudgeError, Provider, RetryableError, UnsupportedParameterError
from judgefixtures.providers.error_classification import (
    logprobs_rejection,
    provider_parameter_names,
    rejected_parameter,
)
from judgefixtures.providers.judge_table import JudgeTable
from judgefixtures.util.secrets import redact_message

from .messages import MESSAGES
from .retry import RetriesExhaustedError, is_transient

REMEDIES = {
    "logprobs": "remove logprobs from the judge's table",
    "response_format": 'set response_format = "json_object" or "none", or drop_unsupported = true',
}


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """The options of a request.

    Attributes:
        keep: Whether to record the answer.
        tentative: Whether exhausted attempts decide nothing.
        after: A failure to wait for first.
        probes: Whether this is the first request.
    """

    attempts: int | None = None
    keep: bool = True
    tentative: bool = False
    after: RetryableError | None = None
    probes: bool = False


Steps = Generator[RequestOptions, None, None]


@dataclass(frozen=True, slots=True)
class ParameterProbe:
    """A question that is asked without what the model refuses, until the model answers.

    Whoever asks sends it in each way that `steps` yields, and throws into it what the question failed of.
    """

    judge: str
    table: JudgeTable
    provider: Provider

    def steps(self) -> Steps:
        """Yield how to ask, until the model answers; a refused parameter is dropped where the judge's table allows it.

        Token probabilities always are; otherwise the error names the parameter.
        """
        while True:
            try:
                return (yield from self._steps_as_it_is())
            except UnsupportedParameterError as error:
                named = provider_parameter_names(error.parameter) & self.provider.sent
                if not named or not (self.table.drop_unsupported or named <= LOGPROBS):
                    raise
                self.provider.dropped |= named

    def _steps_as_it_is(self) -> Steps:
        """Ask with the parameters as they are; where the server fails on one, say on which."""
        failure: RetryableError | None
        try:
            return (yield RequestOptions(min(2, self.table.max_attempts), tentative=True, probes=True))
        except RetriesExhaustedError as error:
            failure = error.failure
            if is_transient(failure):
                raise
        suspects = self._suspects if (failure.status or 0) >= 500 else ()
        message = redact_message(f"judge {self.judge!r}: {failure}")
        rejected = rejected_parameter({}, str(failure)) if suspects else ""
        if "logprobs" in suspects and (refusal := logprobs_rejection(rejected, str(failure), message)) is not None:
            raise refusal
        for suspect in suspects:
            failure = yield from self._fault_without(provider_parameter_names(suspect), failure)
            if failure is None:
                with contextlib.suppress(RetriesExhaustedError):  # it may have been an outage that is over
                    return (yield RequestOptions(1, probes=True))
                raise self._fails_on(suspect)
        yield RequestOptions(after=failure, probes=True)

    @property
    def _suspects(self) -> tuple[str, ...]:
        """Some servers answer 500 to unknown parameters."""
        return tuple(name for name in self.table.record.suspects if provider_parameter_names(name) & self.provider.sent)

    def _fault_without(
        self, names: frozenset[str], failure: RetryableError
    ) -> Generator[RequestOptions, None, RetryableError | None]:
        before = self.provider.dropped
        self.provider.dropped = before | names
        try:
            yield RequestOptions(1, keep=False, after=failure, probes=True)
        except RetriesExhaustedError as error:
            return error.failure
        except FatalJudgeError:
            return failure
        finally:
            self.provider.dropped = before
        return None

    def _fails_on(self, parameter: str) -> UnsupportedParameterError:
        return UnsupportedParameterError(
            MESSAGES.parameter_fails(self.judge, parameter, getattr(self.table, parameter), REMEDIES[parameter]),
            parameter,
        )
