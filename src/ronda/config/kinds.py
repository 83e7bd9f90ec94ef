"""The kinds of values that settings have."""

from typing import Annotated

from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0.001, le=10_000_000)]  # a millisecond to months
Gap = Annotated[float, Meta(ge=0, le=10_000_000)]
Count = Annotated[int, Meta(ge=1)]
Tries = Annotated[int, Meta(ge=0, le=10)]
Steps = Annotated[int, Meta(ge=0)]
