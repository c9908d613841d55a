"""The options that say which model is asked, and how: said once, for ``benchmark run`` and ``mage-agent chat``.

A command takes them all by one parameter: :func:`takes_model_flags` writes the fields of :class:`ModelFlags` into its
signature. ``--model-config`` reads the same names from a TOML file; what stands on the command line wins.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import os
import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

from mage_agent.model_settings import ModelSettings, Sampling
from mage_agent.toml_files import read_options
from mage_envs.errors import MageError, near_matches

PANEL, MORE = "Model, for agents that ask one", "Model: where, how, and what it costs"

KEY_VARIABLE = "MAGE_API_KEY"
"""Environment variable that ``--api-key`` fills: workers inherit it, and no file or command holds it."""

URL_VARIABLE = "OPENAI_BASE_URL"
DEFAULT_BACKEND = "openai"

_URL_SECRET = re.compile(r"(https?://)[^/@\s]*@")
_URL_QUERY = re.compile(r"[?#].*")


Text: TypeAlias = "str | None"
Count: TypeAlias = "int | None"
Number: TypeAlias = "float | None"
File: TypeAlias = "Path | None"

_MODES = ("none", "history", "reflection", "history+reflection")


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter("must be a finite number")
    return value


def _read_config(ctx: typer.Context, path: Path | None) -> Path | None:
    """Makes what a file says the defaults of the command's model options."""
    if path is not None:
        ctx.default_map = {**(ctx.default_map or {}), **read_config(path)}
    return path


def _ask(text: str, metavar: str, *names: str, panel: str = PANEL, **more: Any) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel, **more)


_more = functools.partial(_ask, panel=MORE)
_positive = {"min": 0.0, "callback": _finite}


@dataclass(frozen=True)
class ModelFlags:
    """What was asked for; None where nothing was."""

    backend: Annotated[Text, _ask("openai (compatible servers; the default), transformers, vllm, fake.", "NAME")] = None
    model: Annotated[Text, _ask("Name of the model at the server, hub id, or local folder.", "NAME")] = None
    base_url: Annotated[Text, _ask(f"Such as http://localhost:8000/v1. Default: ${URL_VARIABLE}.", "URL")] = None
    memory: Annotated[Text, _ask(f"Kept between episodes: {', '.join(_MODES)}.", "MODE")] = None
    memory_budget: Annotated[Count, _ask("Most of memory in a prompt.", "TOKENS", min=0)] = None
    max_tokens: Annotated[Count, _ask("Most of a reply, thoughts too. Default: 1024.", "TOKENS", min=1)] = None
    temperature: Annotated[Number, _ask("Of sampling. Default: the server's.", "X", **_positive)] = None
    top_p: Annotated[Number, _ask("Of sampling. Default: the server's.", "X", max=1.0, **_positive)] = None
    top_k: Annotated[Count, _ask("Of sampling. Default: the server's.", "N", min=1)] = None
    hide_legal_actions: Annotated[bool, _ask("Prompts do not list the legal actions.", "", "--hide-legal-actions")] = (
        False
    )
    api_key_env: Annotated[Text, _more("Variable with the key. Default: OPENAI_API_KEY.", "NAME")] = None
    api_key: Annotated[Text, _more("The key; lists of processes show it to others.", "KEY")] = field(
        default=None, repr=False
    )
    model_config: Annotated[
        File, _more("TOML file with options of the model.", "FILE", is_eager=True, callback=_read_config)
    ] = None
    extra_body: Annotated[Text, _more('More of a request, such as {"reasoning_effort": "low"}.', "JSON")] = None
    revision: Annotated[Text, _more("Revision of the model.", "NAME")] = None
    tokenizer: Annotated[Text, _more("Hub id or folder of the tokenizer that counts.", "NAME")] = None
    context: Annotated[Count, _more("Most of prompt and reply. Default: what is found.", "TOKENS", min=1)] = None
    timeout: Annotated[Number, _more("Of a request. Default: 120.", "SECONDS", min=0.001, callback=_finite)] = None
    retries: Annotated[Count, _more("Of a failed request. Default: 5.", "N", min=0)] = None
    cache: Annotated[File, _more("Folder that keeps replies for the next run.", "DIR")] = None
    prices: Annotated[File, _more("TOML table of what tokens cost.", "FILE")] = None
    device: Annotated[Text, _more("Of a local model, such as cuda:0.", "NAME")] = None
    batch: Annotated[Count, _more("Most requests to a local model at once. Default: 32.", "N", min=1)] = None
    no_system_role: Annotated[
        bool, _more("The model knows no system messages: their words go before the user's.", "", "--no-system-role")
    ] = False
    trust_remote_code: Annotated[bool, _more("Run code of a local model.", "", "--trust-remote-code")] = False

    def settings(self, environ: MutableMapping[str, str] = os.environ) -> ModelSettings | None:
        """Returns what a backend needs to know. A key is put into the environment, and nowhere else.

        Args:
            environ: The environment.

        Returns:
            The settings; None if no option names a model.

        Raises:
            MageError: Options contradict each other, or one holds what it cannot; the message names the remedy.
        """
        if self.model is None:
            self._refuse_asks_without_a_model()
            return None
        backend = self.backend or DEFAULT_BACKEND
        self._check_backend(backend)
        url = self.base_url or (environ.get(URL_VARIABLE) if backend == DEFAULT_BACKEND else None) or None
        if url is not None:
            _check_url(url)
        given = self._given(_SETTINGS)
        if self.api_key is not None:
            if self.api_key_env is not None:
                raise MageError("--api-key and --api-key-env are two ways to say the same: leave one out")
            environ[KEY_VARIABLE] = self.api_key
            given["api_key_env"] = KEY_VARIABLE
        return ModelSettings(
            **given,
            backend=backend,
            model=self.model,
            base_url=url,
            sampling=self._sampling(),
            price=self._price(),
            system_role=not self.no_system_role,
            trust_remote_code=self.trust_remote_code,
        )

    def parameters(self) -> dict[str, str | int]:
        """Returns the parameters of agents that options set."""
        return self._given(("memory", "memory_budget"))

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def _refuse_asks_without_a_model(self) -> None:
        for name in FIELDS:
            if name not in _WITHOUT_MODEL and getattr(self, name) not in (None, False):
                raise MageError(f"{_flag(name)} says how a model is asked, and no --model says which")

    def _check_backend(self, backend: str) -> None:
        from mage_agent.backends.base import BACKENDS

        BACKENDS.get(backend)
        if self.base_url is not None and backend != DEFAULT_BACKEND:
            raise MageError(f"--base-url is where a server is, and the backend {backend} asks none: leave it out")

    def _sampling(self) -> Sampling:
        return Sampling(**self._given(_SAMPLING), extra=tuple(_json_object(self.extra_body).items()))

    def _price(self) -> Any:
        if self.prices is None:
            return None
        from mage_agent.prices import price_of

        return price_of(self.prices, str(self.model))


FIELDS = {field.name: field.default for field in fields(ModelFlags)}
_WITHOUT_MODEL = ("memory", "memory_budget", "hide_legal_actions", "model_config")
"""Fields that may be given without a model; they say something of the agents."""

_SETTINGS = ("api_key_env", "revision", "tokenizer", "context", "timeout", "retries", "cache", "device", "batch")
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens")
"""The fields that go into the settings, and into their sampling, as they are."""


def takes_model_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of :class:`ModelFlags`; it gets them as its parameter ``flags``."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    hints = get_type_hints(ModelFlags, include_extras=True)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        for name, default in FIELDS.items()
    ]

    @functools.wraps(command)
    def with_flags(**given: Any) -> None:
        flags = ModelFlags(**{name: given.pop(name) for name in FIELDS})
        command(**given, flags=flags)

    kept = [found.replace(kind=inspect.Parameter.KEYWORD_ONLY) for found in own if found.name != "flags"]
    with_flags.__signature__ = inspect.Signature([*kept, *more])  # type: ignore[attr-defined]
    with_flags.__annotations__ = {}
    return with_flags


def read_config(path: Path) -> dict[str, Any]:
    """Reads options from a TOML file.

    Args:
        path: The file: names of :class:`ModelFlags`, with ``-`` or ``_``; ``extra-body`` may be a table.

    Returns:
        Values by name of field.

    Raises:
        MageError: It cannot be read, or says what is no option.
    """
    known = FIELDS.keys() - {"api_key", "model_config"}
    found = read_options(path)
    for name in found:
        if name == "api_key":
            raise MageError(f"{path} holds a key: put it into an environment variable, and name that by api-key-env")
        if name not in known:
            raise MageError(f"{path}: there is no option {name!r}. {near_matches(name, known)}")
    if isinstance(found.get("extra_body"), Mapping):
        found["extra_body"] = json.dumps(found["extra_body"])
    return found


def without_secrets(words: list[str]) -> list[str]:
    """Returns the words of a command line without the key, and without what may be secret in a URL.

    >>> without_secrets(["--api-key", "sk-1", "--api-key=sk-1", "--base-url", "http://me:word@host/v1", "--model=m"])
    ['--base-url', 'http://host/v1', '--model=m']
    >>> without_secrets(["--base-url", "http://host/v1?key=sk-1", "--base-url=http://host/v1#sk-1"])
    ['--base-url', 'http://host/v1', '--base-url=http://host/v1']
    """
    kept: list[str] = []
    skip = False
    for before, word in zip(["", *words], words, strict=False):
        if skip or word.startswith("--api-key="):
            skip = False
        elif word == "--api-key":
            skip = True
        else:
            url = before == "--base-url" or word.startswith("--base-url=")
            kept.append(_URL_SECRET.sub(r"\1", _URL_QUERY.sub("", word) if url else word))
    return kept


def _check_url(url: str) -> None:
    from mage_agent.backends.endpoint import shown_url

    try:
        shown_url(url)
    except ValueError as error:
        raise MageError(f"{error}: look at --base-url, or ${URL_VARIABLE}") from error


def _json_object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise MageError(f"--extra-body is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise MageError('--extra-body is a JSON object, such as {"seed": 1}')
    return found


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
