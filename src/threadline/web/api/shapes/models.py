"""Models, as the API tells of them."""

from decimal import Decimal

from pydantic import Field

from threadline.assembly.models import KnownModel
from threadline.web.api.shapes.model import Answer


class ModelShape(Answer):
    """A model that a conversation may use."""

    name: str = Field(description="As `/model` takes it.", examples=["openai:gpt-5"])
    provider: str = Field(examples=["openai"])
    is_default: bool = Field(description="It answers where nobody chose another one.")
    is_offered: bool = Field(description="The settings name it.")
    is_usable: bool = Field(description="Its provider has a key here, or asks for none.")
    context_tokens: int | None = Field(description="How much it reads at once; null: unknown.")
    input_price: Decimal | None = Field(
        description="US dollars for a million tokens, at the least; null: unknown."
    )
    output_price: Decimal | None

    @classmethod
    def from_model(cls, model: KnownModel) -> "ModelShape":
        """Tell what is known of a model."""
        return cls(
            name=model.name,
            provider=model.name.partition(":")[0],
            is_default=model.is_default,
            is_offered=model.is_offered,
            is_usable=model.is_usable,
            context_tokens=model.context_tokens,
            input_price=model.input_price,
            output_price=model.output_price,
        )
