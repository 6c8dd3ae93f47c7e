"""One judge for each framework, as its documentation writes them, and the table of the judge."""

PREAMBLE = 'import os\n\nURL = os.environ["LOOPBACK"]\n'
PROMPT = "Does the answer help? Question: {question} Answer: {response}"

JUDGES: dict[str, tuple[str, str]] = {
    "deepeval": (
        """
from deepeval.metrics import GEval
from deepeval.models import GPTModel
from deepeval.test_case import SingleTurnParams

judge = GEval(
    name="Helpful",
    criteria="Does the answer help?",
    evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
    model=GPTModel(model="gpt-4o", base_url=URL, api_key="none"),
)
""",
        "",
    ),
    "autoevals": (
        """
from autoevals import LLMClassifier
from openai import OpenAI

judge = LLMClassifier(
    name="Helpful",
    prompt_template="Does the answer help? {{input}} {{output}}",
    choice_scores={"Yes": 1, "No": 0},
    client=OpenAI(base_url=URL, api_key="none"),
    model="gpt-4o",
)
""",
        "",
    ),
    "openevals": (
        """
from langchain_openai import ChatOpenAI
from openevals.llm import create_llm_as_judge

judge = create_llm_as_judge(
    prompt="Does the answer help? {inputs} {outputs}",
    judge=ChatOpenAI(model="gpt-4o", base_url=URL, api_key="none"),
)
""",
        "",
    ),
    "pydantic-evals": (
        """
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_evals.evaluators import LLMJudge

model = OpenAIChatModel("gpt-4o", provider=OpenAIProvider(base_url=URL, api_key="none"))
judge = LLMJudge(rubric="The answer helps.", model=model, include_input=True)
""",
        "",
    ),
    "inspect-ai": (
        """
from inspect_ai.model import get_model
from inspect_ai.scorer import model_graded_qa

judge = model_graded_qa(model=get_model("openai/gpt-4o", base_url=URL, api_key="none"))
""",
        "",
    ),
    "mlflow": (
        """
from typing import Literal

os.environ.update(OPENAI_API_BASE=URL, OPENAI_BASE_URL=URL, OPENAI_API_KEY="none")
from mlflow.genai.judges import make_judge

judge = make_judge(
    name="helpful",
    instructions="Does {{ outputs }} help with {{ inputs }}?",
    model="openai:/gpt-4o",
    feedback_value_type=Literal["yes", "no"],
)
""",
        "",
    ),
    "ragas": (
        """
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import DomainSpecificRubrics

llm = llm_factory("gpt-4o", client=AsyncOpenAI(base_url=URL, api_key="none"))
judge = DomainSpecificRubrics(llm=llm)
""",
        "pass_mark = 4",
    ),
    "arize-phoenix-evals": (
        """
from phoenix.evals import ClassificationEvaluator
from phoenix.evals.llm import LLM

judge = ClassificationEvaluator(
    name="helpful",
    llm=LLM(provider="openai", model="gpt-4o", base_url=URL, api_key="none"),
    prompt_template="Does the answer help? {input} {output}",
    choices={"yes": 1, "no": 0},
)
""",
        "",
    ),
    "langchain": (
        """
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


class Grade(BaseModel):
    passed: bool
    reason: str


prompt = ChatPromptTemplate.from_messages([("human", "Does the answer help? {question} {answer}")])
judge = prompt | ChatOpenAI(model="gpt-4o", base_url=URL, api_key="none").with_structured_output(Grade)
""",
        'inputs = {question = "{question}", answer = "{response}"}',
    ),
    "haystack-ai": (
        """
from haystack.components.evaluators import LLMEvaluator
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

judge = LLMEvaluator(
    instructions="Does the answer help?",
    inputs=[("questions", list[str]), ("answers", list[str])],
    outputs=["score"],
    examples=[{"inputs": {"questions": "Why?", "answers": "So."}, "outputs": {"score": 0}}],
    chat_generator=OpenAIChatGenerator(
        model="gpt-4o", api_base_url=URL, api_key=Secret.from_token("none"), generation_kwargs={"seed": 1}
    ),
)
""",
        'inputs = {questions = "{question}", answers = "{response}"}',
    ),
    "dspy": (
        """
import dspy

dspy.configure(lm=dspy.LM("openai/gpt-4o", api_base=URL, api_key="none"))
judge = dspy.ChainOfThought("question, answer -> verdict: bool")
""",
        'inputs = {question = "{question}", answer = "{response}"}\nresult = {verdict = "verdict", reason = "reasoning"}',
    ),
}
