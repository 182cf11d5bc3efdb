// The settings of a chat request, as the form shows them and as the request contains them. Pure: the form is settings-form.tsx.

/** `lines`: one text per line. `json`: any value. */
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
      number('temperature', '0: always the most likely token'),
      number('top_p', 'sample from the most likely tokens that together have this probability'),
      integer('top_k', 'sample from this many of the most likely tokens'),
      number('min_p', 'leave out tokens less likely than this fraction of the most likely'),
      integer('max_tokens', 'maximum length of an answer'),
      integer('seed', 'the same seed gives the same answer'),
      integer('n', 'number of answers'),
    ],
  },
  {
    title: 'Penalties and biases',
    fields: [
      number('frequency_penalty', '−2 to 2, for each time a token has occurred'),
      number('presence_penalty', '−2 to 2, for each token that has occurred'),
      number('repetition_penalty', 'above 1: less repetition'),
      json('logit_bias', '{"token id": −100 to 100}'),
      json('allowed_token_ids', '[1, 2, 3]: sample only these'),
      lines('bad_words', 'one per line: never sampled'),
    ],
  },
  {
    title: 'Length and stopping',
    fields: [
      integer('min_tokens', 'the answer does not end before'),
      lines('stop', 'one per line: each ends the answer'),
      json('stop_token_ids', '[1, 2]: each ends the answer'),
      toggle('include_stop_str_in_output', 'keep the stop text in the answer'),
      toggle('ignore_eos', 'do not stop at the end-of-text token'),
      toggle('use_beam_search', 'n beams instead of samples'),
      number('length_penalty', 'for beam search'),
    ],
  },
  {
    title: 'Tools and output format',
    fields: [
      json('tools', '[{"type": "function", "function": {"name": …, "parameters": {…}}}]'),
      json('tool_choice', '"auto", "none", "required" or {"type": "function", …}'),
      toggle('parallel_tool_calls', 'allow several calls in one answer'),
      json('response_format', '{"type": "json_schema", "json_schema": {"name": …, "schema": {…}}}'),
      json('structured_outputs', '{"regex": …}, {"choice": […]}, {"grammar": …}'),
    ],
  },
  {
    title: 'Prompt',
    fields: [
      {
        name: 'reasoning_effort',
        kind: 'choice',
        hint: 'for templates that read it',
        options: ['none', 'low', 'medium', 'high'],
      },
      json('chat_template_kwargs', '{"enable_thinking": false}'),
      toggle('skip_special_tokens', 'omit special tokens from the text'),
      integer('truncate_prompt_tokens', 'keep only this many tokens at the end of the prompt'),
    ],
  },
];

/** As typed; '' for an empty field, which is not sent. */
export type Settings = Readonly<Record<string, string>>;

export interface ReadSettings {
  readonly values: Readonly<Record<string, unknown>>;
  /** By field, what is wrong with the typed value. */
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
  number: (typed) => (Number.isFinite(Number(typed)) ? { value: Number(typed) } : { problem: 'This is not a number.' }),
  integer: (typed) =>
    Number.isSafeInteger(Number(typed)) ? { value: Number(typed) } : { problem: 'This is not a whole number.' },
  lines: (typed) => ({ value: typed.split('\n').filter((line) => line !== '') }),
  json: (typed) => {
    try {
      return { value: JSON.parse(typed) as unknown };
    } catch (error) {
      return { problem: `This is not valid JSON: ${(error as Error).message}` };
    }
  },
  switch: (typed) => ({ value: typed === 'true' }),
  choice: (typed) => ({ value: typed }),
};
