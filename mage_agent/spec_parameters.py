"""Parameters that a command sets in the specs of agents: ``--memory`` says it once for all that have a memory."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

from mage_agent.agents import AGENTS
from mage_envs.errors import SpecError
from mage_envs.spec_strings import Spec, Value, parse_spec


def with_parameters(specs: Sequence[str], given: Mapping[str, Value]) -> tuple[str, ...]:
    """Sets parameters in the specs of those agents that have them.

    Args:
        specs: Specs of agents.
        given: Values by name of parameter.

    Returns:
        The specs, in their order; those that have none of the parameters as they are.

    Raises:
        SpecError: A spec says another value itself, or no agent has a parameter.
    """
    if not given:
        return tuple(specs)
    parsed = [parse_spec(spec) for spec in specs]
    for name in given:
        if not any(name in _parameters(spec.name) for spec in parsed):
            flag = "--" + name.replace("_", "-")
            raise SpecError(f"{flag}: none of the agents ({', '.join(specs)}) has a parameter {name!r}")
    return tuple(str(_with(spec, given)) for spec in parsed)


def _with(spec: Spec, given: Mapping[str, Value]) -> Spec:
    known = _parameters(spec.name)
    said = {**dict(zip(known, spec.args, strict=False)), **dict(spec.kwargs)}
    more = {name: value for name, value in given.items() if name in known}
    for name, value in more.items():
        if name in said and said[name] != value:
            raise SpecError(f"{str(spec)!r} says {name}={said[name]}, and the command {value}: say it once")
    new = tuple((name, value) for name, value in more.items() if name not in said)
    return spec._replace(kwargs=spec.kwargs + new)


def _parameters(name: str) -> tuple[str, ...]:
    return tuple(inspect.signature(AGENTS.get(name)).parameters) if name in AGENTS else ()
