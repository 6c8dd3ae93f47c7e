"""Make the files beside this one with Phoenix itself, on our examples and our loopback model.

Each part ran in a venv of its own, with ../ on PYTHONPATH (for model.py), and writes into this folder:

    python make.py evals0        # arize-phoenix-evals 0.29.0, openai 1.109.1, pandas 2.3.3, pyarrow
    python make.py evals2        # arize-phoenix-evals 2.0.1, openai 1.109.1, pandas 3.1.1, pyarrow
    python make.py evals3        # arize-phoenix-evals 3.9.4, openai 3.57.0, pandas 3.1.1, pyarrow
    python make.py server20 ADDRESS    # arize-phoenix 20.26.1 (`phoenix serve` on 127.0.0.1), arize-phoenix-client 3.5.0
    python make.py server8 ADDRESS     # arize-phoenix 8.32.1, likewise: SpanEvaluations, as they were logged then
"""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from model import serve

HERE = Path(__file__).parent
EXAMPLES = [json.loads(line) for line in (HERE.parent / "examples.jsonl").read_text().splitlines()]
WRONG = {"bread-bad": "pass", "lock-good": "fail"}  # where our judge does not say what we say
SILENT = "leap-bad"  # where it says nothing that can be read
KIND = {"id": "id", "question": "input", "response": "output", "label": "human", "model": "model"}


def table() -> pd.DataFrame:
    """Return our examples under Phoenix's usual names of columns."""
    frame = pd.DataFrame(EXAMPLES).rename(columns=KIND)
    return frame.assign(reference="What we know of the matter.")


def grade(text: str) -> str | None:
    """Return what our judge says of the response that a prompt holds: pass, fail or nothing."""
    asked = next(each for each in EXAMPLES if each["response"] in text)
    return None if asked["id"] == SILENT else WRONG.get(asked["id"], asked["label"])


def words(positive: str, negative: str) -> Callable[[str], str]:
    """Return a model that explains itself and ends with a label, as prompts of evals 0.x ask."""

    def answer(text: str) -> str:
        said = {"pass": positive, "fail": negative, None: "unsure"}[grade(text)]
        return f'EXPLANATION: The answer says what a judge would look at.\nLABEL: "{said}"'

    return answer


def spoken(grounded: str) -> Callable[[str], str]:
    """Return a model that answers in the JSON that evals 2 and later ask for, with the labels of who asks."""

    def answer(text: str) -> str:
        good, bad = (grounded, "hallucinated") if "hallucinat" in text.lower() else ("correct", "incorrect")
        said = {"pass": good, "fail": bad, None: "unsure"}[grade(text)]
        return json.dumps({"label": said, "explanation": "The answer says what a judge would look at."})

    return answer


def evals0() -> None:
    """Write what llm_classify and run_evals return, beside the table and alone."""
    from phoenix.evals import (
        QA_PROMPT_RAILS_MAP,
        QA_PROMPT_TEMPLATE,
        HallucinationEvaluator,
        OpenAIModel,
        QAEvaluator,
        llm_classify,
        run_evals,
    )

    def model(address: str) -> Any:
        return OpenAIModel(model="gpt-4o-mini", api_key="unused", base_url=f"{address}/v1")

    frame = table().set_index("id")
    with serve(words("correct", "incorrect")) as address:
        options = {"provide_explanation": True, "use_function_calling_if_available": False}
        rails = list(QA_PROMPT_RAILS_MAP.values())
        said = llm_classify(frame, model(address), QA_PROMPT_TEMPLATE, rails, run_sync=True, **options)
        (graded,) = run_evals(frame, [QAEvaluator(model(address))], concurrency=1, **options)
    with serve(words("factual", "hallucinated")) as address:
        (told,) = run_evals(frame, [HallucinationEvaluator(model(address))], concurrency=1, **options)
    pd.concat([frame, said], axis=1).to_csv(HERE / "0.29-classify.csv")
    said.reset_index().to_json(HERE / "0.29-classify-alone.jsonl", orient="records", lines=True)
    pd.concat([frame, said], axis=1).to_parquet(HERE / "0.29-classify.parquet")
    pd.concat([frame, graded], axis=1).reset_index().to_json(HERE / "0.29-evals.json", orient="records")
    pd.concat([frame, told], axis=1).to_csv(HERE / "0.29-hallucination.csv")


def evals2() -> None:
    """Write what evaluate_dataframe returned when it was new: scores are texts of JSON."""
    from phoenix.evals.evaluators import evaluate_dataframe
    from phoenix.evals.llm import LLM
    from phoenix.evals.metrics.hallucination import HallucinationEvaluator

    with serve(spoken("factual")) as address:
        os.environ.update(OPENAI_API_KEY="unused", OPENAI_BASE_URL=f"{address}/v1")
        llm = LLM(provider="openai", model="gpt-4o-mini")
        frame = table().rename(columns={"reference": "context"})
        judges = [HallucinationEvaluator(llm=llm)]
        done = evaluate_dataframe(frame, judges, exit_on_error=False, max_retries=0)
    done.to_csv(HERE / "2.0-dataframe.csv", index=False)
    done.to_json(HERE / "2.0-dataframe.jsonl", orient="records", lines=True)


def evals3() -> None:
    """Write what evaluate_dataframe returns of two judges and a check, and what is made of it for annotations."""
    from phoenix.evals import LLM, create_evaluator, evaluate_dataframe, metrics
    from phoenix.evals.utils import to_annotation_dataframe

    @create_evaluator(name="short")
    def short(output: str) -> bool:
        return len(output) < 60

    with serve(spoken("grounded")) as address:
        llm = LLM(provider="openai", model="gpt-4o-mini", api_key="unused", base_url=f"{address}/v1")
        judges = [metrics.HallucinationEvaluator(llm=llm), metrics.CorrectnessEvaluator(llm=llm), short]
        frame = table().rename(columns={"reference": "context"})
        done = evaluate_dataframe(frame, judges, exit_on_error=False, max_retries=0)
    done.to_csv(HERE / "3.9-dataframe.csv", index=False)
    done.to_json(HERE / "3.9-dataframe.jsonl", orient="records", lines=True)
    few = done.drop(columns=[name for name in done if name.endswith("_details")])
    few.to_json(HERE / "3.9-dataframe.json")  # pandas' own default, a map of columns
    # Parquet has no empty structs, such as the metadata of a check in code.
    done.drop(columns=["short_score"]).to_parquet(HERE / "3.9-dataframe.parquet")
    noted = to_annotation_dataframe(dataframe=done.assign(span_id=[f"{number:016x}" for number in range(len(done))]))
    noted.to_csv(HERE / "3.9-annotations.csv", index=False)


def server20(address: str) -> None:
    """Log spans, annotate them, run an experiment; write what the server and its client give back."""
    from phoenix.client import Client

    client = Client(base_url=address)
    client.spans.log_spans(project_identifier=PROJECT, spans=[span(*each) for each in enumerate(EXAMPLES)])
    time.sleep(5)
    client.spans.log_span_annotations(span_annotations=list(annotations()), sync=True)
    frame = client.spans.get_spans_dataframe(project_identifier=PROJECT)
    noted = client.spans.get_span_annotations_dataframe(spans_dataframe=frame, project_identifier=PROJECT)
    noted.to_csv(HERE / "20.26-annotations.csv")
    noted.reset_index().to_json(HERE / "20.26-annotations.jsonl", orient="records", lines=True)
    ids = "&".join(f"span_ids={span_id(number)}" for number in range(len(EXAMPLES)))
    pages = []
    cursor = ""
    while cursor is not None:
        url = f"{address}/v1/projects/{PROJECT}/span_annotations?{ids}&limit=20" + (f"&cursor={cursor}" * bool(cursor))
        pages.append(json.loads(urllib.request.urlopen(url).read()))
        cursor = pages[-1]["next_cursor"]
    (HERE / "20.26-rest-pages.jsonl").write_text("".join(json.dumps(page) + "\n" for page in pages))
    (HERE / "20.26-rest.json").write_text(json.dumps(pages[0]))
    judge = noted[(noted["annotation_name"] == "correctness") & (noted["annotator_kind"] == "LLM")]
    said = judge[["result.label", "result.score", "result.explanation"]].rename(columns=lambda name: name[7:])
    frame.index.name = "span"  # it is a column, too
    frame.join(said.add_prefix("eval.correctness.")).to_csv(HERE / "20.26-spans.csv", index=False)
    experiment(client, address)


def experiment(client: Any, address: str) -> None:
    """Run an experiment twice over four examples; write the two files that its page offers."""
    from phoenix.client.experiments import create_evaluator

    rows = [each for each in EXAMPLES if each["id"] in ("tea-good", "bread-bad", "leap-bad", "lock-good")]
    dataset = client.datasets.create_dataset(
        name="ours",
        inputs=[{"question": each["question"]} for each in rows],
        outputs=[{"answer": "What we know of the matter."} for each in rows],
        metadata=[{"id": each["id"]} for each in rows],
    )
    told = {each["question"]: each["response"] for each in rows}

    def correctness(output: str) -> dict[str, Any]:
        said = grade(output)
        if said is None:
            raise ValueError("the judge said nothing that can be read")
        label = {"pass": "correct", "fail": "incorrect"}[said]
        return {"label": label, "score": float(said == "pass"), "explanation": "A judge looked at it."}

    def short(output: str) -> bool:
        return len(output) < 60

    ran = client.experiments.run_experiment(
        dataset=dataset,
        task=lambda input: told[input["question"]],  # noqa: A006 (it is bound by its name)
        evaluators={"correctness": create_evaluator(kind="LLM")(correctness), "short": short},
        repetitions=2,
        retries=0,
        print_summary=False,
    )
    for form in ("json", "csv"):
        url = f"{address}/v1/experiments/{ran['experiment_id']}/{form}"
        (HERE / f"20.26-experiment.{form}").write_bytes(urllib.request.urlopen(url).read())


def server8(address: str) -> None:
    """Log spans and SpanEvaluations as it was done in 2024 and 2025; write what comes back, as frames."""
    import phoenix as px
    from phoenix.otel import register
    from phoenix.trace import SpanEvaluations, TraceDataset

    tracer = register(project_name="default", endpoint=f"{address}/v1/traces", set_global_tracer_provider=False)
    for each in EXAMPLES:
        with tracer.get_tracer("ours").start_as_current_span("answer") as made:
            for name, value in attributes(each).items():
                made.set_attribute(name, value)
    tracer.force_flush()
    time.sleep(5)
    client = px.Client(endpoint=address)
    frame = client.get_spans_dataframe()
    said = [grade(text) for text in frame["attributes.output.value"]]
    words = {"pass": "correct", "fail": "incorrect", None: "NOT_PARSABLE"}
    told = pd.DataFrame(
        {
            "label": [words[each] for each in said],
            "score": [float(each == "pass") for each in said],
            "explanation": ["The answer says what a judge would look at."] * len(said),
        },
        index=frame.index,
    )
    client.log_evaluations(SpanEvaluations(eval_name="QA Correctness", dataframe=told))
    time.sleep(5)
    evaluations = client.get_evaluations()
    evaluations[0].get_dataframe(prefix_columns_with_name=False).to_csv(HERE / "8.32-evaluations.csv")
    evaluations[0].get_dataframe().reset_index().to_json(HERE / "8.32-evaluations.jsonl", orient="records", lines=True)
    whole = TraceDataset(frame, evaluations=evaluations).get_spans_dataframe()
    whole.to_csv(HERE / "8.32-spans.csv", index=False)


PROJECT = "ours"


def span_id(number: int) -> str:
    """Return the id of a span of ours."""
    return f"{0xA0 + number:016x}"


def attributes(each: dict[str, Any]) -> dict[str, Any]:
    """Return what instrumentation says of an answer."""
    return {
        "openinference.span.kind": "LLM",
        "input.value": each["question"],
        "output.value": each["response"],
        "llm.model_name": f"model-{each['model']}",
    }


def span(number: int, each: dict[str, Any]) -> dict[str, Any]:
    """Return a span of an answer."""
    start = dt.datetime(2026, 1, 5, 9, number, tzinfo=dt.UTC)
    return {
        "name": "answer",
        "context": {"trace_id": f"{0xB0 + number:032x}", "span_id": span_id(number)},
        "span_kind": "LLM",
        "start_time": start.isoformat(),
        "end_time": (start + dt.timedelta(seconds=1)).isoformat(),
        "status_code": "OK",
        "attributes": attributes(each),
    }


def annotations() -> Iterator[dict[str, Any]]:
    """Yield what our judge, a person, a check in code and a note say of each span."""
    for number, each in enumerate(EXAMPLES):
        said = grade(each["response"])
        about = {"span_id": span_id(number), "name": "correctness"}
        words = {"pass": "correct", "fail": "incorrect"}
        if said is not None:
            result = {"label": words[said], "score": float(said == "pass"), "explanation": "A judge looked at it."}
            yield {**about, "annotator_kind": "LLM", "identifier": "judge-1", "result": result}
        yield {**about, "annotator_kind": "HUMAN", "identifier": "anna", "result": {"label": words[each["label"]]}}
        short = {"label": str(len(each["response"]) < 60).lower(), "score": float(len(each["response"]) < 60)}
        yield {"span_id": span_id(number), "name": "short", "annotator_kind": "CODE", "result": short}


PARTS: dict[str, Callable[..., None]] = {each.__name__: each for each in (evals0, evals2, evals3, server8, server20)}

if __name__ == "__main__":
    PARTS[sys.argv[1]](*sys.argv[2:])
