"""A provider is one record and one file: what another one inherits of it, and what it must not."""

import asyncio
import sys
import types

import pytest
from support.server import chat, serving, wire
from syrupy.assertion import SnapshotAssertion

from judgefixtures import providers
from judgefixtures.batches import load_batches
from judgefixtures.config import judge_table
from judgefixtures.judges.judge import load_judge
from judgefixtures.providers import PROVIDERS, ProviderSpec, provider_spec
from judgefixtures.providers.openai import OpenAIProvider, request_parameters
from judgefixtures.util.errors import JudgeFixturesError

VERDICT = '{"selected_response": 1, "reason": "dated"}'


@pytest.mark.parametrize("key", [None, ""])
def test_a_record_names_the_variable_of_its_key(key: str | None, snapshot: SnapshotAssertion) -> None:
    """Without one, questions would be sent with no key: it is an error when the record is made."""
    with pytest.raises(ValueError) as error:
        ProviderSpec(answers=OpenAIProvider, key=key)
    assert str(error.value) == snapshot


@pytest.mark.parametrize("name", sorted(PROVIDERS))
def test_every_provider_has_a_record(name: str) -> None:
    """What is known of a provider is read of its file, which names its key unless nobody is asked over an API."""
    record = provider_spec(name)
    assert bool(record.key) == (record.is_asked and not record.is_code)


def test_no_provider_inherits_the_account_of_another(
    monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    """A provider that speaks OpenAI's wire format is sent its own key, and nothing that is meant for OpenAI."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-openai")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("OTHER_API_KEY", "key-of-the-other")
    with serving(wire(chat(VERDICT))) as server:
        room = types.ModuleType("provider_of_a_test")
        room.RECORD = ProviderSpec(answers=OpenAIProvider, key="OTHER_API_KEY", url=f"{server.url}/v1")  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, room.__name__, room)
        monkeypatch.setitem(providers.PROVIDERS, "other", room.__name__)
        judge = load_judge({"provider": "other", "model": "gpt-4o"}, "mine")

        async def asked() -> int | None:
            try:
                return (await judge.verdict("Which one?")).selected_response
            finally:
                await judge.close()

        assert asyncio.run(asked()) == 1
    (request,) = server.asked
    assert request.headers["authorization"] == "Bearer key-of-the-other"
    assert "of-openai" not in str(dict(request.headers))
    with pytest.raises(JudgeFixturesError) as error:
        load_batches("mine", judge.table)
    assert str(error.value) == snapshot
    monkeypatch.delenv("OTHER_API_KEY")
    with pytest.raises(JudgeFixturesError) as error:
        asyncio.run(load_judge({"provider": "other", "model": "gpt-4o"}, "mine").verdict("Which one?"))
    assert str(error.value) == snapshot
    providers.provider_spec.cache_clear()


def test_a_record_says_where_its_key_goes(snapshot: SnapshotAssertion) -> None:
    """Without an address of its own a provider's key would go to the one that the SDK has by default."""
    with pytest.raises(ValueError) as error:
        ProviderSpec(answers=OpenAIProvider, key="OTHER_API_KEY")
    assert str(error.value) == snapshot


def test_another_server_is_asked_by_the_older_name_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers that speak OpenAI's wire format may know `max_tokens` alone, be they a provider's or a base_url's."""
    room = types.ModuleType("provider_of_a_test")
    room.RECORD = ProviderSpec(answers=OpenAIProvider, key="OTHER_API_KEY", url="https://other.invalid/v1")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, room.__name__, room)
    monkeypatch.setitem(providers.PROVIDERS, "other", room.__name__)
    tables = [judge_table({"provider": name, "model": "m"}) for name in ("openai", "other")]
    assert ["max_tokens" in request_parameters(table) for table in tables] == [False, True]
    providers.provider_spec.cache_clear()
