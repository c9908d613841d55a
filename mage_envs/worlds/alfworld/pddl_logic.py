"""The rules once more, for TextWorld: a domain in PDDL and a grammar that say what our engine says.

They are written into the files that :mod:`~mage_envs.worlds.alfworld.writer` makes, so that a generated game can be
played in TextWorld alone. The parity job plays such files on both sides.
"""

from __future__ import annotations

import json
from typing import Any

from mage_envs.worlds.alfworld.commands import PUT
from mage_envs.worlds.alfworld.words import HELP, IN_THE_MIDDLE, WELCOME

_PREDICATES = (
    "atLocation ?a - agent ?l - location", "receptacleAtLocation ?r - receptacle ?l - location",
    "objectAtLocation ?o - object ?l - location", "openable ?r - receptacle", "opened ?r - receptacle",
    "inReceptacle ?o - object ?r - receptacle", "isReceptacleObject ?o - object",
    "inReceptacleObject ?i - object ?o - object", "receptacleType ?r - receptacle ?t - rtype",
    "canContain ?rt - rtype ?ot - otype", "objectType ?o - object ?t - otype", "holds ?a - agent ?o - object",
    "holdsAny ?a - agent", "isClean ?o - object", "cleanable ?o - object", "isHot ?o - object",
    "heatable ?o - object", "isCool ?o - object", "coolable ?o - object", "pickupable ?o - object",
    "toggleable ?o - object", "isToggled ?o - object", "sliceable ?o - object", "isSliced ?o - object",
    "looked ?a - agent",
)  # fmt: skip

_A, _O, _R = "?a - agent", "?o - object", "?r - receptacle"
_HERE = "(atLocation ?a ?l) (receptacleAtLocation ?r ?l)"
_AT_R = f"{_A} ?l - location {_R}"
_REACHED = "(or (not (openable ?r)) (opened ?r))"
_KNIFE = "(or (objectType ?k KnifeType) (objectType ?k ButterKnifeType))"
_SAME = "(looked ?a)"  # What changes nothing has an effect all the same, or it would not be offered.

# Name, parameters, precondition, effect, command, feedback.
_ACTIONS: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("look", f"{_A} ?l - location", "(atLocation ?a ?l)", _SAME, "look", "#around#"),
    ("inventory", _A, "", _SAME, "inventory", "#carried#"),
    ("help", _A, "", _SAME, "help", "#help#"),
    ("examineReceptacle", _AT_R, _HERE, _SAME, "examine {r}", "#view#"),
    ("examineObject", f"{_A} {_O}", "(holds ?a ?o)", _SAME, "examine {o}", "#looks#"),
    (
        "GotoLocation", f"{_A} ?lStart - location ?lEnd - location {_R}",
        "(atLocation ?a ?lStart) (receptacleAtLocation ?r ?lEnd) (not (= ?lStart ?lEnd))",
        "(not (atLocation ?a ?lStart)) (atLocation ?a ?lEnd)", "go to {r}", "You arrive at <PLACE>. #view#",
    ),
    (
        "OpenObject", _AT_R, f"(openable ?r) {_HERE} (not (opened ?r))", "(opened ?r)", "open {r}",
        "You open the {r.name}. #view#",
    ),
    (
        "CloseObject", _AT_R, f"(openable ?r) {_HERE} (opened ?r)", "(not (opened ?r))", "close {r}",
        "You close the {r.name}.",
    ),
    (
        "PickupObject", f"{_AT_R} {_O}",
        f"(pickupable ?o) {_HERE} (inReceptacle ?o ?r) (not (holdsAny ?a)) {_REACHED}",
        "(not (inReceptacle ?o ?r)) (holds ?a ?o) (holdsAny ?a) (not (objectAtLocation ?o ?l))", "take {o} from {r}",
        "You pick up the {o.name} from the {r.name}.",
    ),
    (
        "PutObject", f"{_AT_R} {_O} ?ot - otype ?rt - rtype",
        f"(holds ?a ?o) {_HERE} {_REACHED} (objectType ?o ?ot) (receptacleType ?r ?rt) (canContain ?rt ?ot)",
        "(inReceptacle ?o ?r) (objectAtLocation ?o ?l) (not (holds ?a ?o)) (not (holdsAny ?a))", "<PUT>", "<PUT SAID>",
    ),
    (
        "CleanObject", f"{_AT_R} {_O}", f"(cleanable ?o) (receptacleType ?r SinkBasinType) {_HERE} (holds ?a ?o)",
        "(isClean ?o)", "clean {o} with {r}", "You clean the {o.name} using the {r.name}.",
    ),
    (
        "HeatObject", f"{_AT_R} {_O}", f"(heatable ?o) (receptacleType ?r MicrowaveType) {_HERE} (holds ?a ?o)",
        "(isHot ?o) (not (isCool ?o))", "heat {o} with {r}", "You heat the {o.name} using the {r.name}.",
    ),
    (
        "CoolObject", f"{_AT_R} {_O}", f"(coolable ?o) (receptacleType ?r FridgeType) {_HERE} (holds ?a ?o)",
        "(isCool ?o) (not (isHot ?o))", "cool {o} with {r}", "You cool the {o.name} using the {r.name}.",
    ),
    (
        "ToggleObject", f"{_AT_R} {_O}", f"(toggleable ?o) {_HERE} (inReceptacle ?o ?r)", "(isToggled ?o)", "use {o}",
        "You turn on the {o.name}.",
    ),
    (
        "SliceObject", f"{_A} ?l - location {_O} ?k - object",
        f"(sliceable ?o) {_KNIFE} (atLocation ?a ?l) (objectAtLocation ?o ?l) (holds ?a ?k)", "(isSliced ?o)",
        "slice {o} with {k}", "You sliced the {o.name} with the {k.name}.",
    ),
)  # fmt: skip

_LOOKS = (
    ("isclean ishot issliced", "hot and clean sliced"), ("isclean iscool issliced", "cool and clean sliced"),
    ("isclean issliced", "clean sliced"), ("ishot issliced", "hot sliced"), ("iscool issliced", "cool sliced"),
    ("isclean ishot", "hot and clean"), ("isclean iscool", "cool and clean"), ("ishot", "hot"), ("isclean", "clean"),
    ("iscool", "cold"), ("sliceable issliced", "sliced"),
)  # fmt: skip
"""What must be true of a thing, and how it then looks; the first that fits is said."""

_TAKEN_BESIDE = (
    "atlocation(a:agent, l:location) & objectatlocation(o:object, l:location) & "
    "receptacleatlocation(r:receptacle, l:location) & not_inreceptacle(o:object, r:receptacle)"
)
_FACING = "atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)"
_EVERY = "receptacleatlocation(r:receptacle, l:location)"


def domain(dialect: str) -> str:
    """Returns the domain in PDDL."""
    predicates = "\n".join(f"    ({predicate})" for predicate in _PREDICATES)
    actions = "\n".join(
        f"  (:action {name}\n    :parameters ({parameters})\n    :precondition (and {before})\n"
        f"    :effect (and {after}))"
        for name, parameters, before, after, _, _ in _actions(dialect)
    )
    return (
        "(define (domain alfred)\n  (:requirements :adl :typing)\n"
        "  (:types agent location receptacle object rtype otype)\n"
        f"  (:predicates\n{predicates})\n{actions}\n)\n"
    )


def grammar(dialect: str, task: str) -> str:
    """Returns the grammar that says the same as our engine.

    Args:
        dialect: ``"0.3"`` or ``"0.4"``.
        task: The goal in words.
    """
    rules = json.dumps(_rules(task), indent=2)
    parts = [f'grammar :: """\n{rules}\n""";']
    verb, between = PUT[dialect]
    filled = {
        "<PUT>": f"{verb} {{o}}{between}{{r}}",
        "<PUT SAID>": f"You {verb} the {{o.name}}{between}the {{r.name}}.",
        "<PLACE>": "{r.name}" if dialect == "0.4" else "{lend.name}",
    }
    for name, _, _, _, command, said in _actions(dialect):
        for mark, words in filled.items():
            command, said = command.replace(mark, words), said.replace(mark, words)
        told = json.dumps({f"{name}.told": [{"rhs": said}]})
        parts.append(
            f'action {name} {{\n  template :: "{command}";\n  feedback :: "#{name}.told#";\n'
            f'  grammar :: """{told}""";\n}}'
        )
    return "\n\n".join(parts) + "\n"


def _actions(dialect: str) -> list[tuple[str, str, str, str, str, str]]:
    return [action for action in _ACTIONS if dialect == "0.4" or action[0] != "help"]


def _rules(task: str) -> dict[str, Any]:
    looks = [
        {
            "condition": " & ".join(f"{fact}(o:object)" for fact in facts.split()),
            "rhs": f"This is a {words} {{o.name}}.",
        }
        for facts, words in _LOOKS
    ]
    inside = "[{o.indefinite + ' ' + o.name | inreceptacle(o:object, r:receptacle)}]"
    within = "[{i.indefinite + ' ' + i.name | inreceptacleobject(i:object, o:object)}]"
    return {
        "intro": [{"rhs": f"{WELCOME}\n\n#around#\n\nYour task is to: {task}"}],
        "help": [{"rhs": f"\n{HELP}"}],
        "around": [
            {
                "condition": _FACING,
                "rhs": f"You are facing the [{{r.name | {_FACING}}}]. Next to it, you see #beside#.",
            },
            {"rhs": f"{IN_THE_MIDDLE} #appliances#."},
        ],
        "beside": [{"condition": _TAKEN_BESIDE, "rhs": f"[{{#a(o)# | {_TAKEN_BESIDE}}}]"}, {"rhs": "nothing"}],
        "appliances": [{"condition": _EVERY, "rhs": f"[{{#a(r)# | {_EVERY}}}]"}, {"rhs": "nothing"}],
        "a(o)": [{"rhs": "{o.indefinite} {o.name}"}],
        "a(r)": [{"rhs": "{r.indefinite} {r.name}"}],
        "carried": [
            {
                "condition": "holdsany(a:agent)",
                "rhs": "You are carrying: [{o.indefinite + ' ' + o.name | holds(a:agent, o:object)}].",
            },
            {"rhs": "You are not carrying anything."},
        ],
        "view": [
            {
                "condition": "openable(r:receptacle) & opened(r:receptacle)",
                "rhs": f"The {{r.name}} is open. In it, you see {inside}.",
            },
            {"condition": "openable(r:receptacle)", "rhs": "The {r.name} is closed."},
            {"rhs": f"On the {{r.name}}, you see {inside}."},
        ],
        "looks": [
            {
                "condition": "isreceptacleobject(o:object)",
                "rhs": f"This is a normal {{o.name}}. In it, you see {within}.",
            },
            *looks[:-1],
            {"condition": "toggleable(o:object) & istoggled(o:object)", "rhs": "This {o.name} is on."},
            looks[-1],
            {"rhs": "There's nothing special about {o.name}."},
        ],
        "list_empty": [{"rhs": "nothing"}],
        "list_separator": [{"rhs": ", "}],
        "list_last_separator": [{"rhs": ", and "}],
    }
