// Generated from docs/openapi.json by the test of that file. Do not edit.
export interface paths {
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a conversation
         * @description Needs a key with the scope `chat`. Can be answered as server-sent events.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "messages": [
                     *         {
                     *           "role": "user",
                     *           "content": "What is 23 + 14?"
                     *         }
                     *       ],
                     *       "max_tokens": 16,
                     *       "temperature": 0
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description The conversation so far. */
                        messages: ({
                            /** @description system, developer, user, assistant, tool, function, or a role of the chat template */
                            role: string;
                            /** @description What is said: text, or a list of parts. */
                            content?: (string | (string | ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            }))[]) | null;
                            /** @description Its name. */
                            name?: string | null;
                            /** @description Calls of tools that the model wrote. */
                            tool_calls?: (({
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /** @description Which kind it is: it says which other fields there are. */
                                type?: string;
                                /** @description The function, by name. */
                                function: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description Arguments of the call, as JSON text. */
                                    arguments?: string | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }) | ({
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "custom";
                                /** @description A tool of your own kind, which takes text. */
                                custom: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description What is asked, or what a tool is called with. */
                                    input: string;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }))[] | null;
                            /** @description Id of the call that this answers. */
                            tool_call_id?: string | null;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description Choices. The prompt is computed once for all. Default: 1. */
                        n?: number | null;
                        /** @description 0 is greedy. Default: generation_config.json of the model, else 1. */
                        temperature?: number | null;
                        /** @description Keep the likeliest tokens that together have this probability. Default: the model's, else 1. */
                        top_p?: number | null;
                        /** @description Keep this many of the likeliest tokens. 0 and -1: off. Default: the model's, else off. */
                        top_k?: number | null;
                        /** @description Keep tokens at least this fraction as likely as the likeliest. Default: the model's, else 0. */
                        min_p?: number | null;
                        /** @description Taken off a token's logit for each time it is in the answer. */
                        frequency_penalty?: number | null;
                        /** @description Taken off a token's logit if it is in the answer. */
                        presence_penalty?: number | null;
                        /** @description Logits of tokens in prompt or answer are divided by it (negative ones multiplied). Default: the model's, else 1. */
                        repetition_penalty?: number | null;
                        /** @description Token id → number added to its logit, clamped to -100…100. */
                        logit_bias?: {
                            [key: string]: number;
                        } | null;
                        /** @description No other token can come, not even the end. */
                        allowed_token_ids?: number[] | null;
                        /** @description Words that cannot come, with or without a space before them. */
                        bad_words?: string[];
                        /** @description Same seed, same answer, whatever else runs. Choice i samples with seed + i. -1: none. */
                        seed?: number | null;
                        /** @description n beams instead of n samples; temperature, penalties and stops do not apply. */
                        use_beam_search?: boolean;
                        /** @description Beam search: beams are ranked by log-probability / length ^ this. Default: 1. */
                        length_penalty?: number;
                        /** @description None are registered here: anything but an empty list is refused. */
                        logits_processors?: (string | {
                            /** @description Its name in the code that defines it. */
                            qualname: string;
                            /** @description Arguments by position. */
                            args?: unknown[] | null;
                            /** @description Arguments by name. */
                            kwargs?: {
                                [key: string]: unknown;
                            } | null;
                        })[] | null;
                        /** @description Until there are this many, nothing ends the answer. */
                        min_tokens?: number;
                        /** @description Text that ends the answer and is cut from it. */
                        stop?: (string | string[]) | null;
                        /** @description Tokens that end the answer. */
                        stop_token_ids?: number[] | null;
                        /** @description Keep the stop text, or the text of the stop token. */
                        include_stop_str_in_output?: boolean;
                        /** @description The model's own end does not end the answer. */
                        ignore_eos?: boolean;
                        /** @description Most tokens of an answer. Default: what fits in the context. */
                        max_tokens?: number | null;
                        /** @description Wins over max_tokens; 0 counts as unset. */
                        max_completion_tokens?: number | null;
                        /** @description Log-probabilities of the prompt's tokens, with this many alternatives. */
                        prompt_logprobs?: number | null;
                        /** @description Write tokens in logprobs as `token_id:N`. Default: true on trainable models. */
                        return_tokens_as_token_ids?: boolean | null;
                        /** @description Add prompt_token_ids and token_ids. */
                        return_token_ids?: boolean | null;
                        /** @description Leave special tokens out of the text. Default: true. */
                        skip_special_tokens?: boolean;
                        /** @description No effect: tokens are joined as they are, byte by byte. */
                        spaces_between_special_tokens?: boolean;
                        /** @description Server-sent events. */
                        stream?: boolean | null;
                        /** @description Only with stream. */
                        stream_options?: ({
                            /** @description A last chunk with usage. Default, once stream_options is there: true. */
                            include_usage?: boolean | null;
                            /** @description Usage so far in every chunk. */
                            continuous_usage_stats?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Default: false on base models, true on trainable models (rollouts need them). */
                        logprobs?: boolean | null;
                        /** @description Alternatives per token, at most the server's limit (20); -1: the vocabulary. null turns logprobs off. */
                        top_logprobs?: number | null;
                        /** @description Begin the answer with the last message. */
                        echo?: boolean;
                        /** @description false: the thinking is generated and counted, but not returned. */
                        include_reasoning?: boolean;
                        /** @description End the prompt with the beginning of an assistant turn. Default: true, unless the final message is continued. */
                        add_generation_prompt?: boolean;
                        /** @description The model goes on with the last message. */
                        continue_final_message?: boolean;
                        /** @description What the tokenizer puts around texts (BOS) on top of the template. */
                        add_special_tokens?: boolean;
                        /** @description Keep only the last tokens of the prompt; -1: as many as the context holds. */
                        truncate_prompt_tokens?: number | null;
                        /** @description left: the last tokens stay, where the question is; right: the first ones. Default: left. */
                        truncation_side?: ("left" | "right") | null;
                        /** @description For templates with retrieval: the variable `documents`. */
                        documents?: {
                            [key: string]: string;
                        }[] | null;
                        /** @description A Jinja template instead of the model's. Refused unless the operator trusts such templates. */
                        chat_template?: string | null;
                        /** @description Variables of the chat template, such as enable_thinking. */
                        chat_template_kwargs?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description For templates that read it; none turns thinking off. */
                        reasoning_effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max") | null;
                        /** @description For images and sound, which text models do not read: refused unless empty. */
                        mm_processor_kwargs?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description JSON, or JSON of a schema. Always kept to. */
                        response_format?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "text" | "json_object" | "json_schema" | "json" | "structural_tag";
                            /** @description The schema that the answer follows, with its name. */
                            json_schema?: ({
                                /** @description Its name. */
                                name?: string | null;
                                /** @description What it is for, in words. */
                                description?: string | null;
                                /** @description The JSON schema. */
                                schema?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Schemas are always kept to. false: objects may have more properties than theirs names. */
                                strict?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            }) | null;
                            /** @description Of json_object and json, as llama.cpp writes it. */
                            schema?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description The same, as TGI writes it. */
                            value?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description The form of the text: free, or a JSON schema. */
                            format?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Parts of the answer that follow a schema. */
                            structures?: ({
                                /** @description Text that opens the part. */
                                begin: string;
                                /** @description The JSON schema. */
                                schema?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Text that closes the part. */
                                end: string;
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description Texts after which a part follows its schema. */
                            triggers?: string[] | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description One constraint on the text: json, regex, choice, grammar, json_object or structural_tag. */
                        structured_outputs?: ({
                            /** @description A JSON schema. */
                            json?: (string | {
                                [key: string]: unknown;
                            }) | null;
                            /** @description The whole answer matches. */
                            regex?: string | null;
                            /** @description The answer is one of these. */
                            choice?: string[] | null;
                            /** @description EBNF (GBNF) with a rule `root`, or Lark with a rule `start`. */
                            grammar?: string | null;
                            /** @description Any JSON object. */
                            json_object?: boolean | null;
                            /** @description JSON text of a structural tag: free text, then parts that keep to schemas. */
                            structural_tag?: string | null;
                            /** @description Accepted; there is one grammar engine here. */
                            disable_fallback?: boolean | null;
                            /** @description Compact JSON. */
                            disable_any_whitespace?: boolean | null;
                            /** @description Objects have no properties but those in the schema, where that does not say otherwise. Default: true. */
                            disable_additional_properties?: boolean | null;
                            /** @description Regular expression for white space in JSON. */
                            whitespace_pattern?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Functions that the model may call. */
                        tools?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @default function
                             */
                            type?: string;
                            /** @description The function, by name. */
                            function: {
                                /** @description Its name. */
                                name: string;
                                /** @description What it is for, in words. */
                                description?: string | null;
                                /** @description JSON schema of its arguments. */
                                parameters?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Whether what is written follows the schema to the letter. */
                                strict?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description Default: auto with tools, none without. */
                        tool_choice?: (("none" | "auto" | "required") | ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @default function
                             * @constant
                             */
                            type?: "function";
                            /** @description The function, by name. */
                            function: {
                                /** @description Its name. */
                                name: string;
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        }) | ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @constant
                             */
                            type: "allowed_tools";
                            /** @description The tools that may be called, and whether one must be. */
                            allowed_tools: {
                                /**
                                 * @description `auto`: it may call. `required`: it must.
                                 * @enum {string}
                                 */
                                mode: "auto" | "required";
                                /** @description What the model may call. */
                                tools: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     * @constant
                                     */
                                    type?: "function";
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[];
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        })) | null;
                        /** @description false: the first call only. Default: true. */
                        parallel_tool_calls?: boolean | null;
                        /** @description Smaller ones first. Needs the priority scheduling policy unless 0. */
                        priority?: number;
                        /** @description Becomes the id of the answer, unless an x-request-id header came. */
                        request_id?: string;
                        /** @description Computed prompts are shared between requests of equal salt only. */
                        cache_salt?: string | null;
                        /** @description No effect. */
                        user?: string | null;
                        /** @description For disaggregated serving, which this engine does not do: refused. */
                        kv_transfer_params?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description For extensions; unknown names have no effect. */
                        vendor_xargs?: {
                            [key: string]: string | number | (string | number)[];
                        } | null;
                        /** @description Alias of vendor_xargs. */
                        vllm_xargs?: {
                            [key: string]: string | number | (string | number)[];
                        } | null;
                        /** @description Most tokens of thinking: then it is ended, and the answer begins. -1: no limit. Chat only. */
                        thinking_token_budget?: number | null;
                        /** @description Tokens whose log-probabilities are listed at every place, beside the sampled one, instead of the likeliest. Needs logprobs. */
                        logprob_token_ids?: number[] | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "chatcmpl-5401757683cd628ec9f9e26cceba4adc",
                         *       "object": "chat.completion",
                         *       "created": 1795457109,
                         *       "model": "whetstone/starter",
                         *       "choices": [
                         *         {
                         *           "index": 0,
                         *           "message": {
                         *             "role": "assistant",
                         *             "content": "37",
                         *             "refusal": null,
                         *             "annotations": null,
                         *             "audio": null,
                         *             "function_call": null,
                         *             "reasoning": null,
                         *             "reasoning_content": null
                         *           },
                         *           "logprobs": null,
                         *           "finish_reason": "stop",
                         *           "stop_reason": null,
                         *           "token_ids": null
                         *         }
                         *       ],
                         *       "service_tier": null,
                         *       "system_fingerprint": "fp_e969270e52f8",
                         *       "usage": {
                         *         "prompt_tokens": 18,
                         *         "completion_tokens": 3,
                         *         "total_tokens": 21,
                         *         "prompt_tokens_details": {
                         *           "cached_tokens": 18
                         *         },
                         *         "completion_tokens_details": {
                         *           "reasoning_tokens": 0
                         *         }
                         *       },
                         *       "prompt_logprobs": null,
                         *       "prompt_token_ids": null,
                         *       "kv_transfer_params": null
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "chat.completion";
                            /** @description When it was made, in seconds since 1970. */
                            created: number;
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description The answers. */
                            choices: {
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The message. */
                                message: {
                                    /** @description Who speaks: `system`, `user`, `assistant` or `tool`. */
                                    role: string;
                                    /** @description What is said: text, or a list of parts. */
                                    content: string | null;
                                    /** @description Calls of tools that the model wrote. */
                                    tool_calls?: {
                                        /** @description Names this object for as long as it is there. */
                                        id: string;
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @constant
                                         */
                                        type: "function";
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description Arguments of the call, as JSON text. */
                                            arguments: string;
                                        };
                                    }[];
                                    /** @description How the model thinks before it answers, or what it thought. */
                                    reasoning: string | null;
                                    /** @description What the model thought; null where it did not. */
                                    reasoning_content: string | null;
                                } & {
                                    [key: string]: unknown;
                                };
                                /** @description Log-probabilities of the sampled tokens. */
                                logprobs: {
                                    /** @description The sampled tokens, in order. */
                                    content: {
                                        /** @description The token as text. */
                                        token: string;
                                        /** @description Natural logarithm of its probability. */
                                        logprob: number;
                                        /** @description The token as UTF-8 bytes. */
                                        bytes: number[] | null;
                                        /** @description The likeliest tokens in its place. */
                                        top_logprobs: {
                                            /** @description The token as text. */
                                            token: string;
                                            /** @description Natural logarithm of its probability. */
                                            logprob: number;
                                            /** @description The token as UTF-8 bytes. */
                                            bytes: number[] | null;
                                        }[];
                                    }[] | null;
                                    /** @description Null: models here do not refuse in a field of its own. */
                                    refusal: null;
                                } | null;
                                /** @description Why it ended: `stop`, `length`, `tool_calls`; null while it goes on. */
                                finish_reason: string | null;
                                /** @description Why it ended; of a stop string or token: which. */
                                stop_reason: (string | number) | null;
                                /** @description Ids of the tokens. */
                                token_ids: number[] | null;
                            }[];
                            /** @description One tier serves all. */
                            service_tier: null;
                            /** @description Changes with what computes answers. */
                            system_fingerprint: string | null;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Tokens that were written. */
                                completion_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                                /** @description What was special of the tokens that were read. */
                                prompt_tokens_details: {
                                    /** @description Tokens that had been computed before. */
                                    cached_tokens: number;
                                };
                                /** @description What was special of the tokens that were written. */
                                completion_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    reasoning_tokens: number;
                                };
                            };
                            /** @description Log-probabilities of the tokens of the prompt. */
                            prompt_logprobs: ({
                                [key: string]: {
                                    /** @description Natural logarithm of its probability. */
                                    logprob: number;
                                    /** @description Its place among all tokens by probability, from 1. */
                                    rank: number;
                                    /** @description The token as text. */
                                    decoded_token: string;
                                };
                            } | null)[] | null;
                            /** @description Ids of the tokens of the prompt. */
                            prompt_token_ids: number[] | null;
                            /** @description Null: caches do not move between servers here. */
                            kv_transfer_params: null;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                        /**
                         * @example data: {"id":"chatcmpl-6fb59da4fda5fc3b9baaeb451a9f4c15","object":"chat.completion.chunk","created":1795457109,"model":"whetstone/starter","system_fingerprint":"fp_e969270e52f8","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"prompt_token_ids":null}
                         *
                         *     data: {"id":"chatcmpl-6fb59da4fda5fc3b9baaeb451a9f4c15","object":"chat.completion.chunk","created":1795457109,"model":"whetstone/starter","system_fingerprint":"fp_e969270e52f8","choices":[{"index":0,"delta":{"content":"3"},"logprobs":null,"finish_reason":null,"token_ids":null}]}
                         *
                         *     data: {"id":"chatcmpl-6fb59da4fda5fc3b9baaeb451a9f4c15","object":"chat.completion.chunk","created":1795457109,"model":"whetstone/starter","system_fingerprint":"fp_e969270e52f8","choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}]}
                         *
                         *     data: [DONE]
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue texts or token ids
         * @description Needs a key with the scope `chat`. Can be answered as server-sent events.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "prompt": "One, two, three,",
                     *       "max_tokens": 8,
                     *       "temperature": 0
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description A text, token ids, or a list of either: one answer for each. */
                        prompt?: string | string[] | number[] | number[][];
                        /** @description Refused: the models here continue texts, they fill no gaps. */
                        suffix?: string | null;
                        /** @description Choices. The prompt is computed once for all. Default: 1. */
                        n?: number | null;
                        /** @description 0 is greedy. Default: generation_config.json of the model, else 1. */
                        temperature?: number | null;
                        /** @description Keep the likeliest tokens that together have this probability. Default: the model's, else 1. */
                        top_p?: number | null;
                        /** @description Keep this many of the likeliest tokens. 0 and -1: off. Default: the model's, else off. */
                        top_k?: number | null;
                        /** @description Keep tokens at least this fraction as likely as the likeliest. Default: the model's, else 0. */
                        min_p?: number | null;
                        /** @description Taken off a token's logit for each time it is in the answer. */
                        frequency_penalty?: number | null;
                        /** @description Taken off a token's logit if it is in the answer. */
                        presence_penalty?: number | null;
                        /** @description Logits of tokens in prompt or answer are divided by it (negative ones multiplied). Default: the model's, else 1. */
                        repetition_penalty?: number | null;
                        /** @description Token id → number added to its logit, clamped to -100…100. */
                        logit_bias?: {
                            [key: string]: number;
                        } | null;
                        /** @description No other token can come, not even the end. */
                        allowed_token_ids?: number[] | null;
                        /** @description Words that cannot come, with or without a space before them. */
                        bad_words?: string[];
                        /** @description Same seed, same answer, whatever else runs. Choice i samples with seed + i. -1: none. */
                        seed?: number | null;
                        /** @description n beams instead of n samples; temperature, penalties and stops do not apply. */
                        use_beam_search?: boolean;
                        /** @description Beam search: beams are ranked by log-probability / length ^ this. Default: 1. */
                        length_penalty?: number;
                        /** @description None are registered here: anything but an empty list is refused. */
                        logits_processors?: (string | {
                            /** @description Its name in the code that defines it. */
                            qualname: string;
                            /** @description Arguments by position. */
                            args?: unknown[] | null;
                            /** @description Arguments by name. */
                            kwargs?: {
                                [key: string]: unknown;
                            } | null;
                        })[] | null;
                        /** @description Sample this many and answer with the n of them whose tokens are the likeliest on average. Not in streams. Default: n. */
                        best_of?: number | null;
                        /** @description Until there are this many, nothing ends the answer. */
                        min_tokens?: number;
                        /** @description Text that ends the answer and is cut from it. */
                        stop?: (string | string[]) | null;
                        /** @description Tokens that end the answer. */
                        stop_token_ids?: number[] | null;
                        /** @description Keep the stop text, or the text of the stop token. */
                        include_stop_str_in_output?: boolean;
                        /** @description The model's own end does not end the answer. */
                        ignore_eos?: boolean;
                        /** @description Most tokens of an answer; 0 only with echo. Default: 16. */
                        max_tokens?: number | null;
                        /** @description Log-probabilities of the prompt's tokens, with this many alternatives. */
                        prompt_logprobs?: number | null;
                        /** @description Write tokens in logprobs as `token_id:N`. Default: true on trainable models. */
                        return_tokens_as_token_ids?: boolean | null;
                        /** @description Add prompt_token_ids and token_ids. */
                        return_token_ids?: boolean | null;
                        /** @description Leave special tokens out of the text. Default: true. */
                        skip_special_tokens?: boolean;
                        /** @description No effect: tokens are joined as they are, byte by byte. */
                        spaces_between_special_tokens?: boolean;
                        /** @description Server-sent events. */
                        stream?: boolean | null;
                        /** @description Only with stream. */
                        stream_options?: ({
                            /** @description A last chunk with usage. Default, once stream_options is there: true. */
                            include_usage?: boolean | null;
                            /** @description Usage so far in every chunk. */
                            continuous_usage_stats?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Log-probabilities, with this many alternatives per token; of the prompt too with echo. -1: the vocabulary. */
                        logprobs?: number | null;
                        /** @description Begin the answer with the prompt. */
                        echo?: boolean | null;
                        /** @description Keep only the last tokens of the prompt; -1: as many as the context holds. */
                        truncate_prompt_tokens?: number | null;
                        /** @description left: the last tokens stay, where the question is; right: the first ones. Default: left. */
                        truncation_side?: ("left" | "right") | null;
                        /** @description What the tokenizer puts around texts (BOS). Default: true. */
                        add_special_tokens?: boolean | null;
                        /** @description JSON, or JSON of a schema. Always kept to. */
                        response_format?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "text" | "json_object" | "json_schema" | "json" | "structural_tag";
                            /** @description The schema that the answer follows, with its name. */
                            json_schema?: ({
                                /** @description Its name. */
                                name?: string | null;
                                /** @description What it is for, in words. */
                                description?: string | null;
                                /** @description The JSON schema. */
                                schema?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Schemas are always kept to. false: objects may have more properties than theirs names. */
                                strict?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            }) | null;
                            /** @description Of json_object and json, as llama.cpp writes it. */
                            schema?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description The same, as TGI writes it. */
                            value?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description The form of the text: free, or a JSON schema. */
                            format?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Parts of the answer that follow a schema. */
                            structures?: ({
                                /** @description Text that opens the part. */
                                begin: string;
                                /** @description The JSON schema. */
                                schema?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Text that closes the part. */
                                end: string;
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description Texts after which a part follows its schema. */
                            triggers?: string[] | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description One constraint on the text: json, regex, choice, grammar, json_object or structural_tag. */
                        structured_outputs?: ({
                            /** @description A JSON schema. */
                            json?: (string | {
                                [key: string]: unknown;
                            }) | null;
                            /** @description The whole answer matches. */
                            regex?: string | null;
                            /** @description The answer is one of these. */
                            choice?: string[] | null;
                            /** @description EBNF (GBNF) with a rule `root`, or Lark with a rule `start`. */
                            grammar?: string | null;
                            /** @description Any JSON object. */
                            json_object?: boolean | null;
                            /** @description JSON text of a structural tag: free text, then parts that keep to schemas. */
                            structural_tag?: string | null;
                            /** @description Accepted; there is one grammar engine here. */
                            disable_fallback?: boolean | null;
                            /** @description Compact JSON. */
                            disable_any_whitespace?: boolean | null;
                            /** @description Objects have no properties but those in the schema, where that does not say otherwise. Default: true. */
                            disable_additional_properties?: boolean | null;
                            /** @description Regular expression for white space in JSON. */
                            whitespace_pattern?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Smaller ones first. Needs the priority scheduling policy unless 0. */
                        priority?: number;
                        /** @description Becomes the id of the answer, unless an x-request-id header came. */
                        request_id?: string;
                        /** @description Computed prompts are shared between requests of equal salt only. */
                        cache_salt?: string | null;
                        /** @description No effect. */
                        user?: string | null;
                        /** @description For disaggregated serving, which this engine does not do: refused. */
                        kv_transfer_params?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description For extensions; unknown names have no effect. */
                        vendor_xargs?: {
                            [key: string]: string | number | (string | number)[];
                        } | null;
                        /** @description Alias of vendor_xargs. */
                        vllm_xargs?: {
                            [key: string]: string | number | (string | number)[];
                        } | null;
                        /** @description Most tokens of thinking: then it is ended, and the answer begins. -1: no limit. Chat only. */
                        thinking_token_budget?: number | null;
                        /** @description Tokens whose log-probabilities are listed at every place, beside the sampled one, instead of the likeliest. Needs logprobs. */
                        logprob_token_ids?: number[] | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "cmpl-0832ed110742fe0dc6664133d48f11b8",
                         *       "object": "text_completion",
                         *       "created": 1795457109,
                         *       "model": "whetstone/starter",
                         *       "system_fingerprint": "fp_e969270e52f8",
                         *       "choices": [
                         *         {
                         *           "index": 0,
                         *           "text": " one9, one, two, one",
                         *           "logprobs": null,
                         *           "finish_reason": "length",
                         *           "stop_reason": null,
                         *           "token_ids": null,
                         *           "prompt_token_ids": null,
                         *           "prompt_logprobs": null
                         *         }
                         *       ],
                         *       "service_tier": null,
                         *       "usage": {
                         *         "prompt_tokens": 7,
                         *         "completion_tokens": 8,
                         *         "total_tokens": 15,
                         *         "prompt_tokens_details": {
                         *           "cached_tokens": 0
                         *         },
                         *         "completion_tokens_details": {
                         *           "reasoning_tokens": 0
                         *         }
                         *       },
                         *       "kv_transfer_params": null
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "text_completion";
                            /** @description When it was made, in seconds since 1970. */
                            created: number;
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description Changes with what computes answers. */
                            system_fingerprint: string;
                            /** @description The answers. */
                            choices: {
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The text, or the form that it has. */
                                text: string;
                                /** @description Log-probabilities of the sampled tokens. */
                                logprobs: {
                                    /** @description Where each token begins in the text. */
                                    text_offset: number[];
                                    /** @description Log-probability of each token. */
                                    token_logprobs: (number | null)[];
                                    /** @description The tokens, in order. */
                                    tokens: string[];
                                    /** @description The likeliest tokens in its place. */
                                    top_logprobs: ({
                                        [key: string]: number;
                                    } | null)[];
                                } | null;
                                /** @description Why it ended: `stop`, `length`, `tool_calls`; null while it goes on. */
                                finish_reason: string | null;
                                /** @description Why it ended; of a stop string or token: which. */
                                stop_reason: (string | number) | null;
                                /** @description Ids of the tokens. */
                                token_ids: number[] | null;
                                /** @description Ids of the tokens of the prompt. */
                                prompt_token_ids: number[] | null;
                                /** @description Log-probabilities of the tokens of the prompt. */
                                prompt_logprobs: ({
                                    [key: string]: {
                                        /** @description Natural logarithm of its probability. */
                                        logprob: number;
                                        /** @description Its place among all tokens by probability, from 1. */
                                        rank: number;
                                        /** @description The token as text. */
                                        decoded_token: string;
                                    };
                                } | null)[] | null;
                            }[];
                            /** @description One tier serves all. */
                            service_tier: null;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Tokens that were written. */
                                completion_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                                /** @description What was special of the tokens that were read. */
                                prompt_tokens_details: {
                                    /** @description Tokens that had been computed before. */
                                    cached_tokens: number;
                                };
                                /** @description What was special of the tokens that were written. */
                                completion_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    reasoning_tokens: number;
                                };
                            };
                            /** @description Null: caches do not move between servers here. */
                            kv_transfer_params: null;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                        /**
                         * @example data: {"id":"cmpl-9560ffa09beb82a996a28db51438baa7","object":"text_completion","created":1795457110,"model":"whetstone/starter","system_fingerprint":"fp_e969270e52f8","choices":[{"index":0,"text":" one","logprobs":null,"finish_reason":null,"prompt_token_ids":null,"token_ids":null}]}
                         *
                         *     data: {"id":"cmpl-9560ffa09beb82a996a28db51438baa7","object":"text_completion","created":1795457110,"model":"whetstone/starter","system_fingerprint":"fp_e969270e52f8","choices":[{"index":0,"text":" one","logprobs":null,"finish_reason":"length","prompt_token_ids":null,"stop_reason":null,"token_ids":null}]}
                         *
                         *     data: [DONE]
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a conversation, in the form of Anthropic’s API
         * @description Needs a key with the scope `chat`. Can be answered as server-sent events. Errors have the form of Anthropic’s API.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "messages": [
                     *         {
                     *           "role": "user",
                     *           "content": "What is 23 + 14?"
                     *         }
                     *       ],
                     *       "max_tokens": 16
                     *     }
                     */
                    "application/json": {
                        /** @description As in chat. */
                        model: string;
                        /** @description The conversation so far. Where the last turn is the assistant's, the answer goes on with it. */
                        messages: ({
                            /**
                             * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                             * @enum {string}
                             */
                            role: "user" | "assistant" | "system";
                            /** @description What is said: text, or a list of parts. */
                            content?: string | ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                                /** @description The text, or the form that it has. */
                                text?: string;
                                /** @description What the model thought, or whether it does. */
                                thinking?: string;
                                /** @description Proof of who wrote the thinking; it is not checked. */
                                signature?: string | null;
                                /** @description The items, in the order of the list. */
                                data?: string;
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /** @description Its name. */
                                name?: string;
                                /** @description What is asked, or what a tool is called with. */
                                input?: unknown;
                                /** @description Id of the call that this answers. */
                                tool_use_id?: string;
                                /** @description What is said: text, or a list of parts. */
                                content?: unknown;
                                /** @description Whether the tool failed. */
                                is_error?: boolean | null;
                                /** @description No effect: computed prompts are kept anyway. */
                                cache_control?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Sources of the text; there are none. */
                                citations?: unknown;
                            } & {
                                [key: string]: unknown;
                            })[];
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description What goes before the conversation. */
                        system?: (string | ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description The text, or the form that it has. */
                            text?: string;
                            /** @description What the model thought, or whether it does. */
                            thinking?: string;
                            /** @description Proof of who wrote the thinking; it is not checked. */
                            signature?: string | null;
                            /** @description The items, in the order of the list. */
                            data?: string;
                            /** @description Names this object for as long as it is there. */
                            id?: string;
                            /** @description Its name. */
                            name?: string;
                            /** @description What is asked, or what a tool is called with. */
                            input?: unknown;
                            /** @description Id of the call that this answers. */
                            tool_use_id?: string;
                            /** @description What is said: text, or a list of parts. */
                            content?: unknown;
                            /** @description Whether the tool failed. */
                            is_error?: boolean | null;
                            /** @description No effect: computed prompts are kept anyway. */
                            cache_control?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Sources of the text; there are none. */
                            citations?: unknown;
                        } & {
                            [key: string]: unknown;
                        })[]) | null;
                        /** @description Functions that the model may call. Tools that Anthropic's servers run are refused. */
                        tools?: ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type?: string | null;
                            /** @description Its name. */
                            name: string;
                            /** @description What it is for, in words. */
                            description?: string | null;
                            /** @description JSON schema of its arguments. */
                            input_schema?: {
                                [key: string]: unknown;
                            };
                            /** @description true: a call has arguments of the schema only. */
                            strict?: boolean | null;
                            /** @description What may be kept of the prompt; everything is, so it has no effect. */
                            cache_control?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Examples of arguments. */
                            input_examples?: {
                                [key: string]: unknown;
                            }[] | null;
                            /** @description Send arguments as they are written; they always are. */
                            eager_input_streaming?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description Default: auto. */
                        tool_choice?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "auto" | "any" | "tool" | "none";
                            /** @description Its name. */
                            name?: string;
                            /** @description True: an answer calls one tool at most. */
                            disable_parallel_tool_use?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description For templates that read it (enable_thinking). Default: the model's own. display: omitted leaves the thinking out. Thinking shares max_tokens with the answer: budget_tokens is no limit of its own. */
                        thinking?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "enabled" | "disabled" | "adaptive";
                            /** @description At most so many tokens of thinking. */
                            budget_tokens?: number | null;
                            /** @description Whether thinking is shown. */
                            display?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description effort: for templates that read it. format: JSON of a schema, always kept to. */
                        output_config?: ({
                            /** @description How much the model thinks. */
                            effort?: ("low" | "medium" | "high" | "xhigh" | "max") | null;
                            /** @description The form of the text: free, or a JSON schema. */
                            format?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "json_schema";
                                /** @description The JSON schema. */
                                schema: {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }) | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description No effect: computed prompts are kept anyway. */
                        cache_control?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Variables of the chat template; vLLM's addition. */
                        chat_template_kwargs?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Most tokens of an answer. What the context leaves may be less: the answer then ends with model_context_window_exceeded. */
                        max_tokens: number;
                        /** @description Text that ends the answer and is cut from it. */
                        stop_sequences?: string[] | null;
                        /** @description Server-sent events. */
                        stream?: boolean | null;
                        /** @description 0 is greedy. Default: the model's. */
                        temperature?: number | null;
                        /** @description Sample among the likeliest tokens that together have this probability. */
                        top_p?: number | null;
                        /** @description Sample among so many of the likeliest tokens. */
                        top_k?: number | null;
                        /** @description No effect. */
                        metadata?: ({
                            /** @description Your name for the person who asks; it has no effect. */
                            user_id?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description No effect: there is one tier. */
                        service_tier?: ("auto" | "standard_only") | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "msg_320439c012271c24c28ba56bfc0d019c",
                         *       "type": "message",
                         *       "role": "assistant",
                         *       "model": "whetstone/starter",
                         *       "content": [
                         *         {
                         *           "type": "text",
                         *           "text": "37",
                         *           "citations": null
                         *         }
                         *       ],
                         *       "stop_reason": "end_turn",
                         *       "stop_sequence": null,
                         *       "stop_details": null,
                         *       "container": null,
                         *       "usage": {
                         *         "input_tokens": 0,
                         *         "cache_creation_input_tokens": 0,
                         *         "cache_read_input_tokens": 18,
                         *         "output_tokens": 3,
                         *         "output_tokens_details": {
                         *           "thinking_tokens": 0
                         *         },
                         *         "service_tier": "standard"
                         *       }
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @constant
                             */
                            type: "message";
                            /**
                             * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                             * @constant
                             */
                            role: "assistant";
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description What is said: text, or a list of parts. */
                            content: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "text";
                                /** @description The text, or the form that it has. */
                                text: string;
                                /** @description Sources of the text; there are none. */
                                citations: null;
                            } | {
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "thinking";
                                /** @description What the model thought, or whether it does. */
                                thinking: string;
                                /** @description Proof of who wrote the thinking; it is not checked. */
                                signature: string;
                            } | {
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "tool_use";
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Its name. */
                                name: string;
                                /** @description What is asked, or what a tool is called with. */
                                input: {
                                    [key: string]: unknown;
                                };
                                /** @description Who called the tool: the model itself. */
                                caller: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "direct";
                                };
                            })[];
                            /** @description Why it ended; of a stop string or token: which. */
                            stop_reason: ("end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "model_context_window_exceeded") | null;
                            /** @description The stop string that ended it; null where none did. */
                            stop_sequence: string | null;
                            /** @description Nothing more is said of it. */
                            stop_details: null;
                            /** @description Null: nothing is run here. */
                            container: null;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                input_tokens: number;
                                /** @description Tokens kept for later on your word: none, all are kept anyway. */
                                cache_creation_input_tokens: number;
                                /** @description Tokens that had been computed before. */
                                cache_read_input_tokens: number;
                                /** @description Tokens that were written. */
                                output_tokens: number;
                                /** @description What was special of the tokens that were written. */
                                output_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    thinking_tokens: number;
                                };
                                /**
                                 * @description One tier serves all.
                                 * @constant
                                 */
                                service_tier: "standard";
                            };
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                        /**
                         * @example event: message_start
                         *     data: {"type":"message_start","message":{"id":"msg_cb993ad76846a9c2c1a5f520ee4071a5","type":"message","role":"assistant","model":"whetstone/starter","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":18,"output_tokens":0,"output_tokens_details":{"thinking_tokens":0},"service_tier":"standard"}}}
                         *
                         *     event: content_block_start
                         *     data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"","citations":null}}
                         *
                         *     event: content_block_delta
                         *     data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"4"}}
                         *
                         *     event: content_block_stop
                         *     data: {"type":"content_block_stop","index":0}
                         *
                         *     event: message_delta
                         *     data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":18,"output_tokens":3,"output_tokens_details":{"thinking_tokens":0}}}
                         *
                         *     event: message_stop
                         *     data: {"type":"message_stop"}
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/messages/count_tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tokens of a conversation, in the form of Anthropic’s API
         * @description Needs a key with the scope `chat`. Errors have the form of Anthropic’s API.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "messages": [
                     *         {
                     *           "role": "user",
                     *           "content": "What is 23 + 14?"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description As in chat. */
                        model: string;
                        /** @description The conversation so far. Where the last turn is the assistant's, the answer goes on with it. */
                        messages: ({
                            /**
                             * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                             * @enum {string}
                             */
                            role: "user" | "assistant" | "system";
                            /** @description What is said: text, or a list of parts. */
                            content?: string | ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                                /** @description The text, or the form that it has. */
                                text?: string;
                                /** @description What the model thought, or whether it does. */
                                thinking?: string;
                                /** @description Proof of who wrote the thinking; it is not checked. */
                                signature?: string | null;
                                /** @description The items, in the order of the list. */
                                data?: string;
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /** @description Its name. */
                                name?: string;
                                /** @description What is asked, or what a tool is called with. */
                                input?: unknown;
                                /** @description Id of the call that this answers. */
                                tool_use_id?: string;
                                /** @description What is said: text, or a list of parts. */
                                content?: unknown;
                                /** @description Whether the tool failed. */
                                is_error?: boolean | null;
                                /** @description No effect: computed prompts are kept anyway. */
                                cache_control?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Sources of the text; there are none. */
                                citations?: unknown;
                            } & {
                                [key: string]: unknown;
                            })[];
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description What goes before the conversation. */
                        system?: (string | ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description The text, or the form that it has. */
                            text?: string;
                            /** @description What the model thought, or whether it does. */
                            thinking?: string;
                            /** @description Proof of who wrote the thinking; it is not checked. */
                            signature?: string | null;
                            /** @description The items, in the order of the list. */
                            data?: string;
                            /** @description Names this object for as long as it is there. */
                            id?: string;
                            /** @description Its name. */
                            name?: string;
                            /** @description What is asked, or what a tool is called with. */
                            input?: unknown;
                            /** @description Id of the call that this answers. */
                            tool_use_id?: string;
                            /** @description What is said: text, or a list of parts. */
                            content?: unknown;
                            /** @description Whether the tool failed. */
                            is_error?: boolean | null;
                            /** @description No effect: computed prompts are kept anyway. */
                            cache_control?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Sources of the text; there are none. */
                            citations?: unknown;
                        } & {
                            [key: string]: unknown;
                        })[]) | null;
                        /** @description Functions that the model may call. Tools that Anthropic's servers run are refused. */
                        tools?: ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type?: string | null;
                            /** @description Its name. */
                            name: string;
                            /** @description What it is for, in words. */
                            description?: string | null;
                            /** @description JSON schema of its arguments. */
                            input_schema?: {
                                [key: string]: unknown;
                            };
                            /** @description true: a call has arguments of the schema only. */
                            strict?: boolean | null;
                            /** @description What may be kept of the prompt; everything is, so it has no effect. */
                            cache_control?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description Examples of arguments. */
                            input_examples?: {
                                [key: string]: unknown;
                            }[] | null;
                            /** @description Send arguments as they are written; they always are. */
                            eager_input_streaming?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description Default: auto. */
                        tool_choice?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "auto" | "any" | "tool" | "none";
                            /** @description Its name. */
                            name?: string;
                            /** @description True: an answer calls one tool at most. */
                            disable_parallel_tool_use?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description For templates that read it (enable_thinking). Default: the model's own. display: omitted leaves the thinking out. Thinking shares max_tokens with the answer: budget_tokens is no limit of its own. */
                        thinking?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "enabled" | "disabled" | "adaptive";
                            /** @description At most so many tokens of thinking. */
                            budget_tokens?: number | null;
                            /** @description Whether thinking is shown. */
                            display?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description effort: for templates that read it. format: JSON of a schema, always kept to. */
                        output_config?: ({
                            /** @description How much the model thinks. */
                            effort?: ("low" | "medium" | "high" | "xhigh" | "max") | null;
                            /** @description The form of the text: free, or a JSON schema. */
                            format?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "json_schema";
                                /** @description The JSON schema. */
                                schema: {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }) | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description No effect: computed prompts are kept anyway. */
                        cache_control?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Variables of the chat template; vLLM's addition. */
                        chat_template_kwargs?: {
                            [key: string]: unknown;
                        } | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "input_tokens": 18
                         *     }
                         */
                        "application/json": {
                            /** @description Tokens that were read. */
                            input_tokens: number;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a conversation, in the form of OpenAI’s Responses
         * @description Needs a key with the scope `chat`. Sent again with the same `Idempotency-Key`, it is done once. Can be answered as server-sent events.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "input": "What is 23 + 14?",
                     *       "max_output_tokens": 16,
                     *       "store": true
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description A text, or turns, calls, their results and thinking, as answers have them in `output`. */
                        input?: string | ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type?: string | null;
                            /** @description Who speaks: `system`, `user`, `assistant` or `tool`. */
                            role?: string;
                            /** @description What is said: text, or a list of parts. */
                            content?: unknown;
                            /** @description Id of the call, for its answer. */
                            call_id?: string;
                            /** @description Its name. */
                            name?: string;
                            /** @description Arguments of the call, as JSON text. */
                            arguments?: string;
                            /** @description What was answered, item by item; or what a tool gave back. */
                            output?: unknown;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description What goes before the conversation. */
                        instructions?: string | null;
                        /** @description Most tokens of the answer, thinking included. Default: what fits in the context. */
                        max_output_tokens?: number | null;
                        /** @description 0 is greedy. Default: the model's. */
                        temperature?: number | null;
                        /** @description Sample among the likeliest tokens that together have this probability. */
                        top_p?: number | null;
                        /** @description Alternatives per token of output_text; with include: message.output_text.logprobs. */
                        top_logprobs?: number | null;
                        /** @description Functions that the model may call. Tools that OpenAI's servers run are refused. */
                        tools?: ({
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description Its name. */
                            name?: string;
                            /** @description What it is for, in words. */
                            description?: string | null;
                            /** @description JSON schema of its arguments. */
                            parameters?: {
                                [key: string]: unknown;
                            } | null;
                            /** @description true: a call has arguments of the schema only. Default: false. */
                            strict?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description Whether tools are called, and which. */
                        tool_choice?: (("none" | "auto" | "required") | ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @constant
                             */
                            type: "function";
                            /** @description Its name. */
                            name: string;
                        } & {
                            [key: string]: unknown;
                        }) | ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @constant
                             */
                            type: "allowed_tools";
                            /**
                             * @description `auto`: it may call. `required`: it must.
                             * @enum {string}
                             */
                            mode: "auto" | "required";
                            /** @description What the model may call. */
                            tools: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "function";
                                /** @description Its name. */
                                name: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                        } & {
                            [key: string]: unknown;
                        })) | null;
                        /** @description false: the first call only. Default: true. */
                        parallel_tool_calls?: boolean | null;
                        /** @description format: JSON, or JSON of a schema; always kept to. */
                        text?: ({
                            /** @description The form of the text: free, or a JSON schema. */
                            format?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "text" | "json_object" | "json_schema";
                                /** @description Its name. */
                                name?: string | null;
                                /** @description What it is for, in words. */
                                description?: string | null;
                                /** @description The JSON schema. */
                                schema?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Whether what is written follows the schema to the letter. */
                                strict?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            }) | null;
                            /** @description How long answers are; it has no effect. */
                            verbosity?: ("low" | "medium" | "high") | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description effort: for templates that read it; none turns thinking off. The thinking itself is an item of the output. */
                        reasoning?: ({
                            /** @description How much the model thinks. */
                            effort?: ("none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max") | null;
                            /** @description What was thought, in short. */
                            summary?: string | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description auto: of a prompt that is too long, the end is kept. Default: disabled. */
                        truncation?: ("auto" | "disabled") | null;
                        /** @description message.output_text.logprobs; the others have nothing to show here. */
                        include?: string[] | null;
                        /** @description Server-sent events, each with its type and number. */
                        stream?: boolean | null;
                        /** @description No effect: nothing is obfuscated. */
                        stream_options?: ({
                            /** @description Pad events to one length; they are not. */
                            include_obfuscation?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Comes back with the answer. */
                        metadata?: {
                            [key: string]: string;
                        } | null;
                        /** @description Whether the answer is kept, for GET /v1/responses/{id} and previous_response_id. Default: true. */
                        store?: boolean | null;
                        /** @description Go on behind that conversation and its answer. Instructions are not taken over. */
                        previous_response_id?: string | null;
                        /** @description true: answered when there is room, whoever is connected. Read it with GET /v1/responses/{id}, or stream it from there. */
                        background?: boolean | null;
                        /** @description No effect. */
                        user?: string | null;
                        /** @description No effect. */
                        safety_identifier?: string | null;
                        /** @description No effect: computed prompts are kept anyway. */
                        prompt_cache_key?: string | null;
                        /** @description No effect: computed prompts are kept while there is room. */
                        prompt_cache_retention?: string | null;
                        /** @description No effect: there is one tier. */
                        service_tier?: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "resp_44fbba9f53b14f4c810cb8f7c00d5f31",
                         *       "object": "response",
                         *       "created_at": 1795457108,
                         *       "completed_at": 1795457109,
                         *       "status": "completed",
                         *       "background": false,
                         *       "error": null,
                         *       "incomplete_details": null,
                         *       "instructions": null,
                         *       "max_output_tokens": 16,
                         *       "model": "whetstone/starter",
                         *       "output": [
                         *         {
                         *           "id": "msg_44fbba9f53b14f4c810cb8f7c00d5f31_0",
                         *           "type": "message",
                         *           "status": "completed",
                         *           "role": "assistant",
                         *           "content": [
                         *             {
                         *               "type": "output_text",
                         *               "text": "37",
                         *               "annotations": [],
                         *               "logprobs": []
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "parallel_tool_calls": true,
                         *       "previous_response_id": null,
                         *       "prompt_cache_key": null,
                         *       "reasoning": {
                         *         "effort": null,
                         *         "summary": null
                         *       },
                         *       "safety_identifier": null,
                         *       "service_tier": "default",
                         *       "store": true,
                         *       "temperature": null,
                         *       "text": {
                         *         "format": {
                         *           "type": "text"
                         *         }
                         *       },
                         *       "tool_choice": "auto",
                         *       "tools": [],
                         *       "top_logprobs": 0,
                         *       "top_p": null,
                         *       "truncation": "disabled",
                         *       "usage": {
                         *         "input_tokens": 18,
                         *         "input_tokens_details": {
                         *           "cached_tokens": 18
                         *         },
                         *         "output_tokens": 3,
                         *         "output_tokens_details": {
                         *           "reasoning_tokens": 0
                         *         },
                         *         "total_tokens": 21
                         *       },
                         *       "user": null,
                         *       "metadata": {}
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "response";
                            /** @description When it was made. */
                            created_at: number;
                            /** @description When it ended, in seconds since 1970; null before. */
                            completed_at: number | null;
                            /**
                             * @description How far it is.
                             * @enum {string}
                             */
                            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
                            /** @description Answer later: the response is read by its id. */
                            background: boolean;
                            /** @description What went wrong; null where nothing did. */
                            error: {
                                /** @description The kind of error, for programs. */
                                code: string;
                                /** @description What went wrong and what to do, for people. */
                                message: string;
                            } | null;
                            /** @description Why the answer is cut; null where it is whole. */
                            incomplete_details: {
                                /** @description Why. */
                                reason: string;
                            } | null;
                            /** @description What comes before the conversation, as a system message. */
                            instructions: string | null;
                            /** @description At most so many tokens of an answer. */
                            max_output_tokens: number | null;
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description What was answered, item by item; or what a tool gave back. */
                            output: ({
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "message";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /**
                                 * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                                 * @constant
                                 */
                                role: "assistant";
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "output_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                    /** @description Sources of the text; there are none. */
                                    annotations: unknown[];
                                    /** @description Log-probabilities of the sampled tokens. */
                                    logprobs: {
                                        /** @description The token as text. */
                                        token: string;
                                        /** @description Natural logarithm of its probability. */
                                        logprob: number;
                                        /** @description The token as UTF-8 bytes. */
                                        bytes: number[];
                                        /** @description The likeliest tokens in its place. */
                                        top_logprobs: {
                                            /** @description The token as text. */
                                            token: string;
                                            /** @description Natural logarithm of its probability. */
                                            logprob: number;
                                            /** @description The token as UTF-8 bytes. */
                                            bytes: number[];
                                        }[];
                                    }[];
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "reasoning";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description What was thought, in short. */
                                summary: unknown[];
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "reasoning_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "function_call";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description Id of the call, for its answer. */
                                call_id: string;
                                /** @description Its name. */
                                name: string;
                                /** @description Arguments of the call, as JSON text. */
                                arguments: string;
                            })[];
                            /** @description Whether one answer may call several tools. */
                            parallel_tool_calls: boolean;
                            /** @description The response that this one goes on from. */
                            previous_response_id: string | null;
                            /** @description Which requests begin alike; found without it, so it has no effect. */
                            prompt_cache_key: string | null;
                            /** @description How the model thinks before it answers, or what it thought. */
                            reasoning: {
                                /** @description How much the model thinks. */
                                effort: string | null;
                                /** @description What was thought, in short. */
                                summary: null;
                            };
                            /** @description Your name for the person who asks; it has no effect. */
                            safety_identifier: string | null;
                            /**
                             * @description One tier serves all.
                             * @constant
                             */
                            service_tier: "default";
                            /** @description Whether the response is kept. */
                            store: boolean;
                            /** @description How much chance there is: 0 takes the likeliest token. */
                            temperature: number | null;
                            /** @description The text, or the form that it has. */
                            text: {
                                /** @description The form of the text: free, or a JSON schema. */
                                format: {
                                    /** @description Which kind it is: it says which other fields there are. */
                                    type: string;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            };
                            /** @description Whether tools are called, and which. */
                            tool_choice: string | {
                                [key: string]: unknown;
                            };
                            /** @description What the model may call. */
                            tools: ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description The likeliest tokens in its place. */
                            top_logprobs: number;
                            /** @description Sample among the likeliest tokens that together have this probability. */
                            top_p: number | null;
                            /** @description What happens to a conversation that is too long. */
                            truncation: string;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                input_tokens: number;
                                /** @description What was special of the tokens that were read. */
                                input_tokens_details: {
                                    /** @description Tokens that had been computed before. */
                                    cached_tokens: number;
                                };
                                /** @description Tokens that were written. */
                                output_tokens: number;
                                /** @description What was special of the tokens that were written. */
                                output_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    reasoning_tokens: number;
                                };
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            } | null;
                            /** @description Your name for the person who asks; it has no effect. */
                            user: string | null;
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: string;
                            };
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                        /**
                         * @example event: response.created
                         *     data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_9407f51087014673ab90932767faee63","object":"response","created_at":1795457316,"completed_at":null,"status":"in_progress","background":false,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}
                         *
                         *     event: response.in_progress
                         *     data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_9407f51087014673ab90932767faee63","object":"response","created_at":1795457316,"completed_at":null,"status":"in_progress","background":false,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}
                         *
                         *     event: response.output_item.added
                         *     data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_9407f51087014673ab90932767faee63_0","type":"message","status":"in_progress","role":"assistant","content":[]}}
                         *
                         *     event: response.content_part.added
                         *     data: {"type":"response.content_part.added","sequence_number":3,"item_id":"msg_9407f51087014673ab90932767faee63_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}
                         *
                         *     event: response.output_text.delta
                         *     data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_9407f51087014673ab90932767faee63_0","output_index":0,"content_index":0,"delta":"4","logprobs":[]}
                         *
                         *     event: response.output_text.done
                         *     data: {"type":"response.output_text.done","sequence_number":7,"item_id":"msg_9407f51087014673ab90932767faee63_0","output_index":0,"content_index":0,"text":"47","logprobs":[]}
                         *
                         *     event: response.content_part.done
                         *     data: {"type":"response.content_part.done","sequence_number":8,"item_id":"msg_9407f51087014673ab90932767faee63_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"47","annotations":[],"logprobs":[]}}
                         *
                         *     event: response.output_item.done
                         *     data: {"type":"response.output_item.done","sequence_number":9,"output_index":0,"item":{"id":"msg_9407f51087014673ab90932767faee63_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"47","annotations":[],"logprobs":[]}]}}
                         *
                         *     event: response.completed
                         *     data: {"type":"response.completed","sequence_number":10,"response":{"id":"resp_9407f51087014673ab90932767faee63","object":"response","created_at":1795457316,"completed_at":1795457316,"status":"completed","background":false,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[{"id":"msg_9407f51087014673ab90932767faee63_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"47","annotations":[],"logprobs":[]}]}],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":{"input_tokens":18,"input_tokens_details":{"cached_tokens":18},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":21},"user":null,"metadata":{}}}
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a response that is kept, or follow one of the background
         * @description Needs a key with the scope `chat`. Can be answered as server-sent events.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Its events, as they come: of one that was asked for with background and stream. */
                    stream?: boolean;
                    /** @description Only events after this number. */
                    starting_after?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the response. */
                    response_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04",
                         *       "object": "response",
                         *       "created_at": 1795457108,
                         *       "completed_at": 1795457109,
                         *       "status": "completed",
                         *       "background": false,
                         *       "error": null,
                         *       "incomplete_details": null,
                         *       "instructions": null,
                         *       "max_output_tokens": 16,
                         *       "model": "whetstone/starter",
                         *       "output": [
                         *         {
                         *           "id": "msg_44fbba9f53b14f4c810cb8f7c00d5f31_0",
                         *           "type": "message",
                         *           "status": "completed",
                         *           "role": "assistant",
                         *           "content": [
                         *             {
                         *               "type": "output_text",
                         *               "text": "37",
                         *               "annotations": [],
                         *               "logprobs": []
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "parallel_tool_calls": true,
                         *       "previous_response_id": null,
                         *       "prompt_cache_key": null,
                         *       "reasoning": {
                         *         "effort": null,
                         *         "summary": null
                         *       },
                         *       "safety_identifier": null,
                         *       "service_tier": "default",
                         *       "store": true,
                         *       "temperature": null,
                         *       "text": {
                         *         "format": {
                         *           "type": "text"
                         *         }
                         *       },
                         *       "tool_choice": "auto",
                         *       "tools": [],
                         *       "top_logprobs": 0,
                         *       "top_p": null,
                         *       "truncation": "disabled",
                         *       "usage": {
                         *         "input_tokens": 18,
                         *         "input_tokens_details": {
                         *           "cached_tokens": 18
                         *         },
                         *         "output_tokens": 3,
                         *         "output_tokens_details": {
                         *           "reasoning_tokens": 0
                         *         },
                         *         "total_tokens": 21
                         *       },
                         *       "user": null,
                         *       "metadata": {}
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "response";
                            /** @description When it was made. */
                            created_at: number;
                            /** @description When it ended, in seconds since 1970; null before. */
                            completed_at: number | null;
                            /**
                             * @description How far it is.
                             * @enum {string}
                             */
                            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
                            /** @description Answer later: the response is read by its id. */
                            background: boolean;
                            /** @description What went wrong; null where nothing did. */
                            error: {
                                /** @description The kind of error, for programs. */
                                code: string;
                                /** @description What went wrong and what to do, for people. */
                                message: string;
                            } | null;
                            /** @description Why the answer is cut; null where it is whole. */
                            incomplete_details: {
                                /** @description Why. */
                                reason: string;
                            } | null;
                            /** @description What comes before the conversation, as a system message. */
                            instructions: string | null;
                            /** @description At most so many tokens of an answer. */
                            max_output_tokens: number | null;
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description What was answered, item by item; or what a tool gave back. */
                            output: ({
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "message";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /**
                                 * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                                 * @constant
                                 */
                                role: "assistant";
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "output_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                    /** @description Sources of the text; there are none. */
                                    annotations: unknown[];
                                    /** @description Log-probabilities of the sampled tokens. */
                                    logprobs: {
                                        /** @description The token as text. */
                                        token: string;
                                        /** @description Natural logarithm of its probability. */
                                        logprob: number;
                                        /** @description The token as UTF-8 bytes. */
                                        bytes: number[];
                                        /** @description The likeliest tokens in its place. */
                                        top_logprobs: {
                                            /** @description The token as text. */
                                            token: string;
                                            /** @description Natural logarithm of its probability. */
                                            logprob: number;
                                            /** @description The token as UTF-8 bytes. */
                                            bytes: number[];
                                        }[];
                                    }[];
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "reasoning";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description What was thought, in short. */
                                summary: unknown[];
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "reasoning_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "function_call";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description Id of the call, for its answer. */
                                call_id: string;
                                /** @description Its name. */
                                name: string;
                                /** @description Arguments of the call, as JSON text. */
                                arguments: string;
                            })[];
                            /** @description Whether one answer may call several tools. */
                            parallel_tool_calls: boolean;
                            /** @description The response that this one goes on from. */
                            previous_response_id: string | null;
                            /** @description Which requests begin alike; found without it, so it has no effect. */
                            prompt_cache_key: string | null;
                            /** @description How the model thinks before it answers, or what it thought. */
                            reasoning: {
                                /** @description How much the model thinks. */
                                effort: string | null;
                                /** @description What was thought, in short. */
                                summary: null;
                            };
                            /** @description Your name for the person who asks; it has no effect. */
                            safety_identifier: string | null;
                            /**
                             * @description One tier serves all.
                             * @constant
                             */
                            service_tier: "default";
                            /** @description Whether the response is kept. */
                            store: boolean;
                            /** @description How much chance there is: 0 takes the likeliest token. */
                            temperature: number | null;
                            /** @description The text, or the form that it has. */
                            text: {
                                /** @description The form of the text: free, or a JSON schema. */
                                format: {
                                    /** @description Which kind it is: it says which other fields there are. */
                                    type: string;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            };
                            /** @description Whether tools are called, and which. */
                            tool_choice: string | {
                                [key: string]: unknown;
                            };
                            /** @description What the model may call. */
                            tools: ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description The likeliest tokens in its place. */
                            top_logprobs: number;
                            /** @description Sample among the likeliest tokens that together have this probability. */
                            top_p: number | null;
                            /** @description What happens to a conversation that is too long. */
                            truncation: string;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                input_tokens: number;
                                /** @description What was special of the tokens that were read. */
                                input_tokens_details: {
                                    /** @description Tokens that had been computed before. */
                                    cached_tokens: number;
                                };
                                /** @description Tokens that were written. */
                                output_tokens: number;
                                /** @description What was special of the tokens that were written. */
                                output_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    reasoning_tokens: number;
                                };
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            } | null;
                            /** @description Your name for the person who asks; it has no effect. */
                            user: string | null;
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: string;
                            };
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                        /**
                         * @example event: response.created
                         *     data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04","object":"response","created_at":1795457107,"completed_at":null,"status":"queued","background":true,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}
                         *
                         *     event: response.queued
                         *     data: {"type":"response.queued","sequence_number":1,"response":{"id":"resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04","object":"response","created_at":1795457107,"completed_at":null,"status":"queued","background":true,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}
                         *
                         *     event: response.in_progress
                         *     data: {"type":"response.in_progress","sequence_number":2,"response":{"id":"resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04","object":"response","created_at":1795457107,"completed_at":null,"status":"in_progress","background":true,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":null,"user":null,"metadata":{}}}
                         *
                         *     event: response.output_item.added
                         *     data: {"type":"response.output_item.added","sequence_number":3,"output_index":0,"item":{"id":"msg_ad969aca51224c1ab658f4a964a0641b_0","type":"message","status":"in_progress","role":"assistant","content":[]}}
                         *
                         *     event: response.content_part.added
                         *     data: {"type":"response.content_part.added","sequence_number":4,"item_id":"msg_ad969aca51224c1ab658f4a964a0641b_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}
                         *
                         *     event: response.output_text.delta
                         *     data: {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_ad969aca51224c1ab658f4a964a0641b_0","output_index":0,"content_index":0,"delta":"5","logprobs":[]}
                         *
                         *     event: response.output_text.done
                         *     data: {"type":"response.output_text.done","sequence_number":8,"item_id":"msg_ad969aca51224c1ab658f4a964a0641b_0","output_index":0,"content_index":0,"text":"56","logprobs":[]}
                         *
                         *     event: response.content_part.done
                         *     data: {"type":"response.content_part.done","sequence_number":9,"item_id":"msg_ad969aca51224c1ab658f4a964a0641b_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"56","annotations":[],"logprobs":[]}}
                         *
                         *     event: response.output_item.done
                         *     data: {"type":"response.output_item.done","sequence_number":10,"output_index":0,"item":{"id":"msg_ad969aca51224c1ab658f4a964a0641b_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"56","annotations":[],"logprobs":[]}]}}
                         *
                         *     event: response.completed
                         *     data: {"type":"response.completed","sequence_number":11,"response":{"id":"resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04","object":"response","created_at":1795457107,"completed_at":1795457108,"status":"completed","background":true,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":16,"model":"whetstone/starter","output":[{"id":"msg_ad969aca51224c1ab658f4a964a0641b_0","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"56","annotations":[],"logprobs":[]}]}],"parallel_tool_calls":true,"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":true,"temperature":null,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":null,"truncation":"disabled","usage":{"input_tokens":18,"input_tokens_details":{"cached_tokens":18},"output_tokens":3,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":21},"user":null,"metadata":{}}}
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a response
         * @description One of the background is not answered any more. Needs a key with the scope `chat`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the response. */
                    response_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04",
                         *       "object": "response",
                         *       "deleted": true
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "response";
                            /**
                             * @description It is gone.
                             * @constant
                             */
                            deleted: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a response of the background
         * @description One that has ended stays as it is. Needs a key with the scope `chat`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the response. */
                    response_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "resp_0196f2c77b8f7e2cb4d57e9f1a2b3c04",
                         *       "object": "response",
                         *       "created_at": 1795457107,
                         *       "completed_at": 1795457108,
                         *       "status": "completed",
                         *       "background": true,
                         *       "error": null,
                         *       "incomplete_details": null,
                         *       "instructions": null,
                         *       "max_output_tokens": 16,
                         *       "model": "whetstone/starter",
                         *       "output": [
                         *         {
                         *           "id": "msg_ad969aca51224c1ab658f4a964a0641b_0",
                         *           "type": "message",
                         *           "status": "completed",
                         *           "role": "assistant",
                         *           "content": [
                         *             {
                         *               "type": "output_text",
                         *               "text": "56",
                         *               "annotations": [],
                         *               "logprobs": []
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "parallel_tool_calls": true,
                         *       "previous_response_id": null,
                         *       "prompt_cache_key": null,
                         *       "reasoning": {
                         *         "effort": null,
                         *         "summary": null
                         *       },
                         *       "safety_identifier": null,
                         *       "service_tier": "default",
                         *       "store": true,
                         *       "temperature": null,
                         *       "text": {
                         *         "format": {
                         *           "type": "text"
                         *         }
                         *       },
                         *       "tool_choice": "auto",
                         *       "tools": [],
                         *       "top_logprobs": 0,
                         *       "top_p": null,
                         *       "truncation": "disabled",
                         *       "usage": {
                         *         "input_tokens": 18,
                         *         "input_tokens_details": {
                         *           "cached_tokens": 18
                         *         },
                         *         "output_tokens": 3,
                         *         "output_tokens_details": {
                         *           "reasoning_tokens": 0
                         *         },
                         *         "total_tokens": 21
                         *       },
                         *       "user": null,
                         *       "metadata": {}
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "response";
                            /** @description When it was made. */
                            created_at: number;
                            /** @description When it ended, in seconds since 1970; null before. */
                            completed_at: number | null;
                            /**
                             * @description How far it is.
                             * @enum {string}
                             */
                            status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";
                            /** @description Answer later: the response is read by its id. */
                            background: boolean;
                            /** @description What went wrong; null where nothing did. */
                            error: {
                                /** @description The kind of error, for programs. */
                                code: string;
                                /** @description What went wrong and what to do, for people. */
                                message: string;
                            } | null;
                            /** @description Why the answer is cut; null where it is whole. */
                            incomplete_details: {
                                /** @description Why. */
                                reason: string;
                            } | null;
                            /** @description What comes before the conversation, as a system message. */
                            instructions: string | null;
                            /** @description At most so many tokens of an answer. */
                            max_output_tokens: number | null;
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description What was answered, item by item; or what a tool gave back. */
                            output: ({
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "message";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /**
                                 * @description Who speaks: `system`, `user`, `assistant` or `tool`.
                                 * @constant
                                 */
                                role: "assistant";
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "output_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                    /** @description Sources of the text; there are none. */
                                    annotations: unknown[];
                                    /** @description Log-probabilities of the sampled tokens. */
                                    logprobs: {
                                        /** @description The token as text. */
                                        token: string;
                                        /** @description Natural logarithm of its probability. */
                                        logprob: number;
                                        /** @description The token as UTF-8 bytes. */
                                        bytes: number[];
                                        /** @description The likeliest tokens in its place. */
                                        top_logprobs: {
                                            /** @description The token as text. */
                                            token: string;
                                            /** @description Natural logarithm of its probability. */
                                            logprob: number;
                                            /** @description The token as UTF-8 bytes. */
                                            bytes: number[];
                                        }[];
                                    }[];
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "reasoning";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description What was thought, in short. */
                                summary: unknown[];
                                /** @description What is said: text, or a list of parts. */
                                content: {
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @constant
                                     */
                                    type: "reasoning_text";
                                    /** @description The text, or the form that it has. */
                                    text: string;
                                }[];
                            } | {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "function_call";
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "in_progress" | "completed" | "incomplete";
                                /** @description Id of the call, for its answer. */
                                call_id: string;
                                /** @description Its name. */
                                name: string;
                                /** @description Arguments of the call, as JSON text. */
                                arguments: string;
                            })[];
                            /** @description Whether one answer may call several tools. */
                            parallel_tool_calls: boolean;
                            /** @description The response that this one goes on from. */
                            previous_response_id: string | null;
                            /** @description Which requests begin alike; found without it, so it has no effect. */
                            prompt_cache_key: string | null;
                            /** @description How the model thinks before it answers, or what it thought. */
                            reasoning: {
                                /** @description How much the model thinks. */
                                effort: string | null;
                                /** @description What was thought, in short. */
                                summary: null;
                            };
                            /** @description Your name for the person who asks; it has no effect. */
                            safety_identifier: string | null;
                            /**
                             * @description One tier serves all.
                             * @constant
                             */
                            service_tier: "default";
                            /** @description Whether the response is kept. */
                            store: boolean;
                            /** @description How much chance there is: 0 takes the likeliest token. */
                            temperature: number | null;
                            /** @description The text, or the form that it has. */
                            text: {
                                /** @description The form of the text: free, or a JSON schema. */
                                format: {
                                    /** @description Which kind it is: it says which other fields there are. */
                                    type: string;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            };
                            /** @description Whether tools are called, and which. */
                            tool_choice: string | {
                                [key: string]: unknown;
                            };
                            /** @description What the model may call. */
                            tools: ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description The likeliest tokens in its place. */
                            top_logprobs: number;
                            /** @description Sample among the likeliest tokens that together have this probability. */
                            top_p: number | null;
                            /** @description What happens to a conversation that is too long. */
                            truncation: string;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                input_tokens: number;
                                /** @description What was special of the tokens that were read. */
                                input_tokens_details: {
                                    /** @description Tokens that had been computed before. */
                                    cached_tokens: number;
                                };
                                /** @description Tokens that were written. */
                                output_tokens: number;
                                /** @description What was special of the tokens that were written. */
                                output_tokens_details: {
                                    /** @description Tokens of thinking. */
                                    reasoning_tokens: number;
                                };
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            } | null;
                            /** @description Your name for the person who asks; it has no effect. */
                            user: string | null;
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: string;
                            };
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/responses/{response_id}/input_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a response was asked: the items of its request, and of the conversation before
         * @description Needs a key with the scope `chat`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before. */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description `asc`: the oldest first. `desc`: the newest first. */
                    order?: "asc" | "desc";
                };
                header?: never;
                path: {
                    /** @description Id of the response. */
                    response_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "type": "message",
                         *           "role": "user",
                         *           "content": [
                         *             {
                         *               "type": "input_text",
                         *               "text": "What is 23 + 14?"
                         *             }
                         *           ],
                         *           "id": "msg_44fbba9f53b14f4c810cb8f7c00d5f31_in0",
                         *           "status": "completed"
                         *         }
                         *       ],
                         *       "first_id": "msg_44fbba9f53b14f4c810cb8f7c00d5f31_in0",
                         *       "last_id": "msg_44fbba9f53b14f4c810cb8f7c00d5f31_in0",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: ({
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string | null;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string | null;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/embeddings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Vectors of texts or token ids: the last hidden state of the model, of length 1
         * @description Needs a key with the scope `chat`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "input": [
                     *         "a text",
                     *         "another"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description A text, token ids, or a list of either: a vector for each. */
                        input?: string | string[] | number[] | number[][];
                        /** @description base64: of little-endian float32. Default: float. */
                        encoding_format?: ("float" | "base64") | null;
                        /** @description The first so many numbers of each vector, made of length 1 again. Models here were not trained for that. Default: all. */
                        dimensions?: number | null;
                        /** @description Keep only the last tokens of the prompt; -1: as many as the context holds. */
                        truncate_prompt_tokens?: number | null;
                        /** @description left: the last tokens stay, where the question is; right: the first ones. Default: left. */
                        truncation_side?: ("left" | "right") | null;
                        /** @description What the tokenizer puts around texts (BOS). Default: true. */
                        add_special_tokens?: boolean | null;
                        /** @description Smaller ones first. Needs the priority scheduling policy unless 0. */
                        priority?: number;
                        /** @description Becomes the id of the answer, unless an x-request-id header came. */
                        request_id?: string;
                        /** @description No effect. */
                        user?: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "object": "embedding",
                         *           "index": 0,
                         *           "embedding": [
                         *             0.024608410894870758,
                         *             0.06483787298202515,
                         *             -0.026340940967202187,
                         *             0.10674630850553513
                         *           ]
                         *         }
                         *       ],
                         *       "model": "whetstone/starter",
                         *       "usage": {
                         *         "prompt_tokens": 8,
                         *         "total_tokens": 8
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "embedding";
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The vector: numbers, or base64 of little-endian float32. */
                                embedding: number[] | string;
                            }[];
                            /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                            model: string;
                            /** @description How many tokens were read and written. */
                            usage: {
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            };
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Token ids of a text, or of the prompt that a conversation becomes
         * @description Needs a key with the scope `chat`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "messages": [
                     *         {
                     *           "role": "user",
                     *           "content": "What is 23 + 14?"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description A text; or send messages. */
                        prompt?: string | null;
                        /** @description A conversation: its prompt, as chat would make it. */
                        messages?: ({
                            /** @description system, developer, user, assistant, tool, function, or a role of the chat template */
                            role: string;
                            /** @description What is said: text, or a list of parts. */
                            content?: (string | (string | ({
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                            } & {
                                [key: string]: unknown;
                            }))[]) | null;
                            /** @description Its name. */
                            name?: string | null;
                            /** @description Calls of tools that the model wrote. */
                            tool_calls?: (({
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /** @description Which kind it is: it says which other fields there are. */
                                type?: string;
                                /** @description The function, by name. */
                                function: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description Arguments of the call, as JSON text. */
                                    arguments?: string | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }) | ({
                                /** @description Names this object for as long as it is there. */
                                id?: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @constant
                                 */
                                type: "custom";
                                /** @description A tool of your own kind, which takes text. */
                                custom: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description What is asked, or what a tool is called with. */
                                    input: string;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            }))[] | null;
                            /** @description Id of the call that this answers. */
                            tool_call_id?: string | null;
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description Of a conversation: functions that its template writes out. */
                        tools?: ({
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @default function
                             */
                            type?: string;
                            /** @description The function, by name. */
                            function: {
                                /** @description Its name. */
                                name: string;
                                /** @description What it is for, in words. */
                                description?: string | null;
                                /** @description JSON schema of its arguments. */
                                parameters?: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Whether what is written follows the schema to the letter. */
                                strict?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        })[] | null;
                        /** @description What the tokenizer puts around texts (BOS). Default: true for a text, false for messages. */
                        add_special_tokens?: boolean | null;
                        /** @description Of a conversation, as in chat. */
                        add_generation_prompt?: boolean | null;
                        /** @description Of a conversation, as in chat. */
                        continue_final_message?: boolean | null;
                        /** @description Of a conversation, as in chat. */
                        chat_template?: string | null;
                        /** @description Of a conversation, as in chat. */
                        chat_template_kwargs?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Add the text of each token. */
                        return_token_strs?: boolean | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "count": 18,
                         *       "max_model_len": 1024,
                         *       "tokens": [
                         *         1618,
                         *         268,
                         *         10,
                         *         330
                         *       ],
                         *       "token_strs": null
                         *     }
                         */
                        "application/json": {
                            /** @description How many tokens there are. */
                            count: number;
                            /** @description How many tokens the model can read and write together. */
                            max_model_len: number;
                            /** @description The tokens, in order. */
                            tokens: number[];
                            /** @description The tokens as text. */
                            token_strs: string[] | null;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/detokenize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The text of token ids
         * @description Needs a key with the scope `chat`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model": "whetstone/starter",
                     *       "tokens": [
                     *         5,
                     *         6,
                     *         7
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description A base model, entity/project/name[@step], or wandb-artifact:///entity/project/name[:stepN]. Default: the first base model. */
                        model?: string | null;
                        /** @description The tokens, in order. */
                        tokens: number[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "prompt": "\u0005\u0006\u0007"
                         *     }
                         */
                        "application/json": {
                            /** @description What is continued or answered. */
                            prompt: string;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything that a chat request can name as model
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "whetstone/starter",
                         *           "object": "model",
                         *           "created": 1795456374,
                         *           "owned_by": "whetstone",
                         *           "root": "whetstone/starter",
                         *           "parent": null,
                         *           "max_model_len": 1024
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: ({
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "model";
                                /** @description When it was made, in seconds since 1970. */
                                created: number;
                                /** @description Who made it. */
                                owned_by: string;
                            } & {
                                [key: string]: unknown;
                            })[];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models/{model}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read one of them
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                    model: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "whetstone/starter",
                         *       "object": "model",
                         *       "created": 1795456374,
                         *       "owned_by": "whetstone",
                         *       "root": "whetstone/starter",
                         *       "parent": null,
                         *       "max_model_len": 1024
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "model";
                            /** @description When it was made, in seconds since 1970. */
                            created: number;
                            /** @description Who made it. */
                            owned_by: string;
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your models, oldest first
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description The team that it belongs to. */
                    entity?: string;
                    /** @description The project that it belongs to. */
                    project?: string;
                    /** @description Its name. */
                    name?: string;
                    /** @description The base model that is sampled from or trained on. */
                    base_model?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *           "entity": "default",
                         *           "project": "demo",
                         *           "name": "sums",
                         *           "base_model": "whetstone/starter",
                         *           "run_id": null
                         *         }
                         *       ],
                         *       "first_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "last_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description The project that it belongs to. */
                                project: string;
                                /** @description Its name. */
                                name: string;
                                /** @description The base model that is sampled from or trained on. */
                                base_model: string;
                                /** @description Run that it belongs to; null where there is none. */
                                run_id: string | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * Register a model to train
         * @description It can be called at once: step 0 answers like its base model. Needs a key with the scope `train`. Sent again with the same `Idempotency-Key`, it is done once.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "project": "demo",
                     *       "name": "sums",
                     *       "base_model": "whetstone/starter"
                     *     }
                     */
                    "application/json": {
                        /** @description Default: the key's own. */
                        entity?: string | null;
                        /** @description The project that it belongs to. */
                        project: string;
                        /** @description Unique in its project. */
                        name: string;
                        /** @description The base model that is sampled from or trained on. */
                        base_model: string;
                        /** @description Give the model of that name back where it is there, instead of a 409. */
                        return_existing?: boolean;
                        /** @description Fork: step 0 is a copy of this checkpoint, `entity/project/name@N`, with its optimizer state. */
                        from_checkpoint?: string | null;
                        /** @description Which checkpoints of a model stay when a job makes one, under the names of Transformers; null: all do. */
                        save_policy?: ({
                            /** @description How many checkpoints stay when a job makes one: the newest, the best by metric_for_best_model, then the newest of the others. What is in use stays beside them. */
                            save_total_limit: number;
                            /** @description A metric of checkpoints, such as `val/reward` or `val/loss`. Default: age alone counts. */
                            metric_for_best_model?: string | null;
                            /** @description Default: false for a metric whose name ends with `loss`, else true. */
                            greater_is_better?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description What kind of adapter is trained, under the names of PEFT. It stays with the model; a fork has its source’s. */
                        lora?: ({
                            /** @description Rank of the adapter. Default 8. */
                            r?: number | null;
                            /** @description What the adapter adds is scaled by lora_alpha / r. Default 16, whatever the rank. */
                            lora_alpha?: number | null;
                            /** @description Names of the linear layers that carry it, such as `q_proj`, and `lm_head`, the output head; `all-linear`, the default, is those of attention and MLP. */
                            target_modules?: ("all-linear" | string[]) | null;
                            /** @description Scales by lora_alpha / √r instead (rank-stabilized LoRA, arXiv:2312.03732). Default false. */
                            use_rslora?: boolean | null;
                            /** @description Of the first values of A; B starts at zero. Default 3407. */
                            seed?: number | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "3102a657-2c1c-44f5-8ec3-caf5dea4b68d",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "sums",
                         *       "base_model": "whetstone/starter",
                         *       "run_id": null
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description The base model that is sampled from or trained on. */
                            base_model: string;
                            /** @description Run that it belongs to; null where there is none. */
                            run_id: string | null;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a model
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "sums",
                         *       "base_model": "whetstone/starter",
                         *       "run_id": null,
                         *       "lora": {
                         *         "r": 8,
                         *         "lora_alpha": 16,
                         *         "target_modules": [
                         *           "q_proj",
                         *           "k_proj",
                         *           "v_proj",
                         *           "o_proj"
                         *         ],
                         *         "use_rslora": false
                         *       },
                         *       "save_policy": null
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description The base model that is sampled from or trained on. */
                            base_model: string;
                            /** @description Run that it belongs to; null where there is none. */
                            run_id: string | null;
                            /** @description Of the latest checkpoint; null: there is none any more. */
                            lora: {
                                /** @description Rank of the adapter. */
                                r: number;
                                /** @description What the adapter adds is scaled by lora_alpha / r. */
                                lora_alpha: number;
                                /** @description Names of the linear layers that carry it. */
                                target_modules: string[];
                                /** @description It is scaled by lora_alpha / √r instead. */
                                use_rslora: boolean;
                            } | null;
                            /** @description Which checkpoints stay when a job makes one; null: all do. */
                            save_policy: {
                                /** @description How many stay: the newest, the best, then the newest of the others. What is in use stays beside them. */
                                save_total_limit: number;
                                /** @description The metric of checkpoints that says which is best; null: age alone counts. */
                                metric_for_best_model: string | null;
                                /** @description Whether the best is the highest. */
                                greater_is_better: boolean;
                            } | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a model with its checkpoints and jobs
         * @description Needs a key with the scope `train`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "deleted_checkpoints": 2,
                         *       "deleted_run": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Id of the model, as its registration answered.
                             */
                            model_id: string;
                            /** @description How many checkpoints went with it. */
                            deleted_checkpoints: number;
                            /** @description Whether a run went with it. */
                            deleted_run: boolean;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/save-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Change which checkpoints of a model stay; it counts from the next one on
         * @description Needs a key with the scope `train`.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "save_policy": {
                     *         "save_total_limit": 3,
                     *         "metric_for_best_model": "val/reward"
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Which checkpoints of a model stay when a job makes one, under the names of Transformers; null: all do. */
                        save_policy: ({
                            /** @description How many checkpoints stay when a job makes one: the newest, the best by metric_for_best_model, then the newest of the others. What is in use stays beside them. */
                            save_total_limit: number;
                            /** @description A metric of checkpoints, such as `val/reward` or `val/loss`. Default: age alone counts. */
                            metric_for_best_model?: string | null;
                            /** @description Default: false for a metric whose name ends with `loss`, else true. */
                            greater_is_better?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "sums",
                         *       "base_model": "whetstone/starter",
                         *       "run_id": null,
                         *       "lora": {
                         *         "r": 8,
                         *         "lora_alpha": 16,
                         *         "target_modules": [
                         *           "q_proj",
                         *           "k_proj",
                         *           "v_proj",
                         *           "o_proj"
                         *         ],
                         *         "use_rslora": false
                         *       },
                         *       "save_policy": {
                         *         "save_total_limit": 3,
                         *         "metric_for_best_model": "val/reward",
                         *         "greater_is_better": true
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description The base model that is sampled from or trained on. */
                            base_model: string;
                            /** @description Run that it belongs to; null where there is none. */
                            run_id: string | null;
                            /** @description Of the latest checkpoint; null: there is none any more. */
                            lora: {
                                /** @description Rank of the adapter. */
                                r: number;
                                /** @description What the adapter adds is scaled by lora_alpha / r. */
                                lora_alpha: number;
                                /** @description Names of the linear layers that carry it. */
                                target_modules: string[];
                                /** @description It is scaled by lora_alpha / √r instead. */
                                use_rslora: boolean;
                            } | null;
                            /** @description Which checkpoints stay when a job makes one; null: all do. */
                            save_policy: {
                                /** @description How many stay: the newest, the best, then the newest of the others. What is in use stays beside them. */
                                save_total_limit: number;
                                /** @description The metric of checkpoints that says which is best; null: age alone counts. */
                                metric_for_best_model: string | null;
                                /** @description Whether the best is the highest. */
                                greater_is_better: boolean;
                            } | null;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/base-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Ids of the base models that this server hosts
         * @description Needs no key.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example [
                         *       "whetstone/starter"
                         *     ]
                         */
                        "application/json": string[];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is running, what waits, what came last, and what was used today
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "overview",
                         *       "version": "0.1.0",
                         *       "key": {
                         *         "entity": "default",
                         *         "scopes": [
                         *           "chat",
                         *           "train",
                         *           "read",
                         *           "admin"
                         *         ]
                         *       },
                         *       "base_models": [
                         *         "whetstone/starter"
                         *       ],
                         *       "running": [],
                         *       "queued": [],
                         *       "queued_count": 0,
                         *       "newest": [
                         *         {
                         *           "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *           "type": "rl",
                         *           "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *           "status": "cancelled",
                         *           "created_at": "2026-11-23T18:32:09.927Z",
                         *           "training_start": null,
                         *           "training_end": "2026-11-23T18:32:09.995Z",
                         *           "error_message": "cancelled",
                         *           "progress": 0,
                         *           "step": null,
                         *           "skipped": {},
                         *           "model": {
                         *             "id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *             "entity": "default",
                         *             "project": "demo",
                         *             "name": "sums",
                         *             "base_model": "whetstone/starter",
                         *             "run_id": null
                         *           }
                         *         }
                         *       ],
                         *       "used_today": {
                         *         "requests": 11,
                         *         "prompt_tokens": 166,
                         *         "cached_tokens": 115,
                         *         "completion_tokens": 40,
                         *         "total_tokens": 206
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "overview";
                            /** @description Its version. */
                            version: string;
                            /** @description Who asks. */
                            key: {
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description What the key may do. */
                                scopes: ("chat" | "train" | "read" | "admin" | "worker")[];
                            };
                            /** @description Ids of the base models that this server hosts. */
                            base_models: string[];
                            /** @description Jobs that train. */
                            running: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "rl" | "sft" | "dpo";
                                /**
                                 * Format: uuid
                                 * @description Id of the model, as its registration answered.
                                 */
                                model_id: string;
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description When training began; null before. */
                                training_start: string | null;
                                /** @description When training ended; null before. */
                                training_end: string | null;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description 0 to 1 */
                                progress: number;
                                /** @description The checkpoint this job makes; null until it runs. */
                                step: number | null;
                                /** @description Why data was not trained on, with counts. */
                                skipped: {
                                    [key: string]: number;
                                };
                                /** @description The model that is trained. */
                                model: {
                                    /**
                                     * Format: uuid
                                     * @description Names this object for as long as it is there.
                                     */
                                    id: string;
                                    /** @description The team that it belongs to. */
                                    entity: string;
                                    /** @description The project that it belongs to. */
                                    project: string;
                                    /** @description Its name. */
                                    name: string;
                                    /** @description The base model that is sampled from or trained on. */
                                    base_model: string;
                                    /** @description Run that it belongs to; null where there is none. */
                                    run_id: string | null;
                                };
                            }[];
                            /** @description The first in line. */
                            queued: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "rl" | "sft" | "dpo";
                                /**
                                 * Format: uuid
                                 * @description Id of the model, as its registration answered.
                                 */
                                model_id: string;
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description When training began; null before. */
                                training_start: string | null;
                                /** @description When training ended; null before. */
                                training_end: string | null;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description 0 to 1 */
                                progress: number;
                                /** @description The checkpoint this job makes; null until it runs. */
                                step: number | null;
                                /** @description Why data was not trained on, with counts. */
                                skipped: {
                                    [key: string]: number;
                                };
                                /** @description The model that is to be trained. */
                                model: {
                                    /**
                                     * Format: uuid
                                     * @description Names this object for as long as it is there.
                                     */
                                    id: string;
                                    /** @description The team that it belongs to. */
                                    entity: string;
                                    /** @description The project that it belongs to. */
                                    project: string;
                                    /** @description Its name. */
                                    name: string;
                                    /** @description The base model that is sampled from or trained on. */
                                    base_model: string;
                                    /** @description Run that it belongs to; null where there is none. */
                                    run_id: string | null;
                                };
                            }[];
                            /** @description How many jobs wait. */
                            queued_count: number;
                            /** @description Jobs of any status, newest first. */
                            newest: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "rl" | "sft" | "dpo";
                                /**
                                 * Format: uuid
                                 * @description Id of the model, as its registration answered.
                                 */
                                model_id: string;
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description When training began; null before. */
                                training_start: string | null;
                                /** @description When training ended; null before. */
                                training_end: string | null;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description 0 to 1 */
                                progress: number;
                                /** @description The checkpoint this job makes; null until it runs. */
                                step: number | null;
                                /** @description Why data was not trained on, with counts. */
                                skipped: {
                                    [key: string]: number;
                                };
                                /** @description The model that the job is of. */
                                model: {
                                    /**
                                     * Format: uuid
                                     * @description Names this object for as long as it is there.
                                     */
                                    id: string;
                                    /** @description The team that it belongs to. */
                                    entity: string;
                                    /** @description The project that it belongs to. */
                                    project: string;
                                    /** @description Its name. */
                                    name: string;
                                    /** @description The base model that is sampled from or trained on. */
                                    base_model: string;
                                    /** @description Run that it belongs to; null where there is none. */
                                    run_id: string | null;
                                };
                            }[];
                            /** @description Since the day began, in UTC. */
                            used_today: {
                                /** @description How many requests there were. */
                                requests: number;
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Of the prompt tokens: those that did not have to be computed. */
                                cached_tokens: number;
                                /** @description Tokens that were written. */
                                completion_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/model-summaries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your models in short, latest activity first (made, job submitted or ended): last job, last step, rewards of the last steps
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description The project that it belongs to. */
                    project?: string;
                    /** @description The whole name. */
                    name?: string;
                    /** @description Stands somewhere in `project/name`; A to Z in either case. */
                    search?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *           "entity": "default",
                         *           "project": "demo",
                         *           "name": "sums",
                         *           "base_model": "whetstone/starter",
                         *           "run_id": null,
                         *           "created_at": "2026-11-23T18:05:03.975Z",
                         *           "latest_step": 1,
                         *           "latest_job": {
                         *             "id": "1e3a3f86-ac4a-4774-8bcf-bfddde249d6d",
                         *             "type": "rl",
                         *             "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *             "status": "cancelled",
                         *             "created_at": "2026-11-23T18:05:05.550Z",
                         *             "training_start": null,
                         *             "training_end": "2026-11-23T18:05:05.696Z",
                         *             "error_message": "cancelled",
                         *             "progress": 0,
                         *             "step": null,
                         *             "skipped": {}
                         *           },
                         *           "rewards": [
                         *             {
                         *               "step": 1,
                         *               "reward": 0.5
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "last_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description The project that it belongs to. */
                                project: string;
                                /** @description Its name. */
                                name: string;
                                /** @description The base model that is sampled from or trained on. */
                                base_model: string;
                                /** @description Run that it belongs to; null where there is none. */
                                run_id: string | null;
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description Null: all checkpoints were deleted. */
                                latest_step: number | null;
                                /** @description The job that was submitted last; null without jobs. */
                                latest_job: {
                                    /**
                                     * Format: uuid
                                     * @description Names this object for as long as it is there.
                                     */
                                    id: string;
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @enum {string}
                                     */
                                    type: "rl" | "sft" | "dpo";
                                    /**
                                     * Format: uuid
                                     * @description Id of the model, as its registration answered.
                                     */
                                    model_id: string;
                                    /**
                                     * @description How far it is.
                                     * @enum {string}
                                     */
                                    status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                    /**
                                     * Format: date-time
                                     * @description When it was made.
                                     */
                                    created_at: string;
                                    /** @description When training began; null before. */
                                    training_start: string | null;
                                    /** @description When training ended; null before. */
                                    training_end: string | null;
                                    /** @description Why it failed; null where it did not. */
                                    error_message: string | null;
                                    /** @description 0 to 1 */
                                    progress: number;
                                    /** @description The checkpoint this job makes; null until it runs. */
                                    step: number | null;
                                    /** @description Why data was not trained on, with counts. */
                                    skipped: {
                                        [key: string]: number;
                                    };
                                } | null;
                                /** @description Mean rewards (`train/reward`) of up to 50 last steps, oldest first. */
                                rewards: {
                                    /** @description Number of the checkpoint; 0 is the base model. */
                                    step: number;
                                    /** @description The reward: higher is better. */
                                    reward: number;
                                }[];
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the checkpoints of a model, by step
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description `asc`: the oldest first. `desc`: the newest first. */
                    order?: "asc" | "desc";
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "c6682488-be2c-4ba8-94fd-437fc40f155c",
                         *           "step": 0,
                         *           "metrics": {}
                         *         },
                         *         {
                         *           "id": "347d9db6-f701-4c43-9049-0a66c2576659",
                         *           "step": 1,
                         *           "metrics": {
                         *             "train/reward": 0.5,
                         *             "train/reward_std_dev": 0.5,
                         *             "train/exception_rate": 0,
                         *             "train/reward_std_error": 0.5,
                         *             "val/reward": 0.5,
                         *             "val/reward_std_dev": 0.5,
                         *             "val/exception_rate": 0
                         *           }
                         *         }
                         *       ],
                         *       "first_id": "c6682488-be2c-4ba8-94fd-437fc40f155c",
                         *       "last_id": "347d9db6-f701-4c43-9049-0a66c2576659",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description Number of the checkpoint; 0 is the base model. */
                                step: number;
                                /** @description Numbers by name. */
                                metrics: {
                                    [key: string]: number;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete steps of a model
         * @description Repeating it is safe. Needs a key with the scope `train`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "steps": [
                     *         1
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description Numbers of the checkpoints. */
                        steps: number[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "deleted_count": 1,
                         *       "not_found_steps": []
                         *     }
                         */
                        "application/json": {
                            /** @description How many were deleted. */
                            deleted_count: number;
                            /** @description Steps that were not there. */
                            not_found_steps: number[];
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/checkpoints/{step}/download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a checkpoint as a tar of its PEFT directory, or with a Range header a part of it; step may be latest
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                    /** @description Number of the checkpoint; 0 is the base model. */
                    step: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/x-tar": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add metrics of evaluated trajectories to a checkpoint; or rewards to what it answered
         * @description Needs a key with the scope `train`. Sent again with the same `Idempotency-Key`, it is done once. The body may be large.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "split": "val",
                     *       "trajectory_groups": [
                     *         {
                     *           "trajectories": [
                     *             {
                     *               "messages_and_choices": [
                     *                 {
                     *                   "role": "user",
                     *                   "content": "What is 23 + 14?"
                     *                 },
                     *                 {
                     *                   "index": 0,
                     *                   "finish_reason": "stop",
                     *                   "message": {
                     *                     "role": "assistant",
                     *                     "content": "37"
                     *                   },
                     *                   "logprobs": {
                     *                     "content": [
                     *                       {
                     *                         "token": "3",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           51
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "7",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           55
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "<|im_end|>",
                     *                         "logprob": -0.01,
                     *                         "bytes": [
                     *                           60,
                     *                           124,
                     *                           105,
                     *                           109,
                     *                           95,
                     *                           101,
                     *                           110,
                     *                           100,
                     *                           124,
                     *                           62
                     *                         ],
                     *                         "top_logprobs": []
                     *                       }
                     *                     ]
                     *                   }
                     *                 }
                     *               ],
                     *               "reward": 1
                     *             },
                     *             {
                     *               "messages_and_choices": [
                     *                 {
                     *                   "role": "user",
                     *                   "content": "What is 23 + 14?"
                     *                 },
                     *                 {
                     *                   "index": 0,
                     *                   "finish_reason": "stop",
                     *                   "message": {
                     *                     "role": "assistant",
                     *                     "content": "36"
                     *                   },
                     *                   "logprobs": {
                     *                     "content": [
                     *                       {
                     *                         "token": "3",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           51
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "6",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           54
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "<|im_end|>",
                     *                         "logprob": -0.01,
                     *                         "bytes": [
                     *                           60,
                     *                           124,
                     *                           105,
                     *                           109,
                     *                           95,
                     *                           101,
                     *                           110,
                     *                           100,
                     *                           124,
                     *                           62
                     *                         ],
                     *                         "top_logprobs": []
                     *                       }
                     *                     ]
                     *                   }
                     *                 }
                     *               ],
                     *               "reward": 0
                     *             }
                     *           ]
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description The same as in the path. */
                        model_id?: string | null;
                        /** @description Metrics are stored as `split/name`. */
                        split: string;
                        /** @description Of the checkpoint that they are of. Default: the latest. */
                        step?: number | null;
                        /** @description They give rewards to the answers of this job's evaluation: a group per prompt, a trajectory per answer, both in order; a group may be empty. Messages may be left empty: the answers are stored. Metrics go to the checkpoint that answered. */
                        evaluation_job_id?: string | null;
                        /** @description Groups of answers to the same prompt, which are compared with each other. */
                        trajectory_groups: ({
                            /** @description Answers to the same prompt, each with its reward. */
                            trajectories: ({
                                /** @description The conversation: messages, and choices as the chat endpoint answered them. Choices are trained. */
                                messages_and_choices: Record<string, never>[];
                                /** @description What the model may call. */
                                tools?: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     */
                                    type?: string;
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                        /** @description What it is for, in words. */
                                        description?: string | null;
                                        /** @description JSON schema of its arguments. */
                                        parameters?: {
                                            [key: string]: unknown;
                                        } | null;
                                        /** @description Whether what is written follows the schema to the letter. */
                                        strict?: boolean | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Other conversations that share the reward. */
                                additional_histories?: ({
                                    /** @description The conversation: messages, and choices as the chat endpoint answered them. Choices are trained. */
                                    messages_and_choices: Record<string, never>[];
                                    /** @description What the model may call. */
                                    tools?: ({
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @default function
                                         */
                                        type?: string;
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description What it is for, in words. */
                                            description?: string | null;
                                            /** @description JSON schema of its arguments. */
                                            parameters?: {
                                                [key: string]: unknown;
                                            } | null;
                                            /** @description Whether what is written follows the schema to the letter. */
                                            strict?: boolean | null;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    })[] | null;
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Clients that omit zeros mean 0. */
                                reward?: number;
                                /** @description Numbers by name. */
                                metrics?: {
                                    [key: string]: boolean | number;
                                } | null;
                                /** @description Metrics that a client library has measured. */
                                auto_metrics?: {
                                    [key: string]: boolean | number;
                                } | null;
                                /** @description Anything about the rollout. Kept, and given back when the job is read. */
                                metadata?: Record<string, never>;
                                /** @description Step of the model that sampled the first token. */
                                initial_policy_version?: number | null;
                                /** @description Step of the model that sampled the last token. */
                                final_policy_version?: number | null;
                                /** @description Your own lines of text. */
                                logs?: string[] | null;
                                /** @description When it began. */
                                start_time?: string | null;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description Failed rollouts: they count for exception_rate only. */
                            exceptions?: unknown[] | null;
                            /** @description Numbers by name. */
                            metrics?: {
                                [key: string]: boolean | number;
                            } | null;
                            /** @description Anything about the rollout. Kept, and given back when the job is read. */
                            metadata?: Record<string, never>;
                            /** @description Your own lines of text. */
                            logs?: string[] | null;
                        } & {
                            [key: string]: unknown;
                        })[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "step": 1,
                         *       "metrics": {
                         *         "val/reward": 0.5,
                         *         "val/reward_std_dev": 0.5,
                         *         "val/exception_rate": 0
                         *       }
                         *     }
                         */
                        "application/json": {
                            /** @description Number of the checkpoint; 0 is the base model. */
                            step: number;
                            /** @description Numbers by name. */
                            metrics: {
                                [key: string]: number;
                            };
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your training jobs, newest last unless order is desc
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description desc: the newest first. */
                    order?: "asc" | "desc";
                    /** @description Id of the model, as its registration answered. */
                    model_id?: string;
                    /** @description How far it is. */
                    status?: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *           "type": "rl",
                         *           "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *           "status": "succeeded",
                         *           "created_at": "2026-11-23T18:32:09.505Z",
                         *           "training_start": "2026-11-23T18:32:09.677Z",
                         *           "training_end": "2026-11-23T18:32:13.731Z",
                         *           "error_message": null,
                         *           "progress": 1,
                         *           "step": 1,
                         *           "skipped": {}
                         *         }
                         *       ],
                         *       "first_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "last_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "rl" | "sft" | "dpo";
                                /**
                                 * Format: uuid
                                 * @description Id of the model, as its registration answered.
                                 */
                                model_id: string;
                                /**
                                 * @description How far it is.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description When training began; null before. */
                                training_start: string | null;
                                /** @description When training ended; null before. */
                                training_end: string | null;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description 0 to 1 */
                                progress: number;
                                /** @description The checkpoint this job makes; null until it runs. */
                                step: number | null;
                                /** @description Why data was not trained on, with counts. */
                                skipped: {
                                    [key: string]: number;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * Train a model on trajectories with rewards (RL)
         * @description Makes one checkpoint. Needs a key with the scope `train`. Sent again with the same `Idempotency-Key`, it is done once. The body may be large.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                     *       "trajectory_groups": [
                     *         {
                     *           "trajectories": [
                     *             {
                     *               "messages_and_choices": [
                     *                 {
                     *                   "role": "user",
                     *                   "content": "What is 23 + 14?"
                     *                 },
                     *                 {
                     *                   "index": 0,
                     *                   "finish_reason": "stop",
                     *                   "message": {
                     *                     "role": "assistant",
                     *                     "content": "37"
                     *                   },
                     *                   "logprobs": {
                     *                     "content": [
                     *                       {
                     *                         "token": "3",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           51
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "7",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           55
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "<|im_end|>",
                     *                         "logprob": -0.01,
                     *                         "bytes": [
                     *                           60,
                     *                           124,
                     *                           105,
                     *                           109,
                     *                           95,
                     *                           101,
                     *                           110,
                     *                           100,
                     *                           124,
                     *                           62
                     *                         ],
                     *                         "top_logprobs": []
                     *                       }
                     *                     ]
                     *                   }
                     *                 }
                     *               ],
                     *               "reward": 1
                     *             },
                     *             {
                     *               "messages_and_choices": [
                     *                 {
                     *                   "role": "user",
                     *                   "content": "What is 23 + 14?"
                     *                 },
                     *                 {
                     *                   "index": 0,
                     *                   "finish_reason": "stop",
                     *                   "message": {
                     *                     "role": "assistant",
                     *                     "content": "36"
                     *                   },
                     *                   "logprobs": {
                     *                     "content": [
                     *                       {
                     *                         "token": "3",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           51
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "6",
                     *                         "logprob": -0.7,
                     *                         "bytes": [
                     *                           54
                     *                         ],
                     *                         "top_logprobs": []
                     *                       },
                     *                       {
                     *                         "token": "<|im_end|>",
                     *                         "logprob": -0.01,
                     *                         "bytes": [
                     *                           60,
                     *                           124,
                     *                           105,
                     *                           109,
                     *                           95,
                     *                           101,
                     *                           110,
                     *                           100,
                     *                           124,
                     *                           62
                     *                         ],
                     *                         "top_logprobs": []
                     *                       }
                     *                     ]
                     *                   }
                     *                 }
                     *               ],
                     *               "reward": 0
                     *             }
                     *           ]
                     *         }
                     *       ],
                     *       "experimental_config": {
                     *         "learning_rate": 0.002
                     *       },
                     *       "evaluation": {
                     *         "prompts": [
                     *           {
                     *             "messages": [
                     *               {
                     *                 "role": "user",
                     *                 "content": "What is 23 + 14?"
                     *               }
                     *             ]
                     *           }
                     *         ],
                     *         "max_tokens": 8
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the model, as its registration answered.
                         */
                        model_id: string;
                        /** @description Groups of answers to the same prompt, which are compared with each other. */
                        trajectory_groups: ({
                            /** @description Answers to the same prompt, each with its reward. */
                            trajectories: ({
                                /** @description The conversation: messages, and choices as the chat endpoint answered them. Choices are trained. */
                                messages_and_choices: Record<string, never>[];
                                /** @description What the model may call. */
                                tools?: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     */
                                    type?: string;
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                        /** @description What it is for, in words. */
                                        description?: string | null;
                                        /** @description JSON schema of its arguments. */
                                        parameters?: {
                                            [key: string]: unknown;
                                        } | null;
                                        /** @description Whether what is written follows the schema to the letter. */
                                        strict?: boolean | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Other conversations that share the reward. */
                                additional_histories?: ({
                                    /** @description The conversation: messages, and choices as the chat endpoint answered them. Choices are trained. */
                                    messages_and_choices: Record<string, never>[];
                                    /** @description What the model may call. */
                                    tools?: ({
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @default function
                                         */
                                        type?: string;
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description What it is for, in words. */
                                            description?: string | null;
                                            /** @description JSON schema of its arguments. */
                                            parameters?: {
                                                [key: string]: unknown;
                                            } | null;
                                            /** @description Whether what is written follows the schema to the letter. */
                                            strict?: boolean | null;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    })[] | null;
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Clients that omit zeros mean 0. */
                                reward?: number;
                                /** @description Numbers by name. */
                                metrics?: {
                                    [key: string]: boolean | number;
                                } | null;
                                /** @description Metrics that a client library has measured. */
                                auto_metrics?: {
                                    [key: string]: boolean | number;
                                } | null;
                                /** @description Anything about the rollout. Kept, and given back when the job is read. */
                                metadata?: Record<string, never>;
                                /** @description Step of the model that sampled the first token. */
                                initial_policy_version?: number | null;
                                /** @description Step of the model that sampled the last token. */
                                final_policy_version?: number | null;
                                /** @description Your own lines of text. */
                                logs?: string[] | null;
                                /** @description When it began. */
                                start_time?: string | null;
                            } & {
                                [key: string]: unknown;
                            })[];
                            /** @description Failed rollouts: they count for exception_rate only. */
                            exceptions?: unknown[] | null;
                            /** @description Numbers by name. */
                            metrics?: {
                                [key: string]: boolean | number;
                            } | null;
                            /** @description Anything about the rollout. Kept, and given back when the job is read. */
                            metadata?: Record<string, never>;
                            /** @description Your own lines of text. */
                            logs?: string[] | null;
                        } & {
                            [key: string]: unknown;
                        })[];
                        /** @description How it is trained; what is not named has a default. */
                        experimental_config?: ({
                            /** @description Default: a tenth of what an SFT job of the same model would take, as 5e-6 and 5e-5 are the defaults of the reference trainer. */
                            learning_rate?: number | null;
                            /** @description PPO's clipped surrogate instead of CISPO. Default false. */
                            ppo?: boolean | null;
                            /** @description The same choice as `ppo`. */
                            loss_fn?: ("cispo" | "ppo") | null;
                            /** @description Ratios are clipped at 1 − epsilon. Default 1 (CISPO), 0.2 (PPO). */
                            epsilon?: number | null;
                            /** @description Ratios are clipped at 1 + epsilon_high. Default 4 (CISPO), epsilon (PPO). */
                            epsilon_high?: number | null;
                            /** @description Default token. */
                            importance_sampling_level?: ("token" | "sequence" | "average" | "geometric_average") | null;
                            /** @description Tokens whose ratio is outside the clip range count as ratio 0. */
                            mask_prob_ratio?: boolean | null;
                            /** @description Upper bound of every ratio, whatever the sign of the advantage; null or 0: off. */
                            max_negative_advantage_importance_sampling_weight?: number | null;
                            /** @description Upper bound of a further importance weight; null or 0: off. */
                            truncated_importance_sampling?: number | null;
                            /** @description Advantages minus tau × log ratio; null or 0: off. */
                            vendor_k2_tau?: number | null;
                            /** @description Alias of vendor_k2_tau. */
                            kimi_k2_tau?: number | null;
                            /** @description 1 trains on positive advantages only, −1 on negative ones. Default 0. */
                            advantage_balance?: number | null;
                            /** @description Divide advantages by their group's standard deviation. Default true. */
                            scale_rewards?: boolean | null;
                            /** @description Alias of scale_rewards. */
                            normalize_advantages?: boolean | null;
                            /** @description Ratios divide by the policy at the start of the job instead of the sampling one. */
                            precalculate_logprobs?: boolean | null;
                            /** @description Also train on assistant turns that come without tokens, as the chat template writes them. */
                            allow_training_without_logprobs?: boolean | null;
                            /** @description Advantages shaped by the divergence from a reference policy; null or 0: off. */
                            kl_penalty_coef?: number | null;
                            /** @description Which policy is compared with the reference. Default sample with a coefficient, else current_learner. */
                            kl_penalty_source?: ("current_learner" | "sample") | null;
                            /** @description Reference: this step of the model. Default: the base model. */
                            kl_penalty_reference_step?: number | null;
                            /** @description Reference: so many steps before the current one. */
                            kl_penalty_step_lag?: number | null;
                            /** @description Reference: another checkpoint, by the name that chat requests use (`entity/project/name@N`). */
                            kl_ref_adapter_path?: string | null;
                            /** @description Learning rate × (sequences in the row) to this power. Default 0. */
                            num_trajectories_learning_rate_multiplier_power?: number | null;
                            /** @description Learning rate × the trend of train/reward_std_dev over the model's checkpoints. */
                            scale_learning_rate_by_reward_std_dev?: boolean | null;
                            /** @description Tokens that a row is filled up to. Default: 2048. A longer sequence makes longer rows, little memory shorter ones; the first event says so. */
                            packed_sequence_length?: number | null;
                            /** @description Trained tokens whose logits are in memory at once, at most. */
                            logprob_calculation_chunk_size?: number | null;
                            /** @description Accepted; this server draws no plots. */
                            plot_tensors?: boolean | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Prompts that are not trained on: the checkpoint answers them when it is made. Rewards come from you, by the log endpoint. */
                        evaluation?: ({
                            /** @description The prompts themselves; or `prompts_url`. */
                            prompts?: ({
                                /** @description A last message of the assistant's is not shown to the model: it becomes the prompt's `reference`. */
                                messages: ({
                                    /** @description system, developer, user, assistant, tool, function, or a role of the chat template */
                                    role: string;
                                    /** @description What is said: text, or a list of parts. */
                                    content?: (string | (string | ({
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type: string;
                                    } & {
                                        [key: string]: unknown;
                                    }))[]) | null;
                                    /** @description Its name. */
                                    name?: string | null;
                                    /** @description Calls of tools that the model wrote. */
                                    tool_calls?: (({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type?: string;
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description Arguments of the call, as JSON text. */
                                            arguments?: string | null;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }) | ({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @constant
                                         */
                                        type: "custom";
                                        /** @description A tool of your own kind, which takes text. */
                                        custom: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description What is asked, or what a tool is called with. */
                                            input: string;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }))[] | null;
                                    /** @description Id of the call that this answers. */
                                    tool_call_id?: string | null;
                                } & {
                                    [key: string]: unknown;
                                })[];
                                /** @description What the model may call. */
                                tools?: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     */
                                    type?: string;
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                        /** @description What it is for, in words. */
                                        description?: string | null;
                                        /** @description JSON schema of its arguments. */
                                        parameters?: {
                                            [key: string]: unknown;
                                        } | null;
                                        /** @description Whether what is written follows the schema to the letter. */
                                        strict?: boolean | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Given back with the answers. */
                                metadata?: Record<string, never>;
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description `wandb-artifact:///entity/project/name:version`: a file of it has a prompt per line, in the same form. */
                            prompts_url?: string | null;
                            /** @description Of that artifact. Default: prompts.jsonl, val.jsonl, validation.jsonl, test.jsonl, or the only .jsonl. */
                            file?: string | null;
                            /** @description Answers per prompt. Default 1. */
                            samples?: number | null;
                            /** @description Most tokens of an answer. Default 512. */
                            max_tokens?: number | null;
                            /** @description 0 is greedy. Default: the model's, as in chat. */
                            temperature?: number | null;
                            /** @description Default: the model's, as in chat. */
                            top_p?: number | null;
                            /** @description Texts at which an answer ends. */
                            stop?: (string | string[]) | null;
                            /** @description Default 0: every checkpoint draws the same random numbers. Answer i of prompt p samples with seed + p · samples + i. */
                            seed?: number | null;
                            /** @description Of prompts that bring none. */
                            tools?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @default function
                                 */
                                type?: string;
                                /** @description The function, by name. */
                                function: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description What it is for, in words. */
                                    description?: string | null;
                                    /** @description JSON schema of its arguments. */
                                    parameters?: {
                                        [key: string]: unknown;
                                    } | null;
                                    /** @description Whether what is written follows the schema to the letter. */
                                    strict?: boolean | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description Variables of the chat template. */
                            chat_template_kwargs?: {
                                [key: string]: unknown;
                            } | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "f08c545a-7530-4a89-ba7e-75acfdf95a1d"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/sft-training-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Train a model on conversations in an artifact (SFT)
         * @description Makes one checkpoint. Needs a key with the scope `train`. Sent again with the same `Idempotency-Key`, it is done once.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                     *       "training_data_url": "wandb-artifact:///default/demo/questions:latest",
                     *       "config": {
                     *         "epochs": 4,
                     *         "validation_split": 0.1,
                     *         "eval_steps": 20,
                     *         "early_stopping_patience": 3
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the model, as its registration answered.
                         */
                        model_id: string;
                        /** @description `wandb-artifact:///entity/project/name:version`; version `vN`, `latest` or an alias. */
                        training_data_url?: string | null;
                        /** @description The same, as older clients call it. */
                        training_folder_url?: string | null;
                        /** @description Prompts that are not trained on: the checkpoint answers them when it is made. Rewards come from you, by the log endpoint. */
                        evaluation?: ({
                            /** @description The prompts themselves; or `prompts_url`. */
                            prompts?: ({
                                /** @description A last message of the assistant's is not shown to the model: it becomes the prompt's `reference`. */
                                messages: ({
                                    /** @description system, developer, user, assistant, tool, function, or a role of the chat template */
                                    role: string;
                                    /** @description What is said: text, or a list of parts. */
                                    content?: (string | (string | ({
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type: string;
                                    } & {
                                        [key: string]: unknown;
                                    }))[]) | null;
                                    /** @description Its name. */
                                    name?: string | null;
                                    /** @description Calls of tools that the model wrote. */
                                    tool_calls?: (({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type?: string;
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description Arguments of the call, as JSON text. */
                                            arguments?: string | null;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }) | ({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @constant
                                         */
                                        type: "custom";
                                        /** @description A tool of your own kind, which takes text. */
                                        custom: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description What is asked, or what a tool is called with. */
                                            input: string;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }))[] | null;
                                    /** @description Id of the call that this answers. */
                                    tool_call_id?: string | null;
                                } & {
                                    [key: string]: unknown;
                                })[];
                                /** @description What the model may call. */
                                tools?: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     */
                                    type?: string;
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                        /** @description What it is for, in words. */
                                        description?: string | null;
                                        /** @description JSON schema of its arguments. */
                                        parameters?: {
                                            [key: string]: unknown;
                                        } | null;
                                        /** @description Whether what is written follows the schema to the letter. */
                                        strict?: boolean | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Given back with the answers. */
                                metadata?: Record<string, never>;
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description `wandb-artifact:///entity/project/name:version`: a file of it has a prompt per line, in the same form. */
                            prompts_url?: string | null;
                            /** @description Of that artifact. Default: prompts.jsonl, val.jsonl, validation.jsonl, test.jsonl, or the only .jsonl. */
                            file?: string | null;
                            /** @description Answers per prompt. Default 1. */
                            samples?: number | null;
                            /** @description Most tokens of an answer. Default 512. */
                            max_tokens?: number | null;
                            /** @description 0 is greedy. Default: the model's, as in chat. */
                            temperature?: number | null;
                            /** @description Default: the model's, as in chat. */
                            top_p?: number | null;
                            /** @description Texts at which an answer ends. */
                            stop?: (string | string[]) | null;
                            /** @description Default 0: every checkpoint draws the same random numbers. Answer i of prompt p samples with seed + p · samples + i. */
                            seed?: number | null;
                            /** @description Of prompts that bring none. */
                            tools?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @default function
                                 */
                                type?: string;
                                /** @description The function, by name. */
                                function: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description What it is for, in words. */
                                    description?: string | null;
                                    /** @description JSON schema of its arguments. */
                                    parameters?: {
                                        [key: string]: unknown;
                                    } | null;
                                    /** @description Whether what is written follows the schema to the letter. */
                                    strict?: boolean | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description Variables of the chat template. */
                            chat_template_kwargs?: {
                                [key: string]: unknown;
                            } | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Accepted and not used: its fields are named in the warnings. */
                        experimental_config?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description How it is trained; what is not named has a default. */
                        config?: ({
                            /** @description Rows per gradient step, whether they are packed or not; `auto` is 2. The last batch of an epoch may have fewer. */
                            batch_size?: ("auto" | number) | null;
                            /** @description One number, or one per batch of all epochs. Default: by the hidden size of the base model, the lower of 5e-4 · (2000 / hidden)^0.781 and 5e-4 · (2000 / hidden)^0.0775 (fitted for LoRA in the cookbook of "LoRA Without Regret"), or 5e-5 where that size is not known. The config of the job has the number. */
                            learning_rate?: (number | number[]) | null;
                            /** @description How the learning rate goes on after the warm-up, as in Transformers: `constant` (default), or down to 0 as `linear` or `cosine`. */
                            lr_scheduler_type?: ("constant" | "linear" | "cosine") | null;
                            /** @description Gradient steps over which the learning rate rises from 0. Default 0: warmup_ratio counts. */
                            warmup_steps?: number | null;
                            /** @description The same as a fraction of all gradient steps, rounded up; it leaves at least one step behind it. Default 0. */
                            warmup_ratio?: number | null;
                            /** @description How often all rows are trained, each time in the order of the file. Default 1. */
                            epochs?: number | null;
                            /** @description Rows of a batch are computed together, without seeing each other. Loss and gradients do not depend on it, speed does. Default true. */
                            packing?: boolean | null;
                            /** @description Fraction of the rows, the last ones, that is held out: its loss becomes the metric `val/loss` of the checkpoint. */
                            validation_split?: number | null;
                            /** @description Gradient steps from one evaluation of the held-out rows to the next; the last step is always evaluated. Its `gradient_step` event has the metrics, as `val/NAME`. Default: only the checkpoint is measured. */
                            eval_steps?: number | null;
                            /** @description The job ends, with a checkpoint, after so many evaluations without improvement, as in Transformers. Its last event says `stopped_early`. Default: it trains all steps. */
                            early_stopping_patience?: number | null;
                            /** @description What an improvement must be more than. Default 0. */
                            early_stopping_threshold?: number | null;
                            /** @description The checkpoint has the weights of the best evaluation instead of those of the last step; the last event says `best_gradient_step`. Default: true with early_stopping_patience, else false. */
                            load_best_model_at_end?: boolean | null;
                            /** @description Which assistant turns are trained; default all. */
                            assistant_turns?: ("all" | "last") | null;
                            /** @description Enabled: each gradient step becomes a line of the run that is named like the model, below `sft/`, and the metrics of the last one become metrics of the checkpoint, as `sft/NAME`. */
                            metric_logging?: ({
                                /** @description Whether it is on. */
                                enabled?: boolean | null;
                            } & {
                                [key: string]: unknown;
                            }) | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "84897929-d856-4bae-bb84-d600b15a3120"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/dpo-training-jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Train a model on preference pairs in an artifact (DPO)
         * @description Makes one checkpoint. Needs a key with the scope `train`. Sent again with the same `Idempotency-Key`, it is done once.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                     *       "training_data_url": "wandb-artifact:///default/demo/pairs:latest",
                     *       "config": {
                     *         "beta": 0.1,
                     *         "epochs": 2
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * Format: uuid
                         * @description Id of the model, as its registration answered.
                         */
                        model_id: string;
                        /** @description `wandb-artifact:///entity/project/name:version`; version `vN`, `latest` or an alias. */
                        training_data_url?: string | null;
                        /** @description The same, as older clients call it. */
                        training_folder_url?: string | null;
                        /** @description Prompts that are not trained on: the checkpoint answers them when it is made. Rewards come from you, by the log endpoint. */
                        evaluation?: ({
                            /** @description The prompts themselves; or `prompts_url`. */
                            prompts?: ({
                                /** @description A last message of the assistant's is not shown to the model: it becomes the prompt's `reference`. */
                                messages: ({
                                    /** @description system, developer, user, assistant, tool, function, or a role of the chat template */
                                    role: string;
                                    /** @description What is said: text, or a list of parts. */
                                    content?: (string | (string | ({
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type: string;
                                    } & {
                                        [key: string]: unknown;
                                    }))[]) | null;
                                    /** @description Its name. */
                                    name?: string | null;
                                    /** @description Calls of tools that the model wrote. */
                                    tool_calls?: (({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /** @description Which kind it is: it says which other fields there are. */
                                        type?: string;
                                        /** @description The function, by name. */
                                        function: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description Arguments of the call, as JSON text. */
                                            arguments?: string | null;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }) | ({
                                        /** @description Names this object for as long as it is there. */
                                        id?: string;
                                        /**
                                         * @description Which kind it is: it says which other fields there are.
                                         * @constant
                                         */
                                        type: "custom";
                                        /** @description A tool of your own kind, which takes text. */
                                        custom: {
                                            /** @description Its name. */
                                            name: string;
                                            /** @description What is asked, or what a tool is called with. */
                                            input: string;
                                        } & {
                                            [key: string]: unknown;
                                        };
                                    } & {
                                        [key: string]: unknown;
                                    }))[] | null;
                                    /** @description Id of the call that this answers. */
                                    tool_call_id?: string | null;
                                } & {
                                    [key: string]: unknown;
                                })[];
                                /** @description What the model may call. */
                                tools?: ({
                                    /**
                                     * @description Which kind it is: it says which other fields there are.
                                     * @default function
                                     */
                                    type?: string;
                                    /** @description The function, by name. */
                                    function: {
                                        /** @description Its name. */
                                        name: string;
                                        /** @description What it is for, in words. */
                                        description?: string | null;
                                        /** @description JSON schema of its arguments. */
                                        parameters?: {
                                            [key: string]: unknown;
                                        } | null;
                                        /** @description Whether what is written follows the schema to the letter. */
                                        strict?: boolean | null;
                                    } & {
                                        [key: string]: unknown;
                                    };
                                } & {
                                    [key: string]: unknown;
                                })[] | null;
                                /** @description Given back with the answers. */
                                metadata?: Record<string, never>;
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description `wandb-artifact:///entity/project/name:version`: a file of it has a prompt per line, in the same form. */
                            prompts_url?: string | null;
                            /** @description Of that artifact. Default: prompts.jsonl, val.jsonl, validation.jsonl, test.jsonl, or the only .jsonl. */
                            file?: string | null;
                            /** @description Answers per prompt. Default 1. */
                            samples?: number | null;
                            /** @description Most tokens of an answer. Default 512. */
                            max_tokens?: number | null;
                            /** @description 0 is greedy. Default: the model's, as in chat. */
                            temperature?: number | null;
                            /** @description Default: the model's, as in chat. */
                            top_p?: number | null;
                            /** @description Texts at which an answer ends. */
                            stop?: (string | string[]) | null;
                            /** @description Default 0: every checkpoint draws the same random numbers. Answer i of prompt p samples with seed + p · samples + i. */
                            seed?: number | null;
                            /** @description Of prompts that bring none. */
                            tools?: ({
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @default function
                                 */
                                type?: string;
                                /** @description The function, by name. */
                                function: {
                                    /** @description Its name. */
                                    name: string;
                                    /** @description What it is for, in words. */
                                    description?: string | null;
                                    /** @description JSON schema of its arguments. */
                                    parameters?: {
                                        [key: string]: unknown;
                                    } | null;
                                    /** @description Whether what is written follows the schema to the letter. */
                                    strict?: boolean | null;
                                } & {
                                    [key: string]: unknown;
                                };
                            } & {
                                [key: string]: unknown;
                            })[] | null;
                            /** @description Variables of the chat template. */
                            chat_template_kwargs?: {
                                [key: string]: unknown;
                            } | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Accepted and not used: its fields are named in the warnings. */
                        experimental_config?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description How it is trained; what is not named has a default. */
                        config?: ({
                            /** @description Pairs per gradient step; `auto` is 8. The last batch of an epoch may have fewer. */
                            batch_size?: ("auto" | number) | null;
                            /** @description One number, or one per batch of all epochs. Default: a twentieth of what an SFT job of the same model would take, as 1e-6 and 2e-5 are the defaults of TRL for both. The config of the job has the number. */
                            learning_rate?: (number | number[]) | null;
                            /** @description How near the policy stays to its reference, the checkpoint that the job begins with: more is nearer. Default 0.1. For ipo it is τ of its paper. */
                            beta?: number | null;
                            /** @description As in TRL: `sigmoid` (default; arXiv:2305.18290 eq. 7), `robust` (arXiv:2403.00409), `hinge` (arXiv:2305.10425), or `ipo` (arXiv:2310.12036, on means over tokens). */
                            loss_type?: ("sigmoid" | "robust" | "hinge" | "ipo") | null;
                            /** @description Part of the pairs whose label is taken to be wrong, for sigmoid (conservative DPO) and robust. Default 0. */
                            label_smoothing?: number | null;
                            /** @description How the learning rate goes on after the warm-up, as in Transformers: `constant` (default), or down to 0 as `linear` or `cosine`. */
                            lr_scheduler_type?: ("constant" | "linear" | "cosine") | null;
                            /** @description Gradient steps over which the learning rate rises from 0. Default 0: warmup_ratio counts. */
                            warmup_steps?: number | null;
                            /** @description The same as a fraction of all gradient steps, rounded up; it leaves at least one step behind it. Default 0. */
                            warmup_ratio?: number | null;
                            /** @description How often all rows are trained, each time in the order of the file. Default 1. */
                            epochs?: number | null;
                            /** @description Rows of a batch are computed together, without seeing each other. Loss and gradients do not depend on it, speed does. Default true. */
                            packing?: boolean | null;
                            /** @description Fraction of the rows, the last ones, that is held out: its loss becomes the metric `val/loss` of the checkpoint. */
                            validation_split?: number | null;
                            /** @description Gradient steps from one evaluation of the held-out rows to the next; the last step is always evaluated. Its `gradient_step` event has the metrics, as `val/NAME`. Default: only the checkpoint is measured. */
                            eval_steps?: number | null;
                            /** @description The job ends, with a checkpoint, after so many evaluations without improvement, as in Transformers. Its last event says `stopped_early`. Default: it trains all steps. */
                            early_stopping_patience?: number | null;
                            /** @description What an improvement must be more than. Default 0. */
                            early_stopping_threshold?: number | null;
                            /** @description The checkpoint has the weights of the best evaluation instead of those of the last step; the last event says `best_gradient_step`. Default: true with early_stopping_patience, else false. */
                            load_best_model_at_end?: boolean | null;
                            /** @description By which metric of the held-out pairs evaluations are compared. Default `val/loss`. */
                            metric_for_best_model?: ("val/loss" | "val/rewards/margins" | "val/rewards/accuracies") | null;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "01d0e184-3709-491a-b470-9134aa9c2451"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description What of the request was not used, or not as sent; absent when there is nothing to say. */
                            warnings?: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a training job
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "type": "rl",
                         *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "status": "succeeded",
                         *       "created_at": "2026-11-23T18:32:09.505Z",
                         *       "training_start": "2026-11-23T18:32:09.677Z",
                         *       "training_end": "2026-11-23T18:32:13.731Z",
                         *       "error_message": null,
                         *       "progress": 1,
                         *       "step": 1,
                         *       "skipped": {},
                         *       "warnings": [
                         *         "2 prompts were rendered from the messages: neither the choices nor the memory of this server had their tokens. Where the chat request said more than the trajectory does, the answers were sampled behind another prompt. Send prompt_token_ids with each choice."
                         *       ],
                         *       "evaluation": {
                         *         "status": "succeeded",
                         *         "num_prompts": 1,
                         *         "num_samples": 1,
                         *         "num_answered": 1,
                         *         "num_failed": 0,
                         *         "error_message": null,
                         *         "started_at": "2026-11-23T18:32:13.790Z",
                         *         "ended_at": "2026-11-23T18:32:14.554Z"
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "rl" | "sft" | "dpo";
                            /**
                             * Format: uuid
                             * @description Id of the model, as its registration answered.
                             */
                            model_id: string;
                            /**
                             * @description How far it is.
                             * @enum {string}
                             */
                            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /** @description When training began; null before. */
                            training_start: string | null;
                            /** @description When training ended; null before. */
                            training_end: string | null;
                            /** @description Why it failed; null where it did not. */
                            error_message: string | null;
                            /** @description 0 to 1 */
                            progress: number;
                            /** @description The checkpoint this job makes; null until it runs. */
                            step: number | null;
                            /** @description Why data was not trained on, with counts. */
                            skipped: {
                                [key: string]: number;
                            };
                            /** @description What was not used of the request, not done as sent, or is worth a look. Empty before the job begins. */
                            warnings: string[];
                            /** @description Null: the request named no prompts. */
                            evaluation: {
                                /**
                                 * @description queued: it waits for the checkpoint, then for a server with the role serve that hosts the base model.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /** @description How many prompts there are. */
                                num_prompts: number;
                                /** @description Answers per prompt. */
                                num_samples: number;
                                /** @description Prompts that are done, those that could not be answered among them. */
                                num_answered: number;
                                /** @description Of those: could not be answered. Each says why. */
                                num_failed: number;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description When it began; null before. */
                                started_at: string | null;
                                /** @description When it ended; null before. */
                                ended_at: string | null;
                            } | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a job
         * @description A running one stops at its next gradient step and makes no checkpoint. Needs a key with the scope `train`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "type": "rl",
                         *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "status": "cancelled",
                         *       "created_at": "2026-11-23T18:05:05.550Z",
                         *       "training_start": null,
                         *       "training_end": "2026-11-23T18:05:05.696Z",
                         *       "error_message": "cancelled",
                         *       "progress": 0,
                         *       "step": null,
                         *       "skipped": {}
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /**
                             * @description Which kind it is: it says which other fields there are.
                             * @enum {string}
                             */
                            type: "rl" | "sft" | "dpo";
                            /**
                             * Format: uuid
                             * @description Id of the model, as its registration answered.
                             */
                            model_id: string;
                            /**
                             * @description How far it is.
                             * @enum {string}
                             */
                            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /** @description When training began; null before. */
                            training_start: string | null;
                            /** @description When training ended; null before. */
                            training_end: string | null;
                            /** @description Why it failed; null where it did not. */
                            error_message: string | null;
                            /** @description 0 to 1 */
                            progress: number;
                            /** @description The checkpoint this job makes; null until it runs. */
                            step: number | null;
                            /** @description Why data was not trained on, with counts. */
                            skipped: {
                                [key: string]: number;
                            };
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events of a job in order
         * @description With `Accept: text/event-stream`: as they happen, until the job ends. Needs a key with the scope `read`. Can be answered as server-sent events.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "df535793-0277-4fa6-ad4c-3142f25511c0",
                         *           "type": "training_started",
                         *           "data": {
                         *             "num_sequences": 1,
                         *             "rows_digest": "e0eea18fa6778823a8e040ec6990e9be995378701d31063621c68598b3fe0270",
                         *             "num_groups_submitted": 1,
                         *             "num_groups_trainable": 1,
                         *             "num_trajectories": 2,
                         *             "num_datums": 2,
                         *             "num_trainable_tokens": 6,
                         *             "num_rendered_prompts": 2,
                         *             "num_constrained_turns": 0,
                         *             "num_reshaped_turns": 0,
                         *             "skipped": {},
                         *             "config": {
                         *               "learning_rate": 0.002,
                         *               "ppo": false,
                         *               "loss_fn": "cispo",
                         *               "epsilon": 1,
                         *               "epsilon_high": 4,
                         *               "importance_sampling_level": "token",
                         *               "mask_prob_ratio": false,
                         *               "max_negative_advantage_importance_sampling_weight": null,
                         *               "truncated_importance_sampling": null,
                         *               "vendor_k2_tau": 0,
                         *               "advantage_balance": 0,
                         *               "scale_rewards": true,
                         *               "precalculate_logprobs": false,
                         *               "allow_training_without_logprobs": false,
                         *               "kl_penalty_coef": 0,
                         *               "kl_penalty_source": null,
                         *               "kl_penalty_reference_step": null,
                         *               "kl_penalty_step_lag": null,
                         *               "kl_ref_adapter_path": null,
                         *               "num_trajectories_learning_rate_multiplier_power": 0,
                         *               "scale_learning_rate_by_reward_std_dev": false,
                         *               "packed_sequence_length": null,
                         *               "logprob_calculation_chunk_size": null,
                         *               "optimizer": {
                         *                 "name": "adamw",
                         *                 "beta1": 0.9,
                         *                 "beta2": 0.99,
                         *                 "epsilon": 1e-8,
                         *                 "weight_decay": 0.1,
                         *                 "max_grad_norm": 0.1
                         *               },
                         *               "lora": {
                         *                 "r": 8,
                         *                 "lora_alpha": 16,
                         *                 "target_modules": [
                         *                   "q_proj",
                         *                   "k_proj",
                         *                   "v_proj",
                         *                   "o_proj"
                         *                 ],
                         *                 "use_rslora": false
                         *               }
                         *             },
                         *             "warnings": [
                         *               "2 prompts were rendered from the messages: neither the choices nor the memory of this server had their tokens. Where the chat request said more than the trajectory does, the answers were sampled behind another prompt. Send prompt_token_ids with each choice."
                         *             ]
                         *           }
                         *         },
                         *         {
                         *           "id": "85cb5868-d2ac-43e4-aea0-c1b2e437a5e4",
                         *           "type": "gradient_step",
                         *           "data": {
                         *             "gradient_step": 1,
                         *             "reward": 0.5,
                         *             "reward_std_dev": 0.5,
                         *             "exception_rate": 0,
                         *             "num_groups_submitted": 1,
                         *             "num_groups_trainable": 1,
                         *             "num_trajectories": 2,
                         *             "num_datums": 2,
                         *             "num_trainable_tokens": 6,
                         *             "num_rendered_prompts": 2,
                         *             "num_constrained_turns": 0,
                         *             "num_reshaped_turns": 0,
                         *             "loss": -0.0013123088283464313,
                         *             "policy_loss": -0.0013123088283464313,
                         *             "entropy": 0.6578858494758606,
                         *             "ratio_mean": 1.0988543033599854,
                         *             "ratio_min": 0.24405722320079803,
                         *             "ratio_max": 1.4630995988845825,
                         *             "clipped_fraction": 0,
                         *             "kl_div": 0.14731918275356293,
                         *             "logprob_difference": 0.4216526448726654,
                         *             "grad_norm": 0.23075099303433755,
                         *             "learning_rate": 0.002,
                         *             "num_sequences_in_row": 2,
                         *             "num_tokens": 23,
                         *             "num_trained_tokens": 6,
                         *             "tokens_saved_by_sharing": 19,
                         *             "tokens_per_second": 1.9403611414515147
                         *           }
                         *         },
                         *         {
                         *           "id": "74258cc3-906b-4f8c-9799-ee59d9850f9c",
                         *           "type": "training_ended",
                         *           "data": {
                         *             "step": 1,
                         *             "num_groups_submitted": 1,
                         *             "num_groups_trainable": 1,
                         *             "num_trajectories": 2,
                         *             "num_datums": 2,
                         *             "num_trainable_tokens": 6,
                         *             "num_rendered_prompts": 2,
                         *             "num_constrained_turns": 0,
                         *             "num_reshaped_turns": 0,
                         *             "train/reward": 0.5,
                         *             "train/reward_std_dev": 0.5,
                         *             "train/exception_rate": 0,
                         *             "train/reward_std_error": 0.5,
                         *             "num_gradient_steps": 1
                         *           }
                         *         }
                         *       ],
                         *       "first_id": "df535793-0277-4fa6-ad4c-3142f25511c0",
                         *       "last_id": "74258cc3-906b-4f8c-9799-ee59d9850f9c",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind it is: it says which other fields there are.
                                 * @enum {string}
                                 */
                                type: "training_started" | "gradient_step" | "training_ended" | "training_failed";
                                /** @description The items, in the order of the list. */
                                data: {
                                    [key: string]: unknown;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                        /**
                         * @example id: df535793-0277-4fa6-ad4c-3142f25511c0
                         *     data: {"id":"df535793-0277-4fa6-ad4c-3142f25511c0","type":"training_started","data":{"num_sequences":1,"rows_digest":"e0eea18fa6778823a8e040ec6990e9be995378701d31063621c68598b3fe0270","num_groups_submitted":1,"num_groups_trainable":1,"num_trajectories":2,"num_datums":2,"num_trainable_tokens":6,"num_rendered_prompts":2,"num_constrained_turns":0,"num_reshaped_turns":0,"skipped":{},"config":{"learning_rate":0.002,"ppo":false,"loss_fn":"cispo","epsilon":1,"epsilon_high":4,"importance_sampling_level":"token","mask_prob_ratio":false,"max_negative_advantage_importance_sampling_weight":null,"truncated_importance_sampling":null,"vendor_k2_tau":0,"advantage_balance":0,"scale_rewards":true,"precalculate_logprobs":false,"allow_training_without_logprobs":false,"kl_penalty_coef":0,"kl_penalty_source":null,"kl_penalty_reference_step":null,"kl_penalty_step_lag":null,"kl_ref_adapter_path":null,"num_trajectories_learning_rate_multiplier_power":0,"scale_learning_rate_by_reward_std_dev":false,"packed_sequence_length":null,"logprob_calculation_chunk_size":null,"optimizer":{"name":"adamw","beta1":0.9,"beta2":0.99,"epsilon":1e-8,"weight_decay":0.1,"max_grad_norm":0.1},"lora":{"r":8,"lora_alpha":16,"target_modules":["q_proj","k_proj","v_proj","o_proj"],"use_rslora":false}},"warnings":["2 prompts were rendered from the messages: neither the choices nor the memory of this server had their tokens. Where the chat request said more than the trajectory does, the answers were sampled behind another prompt. Send prompt_token_ids with each choice."]}}
                         *
                         *     id: 85cb5868-d2ac-43e4-aea0-c1b2e437a5e4
                         *     data: {"id":"85cb5868-d2ac-43e4-aea0-c1b2e437a5e4","type":"gradient_step","data":{"gradient_step":1,"reward":0.5,"reward_std_dev":0.5,"exception_rate":0,"num_groups_submitted":1,"num_groups_trainable":1,"num_trajectories":2,"num_datums":2,"num_trainable_tokens":6,"num_rendered_prompts":2,"num_constrained_turns":0,"num_reshaped_turns":0,"loss":-0.0013123088283464313,"policy_loss":-0.0013123088283464313,"entropy":0.6578858494758606,"ratio_mean":1.0988543033599854,"ratio_min":0.24405722320079803,"ratio_max":1.4630995988845825,"clipped_fraction":0,"kl_div":0.14731918275356293,"logprob_difference":0.4216526448726654,"grad_norm":0.23075099303433755,"learning_rate":0.002,"num_sequences_in_row":2,"num_tokens":23,"num_trained_tokens":6,"tokens_saved_by_sharing":19,"tokens_per_second":1.9403611414515147}}
                         *
                         *     id: 74258cc3-906b-4f8c-9799-ee59d9850f9c
                         *     data: {"id":"74258cc3-906b-4f8c-9799-ee59d9850f9c","type":"training_ended","data":{"step":1,"num_groups_submitted":1,"num_groups_trainable":1,"num_trajectories":2,"num_datums":2,"num_trainable_tokens":6,"num_rendered_prompts":2,"num_constrained_turns":0,"num_reshaped_turns":0,"train/reward":0.5,"train/reward_std_dev":0.5,"train/exception_rate":0,"train/reward_std_error":0.5,"num_gradient_steps":1}}
                         */
                        "text/event-stream": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a job trains with: every setting, and where its data is
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "config": {
                         *         "learning_rate": 0.002,
                         *         "ppo": false,
                         *         "loss_fn": "cispo",
                         *         "epsilon": 1,
                         *         "epsilon_high": 4,
                         *         "importance_sampling_level": "token",
                         *         "mask_prob_ratio": false,
                         *         "max_negative_advantage_importance_sampling_weight": null,
                         *         "truncated_importance_sampling": null,
                         *         "vendor_k2_tau": 0,
                         *         "advantage_balance": 0,
                         *         "scale_rewards": true,
                         *         "precalculate_logprobs": false,
                         *         "allow_training_without_logprobs": false,
                         *         "kl_penalty_coef": 0,
                         *         "kl_penalty_source": null,
                         *         "kl_penalty_reference_step": null,
                         *         "kl_penalty_step_lag": null,
                         *         "kl_ref_adapter_path": null,
                         *         "num_trajectories_learning_rate_multiplier_power": 0,
                         *         "scale_learning_rate_by_reward_std_dev": false,
                         *         "packed_sequence_length": null,
                         *         "logprob_calculation_chunk_size": null,
                         *         "optimizer": {
                         *           "name": "adamw",
                         *           "beta1": 0.9,
                         *           "beta2": 0.99,
                         *           "epsilon": 1e-8,
                         *           "weight_decay": 0.1,
                         *           "max_grad_norm": 0.1
                         *         },
                         *         "lora": {
                         *           "r": 8,
                         *           "lora_alpha": 16,
                         *           "target_modules": [
                         *             "q_proj",
                         *             "k_proj",
                         *             "v_proj",
                         *             "o_proj"
                         *           ],
                         *           "use_rslora": false
                         *         }
                         *       },
                         *       "as_trained": true,
                         *       "input": {
                         *         "kind": "groups",
                         *         "path": "/v1/preview/training-jobs/0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02/groups",
                         *         "uri": null
                         *       }
                         *     }
                         */
                        "application/json": {
                            /** @description With every default filled in, under the names of the request. */
                            config: {
                                [key: string]: unknown;
                            };
                            /** @description True: as training used it. False: the job has not begun, or an older version of the server began it. */
                            as_trained: boolean;
                            /** @description Where the data is. */
                            input: {
                                /**
                                 * @description Which kind of thing it is.
                                 * @enum {string}
                                 */
                                kind: "groups" | "artifact";
                                /** @description Of this API: the groups of the job, or the file of the artifact. */
                                path: string;
                                /** @description Of an artifact. */
                                uri: string | null;
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The groups that an RL job was sent, in order
         * @description A page may have fewer than asked for where they are large. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "index": 0,
                         *           "prompt": "What is 23 + 14?",
                         *           "prompt_is_cut": false,
                         *           "rewards": [
                         *             1,
                         *             0
                         *           ],
                         *           "advantages": [
                         *             0.999998000004,
                         *             -0.999998000004
                         *           ],
                         *           "has_signal": true,
                         *           "metrics": {
                         *             "reward": 0.5,
                         *             "reward_std_dev": 0.5,
                         *             "exception_rate": 0
                         *           },
                         *           "num_trajectories": 2,
                         *           "num_exceptions": 0,
                         *           "num_messages": 4,
                         *           "num_sampled_turns": 2,
                         *           "num_sampled_tokens": 6,
                         *           "exceptions": [],
                         *           "logs": [],
                         *           "metadata": {},
                         *           "skipped": {}
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "0",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description The index, as a cursor. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The last message before the first answer, cut. */
                                prompt: string | null;
                                /** @description Whether `prompt` is only the beginning. */
                                prompt_is_cut: boolean;
                                /** @description Rewards, in order. */
                                rewards: number[];
                                /** @description Of each trajectory within its group, before weights are balanced over the job; null where nothing is trained on the groups. */
                                advantages: number[] | null;
                                /** @description False: all advantages are 0, so that nothing of the group is trained. Null as with the advantages. */
                                has_signal: boolean | null;
                                /** @description Means over the group, under the names that the metrics of a step have. */
                                metrics: {
                                    [key: string]: number;
                                };
                                /** @description How many trajectories there are. */
                                num_trajectories: number;
                                /** @description How many attempts failed. */
                                num_exceptions: number;
                                /** @description How many messages there are. */
                                num_messages: number;
                                /** @description How many turns the model sampled. */
                                num_sampled_turns: number;
                                /** @description How many tokens the model sampled. */
                                num_sampled_tokens: number;
                                /** @description Attempts that failed, with what was raised. */
                                exceptions: {
                                    /** @description Class of what was raised. */
                                    type: string | null;
                                    /** @description What it said. */
                                    message: string;
                                    /** @description Where it was raised. */
                                    traceback: string | null;
                                }[];
                                /** @description Your own lines of text. */
                                logs: string[];
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                /** @description Trajectories by the reason why they were not trained, or (`truncated`) not to their end. Null: the job has not ended, or was run by an older version of the server. */
                                skipped: {
                                    [key: string]: number;
                                } | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One group of an RL job
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                    /** @description Number of the group, from 0. */
                    group: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0",
                         *       "index": 0,
                         *       "prompt": "What is 23 + 14?",
                         *       "prompt_is_cut": false,
                         *       "rewards": [
                         *         1,
                         *         0
                         *       ],
                         *       "advantages": [
                         *         0.999998000004,
                         *         -0.999998000004
                         *       ],
                         *       "has_signal": true,
                         *       "metrics": {
                         *         "reward": 0.5,
                         *         "reward_std_dev": 0.5,
                         *         "exception_rate": 0
                         *       },
                         *       "num_trajectories": 2,
                         *       "num_exceptions": 0,
                         *       "num_messages": 4,
                         *       "num_sampled_turns": 2,
                         *       "num_sampled_tokens": 6,
                         *       "exceptions": [],
                         *       "logs": [],
                         *       "metadata": {},
                         *       "skipped": {}
                         *     }
                         */
                        "application/json": {
                            /** @description The index, as a cursor. */
                            id: string;
                            /** @description Its place among the others, from 0. */
                            index: number;
                            /** @description The last message before the first answer, cut. */
                            prompt: string | null;
                            /** @description Whether `prompt` is only the beginning. */
                            prompt_is_cut: boolean;
                            /** @description Rewards, in order. */
                            rewards: number[];
                            /** @description Of each trajectory within its group, before weights are balanced over the job; null where nothing is trained on the groups. */
                            advantages: number[] | null;
                            /** @description False: all advantages are 0, so that nothing of the group is trained. Null as with the advantages. */
                            has_signal: boolean | null;
                            /** @description Means over the group, under the names that the metrics of a step have. */
                            metrics: {
                                [key: string]: number;
                            };
                            /** @description How many trajectories there are. */
                            num_trajectories: number;
                            /** @description How many attempts failed. */
                            num_exceptions: number;
                            /** @description How many messages there are. */
                            num_messages: number;
                            /** @description How many turns the model sampled. */
                            num_sampled_turns: number;
                            /** @description How many tokens the model sampled. */
                            num_sampled_tokens: number;
                            /** @description Attempts that failed, with what was raised. */
                            exceptions: {
                                /** @description Class of what was raised. */
                                type: string | null;
                                /** @description What it said. */
                                message: string;
                                /** @description Where it was raised. */
                                traceback: string | null;
                            }[];
                            /** @description Your own lines of text. */
                            logs: string[];
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: unknown;
                            };
                            /** @description Trajectories by the reason why they were not trained, or (`truncated`) not to their end. Null: the job has not ended, or was run by an older version of the server. */
                            skipped: {
                                [key: string]: number;
                            } | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/groups/{group}/trajectories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The trajectories of a group, whole: messages, rewards, logs
         * @description A page may have fewer than asked for. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                    /** @description Number of the group, from 0. */
                    group: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "advantage": 0.999998000004,
                         *           "index": 0,
                         *           "reward": 1,
                         *           "metrics": {},
                         *           "metadata": {},
                         *           "logs": [],
                         *           "start_time": null,
                         *           "initial_policy_version": null,
                         *           "final_policy_version": null,
                         *           "histories": [
                         *             {
                         *               "turns": [
                         *                 {
                         *                   "message": {
                         *                     "role": "user",
                         *                     "content": "What is 23 + 14?"
                         *                   },
                         *                   "sampled": null
                         *                 }
                         *               ],
                         *               "tools": []
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "1",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description The index, as a cursor. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The reward: higher is better. */
                                reward: number;
                                /** @description Numbers by name. */
                                metrics: {
                                    [key: string]: number | boolean;
                                };
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                /** @description Your own lines of text. */
                                logs: string[];
                                /** @description When it began. */
                                start_time: string | null;
                                /** @description Step of the model that sampled the first token. */
                                initial_policy_version: number | null;
                                /** @description Step of the model that sampled the last token. */
                                final_policy_version: number | null;
                                /** @description The main history first, then the additional ones. */
                                histories: {
                                    /** @description What was said by turns, in order. */
                                    turns: {
                                        /** @description Which message of the conversation it is, from 0. */
                                        message: {
                                            [key: string]: unknown;
                                        };
                                        /** @description Of a Choice; null: a message, which is context. */
                                        sampled: {
                                            /** @description Why it ended: `stop`, `length`, `tool_calls`; null while it goes on. */
                                            finish_reason: string;
                                            /** @description How many tokens there are. */
                                            num_tokens: number | null;
                                            /** @description Whether every sampled token came with its log-probability. */
                                            has_logprobs: boolean;
                                        } | null;
                                    }[];
                                    /** @description What the model may call. */
                                    tools: unknown[];
                                }[];
                                /** @description How much better it is than its group, as the loss sees it; null where none was computed. */
                                advantage: number | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/groups/{group}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What training made of the trajectories of a group, token by token
         * @description A page may have fewer than asked for. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                    /** @description Number of the group, from 0. */
                    group: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "index": 0,
                         *           "reward": 1,
                         *           "advantage": 0.999998000004,
                         *           "is_trained": true,
                         *           "reason": null,
                         *           "sequences": [
                         *             {
                         *               "step": 1,
                         *               "advantage": 1,
                         *               "weight": 1,
                         *               "token_ids": [
                         *                 1618,
                         *                 268,
                         *                 10,
                         *                 330
                         *               ],
                         *               "texts": [
                         *                 "<|im_start|>",
                         *                 "user",
                         *                 "\n",
                         *                 "What"
                         *               ],
                         *               "trained": [
                         *                 false,
                         *                 false,
                         *                 false,
                         *                 false
                         *               ],
                         *               "sampler_logprobs": [
                         *                 null,
                         *                 null,
                         *                 null,
                         *                 null
                         *               ],
                         *               "trainer_logprobs": [
                         *                 null,
                         *                 null,
                         *                 null,
                         *                 null
                         *               ],
                         *               "ratios": [
                         *                 null,
                         *                 null,
                         *                 null,
                         *                 null
                         *               ],
                         *               "trainer_unknown": null,
                         *               "start_logprobs": null,
                         *               "reference_logprobs": null
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "1",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The reward: higher is better. */
                                reward: number;
                                /** @description Within the group, as in the list of groups. */
                                advantage: number | null;
                                /** @description Null: nothing is known, since the job has not ended or was run by an older version of the server. */
                                is_trained: boolean | null;
                                /** @description `truncated`, or why nothing of it was trained. */
                                reason: string | null;
                                /** @description What was trained of it. Several where a prompt does not begin with the tokens before it. */
                                sequences: {
                                    /** @description The gradient step that trained it: 1, 2, … */
                                    step: number;
                                    /** @description Of each trained token: balanced and scaled over the job. */
                                    advantage: number;
                                    /** @description Of each trained token. */
                                    weight: number;
                                    /** @description Ids of the tokens. */
                                    token_ids: number[];
                                    /** @description What each token completes: joined they are the text, a token inside a character is empty. Bytes that are no UTF-8 are U+FFFD. Null: this server does not host the base model. */
                                    texts: string[] | null;
                                    /** @description False: context. The lists below are null there. */
                                    trained: boolean[];
                                    /** @description As they were sent or remembered; null: not known. */
                                    sampler_logprobs: (number | null)[];
                                    /** @description As the loss read them, before the update of its gradient step. */
                                    trainer_logprobs: (number | null)[] | null;
                                    /** @description At the importance sampling level of the job, before caps, masks and clips. */
                                    ratios: (number | null)[] | null;
                                    /** @description Why there are no trainer_logprobs: the job ended before that step; or the engine does not tell them, or the job was resumed from a state without them. */
                                    trainer_unknown: ("not_reached" | "not_told") | null;
                                    /** @description With precalculate_logprobs: what the ratios divide by. */
                                    start_logprobs: (number | null)[] | null;
                                    /** @description With a KL penalty or reference. */
                                    reference_logprobs: (number | null)[] | null;
                                }[];
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/trajectories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The trajectories that an RL job was sent, one per line; or those in which a text stands
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description summary: per line group, index, reward, advantage, metrics, metadata, prompt and last answer (cut), counts, and in a job is_trained and reason. */
                    view?: "full" | "summary";
                    /** @description Only those in which this stands: in messages, calls, metadata or logs. Upper and lower case are the same. */
                    search?: string;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {"group":0,"index":0,"reward":1,"metrics":{},"metadata":{},"logs":[],"start_time":null,"initial_policy_version":null,"final_policy_version":null,"histories":[{"turns":[{"message":{"role":"user","content":"What is 23 + 14?"},"sampled":null},{"message":{"role":"assistant","content":"37"},"sampled":{"finish_reason":"stop","num_tokens":1,"has_logprobs":true}}],"tools":[]}]} */
                        "application/jsonl": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/evaluations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far the evaluations of a model's jobs are, by submission, with the step that answers
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description desc: the newest first. */
                    order?: "asc" | "desc";
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "status": "succeeded",
                         *           "num_prompts": 1,
                         *           "num_samples": 1,
                         *           "num_answered": 1,
                         *           "num_failed": 0,
                         *           "error_message": null,
                         *           "started_at": "2026-11-23T18:05:06.698Z",
                         *           "ended_at": "2026-11-23T18:05:07.129Z",
                         *           "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *           "step": 1
                         *         }
                         *       ],
                         *       "first_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "last_id": "1e3a3f86-ac4a-4774-8bcf-bfddde249d6d",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * @description queued: it waits for the checkpoint, then for a server with the role serve that hosts the base model.
                                 * @enum {string}
                                 */
                                status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                                /** @description How many prompts there are. */
                                num_prompts: number;
                                /** @description Answers per prompt. */
                                num_samples: number;
                                /** @description Prompts that are done, those that could not be answered among them. */
                                num_answered: number;
                                /** @description Of those: could not be answered. Each says why. */
                                num_failed: number;
                                /** @description Why it failed; null where it did not. */
                                error_message: string | null;
                                /** @description When it began; null before. */
                                started_at: string | null;
                                /** @description When it ended; null before. */
                                ended_at: string | null;
                                /**
                                 * Format: uuid
                                 * @description The job's.
                                 */
                                id: string;
                                /** @description Of the checkpoint that answers; null until the job runs. */
                                step: number | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/evaluation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How far a job's evaluation is, how it asks, and where its rewards come from
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "succeeded",
                         *       "num_prompts": 1,
                         *       "num_samples": 1,
                         *       "num_answered": 1,
                         *       "num_failed": 0,
                         *       "error_message": null,
                         *       "started_at": "2026-11-23T18:05:06.698Z",
                         *       "ended_at": "2026-11-23T18:05:07.129Z",
                         *       "training_job_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "model_id": "0196f2c4-7a10-7b3e-9c55-2f1d8a6b4e01",
                         *       "step": 1,
                         *       "source": null,
                         *       "settings": {
                         *         "samples": 1,
                         *         "max_tokens": 8,
                         *         "temperature": null,
                         *         "top_p": null,
                         *         "stop": [],
                         *         "seed": 0,
                         *         "chat_template_kwargs": {}
                         *       },
                         *       "log": null
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description queued: it waits for the checkpoint, then for a server with the role serve that hosts the base model.
                             * @enum {string}
                             */
                            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                            /** @description How many prompts there are. */
                            num_prompts: number;
                            /** @description Answers per prompt. */
                            num_samples: number;
                            /** @description Prompts that are done, those that could not be answered among them. */
                            num_answered: number;
                            /** @description Of those: could not be answered. Each says why. */
                            num_failed: number;
                            /** @description Why it failed; null where it did not. */
                            error_message: string | null;
                            /** @description When it began; null before. */
                            started_at: string | null;
                            /** @description When it ended; null before. */
                            ended_at: string | null;
                            /**
                             * Format: uuid
                             * @description Id of the training job.
                             */
                            training_job_id: string;
                            /**
                             * Format: uuid
                             * @description Id of the model, as its registration answered.
                             */
                            model_id: string;
                            /** @description Of the checkpoint that answers; null until the job runs. */
                            step: number | null;
                            /** @description The artifact version and file; null: prompts of the request. */
                            source: string | null;
                            /** @description Null: prompts and answers are not kept any more. */
                            settings: {
                                /** @description Answers per prompt. */
                                samples: number;
                                /** @description At most so many tokens of an answer. */
                                max_tokens: number;
                                /** @description How much chance there is: 0 takes the likeliest token. */
                                temperature: number | null;
                                /** @description Sample among the likeliest tokens that together have this probability. */
                                top_p: number | null;
                                /** @description Texts at which an answer ends. */
                                stop: string[];
                                /** @description The same seed gives the same answer. */
                                seed: number;
                                /** @description Variables of the chat template. */
                                chat_template_kwargs: {
                                    [key: string]: unknown;
                                };
                            } | null;
                            /** @description Where the rewards come from: the latest log that names this job. */
                            log: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description Which data it is of, such as `val`. */
                                split: string;
                            } | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/evaluation/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Prompt by prompt: what the checkpoint answered, and the rewards
         * @description A page may have fewer than asked for. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "index": 0,
                         *           "messages": [
                         *             {
                         *               "role": "user",
                         *               "content": "What is 23 + 14?"
                         *             }
                         *           ],
                         *           "tools": [],
                         *           "reference": null,
                         *           "metadata": {},
                         *           "error": null,
                         *           "answers": [
                         *             {
                         *               "index": 0,
                         *               "message": {
                         *                 "role": "assistant",
                         *                 "content": "37"
                         *               },
                         *               "finish_reason": "stop",
                         *               "token_ids": [
                         *                 51,
                         *                 55,
                         *                 1619
                         *               ],
                         *               "logprobs": [
                         *                 -0.3194427490234375,
                         *                 -0.36155128479003906,
                         *                 0
                         *               ],
                         *               "reward": null,
                         *               "metrics": {},
                         *               "reward_metadata": {}
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "0",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The conversation, from the first message to the last. */
                                messages: {
                                    [key: string]: unknown;
                                }[];
                                /** @description What the model may call. */
                                tools: unknown[];
                                /** @description What the data says in the answer's place; the model did not see it. */
                                reference: {
                                    [key: string]: unknown;
                                } | null;
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                /** @description Why it could not be answered. */
                                error: string | null;
                                /** @description Null: not yet answered. */
                                answers: {
                                    /** @description Its place among the others, from 0. */
                                    index: number;
                                    /** @description The message. */
                                    message: {
                                        [key: string]: unknown;
                                    };
                                    /** @description Why it ended: `stop`, `length`, `tool_calls`; null while it goes on. */
                                    finish_reason: string;
                                    /** @description Ids of the tokens. */
                                    token_ids: number[];
                                    /** @description Of each token, nats. */
                                    logprobs: number[];
                                    /** @description Null: none was sent. */
                                    reward: number | null;
                                    /** @description Numbers by name. */
                                    metrics: {
                                        [key: string]: number | boolean;
                                    };
                                    /** @description The metadata of the trajectory that has the reward. */
                                    reward_metadata: {
                                        [key: string]: unknown;
                                    };
                                }[] | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/training-jobs/{training_job_id}/evaluation/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End an evaluation
         * @description The job, its checkpoint, and the answers that are there stay. Needs a key with the scope `train`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training job. */
                    training_job_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "cancelled",
                         *       "num_prompts": 1,
                         *       "num_samples": 1,
                         *       "num_answered": 0,
                         *       "num_failed": 0,
                         *       "error_message": "cancelled",
                         *       "started_at": null,
                         *       "ended_at": "2026-11-23T18:05:05.654Z"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description queued: it waits for the checkpoint, then for a server with the role serve that hosts the base model.
                             * @enum {string}
                             */
                            status: "queued" | "running" | "succeeded" | "failed" | "cancelled";
                            /** @description How many prompts there are. */
                            num_prompts: number;
                            /** @description Answers per prompt. */
                            num_samples: number;
                            /** @description Prompts that are done, those that could not be answered among them. */
                            num_answered: number;
                            /** @description Of those: could not be answered. Each says why. */
                            num_failed: number;
                            /** @description Why it failed; null where it did not. */
                            error_message: string | null;
                            /** @description When it began; null before. */
                            started_at: string | null;
                            /** @description When it ended; null before. */
                            ended_at: string | null;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was logged of a model, oldest first; of one split, at one step
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description Which data it is of, such as `val`. */
                    split?: string;
                    /** @description Number of the checkpoint; 0 is the base model. */
                    step?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "cae6a76b-c272-4e59-a29b-b1989b7f701a",
                         *           "split": "val",
                         *           "step": 1,
                         *           "num_groups": 1,
                         *           "num_trajectories": 2,
                         *           "size_bytes": 724,
                         *           "created_at": "2026-11-23T18:05:07.398Z",
                         *           "evaluation_job_id": null
                         *         }
                         *       ],
                         *       "first_id": "cae6a76b-c272-4e59-a29b-b1989b7f701a",
                         *       "last_id": "cae6a76b-c272-4e59-a29b-b1989b7f701a",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description Which data it is of, such as `val`. */
                                split: string;
                                /** @description The one that the request said, else the latest when it was logged. */
                                step: number;
                                /** @description How many groups there are. */
                                num_groups: number;
                                /** @description How many trajectories there are. */
                                num_trajectories: number;
                                /** @description Size of the content, in bytes. */
                                size_bytes: number;
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description Whose answers it gives rewards to; null: trajectories of its own. */
                                evaluation_job_id: string | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/logs/{log_id}/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The groups of one log, in order
         * @description A page may have fewer than asked for where they are large. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                    /** @description Id of the log, as the list of logs has it. */
                    log_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "index": 0,
                         *           "prompt": "What is 23 + 14?",
                         *           "prompt_is_cut": false,
                         *           "rewards": [
                         *             1,
                         *             0
                         *           ],
                         *           "advantages": null,
                         *           "has_signal": null,
                         *           "metrics": {
                         *             "reward": 0.5,
                         *             "reward_std_dev": 0.5,
                         *             "exception_rate": 0
                         *           },
                         *           "num_trajectories": 2,
                         *           "num_exceptions": 0,
                         *           "num_messages": 4,
                         *           "num_sampled_turns": 2,
                         *           "num_sampled_tokens": 2,
                         *           "exceptions": [],
                         *           "logs": [],
                         *           "metadata": {}
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "0",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description The index, as a cursor. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The last message before the first answer, cut. */
                                prompt: string | null;
                                /** @description Whether `prompt` is only the beginning. */
                                prompt_is_cut: boolean;
                                /** @description Rewards, in order. */
                                rewards: number[];
                                /** @description Of each trajectory within its group, before weights are balanced over the job; null where nothing is trained on the groups. */
                                advantages: number[] | null;
                                /** @description False: all advantages are 0, so that nothing of the group is trained. Null as with the advantages. */
                                has_signal: boolean | null;
                                /** @description Means over the group, under the names that the metrics of a step have. */
                                metrics: {
                                    [key: string]: number;
                                };
                                /** @description How many trajectories there are. */
                                num_trajectories: number;
                                /** @description How many attempts failed. */
                                num_exceptions: number;
                                /** @description How many messages there are. */
                                num_messages: number;
                                /** @description How many turns the model sampled. */
                                num_sampled_turns: number;
                                /** @description How many tokens the model sampled. */
                                num_sampled_tokens: number;
                                /** @description Attempts that failed, with what was raised. */
                                exceptions: {
                                    /** @description Class of what was raised. */
                                    type: string | null;
                                    /** @description What it said. */
                                    message: string;
                                    /** @description Where it was raised. */
                                    traceback: string | null;
                                }[];
                                /** @description Your own lines of text. */
                                logs: string[];
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/logs/{log_id}/groups/{group}/trajectories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The trajectories of a logged group, whole
         * @description A page may have fewer than asked for. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                    /** @description Id of the log, as the list of logs has it. */
                    log_id: string;
                    /** @description Number of the group, from 0. */
                    group: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "advantage": null,
                         *           "index": 0,
                         *           "reward": 1,
                         *           "metrics": {},
                         *           "metadata": {},
                         *           "logs": [],
                         *           "start_time": null,
                         *           "initial_policy_version": null,
                         *           "final_policy_version": null,
                         *           "histories": [
                         *             {
                         *               "turns": [
                         *                 {
                         *                   "message": {
                         *                     "role": "user",
                         *                     "content": "What is 23 + 14?"
                         *                   },
                         *                   "sampled": null
                         *                 }
                         *               ],
                         *               "tools": []
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "1",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description The index, as a cursor. */
                                id: string;
                                /** @description Its place among the others, from 0. */
                                index: number;
                                /** @description The reward: higher is better. */
                                reward: number;
                                /** @description Numbers by name. */
                                metrics: {
                                    [key: string]: number | boolean;
                                };
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                /** @description Your own lines of text. */
                                logs: string[];
                                /** @description When it began. */
                                start_time: string | null;
                                /** @description Step of the model that sampled the first token. */
                                initial_policy_version: number | null;
                                /** @description Step of the model that sampled the last token. */
                                final_policy_version: number | null;
                                /** @description The main history first, then the additional ones. */
                                histories: {
                                    /** @description What was said by turns, in order. */
                                    turns: {
                                        /** @description Which message of the conversation it is, from 0. */
                                        message: {
                                            [key: string]: unknown;
                                        };
                                        /** @description Of a Choice; null: a message, which is context. */
                                        sampled: {
                                            /** @description Why it ended: `stop`, `length`, `tool_calls`; null while it goes on. */
                                            finish_reason: string;
                                            /** @description How many tokens there are. */
                                            num_tokens: number | null;
                                            /** @description Whether every sampled token came with its log-probability. */
                                            has_logprobs: boolean;
                                        } | null;
                                    }[];
                                    /** @description What the model may call. */
                                    tools: unknown[];
                                }[];
                                /** @description How much better it is than its group, as the loss sees it; null where none was computed. */
                                advantage: number | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/logs/{log_id}/trajectories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The trajectories of one log, one per line; or those in which a text stands
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description summary: per line group, index, reward, advantage, metrics, metadata, prompt and last answer (cut), counts, and in a job is_trained and reason. */
                    view?: "full" | "summary";
                    /** @description Only those in which this stands: in messages, calls, metadata or logs. Upper and lower case are the same. */
                    search?: string;
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                    /** @description Id of the log, as the list of logs has it. */
                    log_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {"group":0,"index":0,"reward":1,"metrics":{},"metadata":{},"logs":[],"start_time":null,"initial_policy_version":null,"final_policy_version":null,"histories":[{"turns":[{"message":{"role":"user","content":"What is 23 + 14?"},"sampled":null},{"message":{"role":"assistant","content":"37"},"sampled":{"finish_reason":"stop","num_tokens":1,"has_logprobs":true}}],"tools":[]}]} */
                        "application/jsonl": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/models/{model_id}/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What training measured at each step of a model, oldest first; as JSON, lines of JSON, CSV, or TensorBoard events
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description jsonl, csv and tensorboard (an event file of the steps that have a checkpoint, or make one) give all steps from the cursor on. Default: what the Accept header asks for, else json. */
                    format?: "json" | "jsonl" | "csv" | "tensorboard";
                };
                header?: never;
                path: {
                    /** @description Id of the model, as its registration answered. */
                    model_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "step-0",
                         *           "step": 0,
                         *           "job_id": null,
                         *           "type": null,
                         *           "status": null,
                         *           "training_start": null,
                         *           "training_end": null,
                         *           "seconds": null,
                         *           "num_gradient_steps": 0,
                         *           "metrics": {},
                         *           "skipped": {}
                         *         },
                         *         {
                         *           "id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *           "step": 1,
                         *           "job_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *           "type": "rl",
                         *           "status": "succeeded",
                         *           "training_start": "2026-11-24T08:36:09.252Z",
                         *           "training_end": "2026-11-24T08:36:28.621Z",
                         *           "seconds": 19.369,
                         *           "num_gradient_steps": 1,
                         *           "metrics": {
                         *             "reward": 0.5,
                         *             "reward_std_dev": 0.5,
                         *             "exception_rate": 0,
                         *             "num_groups_submitted": 1,
                         *             "num_groups_trainable": 1,
                         *             "num_trajectories": 2,
                         *             "num_datums": 2,
                         *             "num_trainable_tokens": 6,
                         *             "num_rendered_prompts": 2,
                         *             "num_constrained_turns": 0,
                         *             "num_reshaped_turns": 0,
                         *             "loss": -0.0013123088283464313,
                         *             "policy_loss": -0.0013123088283464313,
                         *             "entropy": 0.6578858494758606,
                         *             "ratio_mean": 1.0988543033599854,
                         *             "ratio_min": 0.24405722320079803,
                         *             "ratio_max": 1.4630995988845825,
                         *             "clipped_fraction": 0,
                         *             "kl_div": 0.14731918275356293,
                         *             "logprob_difference": 0.4216526448726654,
                         *             "grad_norm": 0.23075099303433755,
                         *             "learning_rate": 0.002,
                         *             "num_sequences_in_row": 2,
                         *             "num_tokens": 23,
                         *             "num_trained_tokens": 6,
                         *             "tokens_saved_by_sharing": 19,
                         *             "tokens_per_second": 1.9403611414515147,
                         *             "train/reward": 0.5,
                         *             "train/reward_std_dev": 0.5,
                         *             "train/exception_rate": 0,
                         *             "train/reward_std_error": 0.5,
                         *             "val/reward": 0.5,
                         *             "val/reward_std_dev": 0.5,
                         *             "val/exception_rate": 0
                         *           },
                         *           "skipped": {}
                         *         },
                         *         {
                         *           "id": "5d02af29-1f05-4d80-ba5b-599264649181",
                         *           "step": 2,
                         *           "job_id": "5d02af29-1f05-4d80-ba5b-599264649181",
                         *           "type": "sft",
                         *           "status": "succeeded",
                         *           "training_start": "2026-11-24T08:36:45.874Z",
                         *           "training_end": "2026-11-24T08:37:04.039Z",
                         *           "seconds": 18.165,
                         *           "num_gradient_steps": 4,
                         *           "metrics": {
                         *             "loss": 0.2852339744567871,
                         *             "grad_norm": 0.3801269569122821,
                         *             "learning_rate": 0.0006,
                         *             "epoch": 2.5,
                         *             "num_tokens": 52,
                         *             "num_trainable_tokens": 2,
                         *             "tokens_saved_by_sharing": 0,
                         *             "tokens_per_second": 42.2592728479647,
                         *             "train/loss": 0.2430253028869629
                         *           },
                         *           "skipped": {}
                         *         },
                         *         {
                         *           "id": "57220b65-8934-4331-b280-63e489c0f86b",
                         *           "step": 3,
                         *           "job_id": "57220b65-8934-4331-b280-63e489c0f86b",
                         *           "type": "dpo",
                         *           "status": "succeeded",
                         *           "training_start": "2026-11-24T08:37:04.349Z",
                         *           "training_end": "2026-11-24T08:37:38.729Z",
                         *           "seconds": 34.38,
                         *           "num_gradient_steps": 2,
                         *           "metrics": {
                         *             "loss": 0.692932114864931,
                         *             "rewards/chosen": 0.00009298324584960938,
                         *             "rewards/rejected": -0.00033724308013916016,
                         *             "rewards/margins": 0.00043022632598876953,
                         *             "rewards/accuracies": 0.5,
                         *             "logps/chosen": -0.5636720657348633,
                         *             "logps/rejected": -2.0003364086151123,
                         *             "grad_norm": 0.11838174360147855,
                         *             "learning_rate": 0.00003,
                         *             "epoch": 1.5,
                         *             "num_pairs": 2,
                         *             "num_tokens": 144,
                         *             "num_trainable_tokens": 8,
                         *             "tokens_saved_by_sharing": 76,
                         *             "tokens_per_second": 2.693154772947673,
                         *             "train/loss": 0.6927170491699166,
                         *             "train/rewards/chosen": 0.00018596649169921875,
                         *             "train/rewards/rejected": -0.0006744861602783203,
                         *             "train/rewards/margins": 0.0008604526519775391,
                         *             "train/rewards/accuracies": 1
                         *           },
                         *           "skipped": {}
                         *         }
                         *       ],
                         *       "first_id": "step-0",
                         *       "last_id": "57220b65-8934-4331-b280-63e489c0f86b",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Null: the job has not begun. */
                                step: number | null;
                                /** @description Null of step 0, which no job made. */
                                job_id: string | null;
                                /** @description Which kind it is: it says which other fields there are. */
                                type: ("rl" | "sft" | "dpo") | null;
                                /** @description How far it is. */
                                status: ("queued" | "running" | "succeeded" | "failed" | "cancelled") | null;
                                /** @description When training began; null before. */
                                training_start: string | null;
                                /** @description When training ended; null before. */
                                training_end: string | null;
                                /** @description From the start to the end of training. */
                                seconds: number | null;
                                /** @description How many updates of the adapter there were. */
                                num_gradient_steps: number;
                                /** @description Means over the gradient steps; num_tokens, num_trained_tokens and tokens_saved_by_sharing are sums. Names with a slash are those of the checkpoint, as long as it is there. */
                                metrics: {
                                    [key: string]: number;
                                };
                                /** @description Why data was not trained on, with counts. */
                                skipped: {
                                    [key: string]: number;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                        /**
                         * @example {"id":"step-0","step":0,"job_id":null,"type":null,"status":null,"training_start":null,"training_end":null,"seconds":null,"num_gradient_steps":0,"metrics":{},"skipped":{}}
                         *     {"id":"0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02","step":1,"job_id":"0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02","type":"rl","status":"succeeded","training_start":"2026-11-24T08:36:09.252Z","training_end":"2026-11-24T08:36:28.621Z","seconds":19.369,"num_gradient_steps":1,"metrics":{"reward":0.5,"reward_std_dev":0.5,"exception_rate":0,"num_groups_submitted":1,"num_groups_trainable":1,"num_trajectories":2,"num_datums":2,"num_trainable_tokens":6,"num_rendered_prompts":2,"num_constrained_turns":0,"num_reshaped_turns":0,"loss":-0.0013123088283464313,"policy_loss":-0.0013123088283464313,"entropy":0.6578858494758606,"ratio_mean":1.0988543033599854,"ratio_min":0.24405722320079803,"ratio_max":1.4630995988845825,"clipped_fraction":0,"kl_div":0.14731918275356293,"logprob_difference":0.4216526448726654,"grad_norm":0.23075099303433755,"learning_rate":0.002,"num_sequences_in_row":2,"num_tokens":23,"num_trained_tokens":6,"tokens_saved_by_sharing":19,"tokens_per_second":1.9403611414515147,"train/reward":0.5,"train/reward_std_dev":0.5,"train/exception_rate":0,"train/reward_std_error":0.5,"val/reward":0.5,"val/reward_std_dev":0.5,"val/exception_rate":0},"skipped":{}}
                         *     {"id":"5d02af29-1f05-4d80-ba5b-599264649181","step":2,"job_id":"5d02af29-1f05-4d80-ba5b-599264649181","type":"sft","status":"succeeded","training_start":"2026-11-24T08:36:45.874Z","training_end":"2026-11-24T08:37:04.039Z","seconds":18.165,"num_gradient_steps":4,"metrics":{"loss":0.2852339744567871,"grad_norm":0.3801269569122821,"learning_rate":0.0006,"epoch":2.5,"num_tokens":52,"num_trainable_tokens":2,"tokens_saved_by_sharing":0,"tokens_per_second":42.2592728479647,"train/loss":0.2430253028869629},"skipped":{}}
                         *     {"id":"57220b65-8934-4331-b280-63e489c0f86b","step":3,"job_id":"57220b65-8934-4331-b280-63e489c0f86b","type":"dpo","status":"succeeded","training_start":"2026-11-24T08:37:04.349Z","training_end":"2026-11-24T08:37:38.729Z","seconds":34.38,"num_gradient_steps":2,"metrics":{"loss":0.692932114864931,"rewards/chosen":0.00009298324584960938,"rewards/rejected":-0.00033724308013916016,"rewards/margins":0.00043022632598876953,"rewards/accuracies":0.5,"logps/chosen":-0.5636720657348633,"logps/rejected":-2.0003364086151123,"grad_norm":0.11838174360147855,"learning_rate":0.00003,"epoch":1.5,"num_pairs":2,"num_tokens":144,"num_trainable_tokens":8,"tokens_saved_by_sharing":76,"tokens_per_second":2.693154772947673,"train/loss":0.6927170491699166,"train/rewards/chosen":0.00018596649169921875,"train/rewards/rejected":-0.0006744861602783203,"train/rewards/margins":0.0008604526519775391,"train/rewards/accuracies":1},"skipped":{}}
                         */
                        "application/jsonl": string;
                        /**
                         * @example step,job_id,type,status,training_start,training_end,seconds,num_gradient_steps,clipped_fraction,entropy,epoch,exception_rate,grad_norm,kl_div,learning_rate,logprob_difference,logps/chosen,logps/rejected,loss,num_constrained_turns,num_datums,num_groups_submitted,num_groups_trainable,num_pairs,num_rendered_prompts,num_reshaped_turns,num_sequences_in_row,num_tokens,num_trainable_tokens,num_trained_tokens,num_trajectories,policy_loss,ratio_max,ratio_mean,ratio_min,reward,reward_std_dev,rewards/accuracies,rewards/chosen,rewards/margins,rewards/rejected,tokens_per_second,tokens_saved_by_sharing,train/exception_rate,train/loss,train/reward,train/reward_std_dev,train/reward_std_error,train/rewards/accuracies,train/rewards/chosen,train/rewards/margins,train/rewards/rejected,val/exception_rate,val/reward,val/reward_std_dev
                         *     0,,,,,,,0,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,
                         */
                        "text/csv": string;
                        "application/octet-stream": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List versions of your artifacts, oldest first
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description The project that it belongs to. */
                    project?: string;
                    /** @description Its name. */
                    name?: string;
                    /** @description Which kind it is: it says which other fields there are. */
                    type?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "9c7dc587-5e18-4a76-90f3-fe649bed0f84",
                         *           "entity": "default",
                         *           "project": "demo",
                         *           "name": "pairs",
                         *           "version": "v0",
                         *           "uri": "wandb-artifact:///default/demo/pairs:v0",
                         *           "type": "dataset",
                         *           "aliases": [],
                         *           "metadata": {},
                         *           "files": [
                         *             {
                         *               "path": "train.jsonl",
                         *               "size_bytes": 300,
                         *               "sha256": "3f0c6714bc674a33338f62b0e79b23b6c5760d8b1b8cdfa828ba72a05398997c"
                         *             }
                         *           ],
                         *           "size_bytes": 300,
                         *           "created_at": "2026-11-23T18:05:02.492Z"
                         *         },
                         *         {
                         *           "id": "40eb275f-78de-4da6-a99c-45dd4abe9c96",
                         *           "entity": "default",
                         *           "project": "demo",
                         *           "name": "questions",
                         *           "version": "v0",
                         *           "uri": "wandb-artifact:///default/demo/questions:v0",
                         *           "type": "dataset",
                         *           "aliases": [
                         *             "best"
                         *           ],
                         *           "metadata": {},
                         *           "files": [
                         *             {
                         *               "path": "train.jsonl",
                         *               "size_bytes": 97,
                         *               "sha256": "73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59"
                         *             }
                         *           ],
                         *           "size_bytes": 97,
                         *           "created_at": "2026-11-23T18:05:03.556Z"
                         *         }
                         *       ],
                         *       "first_id": "9c7dc587-5e18-4a76-90f3-fe649bed0f84",
                         *       "last_id": "40eb275f-78de-4da6-a99c-45dd4abe9c96",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description The project that it belongs to. */
                                project: string;
                                /** @description Its name. */
                                name: string;
                                /** @description Its version. */
                                version: string;
                                /** @description How jobs and other requests name it. */
                                uri: string;
                                /** @description Which kind it is: it says which other fields there are. */
                                type: string;
                                /** @description Names of this version beside its number. */
                                aliases: string[];
                                /** @description Your own values, given back as they came. */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                /** @description The files of the version. */
                                files: {
                                    /** @description Path of the file within the version. */
                                    path: string;
                                    /** @description Size of the content, in bytes. */
                                    size_bytes: number;
                                    /** @description SHA-256 of the content, 64 hex digits. */
                                    sha256: string;
                                }[];
                                /** @description Size of the content, in bytes. */
                                size_bytes: number;
                                /** @description When it was made. */
                                created_at: string;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/{entity}/{project}/{artifact}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a version: name:vN, name:alias, name for the latest; a model’s name:stepN
         * @description Entity `~` is your own. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "40eb275f-78de-4da6-a99c-45dd4abe9c96",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "questions",
                         *       "version": "v0",
                         *       "uri": "wandb-artifact:///default/demo/questions:v0",
                         *       "type": "dataset",
                         *       "aliases": [
                         *         "best"
                         *       ],
                         *       "metadata": {},
                         *       "files": [
                         *         {
                         *           "path": "train.jsonl",
                         *           "size_bytes": 97,
                         *           "sha256": "73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59"
                         *         }
                         *       ],
                         *       "size_bytes": 97,
                         *       "created_at": "2026-11-23T18:05:03.556Z"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description Its version. */
                            version: string;
                            /** @description How jobs and other requests name it. */
                            uri: string;
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description Names of this version beside its number. */
                            aliases: string[];
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: unknown;
                            };
                            /** @description The files of the version. */
                            files: {
                                /** @description Path of the file within the version. */
                                path: string;
                                /** @description Size of the content, in bytes. */
                                size_bytes: number;
                                /** @description SHA-256 of the content, 64 hex digits. */
                                sha256: string;
                            }[];
                            /** @description Size of the content, in bytes. */
                            size_bytes: number;
                            /** @description When it was made. */
                            created_at: string;
                        };
                    };
                };
            };
        };
        /**
         * Make a version of files that are there. 202 names those that are not
         * @description With `name:version`: give it aliases. Needs a key with the scope `train`.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "type": "dataset",
                     *       "aliases": [
                     *         "best"
                     *       ],
                     *       "files": [
                     *         {
                     *           "path": "train.jsonl",
                     *           "sha256": "73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description `dataset`, `lora`, or your own.
                         * @default dataset
                         */
                        type?: string;
                        /**
                         * @description Your own values, given back as they came.
                         * @default {}
                         */
                        metadata?: {
                            [key: string]: unknown;
                        };
                        /**
                         * @description Names for this version, taken from others. `latest` follows by itself.
                         * @default []
                         */
                        aliases?: string[];
                        /** @description The files of the version. */
                        files: ({
                            /** @description Path of the file within the version. */
                            path: string;
                            /** @description SHA-256 of the content, 64 hex digits. */
                            sha256: string;
                        } & {
                            [key: string]: unknown;
                        })[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "40eb275f-78de-4da6-a99c-45dd4abe9c96",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "questions",
                         *       "version": "v0",
                         *       "uri": "wandb-artifact:///default/demo/questions:v0",
                         *       "type": "dataset",
                         *       "aliases": [
                         *         "best"
                         *       ],
                         *       "metadata": {},
                         *       "files": [
                         *         {
                         *           "path": "train.jsonl",
                         *           "size_bytes": 97,
                         *           "sha256": "73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59"
                         *         }
                         *       ],
                         *       "size_bytes": 97,
                         *       "created_at": "2026-11-23T18:05:03.556Z"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description Its version. */
                            version: string;
                            /** @description How jobs and other requests name it. */
                            uri: string;
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description Names of this version beside its number. */
                            aliases: string[];
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: unknown;
                            };
                            /** @description The files of the version. */
                            files: {
                                /** @description Path of the file within the version. */
                                path: string;
                                /** @description Size of the content, in bytes. */
                                size_bytes: number;
                                /** @description SHA-256 of the content, 64 hex digits. */
                                sha256: string;
                            }[];
                            /** @description Size of the content, in bytes. */
                            size_bytes: number;
                            /** @description When it was made. */
                            created_at: string;
                        } | {
                            /** @description SHA-256 of each. */
                            missing: string[];
                        };
                    };
                };
            };
        };
        post?: never;
        /**
         * Delete a version, or without one all versions of the name
         * @description Needs a key with the scope `train`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "deleted_count": 1
                         *     }
                         */
                        "application/json": {
                            /** @description How many were deleted. */
                            deleted_count: number;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/artifacts/{entity}/{project}/{artifact}/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file of a version, or with a Range header a part of it
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                    /** @description Path of the file within the version. */
                    path: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": unknown;
                    };
                };
            };
        };
        /**
         * Store a file: under name, name:alias or name:vN (the next) as a version of its own, under name:draft for a manifest to come
         * @description Needs a key with the scope `train`. The body is the file.
         */
        put: {
            parameters: {
                query?: {
                    /** @description Which kind it is: it says which other fields there are. */
                    type?: string;
                    /** @description A name for the version that this makes. */
                    alias?: string;
                    /** @description Of the body; other bytes are refused. */
                    sha256?: string;
                };
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                    /** @description Path of the file within the version. */
                    path: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /** @example {"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]} */
                    "application/octet-stream": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "40eb275f-78de-4da6-a99c-45dd4abe9c96",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "name": "questions",
                         *       "version": "v0",
                         *       "uri": "wandb-artifact:///default/demo/questions:v0",
                         *       "type": "dataset",
                         *       "aliases": [],
                         *       "metadata": {},
                         *       "files": [
                         *         {
                         *           "path": "train.jsonl",
                         *           "size_bytes": 97,
                         *           "sha256": "73cf956471f1334738f9271e8bba0faa214e7d30afbec13e9af7b64ef48efd59"
                         *         }
                         *       ],
                         *       "size_bytes": 97,
                         *       "created_at": "2026-11-23T18:05:03.556Z"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description Its name. */
                            name: string;
                            /** @description Its version. */
                            version: string;
                            /** @description How jobs and other requests name it. */
                            uri: string;
                            /** @description Which kind it is: it says which other fields there are. */
                            type: string;
                            /** @description Names of this version beside its number. */
                            aliases: string[];
                            /** @description Your own values, given back as they came. */
                            metadata: {
                                [key: string]: unknown;
                            };
                            /** @description The files of the version. */
                            files: {
                                /** @description Path of the file within the version. */
                                path: string;
                                /** @description Size of the content, in bytes. */
                                size_bytes: number;
                                /** @description SHA-256 of the content, 64 hex digits. */
                                sha256: string;
                            }[];
                            /** @description Size of the content, in bytes. */
                            size_bytes: number;
                            /** @description When it was made. */
                            created_at: string;
                        } | {
                            /** @description Path of the file within the version. */
                            path: string;
                            /** @description Size of the content, in bytes. */
                            size_bytes: number;
                            /** @description SHA-256 of the content, 64 hex digits. */
                            sha256: string;
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/preview/artifacts/{entity}/{project}/{artifact}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Rows of training data, conversations or preference pairs, with their tokens as a job would train them
         * @description A page may have fewer than asked for where they are large. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description Of the file. Default: the one that a job would read. */
                    path?: string;
                    /** @description Whose chat template and tokenizer write the tokens. Default: the first base model of the server. */
                    base_model?: string;
                    /** @description As in the config of an SFT job; of no effect on preference pairs. */
                    assistant_turns?: "all" | "last";
                };
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description Its name; `:vN`, `:alias` or `:latest` behind it names a version. */
                    artifact: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "1",
                         *           "line": 1,
                         *           "size_bytes": 96,
                         *           "messages": [
                         *             {
                         *               "role": "user",
                         *               "content": "Say yes."
                         *             }
                         *           ],
                         *           "chosen": null,
                         *           "rejected": null,
                         *           "tools": null,
                         *           "problem": null,
                         *           "beginning": null,
                         *           "sequences": [
                         *             {
                         *               "token_ids": [
                         *                 1618,
                         *                 268,
                         *                 10,
                         *                 733
                         *               ],
                         *               "texts": [
                         *                 "<|im_start|>",
                         *                 "user",
                         *                 "\n",
                         *                 "Say"
                         *               ],
                         *               "trained": [
                         *                 false,
                         *                 false,
                         *                 false,
                         *                 false
                         *               ]
                         *             }
                         *           ]
                         *         }
                         *       ],
                         *       "first_id": "1",
                         *       "last_id": "1",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description The line, as a cursor. */
                                id: string;
                                /** @description Of the file, from 1. */
                                line: number;
                                /** @description Of the line; of one of more than 1 MB, as much as was read. */
                                size_bytes: number;
                                /** @description Of a preference pair: the prompt. Null: the line cannot be read, or has more than 1 MB. */
                                messages: {
                                    [key: string]: unknown;
                                }[] | null;
                                /** @description The preferred answer of a pair; null: the line is none. */
                                chosen: {
                                    [key: string]: unknown;
                                }[] | null;
                                /** @description The other answer of a pair; null: the line is none. */
                                rejected: {
                                    [key: string]: unknown;
                                }[] | null;
                                /** @description What the model may call. */
                                tools: {
                                    [key: string]: unknown;
                                }[] | null;
                                /** @description Why a job would refuse the line. */
                                problem: string | null;
                                /** @description Of the line, where it has no messages. */
                                beginning: string | null;
                                /** @description As they would be trained. Several where the template rewrites the past; of a pair two, chosen and rejected; none where nothing would be trained. Null: the line cannot be read, or has more than 64 kB, which is encoded in jobs only. */
                                sequences: {
                                    /** @description Ids of the tokens. */
                                    token_ids: number[];
                                    /** @description What each token completes: joined they are the text, a token inside a character is empty. */
                                    texts: string[];
                                    /** @description False: context, which the loss does not count. */
                                    trained: boolean[];
                                }[] | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List your runs, of all projects or one
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description desc: the newest first. */
                    order?: "asc" | "desc";
                    /** @description The project that it belongs to. */
                    project?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "15899f24-6b65-49ac-ab0f-db00cb6f0f0a",
                         *           "entity": "default",
                         *           "project": "demo",
                         *           "run": "first-run",
                         *           "name": "first-run",
                         *           "group": null,
                         *           "job_type": null,
                         *           "notes": null,
                         *           "tags": [],
                         *           "state": "running",
                         *           "exit_code": null,
                         *           "config": {
                         *             "lr": 0.1
                         *           },
                         *           "summary": {},
                         *           "history_lines": 2,
                         *           "created_at": "2026-11-23T18:05:02.720Z",
                         *           "updated_at": "2026-11-23T18:05:02.902Z"
                         *         }
                         *       ],
                         *       "first_id": "15899f24-6b65-49ac-ab0f-db00cb6f0f0a",
                         *       "last_id": "15899f24-6b65-49ac-ab0f-db00cb6f0f0a",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description The project that it belongs to. */
                                project: string;
                                /** @description As its client calls it; unique within the project. */
                                run: string;
                                /** @description As it is shown. */
                                name: string;
                                /** @description Runs that its client put together; null where it did not. */
                                group: string | null;
                                /** @description What kind of work it is, as its client says. */
                                job_type: string | null;
                                /** @description What its client noted. */
                                notes: string | null;
                                /** @description What its client tagged it with. */
                                tags: string[];
                                /**
                                 * @description `running` until its client says that it has ended; one that was killed never says so.
                                 * @enum {string}
                                 */
                                state: "running" | "finished" | "failed";
                                /** @description What its process ended with; null before. */
                                exit_code: number | null;
                                /** @description Settings, as they were logged. */
                                config: {
                                    [key: string]: unknown;
                                };
                                /** @description The last value of every name that was logged. */
                                summary: {
                                    [key: string]: unknown;
                                };
                                /** @description How many lines were logged. */
                                history_lines: number;
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /**
                                 * Format: date-time
                                 * @description When it changed last.
                                 */
                                updated_at: string;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{entity}/{project}/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a run: configuration, summary, state
         * @description Entity `~` is your own. Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description The run, as its client calls it. */
                    run: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "15899f24-6b65-49ac-ab0f-db00cb6f0f0a",
                         *       "entity": "default",
                         *       "project": "demo",
                         *       "run": "first-run",
                         *       "name": "first-run",
                         *       "group": null,
                         *       "job_type": null,
                         *       "notes": null,
                         *       "tags": [],
                         *       "state": "running",
                         *       "exit_code": null,
                         *       "config": {
                         *         "lr": 0.1
                         *       },
                         *       "summary": {},
                         *       "history_lines": 2,
                         *       "created_at": "2026-11-23T18:05:02.720Z",
                         *       "updated_at": "2026-11-23T18:05:02.902Z"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description The project that it belongs to. */
                            project: string;
                            /** @description As its client calls it; unique within the project. */
                            run: string;
                            /** @description As it is shown. */
                            name: string;
                            /** @description Runs that its client put together; null where it did not. */
                            group: string | null;
                            /** @description What kind of work it is, as its client says. */
                            job_type: string | null;
                            /** @description What its client noted. */
                            notes: string | null;
                            /** @description What its client tagged it with. */
                            tags: string[];
                            /**
                             * @description `running` until its client says that it has ended; one that was killed never says so.
                             * @enum {string}
                             */
                            state: "running" | "finished" | "failed";
                            /** @description What its process ended with; null before. */
                            exit_code: number | null;
                            /** @description Settings, as they were logged. */
                            config: {
                                [key: string]: unknown;
                            };
                            /** @description The last value of every name that was logged. */
                            summary: {
                                [key: string]: unknown;
                            };
                            /** @description How many lines were logged. */
                            history_lines: number;
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /**
                             * Format: date-time
                             * @description When it changed last.
                             */
                            updated_at: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /**
         * Delete a run and its history
         * @description Needs a key with the scope `train`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description The run, as its client calls it. */
                    run: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "deleted": true
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description It is gone.
                             * @constant
                             */
                            deleted: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{entity}/{project}/{run}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a run has logged, line by line; in pages, or all of it as lines of JSON
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Number of the last line of the page before. */
                    after?: number;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description jsonl: all lines from the cursor on. */
                    format?: "json" | "jsonl";
                };
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description The run, as its client calls it. */
                    run: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0",
                         *           "line": 0,
                         *           "values": {
                         *             "_step": 0,
                         *             "loss": 1.5
                         *           }
                         *         }
                         *       ],
                         *       "first_id": "0",
                         *       "last_id": "1",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Number of the line, from 0. */
                                line: number;
                                /** @description As they were logged; `_step` and `_timestamp` are the library’s. */
                                values: {
                                    [key: string]: unknown;
                                };
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                        /** @example {"id":"0","line":0,"values":{"_step":0,"loss":1.5}} */
                        "application/jsonl": string;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/graphql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the wandb library asks and changes; changes need the scope train
         * @description Needs a key with the scope `read`. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "query": "query Run($name: String!) { project(name: \"demo\", entityName: \"default\") { run(name: $name) { name } } }",
                     *       "variables": {
                     *         "name": "first-run"
                     *       },
                     *       "operationName": "Run"
                     *     }
                     */
                    "application/json": {
                        /** @description The GraphQL document. */
                        query: string;
                        /** @description Values of its variables, by name; null: it has none. */
                        variables?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Which operation of the document is executed; null: the only one. */
                        operationName?: string | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "data": {
                         *         "project": {
                         *           "run": {
                         *             "name": "first-run"
                         *           }
                         *         }
                         *       }
                         *     }
                         */
                        "application/json": {
                            /** @description The answer, by the fields that were asked for; null where nothing could be answered. */
                            data: unknown;
                            /** @description What went wrong; left out where nothing did. */
                            errors?: {
                                /** @description What went wrong, for people. */
                                message: string;
                            }[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/files/{entity}/{project}/{run}/file_stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lines of a run’s history by number, its summary, and its end
         * @description Needs a key with the scope `train`. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The team that it belongs to. */
                    entity: string;
                    /** @description The project that it belongs to. */
                    project: string;
                    /** @description The run, as its client calls it. */
                    run: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "files": {
                     *         "wandb-history.jsonl": {
                     *           "offset": 2,
                     *           "content": [
                     *             "{\"_step\":2,\"loss\":0.9}"
                     *           ]
                     *         },
                     *         "wandb-summary.json": {
                     *           "offset": 0,
                     *           "content": [
                     *             "{\"_step\":2,\"loss\":0.9}"
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description By name of the file: lines, and the number of the first one. */
                        files?: ({
                            /** @description Lines of the history, one JSON object per step. */
                            "wandb-history.jsonl"?: {
                                /**
                                 * @description Number of the first line, from 0.
                                 * @default 0
                                 */
                                offset?: number;
                                /**
                                 * @description The lines, each a JSON object as text.
                                 * @default []
                                 */
                                content?: string[];
                            } & {
                                [key: string]: unknown;
                            };
                            /** @description The summary; its last line counts. */
                            "wandb-summary.json"?: {
                                /**
                                 * @description Number of the first line, from 0.
                                 * @default 0
                                 */
                                offset?: number;
                                /**
                                 * @description The lines, each a JSON object as text.
                                 * @default []
                                 */
                                content?: string[];
                            } & {
                                [key: string]: unknown;
                            };
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Whether the run has ended; null: not yet. */
                        complete?: boolean | null;
                        /** @description What its process ended with; null: 0 where the run has ended. */
                        exitcode?: number | null;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {} */
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wandb/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the file that the link is for, or the list of files of an artifact
         * @description Needs no key. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        get: {
            parameters: {
                query: {
                    /** @description What the server signed: it names one file and works for a day, without a key. */
                    link: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": unknown;
                    };
                };
            };
        };
        /**
         * Send the file that the link is for; files of runs are dropped
         * @description Needs no key. The body is the file. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        put: {
            parameters: {
                query: {
                    /** @description What the server signed: it names one file and works for a day, without a key. */
                    link: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /** @example {"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]} */
                    "application/octet-stream": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sdk/otel/v1/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the library measures of itself: not kept
         * @description Needs no key. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {} */
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/traces/server_info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the weave library asks before anything else: no client is new enough, so that none sends traces
         * @description Needs no key. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "min_required_weave_python_version": "999.0.0",
                         *       "trace_server_version": null
                         *     }
                         */
                        "application/json": {
                            /** @description The lowest version of the weave library that may send traces: none has it. */
                            min_required_weave_python_version: string;
                            /** @description Null: traces are not kept here. */
                            trace_server_version: string | null;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/traces/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Traces that a client of weave sends all the same: counted and dropped, or refused
         * @description Needs a key, whatever it may do. The body is the file. The protocol of the `wandb` library; see docs/wandb.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of the operation of the weave library. */
                    path: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /** @example {"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]} */
                    "application/octet-stream": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {} */
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tokens and requests by day, key, project and model
         * @description Needs a key with the scope `read`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description Id of a key, as `whetstone keys list` shows it. */
                    api_key_id?: string;
                    /** @description As in the Vendor-Project header, without the team. Empty: requests that named none. */
                    project?: string;
                    /** @description As answers name it. */
                    model?: string;
                    /** @description First day, UTC. */
                    start_date?: string;
                    /** @description Last day, UTC; it is included. */
                    end_date?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "e80bb18a8b106200683b356798d19adf",
                         *           "object": "usage",
                         *           "date": "2026-11-23",
                         *           "api_key_id": "bootstrap",
                         *           "project": "demo",
                         *           "model": "wandb-artifact:///default/demo/sums:step1",
                         *           "requests": 1,
                         *           "prompt_tokens": 18,
                         *           "cached_tokens": 0,
                         *           "completion_tokens": 3,
                         *           "total_tokens": 21
                         *         }
                         *       ],
                         *       "first_id": "e80bb18a8b106200683b356798d19adf",
                         *       "last_id": "5077ded203a9ecb7a6c4e690d1ff67ae",
                         *       "has_more": false,
                         *       "totals": {
                         *         "requests": 10,
                         *         "prompt_tokens": 148,
                         *         "cached_tokens": 115,
                         *         "completion_tokens": 37,
                         *         "total_tokens": 185
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "usage";
                                /** @description The day, in UTC. */
                                date: string;
                                /** @description Id of the key that asked. */
                                api_key_id: string;
                                /** @description The project that it belongs to. */
                                project: string;
                                /** @description The model: a base model, `entity/project/name` for its latest checkpoint, or `entity/project/name:stepN`. */
                                model: string;
                                /** @description How many requests there were. */
                                requests: number;
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Of the prompt tokens: those that did not have to be computed. */
                                cached_tokens: number;
                                /** @description Tokens that were written. */
                                completion_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                            /** @description Of everything that the filter lets pass, not of this page only. */
                            totals: {
                                /** @description How many requests there were. */
                                requests: number;
                                /** @description Tokens that were read. */
                                prompt_tokens: number;
                                /** @description Of the prompt tokens: those that did not have to be computed. */
                                cached_tokens: number;
                                /** @description Tokens that were written. */
                                completion_tokens: number;
                                /** @description Tokens that were read and written. */
                                total_tokens: number;
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys, oldest first
         * @description Needs a key with the scope `admin`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0196f2c8-9aa1-7f3d-86e7-8f0a1b2c3d05",
                         *           "object": "api_key",
                         *           "entity": "default",
                         *           "name": "a laptop",
                         *           "scopes": [
                         *             "chat",
                         *             "read"
                         *           ],
                         *           "limits": {
                         *             "tokens_per_day": 1000000
                         *           },
                         *           "created_at": "2026-11-23T18:05:07.617Z",
                         *           "last_used_at": null,
                         *           "revoked_at": null
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "api_key";
                                /** @description The team that it belongs to. */
                                entity: string;
                                /** @description Its name. */
                                name: string;
                                /** @description What the key may do. */
                                scopes: ("chat" | "train" | "read" | "admin" | "worker")[];
                                /** @description How much the key may use. */
                                limits: {
                                    [key: string]: number;
                                };
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description To the minute. */
                                last_used_at: string | null;
                                /** @description When it was revoked; null: it works. */
                                revoked_at: string | null;
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * Make an API key
         * @description Its secret is shown now and never again. Needs a key with the scope `admin`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "name": "a laptop",
                     *       "scopes": [
                     *         "chat",
                     *         "read"
                     *       ],
                     *       "limits": {
                     *         "tokens_per_day": 1000000
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description To recognise it in the list. */
                        name: string;
                        /** @description Default: chat, train, read. train includes read, admin includes all. */
                        scopes?: ("chat" | "train" | "read" | "admin" | "worker")[];
                        /** @description What is not named is limited by what the entity may use. A key that has limits makes no others. */
                        limits?: {
                            /** @description At most so many requests at once. */
                            requests_in_flight?: number;
                            /** @description At most so many jobs that wait or run. */
                            queued_jobs?: number;
                            /** @description At most so many bytes stored. */
                            stored_bytes?: number;
                            /** @description Of chat requests, prompts and completions; days are UTC. */
                            tokens_per_day?: number;
                        } & {
                            [key: string]: unknown;
                        };
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "a842f675-47c8-4126-9ca9-11eb2eaf59d2",
                         *       "object": "api_key",
                         *       "entity": "default",
                         *       "name": "a laptop",
                         *       "scopes": [
                         *         "chat",
                         *         "read"
                         *       ],
                         *       "limits": {
                         *         "tokens_per_day": 1000000
                         *       },
                         *       "created_at": "2026-11-23T18:05:07.617Z",
                         *       "last_used_at": null,
                         *       "revoked_at": null,
                         *       "secret": "wk-0123456789abcdef"
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "api_key";
                            /** @description The team that it belongs to. */
                            entity: string;
                            /** @description Its name. */
                            name: string;
                            /** @description What the key may do. */
                            scopes: ("chat" | "train" | "read" | "admin" | "worker")[];
                            /** @description How much the key may use. */
                            limits: {
                                [key: string]: number;
                            };
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /** @description To the minute. */
                            last_used_at: string | null;
                            /** @description When it was revoked; null: it works. */
                            revoked_at: string | null;
                            /** @description Shown now and never again. */
                            secret: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key, from its next request on
         * @description Repeatable. Needs a key with the scope `admin`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the key. */
                    key_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c8-9aa1-7f3d-86e7-8f0a1b2c3d05",
                         *       "object": "api_key",
                         *       "revoked": true
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "api_key";
                            /**
                             * @description It no longer works.
                             * @constant
                             */
                            revoked: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhooks, oldest first
         * @description Needs a key with the scope `admin`.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "0196f2c9-c4b3-7a4e-98f9-9a1b2c3d4e06",
                         *           "object": "webhook",
                         *           "url": "https://example.com/jobs/",
                         *           "events": [
                         *             "training_job.succeeded"
                         *           ],
                         *           "created_at": "2026-11-23T18:05:02.936Z",
                         *           "disabled_at": null
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /**
                                 * Format: uuid
                                 * @description Names this object for as long as it is there.
                                 */
                                id: string;
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "webhook";
                                /** @description The address that is called. */
                                url: string;
                                /** @description What it is called for. */
                                events: ("training_job.succeeded" | "training_job.failed" | "training_job.cancelled")[];
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description Since its receiver answered 410 Gone. */
                                disabled_at: string | null;
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * Have a URL called when training jobs end
         * @description The secret that signs is shown now and never again. Needs a key with the scope `admin`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "url": "https://example.com/jobs",
                     *       "events": [
                     *         "training_job.succeeded"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description http or https; without user name and password. */
                        url: string;
                        /** @description Default: all. */
                        events?: ("training_job.succeeded" | "training_job.failed" | "training_job.cancelled")[];
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "1ba15e04-86e1-432b-b83a-2e7ccec6f069",
                         *       "object": "webhook",
                         *       "url": "https://example.com/jobs/",
                         *       "events": [
                         *         "training_job.succeeded"
                         *       ],
                         *       "created_at": "2026-11-23T18:05:02.936Z",
                         *       "disabled_at": null,
                         *       "secret": "whsec_R1rPGlSJqpuPNOUygRMCdMbhANR9SQJPBx0S4re5Wqs="
                         *     }
                         */
                        "application/json": {
                            /**
                             * Format: uuid
                             * @description Names this object for as long as it is there.
                             */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "webhook";
                            /** @description The address that is called. */
                            url: string;
                            /** @description What it is called for. */
                            events: ("training_job.succeeded" | "training_job.failed" | "training_job.cancelled")[];
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /** @description Since its receiver answered 410 Gone. */
                            disabled_at: string | null;
                            /** @description Verifies signatures. Shown now and never again. */
                            secret: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook, its deliveries and what was still to be sent
         * @description Needs a key with the scope `admin`.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the webhook. */
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "0196f2c9-c4b3-7a4e-98f9-9a1b2c3d4e06",
                         *       "object": "webhook",
                         *       "deleted": true
                         *     }
                         */
                        "application/json": {
                            /** @description Names this object for as long as it is there. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "webhook";
                            /**
                             * @description It is gone.
                             * @constant
                             */
                            deleted: true;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was sent and what came back, newest first, of the last 30 days
         * @description Needs a key with the scope `admin`.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Id of the last item of the page before; the page starts strictly after it. 400 where that item is not there (any more). */
                    after?: string;
                    /** @description At most so many items. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description Id of the webhook. */
                    webhook_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": [
                         *         {
                         *           "id": "msg_283420439307761fa0ab1f9ad1832163",
                         *           "object": "webhook_delivery",
                         *           "webhook_id": "0196f2c9-c4b3-7a4e-98f9-9a1b2c3d4e06",
                         *           "training_job_id": "01d0e184-3709-491a-b470-9134aa9c2451",
                         *           "event": "training_job.succeeded",
                         *           "status": "delivered",
                         *           "created_at": "2026-11-23T18:05:33.690Z",
                         *           "attempts": 1,
                         *           "next_attempt_at": null,
                         *           "last_status": 200,
                         *           "last_error": null,
                         *           "delivered_at": "2026-11-23T18:05:34.004Z"
                         *         }
                         *       ],
                         *       "first_id": "msg_283420439307761fa0ab1f9ad1832163",
                         *       "last_id": "msg_0196f2ca-d5c4-7b5f-aa0b-ab2c3d4e5f07",
                         *       "has_more": false
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description As in the header webhook-id. */
                                id: string;
                                /**
                                 * @description Which kind of object this is.
                                 * @constant
                                 */
                                object: "webhook_delivery";
                                /**
                                 * Format: uuid
                                 * @description Id of the webhook.
                                 */
                                webhook_id: string;
                                /** @description Id of the training job. */
                                training_job_id: string;
                                /**
                                 * @description What happened.
                                 * @enum {string}
                                 */
                                event: "training_job.succeeded" | "training_job.failed" | "training_job.cancelled";
                                /**
                                 * @description pending: there will be an attempt.
                                 * @enum {string}
                                 */
                                status: "pending" | "delivered" | "failed";
                                /**
                                 * Format: date-time
                                 * @description When it was made.
                                 */
                                created_at: string;
                                /** @description How often it was sent. */
                                attempts: number;
                                /** @description When it is sent again; null: not any more. */
                                next_attempt_at: string | null;
                                /** @description Of the last attempt; null: no answer. */
                                last_status: number | null;
                                /** @description What went wrong the last time; null where nothing did. */
                                last_error: string | null;
                                /** @description When it arrived; null before. */
                                delivered_at: string | null;
                            }[];
                            /** @description Id of the first item; empty without items. */
                            first_id: string;
                            /** @description Id of the last item: `after` of the next page. Empty without items. */
                            last_id: string;
                            /** @description Whether there are items after these. */
                            has_more: boolean;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again now, under the same webhook-id
         * @description Needs a key with the scope `admin`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the webhook. */
                    webhook_id: string;
                    /** @description Id of the delivery, as the list of deliveries has it. */
                    delivery_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "id": "msg_0196f2ca-d5c4-7b5f-aa0b-ab2c3d4e5f07",
                         *       "object": "webhook_delivery",
                         *       "webhook_id": "0196f2c9-c4b3-7a4e-98f9-9a1b2c3d4e06",
                         *       "training_job_id": "0196f2c5-11d2-7c0a-8f6e-5b7c9d0e1a02",
                         *       "event": "training_job.succeeded",
                         *       "status": "pending",
                         *       "created_at": "2026-11-23T18:05:06.658Z",
                         *       "attempts": 1,
                         *       "next_attempt_at": "2026-11-23T18:05:39.951Z",
                         *       "last_status": 200,
                         *       "last_error": null,
                         *       "delivered_at": "2026-11-23T18:05:06.738Z"
                         *     }
                         */
                        "application/json": {
                            /** @description As in the header webhook-id. */
                            id: string;
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "webhook_delivery";
                            /**
                             * Format: uuid
                             * @description Id of the webhook.
                             */
                            webhook_id: string;
                            /** @description Id of the training job. */
                            training_job_id: string;
                            /**
                             * @description What happened.
                             * @enum {string}
                             */
                            event: "training_job.succeeded" | "training_job.failed" | "training_job.cancelled";
                            /**
                             * @description pending: there will be an attempt.
                             * @enum {string}
                             */
                            status: "pending" | "delivered" | "failed";
                            /**
                             * Format: date-time
                             * @description When it was made.
                             */
                            created_at: string;
                            /** @description How often it was sent. */
                            attempts: number;
                            /** @description When it is sent again; null: not any more. */
                            next_attempt_at: string | null;
                            /** @description Of the last attempt; null: no answer. */
                            last_status: number | null;
                            /** @description What went wrong the last time; null where nothing did. */
                            last_error: string | null;
                            /** @description When it arrived; null before. */
                            delivered_at: string | null;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workers that are connected to this server
         * @description Needs a key with the scope `worker`. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "object": "list",
                         *       "data": []
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Which kind of object this is.
                             * @constant
                             */
                            object: "list";
                            /** @description The items, in the order of the list. */
                            data: {
                                /** @description Names this object for as long as it is there. */
                                id: string;
                                /** @description Its name. */
                                name: string;
                                /** @description Its version. */
                                version: string;
                                /** @description The base model that is sampled from or trained on. */
                                base_model: string;
                                /** @description What it does: sample, train. */
                                roles: ("sample" | "train")[];
                                /**
                                 * @description away: its connection is lost, and it is expected back. draining: it takes no new calls.
                                 * @enum {string}
                                 */
                                state: "connected" | "away" | "draining";
                                /** @description When it connected. */
                                connected_at: string;
                                /** @description Since anything came of it. */
                                silent_seconds: number;
                                /** @description Connections that it lost and replaced. */
                                reconnects: number;
                                /** @description Sampled tokens that came of it. */
                                tokens: number;
                                /** @description Training sessions that are open there. */
                                sessions: number;
                                /** @description Choices that it computes at once; null where it does not sample. */
                                sequences_max: number | null;
                                /** @description Choices that it computes. */
                                running: number;
                                /** @description Choices that wait there. */
                                waiting: number;
                                /** @description Ids of checkpoints in its memory. */
                                adapters: string[];
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Connect a worker: a WebSocket, as docs/worker-protocol.md describes
         * @description Needs a key with the scope `worker`. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/files/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Download a file of an adapter that a call named; Range: bytes=N- goes on
         * @description Needs a key with the scope `worker`. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description SHA-256 of the content, 64 hex digits. */
                    sha256: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workers/uploads/{sha256}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How much of a file has arrived
         * @description Needs a key with the scope `worker`. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description SHA-256 of the content, 64 hex digits. */
                    sha256: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "complete": false,
                         *       "offset": 0
                         *     }
                         */
                        "application/json": {
                            /** @description Whether all of it has arrived. */
                            complete: boolean;
                            /** @description How many bytes have arrived. */
                            offset: number;
                        };
                    };
                };
            };
        };
        /**
         * Bring the next piece of a file, with Content-Range: bytes FIRST-LAST/TOTAL
         * @description Needs a key with the scope `worker`. Answered by every server, whatever its roles. The body is the file.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description SHA-256 of the content, 64 hex digits. */
                    sha256: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    /** @example {"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]} */
                    "application/octet-stream": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Whether all of it has arrived. */
                            complete: boolean;
                            /** @description How many bytes have arrived. */
                            offset: number;
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The server answers
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "ok"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "ok";
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/client/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * How the SDK is to behave with this server
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "sdk_version": "0.38.0"
                     *     }
                     */
                    "application/json": {
                        /** @description Version of the SDK; it has no effect. */
                        sdk_version?: string | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sample_max_concurrent_requests": 500,
                         *       "proto_write_fwdbwd": true,
                         *       "fwd_via_fwdbwd": true
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/client/dynamic_config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What of that may change; nothing does
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "sdk_version": "0.38.0"
                     *     }
                     */
                    "application/json": {
                        /** @description Version of the SDK; it has no effect. */
                        sdk_version?: string | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /** @example {} */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/telemetry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the SDK tells about itself; not read and not kept
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "events": [],
                     *       "session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09"
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "accepted"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "accepted";
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/get_server_capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The base models
         * @description Needs a key, whatever it may do. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "supported_models": [
                         *         {
                         *           "model_name": "whetstone/starter",
                         *           "max_context_length": 1024,
                         *           "trainable": true,
                         *           "sampleable": true
                         *         }
                         *       ]
                         *     }
                         */
                        "application/json": {
                            /** @description The base models, each with its longest context in tokens and what can be done with it. */
                            supported_models: {
                                [key: string]: unknown;
                            }[];
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/create_session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a session
         * @description Needs a key, whatever it may do. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "tags": [
                     *         "sums"
                     *       ],
                     *       "user_metadata": {
                     *         "owner": "me"
                     *       },
                     *       "sdk_version": "0.38.0"
                     *     }
                     */
                    "application/json": {
                        /** @description Your own words for the session; null: none. */
                        tags?: string[] | null;
                        /** @description Your own values, given back as they came; null: none. */
                        user_metadata?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Version of the SDK; it has no effect. */
                        sdk_version?: string | null;
                        /** @description Project in the hosted service; it has no effect here. */
                        project_id?: string | null;
                        /** @description Name of the session for people; it is not kept. */
                        display_name?: string | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the session, as `create_session` answered. */
                            session_id: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/session_heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The client of a session is there
         * @description Needs a key, whatever it may do. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the session, as `create_session` answered. */
                        session_id: string;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "type": "session_heartbeat"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description Name of the operation; may be left out.
                             * @constant
                             */
                            type: "session_heartbeat";
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/sessions/{session_id}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The client of a session leaves
         * @description Needs a key, whatever it may do. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the session, as `create_session` answered. */
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description How the client ended; null: not said. */
                        reason?: ({
                            /** @description `success`, `errored` or `interrupted`. */
                            type: string;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description What went wrong in the client, in words; null: nothing. */
                        detail?: string | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/create_model": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a training run with a fresh adapter
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09",
                     *       "model_seq_id": 0,
                     *       "base_model": "whetstone/starter",
                     *       "lora_config": {
                     *         "rank": 8,
                     *         "seed": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the session, as `create_session` answered. */
                        session_id: string;
                        /** @description Number of the training run within its session, from 0. The same number gives the same run. */
                        model_seq_id: number;
                        /** @description Name of a base model, as `get_server_capabilities` lists it. */
                        base_model: string;
                        /** @description Your own values, given back as they came; null: none. */
                        user_metadata?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description The adapter that is trained; null: the defaults. */
                        lora_config?: {
                            /**
                             * @description Rank of the adapter’s matrices.
                             * @default 32
                             */
                            rank?: number;
                            /** @description The same seed gives the same first weights; null: any. */
                            seed?: number | null;
                            /**
                             * @description Whether the output layer is adapted.
                             * @default true
                             */
                            train_unembed?: boolean;
                            /**
                             * @description Whether the feed-forward layers are adapted.
                             * @default true
                             */
                            train_mlp?: boolean;
                            /**
                             * @description Whether the attention layers are adapted.
                             * @default true
                             */
                            train_attn?: boolean;
                        } | null;
                        /** @description The optimiser; null: AdamW. */
                        optimizer_config?: ({
                            /** @description Only `adamw` is offered. */
                            type: string;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/0",
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/load_weights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Begin a training run from saved weights, or load them into one
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description Id of the session, as `create_session` answered. */
                        session_id?: string | null;
                        /** @description Number of the training run within its session, from 0. The same number gives the same run. */
                        model_seq_id?: number | null;
                        /** @description The training run to load into, with seq_id; null: one is made. */
                        model_id?: string | null;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id?: number | null;
                        /** @description The saved weights, `tinker://RUN/KIND/NAME`. */
                        path: string;
                        /** @description Whether the state of the optimiser is loaded too; null: no. */
                        optimizer?: boolean | null;
                        /** @description It has no effect: the saved weights name theirs. */
                        base_model?: string | null;
                        /** @description Your own values, given back as they came; null: none. */
                        user_metadata?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description The optimiser; null: AdamW. */
                        optimizer_config?: ({
                            /** @description Only `adamw` is offered. */
                            type: string;
                        } & {
                            [key: string]: unknown;
                        }) | null;
                        /** @description Must be null: other accounts’ weights are read here once they are published. */
                        weights_access_token?: null;
                        /** @description It has no effect: the adapter is as saved. */
                        lora_config?: unknown;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/get_info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What a training run trains
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id: string;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                         *       "model_data": {
                         *         "model_name": "whetstone/starter"
                         *       },
                         *       "model_name": "whetstone/starter",
                         *       "is_lora": true,
                         *       "lora_rank": 8
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/forward_backward": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Log-probabilities of data, and unless forward_only their gradients (protobuf)
         * @description Needs a key with the scope `train`. The body is the file. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /** @example {"messages": [{"role": "user", "content": "Say yes."}, {"role": "assistant", "content": "yes"}]} */
                    "application/octet-stream": string;
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/optim_step": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Apply the gradients (AdamW), and clear them
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                     *       "seq_id": 1,
                     *       "adam_params": {
                     *         "learning_rate": 0.0001
                     *       }
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id: string;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id: number;
                        /** @description Settings of AdamW for this step. */
                        adam_params: {
                            /**
                             * @description Size of the step.
                             * @default 0.0001
                             */
                            learning_rate?: number;
                            /**
                             * @description How much of the mean of gradients is kept at each step.
                             * @default 0.9
                             */
                            beta1?: number;
                            /**
                             * @description How much of the mean of squared gradients is kept at each step.
                             * @default 0.95
                             */
                            beta2?: number;
                            /**
                             * @description Added to the divisor, against division by zero.
                             * @default 1e-12
                             */
                            eps?: number;
                            /**
                             * @description How much weights shrink at each step, times the learning rate.
                             * @default 0
                             */
                            weight_decay?: number;
                            /**
                             * @description Gradients with a larger norm are scaled down to it; 0: never.
                             * @default 0
                             */
                            grad_clip_norm?: number;
                        };
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/1",
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/save_weights": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save weights and optimiser state under a name
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                     *       "seq_id": 2,
                     *       "path": "sums",
                     *       "ttl_seconds": 86400
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id: string;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id: number;
                        /** @description Name of the saved weights, without a slash; null: the number seq_id. */
                        path?: string | null;
                        /** @description Whether weights of this name are replaced; null: no. */
                        overwrite?: boolean | null;
                        /** @description The weights are deleted after so many seconds; null: never. */
                        ttl_seconds?: number | null;
                        /** @description Your own values, given back as they came; null: none. */
                        user_metadata?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/2",
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/save_weights_for_sampler": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save weights to sample from, under a name or as a sampling session
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                     *       "seq_id": 3,
                     *       "path": "sums"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id: string;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id: number;
                        /** @description Name of the saved weights, without a slash; null: they are only sampled from, by a sampling session. */
                        path?: string | null;
                        /** @description Whether weights of this name are replaced; null: no. */
                        overwrite?: boolean | null;
                        /** @description The weights are deleted after so many seconds; null: never. */
                        ttl_seconds?: number | null;
                        /** @description Your own values, given back as they came; null: none. */
                        user_metadata?: {
                            [key: string]: unknown;
                        } | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                        /** @description Number of the sampling session within its session, from 0. The same number gives the same sampling session. */
                        sampling_session_seq_id?: number | null;
                        /** @description It has no effect: both are sampled from as they were saved. */
                        kind?: ("snapshot" | "inflight") | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/3",
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/save_weights_external": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save weights for other programs, as files with URLs
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                     *       "seq_id": 4,
                     *       "path": "sums"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id: string;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id: number;
                        /** @description Name of the saved weights, without a slash. */
                        path: string;
                        /** @description The weights are deleted after so many seconds; null: never. */
                        ttl_seconds?: number | null;
                        /** @description Must be empty or null: files are not encrypted here. */
                        age_encryption_recipients?: string[] | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/4",
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/create_sampling_session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sample from a base model, or from saved weights
         * @description Needs a key with the scope `chat`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09",
                     *       "sampling_session_seq_id": 0,
                     *       "base_model": "whetstone/starter"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the session, as `create_session` answered. */
                        session_id: string;
                        /** @description Number of the sampling session within its session, from 0. The same number gives the same sampling session. */
                        sampling_session_seq_id: number;
                        /** @description Name of a base model, as `get_server_capabilities` lists it. */
                        base_model?: string | null;
                        /** @description Saved weights to sample from, `tinker://RUN/KIND/NAME`; null: the base model. */
                        model_path?: string | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sampling_session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:sampler:0"
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the sampling session, as `create_sampling_session` answered. */
                            sampling_session_id: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/samplers/{sampler_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a sampling session samples from
         * @description Needs a key with the scope `chat`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the sampling session, as `create_sampling_session` answered. */
                    sampler_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sampler_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:sampler:0",
                         *       "base_model": "whetstone/starter"
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/asample": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sample what follows token ids
         * @description Needs a key with the scope `chat`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "sampling_session_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:sampler:0",
                     *       "seq_id": 0,
                     *       "prompt": {
                     *         "chunks": [
                     *           {
                     *             "type": "encoded_text",
                     *             "tokens": [
                     *               5,
                     *               6,
                     *               7
                     *             ]
                     *           }
                     *         ]
                     *       },
                     *       "sampling_params": {
                     *         "max_tokens": 8,
                     *         "temperature": 0
                     *       }
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description How many samples are drawn.
                         * @default 1
                         */
                        num_samples?: number;
                        /** @description The tokens that are continued. */
                        prompt: {
                            /** @description Pieces of the prompt, joined in order. */
                            chunks: {
                                /**
                                 * @description Only `encoded_text`: ids of tokens.
                                 * @constant
                                 */
                                type: "encoded_text";
                                /** @description Ids of the tokens. */
                                tokens: number[];
                            }[];
                        };
                        /** @description How tokens are drawn. */
                        sampling_params: {
                            /** @description At most so many tokens of a sample; null: as many as the context has room for. */
                            max_tokens?: number | null;
                            /** @description The same seed gives the same samples; null: any. */
                            seed?: number | null;
                            /** @description Texts or ids of tokens at which a sample ends; null: only at the end of the turn. */
                            stop?: (string | string[] | number[]) | null;
                            /**
                             * @description How much chance there is: 0 takes the likeliest token.
                             * @default 1
                             */
                            temperature?: number;
                            /**
                             * @description Sample among so many of the likeliest tokens; -1: among all.
                             * @default -1
                             */
                            top_k?: number;
                            /**
                             * @description Sample among the likeliest tokens that together have this probability.
                             * @default 1
                             */
                            top_p?: number;
                        };
                        /** @description Id of the sampling session, as `create_sampling_session` answered. */
                        sampling_session_id: string;
                        /** @description Number of the operation within its training run or sampling session. The same number is executed once. */
                        seq_id: number;
                        /** @description Whether the log-probabilities of the prompt’s tokens are answered; null: no. */
                        prompt_logprobs?: boolean | null;
                        /** @description How many of the likeliest tokens are answered at each place of the prompt; null: none. */
                        topk_prompt_logprobs?: number | null;
                        /** @description How many of the likeliest tokens are answered at each place of a sample; null: none. */
                        topk_sample_logprobs?: number | null;
                        /** @description Must be null: log-probabilities of other tokens are not offered. */
                        target_prompt_logprobs?: null;
                        /** @description Must be 0 or null: draws at the places of the prompt are not offered. */
                        prompt_alt_tokens_k?: 0 | null;
                        /** @description Only for so many tokens at the end of the prompt; null: for all. */
                        prompt_logprobs_last_n?: number | null;
                        /** @description Must be false or null: nothing more is recorded. */
                        record_stability_info?: false | null;
                        /** @description Name of the operation; may be left out. */
                        type?: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "request_id": "sample-447a6d51-63b9-4eae-a9bb-5a0a23844bab",
                         *       "sample_sequence_ids": [
                         *         "sample-447a6d51-63b9-4eae-a9bb-5a0a23844bab-0"
                         *       ]
                         *     }
                         */
                        "application/json": {
                            /** @description Id of the operation: `retrieve_future` answers with its result. */
                            request_id: string;
                            /** @description Id of the training run, as `create_model` answered. */
                            model_id?: string;
                            /** @description An id for each sample. */
                            sample_sequence_ids: string[];
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/retrieve_future": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The answer to a request, or 408 while there is none
         * @description Needs a key, whatever it may do. Answered by every server, whatever its roles. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    /**
                     * @example {
                     *       "request_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0/0"
                     *     }
                     */
                    "application/json": {
                        /** @description Id of the operation: `retrieve_future` answers with its result. */
                        request_id: string;
                        /** @description Whether the size of a result may be answered instead of it. It has no effect: results come whole. */
                        allow_metadata_only?: boolean | null;
                        /** @description Id of the training run, as `create_model` answered. */
                        model_id?: string | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "model_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *     }
                         */
                        "application/json": unknown;
                        "application/x-protobuf": unknown;
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Training runs, newest first; accessible: also those of other teams that published weights
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description How many of the newest are left out. */
                    offset?: number;
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                    /** @description Project in the hosted service; it has no effect here. */
                    project_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "training_runs": [
                         *         {
                         *           "training_run_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                         *           "base_model": "whetstone/starter",
                         *           "model_owner": "default",
                         *           "is_lora": true,
                         *           "lora_rank": 8,
                         *           "corrupted": false,
                         *           "last_request_time": "2026-11-24T04:04:48.106Z",
                         *           "user_metadata": {}
                         *         }
                         *       ],
                         *       "cursor": {
                         *         "offset": 0,
                         *         "limit": 100,
                         *         "total_count": 1
                         *       }
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One training run
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                };
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "training_run_id": "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0",
                         *       "base_model": "whetstone/starter",
                         *       "model_owner": "default",
                         *       "is_lora": true,
                         *       "lora_rank": 8,
                         *       "corrupted": false,
                         *       "last_request_time": "2026-11-24T04:04:48.106Z",
                         *       "user_metadata": {}
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Saved weights of a training run, newest first; of another team’s run, what is published
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description How many of the newest are left out. */
                    offset?: number;
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                    /** @description Project in the hosted service; it has no effect here. */
                    project_id?: string;
                };
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "checkpoints": [],
                         *       "cursor": {
                         *         "offset": 0,
                         *         "limit": 100,
                         *         "total_count": 0
                         *       }
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Saved weights of all training runs, newest first
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description How many of the newest are left out. */
                    offset?: number;
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                    /** @description Project in the hosted service; it has no effect here. */
                    project_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "checkpoints": [],
                         *       "cursor": {
                         *         "offset": 0,
                         *         "limit": 100,
                         *         "total_count": 0
                         *       }
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}/checkpoints/{kind}/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete saved weights
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                    /** @description Kind of the saved weights: `weights` with the optimiser, `sampler_weights` or `external_weights`. */
                    kind: string;
                    /** @description Name of the saved weights. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}/checkpoints/{kind}/{name}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let every team of this server read saved weights
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                    /** @description Kind of the saved weights: `weights` with the optimiser, `sampler_weights` or `external_weights`. */
                    kind: string;
                    /** @description Name of the saved weights. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        /**
         * Let only their own team read saved weights
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                    /** @description Kind of the saved weights: `weights` with the optimiser, `sampler_weights` or `external_weights`. */
                    kind: string;
                    /** @description Name of the saved weights. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}/checkpoints/{kind}/{name}/ttl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * When saved weights are deleted; null: never
         * @description Needs a key with the scope `train`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                    /** @description Kind of the saved weights: `weights` with the optimiser, `sampler_weights` or `external_weights`. */
                    kind: string;
                    /** @description Name of the saved weights. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The weights are deleted after so many seconds; null: never. */
                        ttl_seconds?: number | null;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/weights_info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What saved weights are of
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": {
                        /** @description The saved weights: `tinker://RUN/KIND/NAME`. */
                        tinker_path: string;
                    };
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Sessions, newest first
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description At most so many items. */
                    limit?: number;
                    /** @description How many of the newest are left out. */
                    offset?: number;
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                    /** @description Project in the hosted service; it has no effect here. */
                    project_id?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "sessions": [
                         *         "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09"
                         *       ]
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The training runs and sampling sessions of a session
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `owned`: only your team’s. `accessible`: also those of teams that published weights. */
                    access_scope?: "owned" | "accessible";
                };
                header?: never;
                path: {
                    /** @description Id of the session, as `create_session` answered. */
                    session_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "training_run_ids": [
                         *         "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:train:0"
                         *       ],
                         *       "sampler_ids": [
                         *         "0196f2cc-f7e6-7d71-8c2d-cd4e5f6a7b09:sampler:0"
                         *       ],
                         *       "user_metadata": {
                         *         "owner": "me"
                         *       }
                         *     }
                         */
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/training_runs/{run_id}/checkpoints/external_weights/{name}/external_weights_urls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A URL for each file of saved external weights, for a day
         * @description Needs a key with the scope `read`. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Id of the training run, as `create_model` answered. */
                    run_id: string;
                    /** @description Name of the saved weights. */
                    name: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tinker/api/v1/external_files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The file that the link is for
         * @description Needs no key. The protocol of the Tinker SDK; see docs/tinker.md for what is kept of it here.
         */
        get: {
            parameters: {
                query: {
                    /** @description What the server signed: it names one file and works for a day, without a key. */
                    link: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The server answers
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "ok",
                         *       "version": "0.1.0"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "ok";
                            /** @description Its version. */
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The server answers
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "ok",
                         *       "version": "0.1.0"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "ok";
                            /** @description Its version. */
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The server answers
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "ok",
                         *       "version": "0.1.0"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "ok";
                            /** @description Its version. */
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        /**
         * The server answers
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "status": "ok",
                         *       "version": "0.1.0"
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description How far it is.
                             * @constant
                             */
                            status: "ok";
                            /** @description Its version. */
                            version: string;
                        };
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which Whetstone this is
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "version": "0.1.0"
                         *     }
                         */
                        "application/json": {
                            /** @description Its version. */
                            version: string;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/load": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Requests for tokens that are not answered yet; open to whom /metrics is
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "server_load": 0
                         *     }
                         */
                        "application/json": {
                            /** @description How many requests for tokens are not answered yet. */
                            server_load: number;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/system-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What the server depends on works; 503 if something does not
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example {
                         *       "api": true,
                         *       "database": {
                         *         "success": true,
                         *         "duration": 0.001,
                         *         "errors": []
                         *       },
                         *       "cpu_queue": {
                         *         "success": true,
                         *         "duration": 0,
                         *         "errors": []
                         *       },
                         *       "gpu_queue": {
                         *         "success": true,
                         *         "duration": 0,
                         *         "errors": []
                         *       }
                         *     }
                         */
                        "application/json": {
                            /**
                             * @description The server answers.
                             * @constant
                             */
                            api: true;
                            /** @description The store answers. */
                            database: {
                                /** @description Whether it works. */
                                success: boolean;
                                /** @description How long the check took, in seconds. */
                                duration: number;
                                /** @description What went wrong, for people. */
                                errors: string[];
                            };
                            /** @description The trainer answers. */
                            cpu_queue: {
                                /** @description Whether it works. */
                                success: boolean;
                                /** @description How long the check took, in seconds. */
                                duration: number;
                                /** @description What went wrong, for people. */
                                errors: string[];
                            };
                            /** @description The sampler answers. */
                            gpu_queue: {
                                /** @description Whether it works. */
                                success: boolean;
                                /** @description How long the check took, in seconds. */
                                duration: number;
                                /** @description What went wrong, for people. */
                                errors: string[];
                            };
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        /**
                         * @example # HELP whetstone_process_cpu_user_seconds_total Total user CPU time spent in seconds.
                         *     # TYPE whetstone_process_cpu_user_seconds_total counter
                         *     whetstone_process_cpu_user_seconds_total 3.894845
                         *     # HELP whetstone_process_cpu_system_seconds_total Total system CPU time spent in seconds.
                         *     # TYPE whetstone_process_cpu_system_seconds_total counter
                         *     whetstone_process_cpu_system_seconds_total 0.710782
                         *     # HELP whetstone_process_cpu_seconds_total Total user and system CPU time spent in seconds.
                         *     # TYPE whetstone_process_cpu_seconds_total counter
                         */
                        "text/plain": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This API, described in OpenAPI 3.1
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": {
                            /** @description The version of OpenAPI: 3.1.0. */
                            openapi: string;
                        } & {
                            [key: string]: unknown;
                        };
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This API, described for people: a page with a search, examples, and requests to try
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The script of that page
         * @description Its name changes with its version. Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of the file. */
                    file: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/javascript": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The dashboard
         * @description Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/html": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/assets/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file of the dashboard
         * @description Its name changes with its content. Needs no key. Answered by every server, whatever its roles.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description Name of the file. */
                    file: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/javascript": unknown;
                        "text/css": unknown;
                        "image/svg+xml": unknown;
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: never;
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
