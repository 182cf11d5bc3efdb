// A chat request on the wire → ChatRequest (services/chat/chat-request.ts) and ChatFormat, the format of the answer. Rules across
// fields are checked first and hide type errors, as in vLLM; after that, all invalid fields are reported at once.
import { z } from 'zod';
import { nonEmpty } from '#base/non-empty';
import { isObject } from '#base/is-object';
import type { ChatRequest, ToolChoice } from '#services/chat/chat-request';
import { CHAT_DECISIONS, MESSAGE_DECISIONS } from './chat-decisions.ts';
import { refuseForbiddenCombinations } from './chat-rules.ts';
import { applyDecisions, applyNested } from './field-decisions.ts';
import { shapeWarnings } from './nested-fields.ts';
import {
  formFields,
  modelField,
  samplingFields,
  servingFields,
  showingFields,
  stoppingFields,
  truncationFields,
} from './generation-fields.ts';
import { answerFormat, listedIds, samplingOptions, servingOptions, type AnswerFormat } from './generation-options.ts';
import { sentEffort, sentKwargs, type SentVariable } from './unread-variables.ts';
import { boolean, integer, sentTexts, union } from '#validation/lax';
import { message, tool } from '#rows/message';
import { parse } from '#validation/parse';
import { asSent } from '#validation/read-ahead';

const MAX_DOCUMENTS = 1024;
export const MAX_MESSAGES = 2_000; // as in a trajectory: templates iterate over them
export const MAX_TOOLS = 2_000; // OpenAI's limit is 128; templates write out each of them

const namedFunction = z.looseObject({ name: z.string() });
const namedTool = z.looseObject({ type: z.literal('function').default('function'), function: namedFunction });
const allowedTools = z.looseObject({
  mode: z.enum(['auto', 'required']),
  tools: z.array(namedTool).min(1).max(MAX_TOOLS),
});
const allowingTools = z.looseObject({
  type: z.literal('allowed_tools'),
  allowed_tools: allowedTools.describe('The tools that the model may call, and whether it must call one.'),
});
export const chatRequestSchema = z
  .looseObject({
    model: modelField,
    messages: z.array(message).min(1).max(MAX_MESSAGES).describe('The conversation so far.'),

    ...samplingFields,

    ...stoppingFields,
    max_tokens: integer({ ge: 1 })
      .nullish()
      .describe('Maximum number of tokens in an answer. Default: as many as fit in the context.'),
    max_completion_tokens: integer({ ge: 0 }).nullish().describe('Takes precedence over max_tokens; 0 means unset.'),

    ...showingFields,
    logprobs: boolean()
      .nullish()
      .describe(
        'Return log-probabilities of the answer tokens. Default: false for base models, true for trainable models (rollouts need them).',
      ),
    top_logprobs: integer({ ge: -1 })
      .nullish()
      .describe(
        "Number of alternatives per token, up to the server's limit (20); -1: the whole vocabulary. null turns logprobs off.",
      ),
    echo: boolean().optional().describe('Start the answer with the last message.'),
    include_reasoning: boolean()
      .optional()
      .describe('false: the reasoning is generated and counted, but not returned.'),

    // Prompt
    add_generation_prompt: boolean()
      .optional()
      .describe(
        'End the prompt with the start of an assistant turn. Default: true, unless the final message is continued.',
      ),
    continue_final_message: boolean()
      .optional()
      .describe('The model continues the last message instead of starting a new one.'),
    add_special_tokens: boolean()
      .optional()
      .describe('Add special tokens of the tokenizer (such as BOS) in addition to those of the template.'),
    ...truncationFields,
    documents: z
      .array(sentTexts())
      .max(MAX_DOCUMENTS)
      .nullish()
      .describe('The variable `documents` of templates that support retrieval.'),
    chat_template: z
      .string()
      .nullish()
      .describe("A Jinja template to use instead of the model's. Refused unless the operator trusts such templates."),
    chat_template_kwargs: asSent(z.looseObject({}))
      .nullish()
      .describe('Variables for the chat template, such as enable_thinking.'),
    reasoning_effort: z
      .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
      .nullish()
      .describe('For templates that support it; none turns reasoning off.'),
    mm_processor_kwargs: z
      .looseObject({})
      .nullish()
      .describe('For images and audio, which are not supported: refused unless empty.'),

    ...formFields,
    tools: z.array(tool).max(MAX_TOOLS).nullish().describe('Functions that the model may call.'),
    tool_choice: union({
      str: z.enum(['none', 'auto', 'required']),
      ToolChoiceNamed: namedTool,
      ToolChoiceAllowed: allowingTools,
    })
      .nullish()
      .describe('Whether the model must call a tool, and which one. Default: auto with tools, none without.'),
    parallel_tool_calls: boolean().nullish().describe('false: only the first tool call is returned. Default: true.'),

    ...servingFields,
  })
  .meta({ title: 'ChatCompletionRequest' });

type Wire = z.output<typeof chatRequestSchema>;

export interface ChatFormat extends AnswerFormat {
  readonly warnings: readonly string[];
  /** Whether they had an effect is known with the model. */
  readonly variables: readonly SentVariable[];
}

export function parseChatRequest(body: unknown): { request: ChatRequest; format: ChatFormat } {
  if (isObject(body)) refuseForbiddenCombinations(body);
  const wire = parse(chatRequestSchema, body, 'body');
  const warnings = [
    ...applyDecisions(chatRequestSchema, CHAT_DECISIONS, wire),
    ...shapeWarnings(wire),
    ...choiceWarnings(wire.tool_choice),
  ];
  for (const [index, each] of wire.messages.entries()) applyNested(MESSAGE_DECISIONS, each, ['messages', index]);
  return { request: toRequest(wire), format: { ...answerFormat(wire), warnings, variables: variablesOf(wire) } };
}

/** About fields of the object that says what may be called. */
function choiceWarnings(choice: Wire['tool_choice']): string[] {
  if (typeof choice !== 'object' || choice === null) return [];
  const at = ['tool_choice'];
  if (choice.type === 'allowed_tools')
    return [
      ...applyDecisions(allowingTools, {}, choice, at),
      ...applyDecisions(allowedTools, {}, choice.allowed_tools, [...at, 'allowed_tools']),
    ];
  return [
    ...applyDecisions(namedTool, {}, choice, at),
    ...applyDecisions(namedFunction, {}, choice.function, [...at, 'function']),
  ];
}

/** A template that the request brings knows its own. */
function variablesOf(wire: Wire): SentVariable[] {
  if (wire.chat_template) return [];
  const documents = nonEmpty(wire.documents) ? [{ field: 'documents', names: ['documents'] }] : [];
  const effort = sentEffort('reasoning_effort', wire.reasoning_effort);
  return [...sentKwargs(wire.chat_template_kwargs), ...documents, ...effort];
}

function toRequest(wire: Wire): ChatRequest {
  const serving = servingOptions(wire);
  const tools = nonEmpty(wire.tools);
  const topLogprobs = wire.top_logprobs ?? 0;
  return {
    messages: wire.messages,
    tools,
    toolChoice: toolChoice(wire.tool_choice, tools !== null),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    prompt: {
      name: 'messages',
      addGenerationPrompt: wire.add_generation_prompt ?? null,
      continueFinalMessage: wire.continue_final_message ?? false,
      addSpecialTokens: wire.add_special_tokens ?? false,
      truncatePromptTokens: wire.truncate_prompt_tokens ?? null,
      truncationSide: wire.truncation_side ?? 'left',
      chatTemplate: wire.chat_template ?? null,
      chatTemplateKwargs: wire.chat_template_kwargs ?? {},
      documents: wire.documents ?? null,
      reasoningEffort: wire.reasoning_effort ?? null,
    },
    sampling: samplingOptions(wire, {
      maxTokens: wire.max_completion_tokens || (wire.max_tokens ?? null),
      maxTokensField: wire.max_completion_tokens ? 'max_completion_tokens' : 'max_tokens',
    }),
    output: {
      // An explicit null for top_logprobs turns logprobs off, as in vLLM.
      logprobs: wire.logprobs === true && wire.top_logprobs === null ? false : (wire.logprobs ?? null),
      topLogprobs,
      topLogprobsField: 'top_logprobs',
      logprobTokenIds: listedIds(wire),
      promptLogprobs: wire.prompt_logprobs ?? (wire.echo === true && wire.stream !== true ? topLogprobs : null),
      echo: wire.echo ?? false,
      includeStop: wire.include_stop_str_in_output ?? false,
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      includeReasoning: wire.include_reasoning ?? true,
    },
    ...serving,
  };
}

function toolChoice(choice: Wire['tool_choice'], hasTools: boolean): ToolChoice {
  if (choice === undefined || choice === null) return { mode: hasTools ? 'auto' : 'none', callable: null };
  if (typeof choice === 'string') return { mode: choice, callable: null };
  if (choice.type === 'function') return { mode: 'named', callable: [choice.function.name] };
  const { mode, tools } = choice.allowed_tools;
  return { mode, callable: tools.map((tool) => tool.function.name) };
}
