"""The loaders: pages about a topic as documents of LangChain and LlamaIndex."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from sites import QUICK, TOPIC, served

from honeyguide import HoneyguideError

SKIPPED = "frameworks of plug-ins are in an environment of their own: tools/check_plugins.py"


def test_langchain_gets_pages_about_the_topic_as_markdown() -> None:
    pytest.importorskip("langchain_core", reason=SKIPPED)
    from honeyguide.contrib.langchain import HoneyguideLoader

    with served() as site:
        loader = HoneyguideLoader(site.root, topic=TOPIC, max_pages=12, policy=QUICK)
        documents = loader.load()

        async def awaited() -> list[Any]:
            return [one async for one in loader.alazy_load()]

        again = asyncio.run(awaited())
    assert [one.metadata["source"] for one in documents] == [one.metadata["source"] for one in again]
    assert len(documents) >= 5
    assert documents[0].page_content.startswith("# ")
    assert documents[0].metadata["reasons"]


def test_langchain_says_why_there_is_no_page() -> None:
    pytest.importorskip("langchain_core", reason=SKIPPED)
    from honeyguide.contrib.langchain import HoneyguideLoader

    with pytest.raises(HoneyguideError, match="no connection"):
        HoneyguideLoader("http://127.0.0.1:9/", topic=TOPIC, policy=QUICK).load()


def test_llama_index_says_why_there_is_no_page() -> None:
    pytest.importorskip("llama_index.core", reason=SKIPPED)
    from honeyguide.contrib.llama_index import HoneyguideReader

    with pytest.raises(HoneyguideError, match="no connection"):
        HoneyguideReader(policy=QUICK).load_data("http://127.0.0.1:9/", topic=TOPIC)


def test_llama_index_gets_pages_about_the_topic_as_markdown() -> None:
    pytest.importorskip("llama_index.core", reason=SKIPPED)
    from honeyguide.contrib.llama_index import HoneyguideReader

    with served() as site:
        documents = HoneyguideReader(max_pages=12, policy=QUICK).load_data(site.root, topic=TOPIC)
    assert len(documents) >= 5
    assert documents[0].text.startswith("# ")
    assert documents[0].metadata["url"] == documents[0].id_
