"""JSON values, as they come and go."""

from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Tell whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Tell whether a JSON value is an array."""
    return isinstance(value, list)


def whole(value: Any) -> Any:
    """Write 1.0 as 1, everywhere: JSON Schema knows no difference, msgspec does."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if is_object(value):
        return {key: whole(inner) for key, inner in value.items()}
    return [whole(inner) for inner in value] if is_array(value) else value
