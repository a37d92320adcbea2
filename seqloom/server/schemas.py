"""What requests look like. Fields that are not known are refused, so that a misspelt one is not ignored."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _whole(text: str) -> str:
    """Refuse halves of characters, which JSON can write and nothing can read."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError("it has half a character (a lone surrogate). Write it whole") from None
    return text


Text = Annotated[str, AfterValidator(_whole)]


class Upload(BaseModel):
    """A picture, sound or video, as it is in its file, in base64."""

    model_config = ConfigDict(extra="forbid")

    base64: Text


SourceValue = Text | Upload | list[float] | list[Text]
Given = Annotated[
    Text | dict[Text, SourceValue],
    Field(description="A text, or sources by name and perhaps `features`; a source that is a file is `{base64: ...}`."),
]
PrefixField = Annotated[
    Text | list[int | Text],
    Field(description="What an output must begin with: a text, or symbols as in `tokens` or `ids` of an answer."),
]
OracleField = Annotated[
    Text | list[list[float] | None] | None,
    Field(description='Where attention has to look: per step a distribution or null, or an alignment such as "0-0 2-1".'),
]
Drawing = Annotated[bool, Field(description="Add what the studio's page draws with the code that `explain` has.")]
ModelName = Annotated[Text | None, Field(description="One of GET /v1/models; the first if none is named.")]


class ServiceRequest(BaseModel):
    """What all requests share."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    model: ModelName = None


class SearchOptions(ServiceRequest):
    """How outputs are searched. What is not said is as in the model's recipe."""

    beam: Annotated[int, Field(ge=1)] | None = None
    length_power: Annotated[float, Field(ge=0, le=100)] | None = None
    minimum_length: Annotated[int, Field(ge=0)] | None = None
    maximum_length: Annotated[int, Field(ge=1)] | None = None
    forbid: list[Text] = Field(default_factory=list, max_length=100)


class PredictRequest(SearchOptions):
    """Inputs, and how their outputs are searched and shown."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"inputs": ["3 May 1978"]},
                {"inputs": ["3 May 1978"], "beam": 5, "nbest": 3, "attention": True},
                {"inputs": ["3 May 1978"], "prefix": "19", "tree": True},
            ]
        }
    )

    inputs: list[Given] = Field(min_length=1)
    nbest: Annotated[int, Field(ge=1)] = 1
    prefix: PrefixField = ""
    attention: bool = False
    oracle: OracleField = None
    oracle_unit: Literal["symbols", "words"] = "symbols"
    tree: bool = False
    drawing: Drawing = False


class FigureRequest(PredictRequest):
    """One input, and which figure of it is wanted, in which form."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"inputs": ["3 May 1978"], "figure": "tree", "form": "svg", "beam": 3}]}
    )

    figure: Literal["map", "tree", "steps"] = "map"
    form: Literal["svg", "png", "html", "json"] = "svg"


class StepRequest(ServiceRequest):
    """A beginning, after which the next symbol is wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"input": "3 May 1978", "prefix": "19", "count": 5}]})

    input: Given | None = None
    prefix: PrefixField = ""
    count: Annotated[int, Field(ge=1)] = 10
    every: bool = False
    oracle: OracleField = None
    oracle_unit: Literal["symbols", "words"] = "symbols"


class ScoreRequest(SearchOptions):
    """Targets for inputs, or texts for a language model, whose probability is wanted. search: also what the model writes."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"inputs": ["3 May 1978"], "targets": ["1978-05-03"], "search": True}]}
    )

    inputs: list[Given] = Field(default_factory=list)
    targets: list[Text] = Field(default_factory=list)
    texts: list[Text] = Field(default_factory=list)
    search: bool = False
    drawing: Drawing = False


class SampleRequest(ServiceRequest):
    """What a text is drawn from. input: for a model that reads sources."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"prompt": "Once ", "length": 100, "temperature": 0.8}]})

    input: Given | None = None
    prompt: Text = ""
    length: Annotated[int, Field(ge=1)] = 200
    temperature: Annotated[float, Field(gt=0, le=100)] = 1.0
    top_k: Annotated[int, Field(ge=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 1


class CompleteRequest(ServiceRequest):
    """A beginning that a language model completes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"prompt": "The ki", "beam": 3, "length": 30}]})

    prompt: Text = ""
    beam: Annotated[int, Field(ge=1)] = 3
    length: Annotated[int, Field(ge=1)] = 50


class NeighbourRequest(ServiceRequest):
    """An input whose nearest training examples are wanted."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"input": "3 May 1978", "count": 5}]})

    input: Given
    count: Annotated[int, Field(ge=1)] = 5


class ErrorBody(BaseModel):
    """Why a request was not answered. code: a stable word; message: a sentence."""

    code: str
    message: str


class ErrorAnswer(BaseModel):
    """What every error looks like."""

    error: ErrorBody


def answer_schema(what: str, example: dict[str, Any]) -> dict[str, Any]:
    """How an answer is shown in the service's description: an object, with an example."""
    return {
        "description": what,
        "content": {"application/json": {"schema": {"type": "object"}, "example": example}},
    }
