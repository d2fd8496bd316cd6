"""JSON values are told apart and tidied."""

from splice.schema.values import is_array, is_object, whole


def test_kinds() -> None:
    assert is_object({})
    assert not is_object([])
    assert is_array([])
    assert not is_array({})


def test_whole_floats_become_integers() -> None:
    assert repr(whole({"a": [1.0, 1.5, "x", None, {"b": -2.0}]})) == "{'a': [1, 1.5, 'x', None, {'b': -2}]}"
    assert whole(float("inf")) == float("inf")
