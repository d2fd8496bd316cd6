"""JSON values, as they come and go."""

from typing import Any, cast


def whole(value: Any) -> Any:
    """Write 1.0 as 1, everywhere: JSON Schema knows no difference, msgspec does."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: whole(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return [whole(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
