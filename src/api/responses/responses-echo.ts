// The request fields that a Responses answer repeats.
import { roundLongIntegers } from '#base/sent-json';
import type { Wire } from './responses-fields.ts';

/** The repeated fields of the request. */
export type EchoedRequest = Pick<
  Wire,
  'instructions' | 'max_output_tokens' | 'metadata' | 'safety_identifier' | 'prompt_cache_key' | 'user'
> & {
  readonly parallelToolCalls: boolean;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topLogprobs: number;
  readonly toolChoice: unknown;
  readonly tools: readonly object[];
  readonly text: object;
  readonly reasoning: { readonly effort: string | null; readonly summary: null };
  readonly truncation: string;
};

export function echo(wire: Wire): EchoedRequest {
  return {
    instructions: wire.instructions,
    max_output_tokens: wire.max_output_tokens,
    metadata: wire.metadata,
    safety_identifier: wire.safety_identifier,
    prompt_cache_key: wire.prompt_cache_key,
    user: wire.user,
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    temperature: wire.temperature ?? null,
    topP: wire.top_p ?? null,
    topLogprobs: wire.top_logprobs ?? 0,
    toolChoice: wire.tool_choice ?? 'auto',
    tools: plain((wire.tools ?? []).map((tool) => (tool.type === 'function' ? echoedFunction(tool) : tool))),
    text: plain({ ...wire.text, format: wire.text?.format ?? { type: 'text' } }),
    reasoning: { effort: wire.reasoning?.effort ?? null, summary: null },
    truncation: wire.truncation ?? 'disabled',
  };
}

/** Schemas may have integers beyond 2^53, which answers cannot. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value, roundLongIntegers)) as T;

const echoedFunction = ({ parameters, strict, ...rest }: NonNullable<Wire['tools']>[number]) => ({
  ...rest,
  parameters: parameters ?? null,
  strict: strict ?? false,
});
