// What can be set of a chat request, as the form asks for it and as the request carries it. Pure: the form is settings.tsx.

/** `lines`: a text per line. `json`: any value. */
export type FieldKind = 'number' | 'integer' | 'lines' | 'json' | 'switch' | 'choice';

export interface Field {
  /** As in the request. */
  readonly name: string;
  readonly kind: FieldKind;
  readonly hint: string;
  readonly options?: readonly string[];
}

export interface FieldGroup {
  readonly title: string;
  readonly isOpen?: true;
  readonly fields: readonly Field[];
}

const number = (name: string, hint: string): Field => ({ name, kind: 'number', hint });
const integer = (name: string, hint: string): Field => ({ name, kind: 'integer', hint });
const lines = (name: string, hint: string): Field => ({ name, kind: 'lines', hint });
const json = (name: string, hint: string): Field => ({ name, kind: 'json', hint });
const toggle = (name: string, hint: string): Field => ({ name, kind: 'switch', hint });

export const FIELD_GROUPS: readonly FieldGroup[] = [
  {
    title: 'Sampling',
    isOpen: true,
    fields: [
      number('temperature', '0 is greedy'),
      number('top_p', 'the likeliest tokens that together have this probability'),
      integer('top_k', 'so many of the likeliest tokens'),
      number('min_p', 'at least this fraction as likely as the likeliest'),
      integer('max_tokens', 'most tokens of an answer'),
      integer('seed', 'the same answer again'),
      integer('n', 'answers at once'),
    ],
  },
  {
    title: 'Penalties and biases',
    fields: [
      number('frequency_penalty', '−2 to 2, for each time a token was there'),
      number('presence_penalty', '−2 to 2, once a token was there'),
      number('repetition_penalty', 'more than 1: repeats less'),
      json('logit_bias', '{"token id": −100 to 100}'),
      json('allowed_token_ids', '[1, 2, 3]: no other can come'),
      lines('bad_words', 'one per line: cannot come'),
    ],
  },
  {
    title: 'Length and stopping',
    fields: [
      integer('min_tokens', 'until then nothing ends the answer'),
      lines('stop', 'one per line: ends the answer'),
      json('stop_token_ids', '[1, 2]: end the answer'),
      toggle('include_stop_str_in_output', 'keep the stop text'),
      toggle('ignore_eos', 'the model’s own end does not end it'),
      toggle('use_beam_search', 'n beams instead of samples'),
      number('length_penalty', 'of beams'),
    ],
  },
  {
    title: 'Tools and form of the answer',
    fields: [
      json('tools', '[{"type": "function", "function": {"name": …, "parameters": {…}}}]'),
      json('tool_choice', '"auto", "none", "required" or {"type": "function", …}'),
      toggle('parallel_tool_calls', 'several calls at once'),
      json('response_format', '{"type": "json_schema", "json_schema": {"name": …, "schema": {…}}}'),
      json('structured_outputs', '{"regex": …}, {"choice": […]}, {"grammar": …}'),
    ],
  },
  {
    title: 'Prompt',
    fields: [
      { name: 'reasoning_effort', kind: 'choice', hint: 'for templates that read it', options: ['none', 'low', 'medium', 'high'] },
      json('chat_template_kwargs', '{"enable_thinking": false}'),
      toggle('skip_special_tokens', 'leave special tokens out of the text'),
      integer('truncate_prompt_tokens', 'keep so many of the last tokens'),
    ],
  },
]; // prettier-ignore

/** As typed; '' where nothing was: then the field is not sent. */
export type Settings = Readonly<Record<string, string>>;

export interface ReadSettings {
  readonly values: Readonly<Record<string, unknown>>;
  /** By field, what is wrong with what was typed. */
  readonly problems: Readonly<Record<string, string>>;
}

export function readSettings(settings: Settings): ReadSettings {
  const values: Record<string, unknown> = {};
  const problems: Record<string, string> = {};
  for (const { name, kind } of FIELD_GROUPS.flatMap(({ fields }) => fields)) {
    const typed = settings[name] ?? '';
    if (typed.trim() === '') continue;
    const read = READ[kind](typed);
    if ('problem' in read) problems[name] = read.problem;
    else values[name] = read.value;
  }
  return { values, problems };
}

type Read = { readonly value: unknown } | { readonly problem: string };

const READ: Readonly<Record<FieldKind, (typed: string) => Read>> = {
  number: (typed) => (Number.isFinite(Number(typed)) ? { value: Number(typed) } : { problem: 'This is no number.' }),
  integer: (typed) => (Number.isSafeInteger(Number(typed)) ? { value: Number(typed) } : { problem: 'This is no whole number.' }),
  lines: (typed) => ({ value: typed.split('\n').filter((line) => line !== '') }),
  json: (typed) => {
    try {
      return { value: JSON.parse(typed) as unknown };
    } catch (error) {
      return { problem: `This is no JSON: ${(error as Error).message}` };
    }
  },
  switch: (typed) => ({ value: typed === 'true' }),
  choice: (typed) => ({ value: typed }),
}; // prettier-ignore
