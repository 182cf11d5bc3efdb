"""LangChain's standard suite for chat models with langchain-openai, both unmodified. WHETSTONE_BASE_URL, WHETSTONE_API_KEY and
WHETSTONE_MODEL name the server. Run by test/python/clients/python-frameworks.test.ts: pytest langchain_standard.py.

Tests that require more than a model of 2.7 M parameters (the starter) knows are expected to fail, with the reason.
"""

import os

import pytest
from langchain_openai import ChatOpenAI
from langchain_tests.integration_tests import ChatModelIntegrationTests


class TestWhetstone(ChatModelIntegrationTests):
    @property
    def chat_model_class(self):
        return ChatOpenAI

    @property
    def chat_model_params(self):
        return {
            "model": os.environ["WHETSTONE_MODEL"].replace("/", "--"),
            "base_url": os.environ["WHETSTONE_BASE_URL"],
            "api_key": os.environ["WHETSTONE_API_KEY"],
            "temperature": 0,
            "max_retries": 0,
            "max_tokens": 200,
            "stream_usage": True,
        }

    @property
    def supports_json_mode(self):
        return True

    @property
    def supports_anthropic_inputs(self):
        return False

    @property
    def model_override_value(self):
        return os.environ["WHETSTONE_MODEL"]

    @pytest.mark.xfail(reason="the argument must be the number of the question; the starter says another one")
    def test_tool_calling(self, model):
        super().test_tool_calling(model)

    @pytest.mark.xfail(reason="the argument must be the number of the question; the starter says another one")
    async def test_tool_calling_async(self, model):
        await super().test_tool_calling_async(model)

    @pytest.mark.xfail(reason="the call is free, and the starter's arguments are those of another tool")
    def test_agent_loop(self, model):
        super().test_agent_loop(model)

    @pytest.mark.xfail(reason="the keys of the JSON object stand only in the prompt")
    def test_json_mode(self, model):
        super().test_json_mode(model)

    @pytest.mark.xfail(reason="the argument must be the Chinese name of the question")
    def test_unicode_tool_call_integration(self, model):
        super().test_unicode_tool_call_integration(model)
