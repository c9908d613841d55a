"""The backend ``transformers``, on the tiny model: the same draw, the same reply, alone or in company."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra agent")
transformers = pytest.importorskip("transformers", reason="needs the extra agent")

from mage_agent.backends import generation, local_chat  # noqa: E402
from mage_agent.backends import transformers as transformers_backend  # noqa: E402
from mage_agent.backends.base import BackendError, Completion, Message, Request  # noqa: E402
from mage_agent.backends.local_chat import LocalChat  # noqa: E402
from mage_agent.backends.local_files import fingerprint  # noqa: E402
from mage_agent.backends.row_sampler import RowSampler  # noqa: E402
from mage_agent.backends.transformers import TransformersBackend  # noqa: E402
from mage_agent.model_settings import ModelSettings, Sampling  # noqa: E402
from mage_agent.preflight import model_facts, preflight  # noqa: E402
from mage_agent.tiny.build import build_model  # noqa: E402
from mage_agent.tiny.tokenizer import build_tokenizer  # noqa: E402
from mage_envs.text.parser import visible  # noqa: E402

T = TypeVar("T")


@pytest.fixture(scope="module", params=["float32", "float64"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Builds the model in both types: in float64 nothing depends on padding; float32 is what people use."""
    return build_model(tmp_path_factory.mktemp("models"), hidden=64, layers=2, context=2048, dtype=request.param)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_model(tmp_path_factory.mktemp("models"), hidden=32, layers=1, context=512)


def settings(folder: Path, **sampling: Any) -> ModelSettings:
    return ModelSettings("transformers", str(folder), device="cpu", sampling=Sampling(**{"max_tokens": 24, **sampling}))


def request(number: int, words: int = 5) -> Request:
    return Request((Message("system", "rules " * words), Message("user", f"view {number}")), f"7/{number}")


def ask(made: ModelSettings, work: Callable[[TransformersBackend], Awaitable[T]]) -> T:
    async def main() -> T:
        backend = TransformersBackend(made)
        try:
            await backend.open()
            return await work(backend)
        finally:
            await backend.close()

    return asyncio.run(main())


def replies(made: ModelSettings, requests: Sequence[Request]) -> list[Completion]:
    async def work(backend: TransformersBackend) -> list[Completion]:
        return list(await asyncio.gather(*map(backend.complete, requests)))

    return ask(made, work)


@pytest.mark.parametrize(
    "sampling", [{"temperature": 1.0}, {"temperature": 0.7, "top_k": 20, "top_p": 0.9}, {"temperature": 0.0}]
)
def test_a_reply_does_not_depend_on_who_shares_the_batch(folder: Path, sampling: dict[str, Any]) -> None:
    requests = [request(number, words=3 * (number % 7)) for number in range(20)]

    async def work(backend: TransformersBackend) -> tuple[list[Completion], list[Completion]]:
        alone = [await backend.complete(one) for one in requests]
        return alone, list(await asyncio.gather(*map(backend.complete, reversed(requests))))[::-1]

    alone, together = ask(settings(folder, **sampling), work)
    assert alone == together
    assert alone == replies(settings(folder, **sampling), requests)
    if sampling["temperature"]:
        assert len({reply.text for reply in alone}) == 20


def test_draws_differ_and_greedy_replies_do_not(small: Path) -> None:
    one = request(0)
    draws = [one, one._replace(draw="7/1"), one._replace(draw="8/0")]
    assert len({reply.text for reply in replies(settings(small, temperature=1.0), draws)}) == 3
    greedy = {reply.text for reply in replies(settings(small, temperature=0.0), draws)}
    assert len(greedy) == 1
    assert greedy == {reply.text for reply in replies(settings(small, temperature=1.0, top_k=1), draws)}


@pytest.mark.parametrize(
    ("own", "sampling", "same"),
    [
        ({"do_sample": True, "temperature": 0.5, "top_k": 7}, {}, {"temperature": 0.5, "top_k": 7}),
        ({"do_sample": True, "temperature": 0.5, "top_k": 7}, {"top_k": 3}, {"temperature": 0.5, "top_k": 3}),
        ({"do_sample": True, "temperature": 0.5, "top_k": 7}, {"temperature": 0.0}, {"temperature": 0.0}),
        ({"do_sample": False}, {}, {"temperature": 0.0}),
        ({"do_sample": False, "top_p": 0.5}, {"temperature": 0.9}, {"temperature": 0.9, "top_p": 0.5}),
        ({"do_sample": False}, {"top_k": 3}, {"temperature": 1.0, "top_k": 3}),
        ({"do_sample": True, "temperature": 0.9}, {"extra": (("min_p", 1.0),)}, {"temperature": 0.0}),
    ],
)
def test_what_is_left_open_comes_from_the_models_own_configuration(
    small: Path, tmp_path: Path, own: dict[str, Any], sampling: dict[str, Any], same: dict[str, Any]
) -> None:
    made = tmp_path / "made"
    shutil.copytree(small, made)
    kept = {"eos_token_id": 256, "pad_token_id": 257}
    (made / "generation_config.json").write_text(json.dumps(kept | own))
    requests = [request(number) for number in range(3)]
    expected = [reply.text for reply in replies(settings(small, **same), requests)]
    assert [reply.text for reply in replies(settings(made, **sampling), requests)] == expected


def test_sampled_tokens_follow_the_probabilities() -> None:
    wanted = torch.tensor([0.5, 0.0, 0.3, 0.15, 0.05])
    rows = 20_000
    sampler = RowSampler([np.random.default_rng(seed) for seed in range(rows)])
    drawn = sampler(None, wanted.log().repeat(rows, 1)).argmax(dim=-1)
    shares = torch.bincount(drawn, minlength=5) / rows
    assert shares[1] == 0
    assert torch.allclose(shares, wanted, atol=4 * 0.5 / rows**0.5)


def test_a_number_at_the_edge_draws_a_token_that_can_come() -> None:
    class Edge:
        def __init__(self, number: float) -> None:
            self.number = number

        def random(self) -> float:
            return self.number

    edges: Any = [Edge(0.0), Edge(1.0 - 2.0**-53)]
    scores = torch.tensor([[-torch.inf, 0.0, 0.0, -torch.inf]] * 2)
    assert RowSampler(edges)(None, scores).argmax(dim=-1).tolist() == [1, 2]


def test_the_end_is_told_from_the_limit(small: Path) -> None:
    def forced(ends: bool) -> list[Completion]:
        """Bends the model's scores so that the end comes at once, or never."""

        async def work(backend: TransformersBackend) -> list[Completion]:
            assert backend._batcher is not None
            generator = backend._batcher._generate
            assert isinstance(generator, generation.Generator)
            end = min(generator._ends)
            generator._warpers = [lambda ids, scores: scores.index_fill(-1, torch.tensor([end]), 1e4 if ends else -1e4)]
            return list(await asyncio.gather(*map(backend.complete, [request(0), request(1, 30)])))

        return ask(settings(small, temperature=1.0), work)

    for reply in forced(ends=True):
        assert (reply.text, reply.finish, reply.completion_tokens) == ("", "stop", 1)
    for reply in forced(ends=False):
        assert (reply.finish, reply.completion_tokens) == ("length", 24)


def test_tokens_are_counted_as_they_are_sent(small: Path) -> None:
    one = request(3)

    async def work(backend: TransformersBackend) -> tuple[int, Completion]:
        return await backend.count_tokens(one.messages), await backend.complete(one)

    counted, reply = ask(settings(small), work)
    content = sum(len(message.content) for message in one.messages)
    assert counted == reply.prompt_tokens == content + 2 * len(one.messages) + 1


def test_a_prompt_that_does_not_fit_is_refused_with_the_numbers(small: Path) -> None:
    long = Request((Message("user", "x" * 486),), "7/0")  # With its marks 489 tokens: one too many.

    async def work(backend: TransformersBackend) -> Completion:
        with pytest.raises(
            BackendError, match="489 tokens, and with 24 for the reply that is more than the context of 512"
        ):
            await backend.complete(long)
        return await backend.complete(Request((Message("user", "x" * 485),), "7/0"))

    assert ask(settings(small), work).prompt_tokens == 488


def test_the_context_of_the_settings_counts(small: Path) -> None:
    made = ModelSettings("transformers", str(small), device="cpu", context=100, sampling=Sampling(max_tokens=24))

    async def work(backend: TransformersBackend) -> int | None:
        with pytest.raises(BackendError, match="context of 100"):
            await backend.complete(request(0, words=20))
        return backend.context

    assert ask(made, work) == 100


def test_revision_is_a_fingerprint_of_the_contents(small: Path, tmp_path: Path) -> None:
    async def revision(backend: TransformersBackend) -> str:
        return backend.revision

    assert ask(settings(small), revision) == fingerprint(small)
    copied = tmp_path / "copied"
    shutil.copytree(small, copied)
    assert fingerprint(copied) == fingerprint(small)
    weights = bytearray((copied / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copied / "model.safetensors").write_bytes(weights)
    assert fingerprint(copied) != fingerprint(small)
    asked = ModelSettings("transformers", str(copied), revision=fingerprint(small), device="cpu")
    with pytest.raises(BackendError, match=f"holds revision {fingerprint(copied)}, and not"):
        ask(asked, revision)


def test_a_folder_may_be_named_from_home(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(small.parent))
    assert replies(settings(Path("~") / small.name), [request(0)]) == replies(settings(small), [request(0)])


async def opened(backend: TransformersBackend) -> None:
    raise AssertionError("it opened")


def broken(small: Path, folder: Path, remove: str) -> Path:
    shutil.copytree(small, folder)
    for file in folder.glob(remove):
        file.unlink()
    return folder


def test_what_is_missing_is_named(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for made, words in (
        (tmp_path / "nowhere", "there is no folder"),
        (tmp_path, "holds no config.json"),
        (broken(small, tmp_path / "weightless", "*.safetensors"), "holds no \\*.safetensors"),
        (broken(small, tmp_path / "mute", "chat_template*"), "has no chat template"),
    ):
        with pytest.raises(BackendError, match=words):
            ask(settings(made), opened)
    with pytest.raises(BackendError, match=r"no option 'min_q'\. Did you mean 'min_p'\?"):
        ask(settings(small, extra=(("min_q", 0.1),)), opened)
    with pytest.raises(BackendError, match="is a mapping"):
        ask(settings(small, extra=(("chat_template_kwargs", "enable_thinking"),)), opened)
    with pytest.raises(BackendError, match=r"cannot load the model no/such-model: .* local folder"):
        ask(settings(Path("no/such-model")), opened)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"pip install 'mage-envs\[agent\]'"):
        ask(settings(small), opened)


@pytest.mark.parametrize("device", ["cuda:7", "cude", "meta"])
def test_a_device_that_is_not_there_is_told_in_one_line(small: Path, device: str) -> None:
    with pytest.raises(BackendError, match=f"no device '{device}' .*--device cpu") as raised:
        ask(dataclasses.replace(settings(small), device=device), opened)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_file_that_was_cut_is_told_in_one_line(small: Path, tmp_path: Path, file: str) -> None:
    cut = shutil.copytree(small, tmp_path / "cut")
    (cut / file).write_bytes((small / file).read_bytes()[: (small / file).stat().st_size // 2])
    with pytest.raises(BackendError, match=f"cannot load the .*{cut}") as raised:
        ask(settings(cut), opened)
    assert "\n" not in str(raised.value)


def test_a_closed_backend_opens_again(small: Path) -> None:
    async def work(backend: TransformersBackend) -> bool:
        first = await backend.complete(request(0))
        await backend.close()
        await backend.close()
        return first == await backend.complete(request(0))

    assert ask(settings(small), work)


@pytest.mark.parametrize(
    "words", ["CUDA out of memory", "[enforce fail] not enough memory: you tried to allocate 1 byte"]
)
def test_out_of_memory_is_tried_again_in_halves(small: Path, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = torch.OutOfMemoryError(words) if "CUDA" in words else RuntimeError(words)
    real, sizes = generation.Generator._generate, []

    def scarce(self: generation.Generator, rows: Sequence[generation.Row], unwanted: Callable[[], bool]) -> Any:
        sizes.append(len(rows))
        if len(rows) > 2:
            raise error
        return real(self, rows, unwanted)

    requests = [request(number) for number in range(4)]
    expected = replies(settings(small, temperature=1.0), requests)
    monkeypatch.setattr(generation.Generator, "_generate", scarce)
    assert replies(settings(small, temperature=1.0), requests) == expected
    assert sizes == [4, 2, 2]


# Thoughts


def thinking_chat(special: bool, template: str) -> LocalChat:
    tokenizer = build_tokenizer(512)
    tokenizer.add_tokens([transformers.AddedToken(tag, special=special) for tag in ("<think>", "</think>")], special)
    tokenizer.chat_template = template
    return LocalChat(tokenizer, None, {})


@pytest.mark.parametrize("special", [True, False])
def test_tags_of_thoughts_stay_in_the_text(special: bool) -> None:
    chat = thinking_chat(special, "{{ messages[0].content }}")
    prompt = chat.prompt([Message("user", "go")])
    written = chat._tokenizer("<think>I could raise</think><action>bet</action><|end|>")["input_ids"]
    reply = chat.completion(prompt, written, "stop")
    assert reply.text == "<think>I could raise</think><action>bet</action>"
    assert reply.completion_tokens == len(written)


@pytest.mark.parametrize("special", [True, False])
def test_thoughts_that_the_template_opened_get_their_tag_back(special: bool) -> None:
    chat = thinking_chat(special, "{{ messages[0].content }}{% if think %}<think>\n{% endif %}")
    assert chat.prompt([Message("user", "go")]).opened == ""
    chat._values["think"] = True
    prompt = chat.prompt([Message("user", "go")])
    assert prompt.opened == local_chat.OPENINGS[0]
    cut = chat.completion(prompt, chat._tokenizer("maybe <action>bet</action> or")["input_ids"], "length")
    assert visible(cut.text, cut=True) == "<think>"
    whole = chat.completion(prompt, chat._tokenizer("no</think><action>pass</action>")["input_ids"], "stop")
    assert visible(whole.text) == "<action>pass</action>"


EACH = "{% for message in messages %}[{{ message.role }}]{{ message.content }}{% endfor %}"
REFUSING = "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
DROPPING = "{% for message in messages if message.role == 'user' %}[user]{{ message.content }}{% endfor %}"
MERGING = "[user]{{ messages[0].content }}\n\n{{ messages[1].content }}"


@pytest.mark.parametrize(
    ("template", "takes", "text"),
    [
        (EACH, True, "[system]rules[user]view"),
        (MERGING, True, "[user]rules\n\nview"),
        (REFUSING + EACH, False, "[user]rules\n\nview"),
        (DROPPING, False, "[user]rules\n\nview"),
    ],
)
def test_a_template_without_a_system_role_gets_its_words_before_the_users(
    template: str, takes: bool, text: str
) -> None:
    chat = thinking_chat(False, template)
    assert chat.system_role is takes
    tokens = chat.prompt((Message("system", "rules"), Message("user", "view"))).tokens
    assert chat._tokenizer.decode(tokens) == text


def test_what_a_template_does_is_in_the_preflight(small: Path, tmp_path: Path) -> None:
    gemma = shutil.copytree(small, tmp_path / "gemma")
    (gemma / "chat_template.jinja").write_text(REFUSING + EACH)
    for folder, takes in ((small, True), (gemma, False)):
        made = settings(folder)
        found = asyncio.run(preflight(made))
        assert found.system_role is takes
        assert ("chat_template" in model_facts(made, found)["sampling"]) == (not takes)


def test_a_template_that_refuses_a_role_says_so() -> None:
    chat = thinking_chat(False, "{{ raise_exception('No roles at all') }}")
    with pytest.raises(BackendError, match="refuses messages of user: No roles at all"):
        chat.prompt(request(0).messages)


def test_without_draws_a_prompt_is_computed_once(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    write = generation.Generator._write

    def counted(self: generation.Generator, rows: Any, unwanted: Any) -> list[list[int]]:
        computed.append(len(rows))
        return write(self, rows, unwanted)

    monkeypatch.setattr(generation.Generator, "_write", counted)
    requests = [request(number % 3)._replace(draw=f"{number}/0") for number in range(12)]

    async def work(backend: TransformersBackend) -> tuple[list[Completion], list[Completion]]:
        first = list(await asyncio.gather(*map(backend.complete, requests)))
        return first, [await backend.complete(one) for one in requests]

    first, again = ask(settings(small, temperature=0.0), work)
    assert sum(computed) == 3
    assert first == again == first[:3] * 4
    assert len({reply.text for reply in first}) > 1
    computed.clear()
    ask(settings(small, temperature=1.0), work)
    assert sum(computed) == 24


def test_replies_that_were_cut_because_nobody_waited_are_not_remembered(small: Path) -> None:
    loaded = transformers_backend.load(settings(small, temperature=0.0))
    row = generation.Row((65, 66, 67), "7/0")
    (cut,) = loaded.generator([row], lambda: True)
    (whole,) = loaded.generator([row], lambda: False)
    assert len(cut) < len(whole) == 24
    assert loaded.generator([row], lambda: True) == [whole]


def test_so_many_greedy_replies_are_remembered(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generation, "MOST_KEPT", 2)
    generator = transformers_backend.load(settings(small, temperature=0.0, max_tokens=1)).generator
    rows = [generation.Row((number,), "7/0") for number in range(65, 70)]
    assert len(generator(rows, lambda: False)) == 5
    assert len(generator._known) == 2
