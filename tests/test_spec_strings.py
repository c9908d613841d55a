"""The grammar of spec strings."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mage_envs.errors import SpecError
from mage_envs.spec_strings import Spec, bind_spec, parse_spec

WORDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_./-]{0,8}", fullmatch=True).filter(
    lambda word: word not in ("true", "false")
)
STRINGS = st.text(max_size=8).filter(lambda text: not ('"' in text and "'" in text))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def _specs(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Spec]:
    named = st.dictionaries(WORDS, values, max_size=3).map(lambda given: tuple(given.items()))
    return st.builds(Spec, WORDS, st.lists(values, max_size=3).map(tuple), named)


LEAVES = st.one_of(st.booleans(), st.integers(-(10**20), 10**20), FLOATS, WORDS, STRINGS)
VALUES = st.recursive(LEAVES, lambda inner: _specs(inner).filter(lambda spec: spec.args or spec.kwargs), max_leaves=6)


@given(_specs(VALUES))
def test_round_trip(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec


@given(st.text())
@example("a(" * 40)
@example("a(b=1,b=2)")
@example("a(1e999)")
@example("a(" + "9" * 5000 + ")")
@example("a('")
def test_any_string_parses_or_is_a_spec_error(text: str) -> None:
    with contextlib.suppress(SpecError):
        assert parse_spec(str(parse_spec(text))) == parse_spec(text)


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("random", Spec("random")),
        ("random()", Spec("random")),
        ("kuhn/train", Spec("kuhn/train")),
        (" mcts ( 100 ) ", Spec("mcts", (100,))),
        ("mcts(simulations=100, uct_c=1.5)", Spec("mcts", (), (("simulations", 100), ("uct_c", 1.5)))),
        ("s(a, b(1), at=5)", Spec("s", ("a", Spec("b", (1,))), (("at", 5),))),
        ("s(true, false, 'true')", Spec("s", (True, False, "true"))),
        ("s(-3, +4, .5, 1e3, 2.)", Spec("s", (-3, 4, 0.5, 1000.0, 2.0))),
        ("s('a \"b\"', \"it's\", '')", Spec("s", ('a "b"', "it's", ""))),
        ("s(1,)", Spec("s", (1,))),
    ],
)
def test_grammar(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec
    assert parse_spec(str(spec)) == spec
    assert [type(value) for value in parse_spec(text).args] == [type(value) for value in spec.args]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "position 0"),
        ("3", "a name must stand here"),
        ("mcts(100", "a comma or a closing bracket"),
        ("mcts(100))", "nothing may follow"),
        ("mcts 100", "nothing may follow"),
        ("mcts(a=1, 2)", "cannot follow one with a name"),
        ("mcts(a=1, a=2)", "'a' is given twice"),
        ("mcts(a=)", "a value must stand here"),
        ("mcts(1x)", "cannot read on"),
        ("mcts(1e999)", "too large"),
        ("__import__('os').system('x')", "nothing may follow"),
        ("a(" * 20 + ")" * 20, "specs inside each other"),
    ],
)
def test_what_is_not_a_spec(text: str, message: str) -> None:
    with pytest.raises(SpecError, match="bad spec") as caught:
        parse_spec(text)
    assert message in str(caught.value)


def test_only_strings_are_specs() -> None:
    with pytest.raises(SpecError, match="not list"):
        parse_spec(["mcts", {}])  # type: ignore[arg-type]


def _mcts(simulations: int, uct_c: float = 2.0) -> None: ...


def test_binding_fills_in_defaults_in_order() -> None:
    assert list(bind_spec(parse_spec("mcts(100)"), _mcts, "opponent").items()) == [("simulations", 100), ("uct_c", 2.0)]
    assert bind_spec(parse_spec("mcts(uct_c=1, simulations=9)"), _mcts, "opponent") == {"simulations": 9, "uct_c": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mcts(simulation=9)", "opponent 'mcts' has no parameter 'simulation'. Did you mean 'simulations'?"),
        ("mcts", "missing a required argument: 'simulations'; it is used as mcts(simulations, uct_c=2.0)"),
        ("mcts(1, simulations=2)", "multiple values for argument 'simulations'"),
        ("mcts(1, 2, 3)", "too many positional arguments"),
    ],
)
def test_binding_errors(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        bind_spec(parse_spec(text), _mcts, "opponent")
    assert message in str(caught.value)
