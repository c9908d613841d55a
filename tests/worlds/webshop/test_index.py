"""The index against a slow one, and words where languages, signs and numbers meet."""

from __future__ import annotations

import math
from collections import Counter
from random import Random

import numpy as np
import pytest

from mage_envs.worlds.webshop.index import build_index
from mage_envs.worlds.webshop.porter import stem
from mage_envs.worlds.webshop.words import MAX_WORD, split_words, terms


def slow_search(documents: list[tuple[str, str]], query: str, limit: int) -> list[int]:
    """BM25 as Lucene computes it, one document at a time."""
    counted = [Counter(terms(text)) for _, text in documents]
    average = np.float32(sum(each.total() for each in counted) / sum(each.total() > 0 for each in counted))
    filled = sum(each.total() > 0 for each in counted)
    asked = Counter(terms(query))
    found = []
    for number, counts in enumerate(counted):
        inverse = np.float32(1) / (
            np.float32(0.9) * (np.float32(0.6) + np.float32(0.4) * np.float32(rounded(counts.total())) / average)
        )
        total = 0.0
        for term, times in asked.items():
            having = sum(term in each for each in counted) if counts[term] else 0
            if having:
                idf = np.float32(math.log(1 + (filled - having + 0.5) / (having + 0.5)))
                weight = idf * np.float32(times)
                total += float(weight - weight / (np.float32(1) + np.float32(counts[term]) * inverse))
        if total:
            found.append((-np.float32(total), documents[number][0], number))
    return [number for _, _, number in sorted(found)[:limit]]


def rounded(length: int) -> int:
    """Lengths in eight bits: exact to 39, then in steps that double."""
    if length < 24:
        return length
    above = length - 24
    step = 1
    while above // step >= 16:
        step *= 2
    return 24 + above // step * step


@pytest.mark.parametrize("count", [1, 40, 500])
def test_it_ranks_as_the_slow_one(count: int) -> None:
    random = Random(count)
    words = ["shoe", "red", "soft", "chair", "tea", "the", "lamp", "green", "wool", "mug"]
    documents = [
        (f"B{random.randrange(10**8):08d}", " ".join(random.choices(words, k=random.choice((0, 1, 3, 9, 50, 300)))))
        for _ in range(count)
    ]
    index = build_index(documents)
    for _ in range(25):
        query = " ".join(random.choices(words, k=random.randint(1, 4)))
        for limit in (1, 7, 50):
            assert list(index.search(query, limit).documents) == slow_search(documents, query, limit)


def test_many_documents_of_equal_score_stand_in_the_order_of_their_names() -> None:
    names = [f"B{(number * 7_919) % 10_000:05d}" for number in range(10_000)]
    index = build_index((name, "soft chair" if int(name[1:]) % 3 else "tea") for name in names)
    found = index.search("chairs")
    assert [names[at] for at in found.documents] == sorted(name for name in names if int(name[1:]) % 3)[:50]
    assert len(set(found.scores)) == 1


def test_the_best_of_many_is_found_wherever_it_is() -> None:
    random = Random(2)
    documents = [(f"B{at:05d}", "tea " * random.randint(1, 9) + "mug " * random.randint(0, 9)) for at in range(5_000)]
    index = build_index(documents)
    everything = index.search("tea", 5_000)
    assert sorted(everything.scores, reverse=True) == list(everything.scores)
    assert index.search("tea").documents == everything.documents[:50]


@pytest.mark.parametrize("query", ["", "the and of", "zzzz", "½", "\ud800", "   "])
def test_nothing_is_found(query: str) -> None:
    assert build_index([("B1", "soft chair")]).search(query).documents == ()
    assert build_index([]).search("chair").documents == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("don't 3.5 1,000 a:b x_y __ _z", ["don't", "3.5", "1,000", "a:b", "x_y", "_z"]),
        ("end. 3. 4,5;6 u.s.a. a.1 1.a", ["end", "3", "4,5;6", "u.s.a", "a", "1", "1", "a"]),
        ("16\" x 5'' 100% $5 c++ @x #y", ["16", "x", "5", "100", "5", "c", "x", "y"]),
        ("琥珀 ひらがな カタカナ 한국어 ไทย", ["琥", "珀", "ひ", "ら", "が", "な", "カタカナ", "한국어", "ไทย"]),
        ("❤️ ★ ½ ™ 👍🏽 👨‍👩‍👧 🇩🇪🇫🇷 1️⃣ #️⃣", ["❤️", "★", "™", "👍🏽", "👨‍👩‍👧", "🇩🇪", "🇫🇷", "1️⃣", "#️⃣"]),
        ("é e\u0301 ünï ﬁ ①Ⅳ", ["é", "e\u0301", "ünï", "ﬁ", "Ⅳ"]),
        ("women’s kids＇s", ["women’s", "kids＇s"]),
        ('שלום ד"ר', ["שלום", 'ד"ר']),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_possessives_stop_words_and_stems() -> None:
    assert terms("The WOMEN'S shoes, and kids’s toys: men＇s") == ["women", "shoe", "kid", "toi", "men"]
    assert terms("it's that'S") == []


def test_long_words_are_cut() -> None:
    assert [len(word) for word in split_words("x" * 600)] == [MAX_WORD, MAX_WORD, 600 - 2 * MAX_WORD]


def test_no_word_goes_over_a_space_whatever_stands_around_it() -> None:
    """So terms are remembered by the parts of a text between spaces; long parts are not."""
    random = Random(2)
    letters = "ab9'\".,:;_#*-  \t\n½é\u0301\u200d\u200b\ufe0f\u20e3琥ひカ한ไ❤👍🏽👨🇩🇪שם\u202f\u00a0"
    for length in (3, 12, 60):
        for _ in range(2_000):
            text = "".join(random.choices(letters, k=length))
            assert split_words(text) == [word for part in text.split(" ") for word in split_words(part)]
    assert terms(f"running {'x' * 90} running") == ["run", "x" * 90, "run"]


def test_a_word_that_is_said_twice_counts_twice_whatever_was_asked_before() -> None:
    random = Random(4)
    documents = [(f"D{at:03}", " ".join(random.choices(("red", "blue", "shoe"), k=5))) for at in range(60)]
    index = build_index(documents)
    for query in ("red shoe", "red red shoe", "red shoe", "shoe blue blue blue"):
        assert list(index.search(query, 20).documents) == slow_search(documents, query, 20)
        assert index.search(query) == build_index(documents).search(query)


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"),
        ("conflated", "conflat"), ("sized", "size"), ("falling", "fall"), ("filing", "file"),
        ("happy", "happi"), ("sky", "sky"), ("vietnamization", "vietnam"), ("conditional", "condit"),
        ("possibly", "possibl"), ("apology", "apolog"), ("formality", "formal"), ("triplicate", "triplic"),
        ("hopefulness", "hope"), ("goodness", "good"), ("adjustable", "adjust"), ("replacement", "replac"),
        ("adoption", "adopt"), ("bowdlerize", "bowdler"), ("probate", "probat"), ("rate", "rate"),
        ("cease", "ceas"), ("controll", "control"), ("roll", "roll"), ("ies", "i"),
    ],
)  # fmt: skip
def test_stems(word: str, stemmed: str) -> None:
    """Examples of Porter's paper, and the endings that he changed later."""
    assert stem(word) == stemmed
