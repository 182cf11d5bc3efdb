// The numbers of a sequence of tokens, a list per kind, as the pages draw them: trained by a job, sampled in the playground, or from
// training data. Unknown numbers are null.

type PerToken = readonly (number | null)[];

export interface TokenColumns {
  /** What each token completes: '' inside a character. */
  readonly texts: readonly string[];
  readonly ids: readonly number[] | null;
  /** False: context. Null: all were sampled. */
  readonly trained: readonly boolean[] | null;
  readonly sampler: PerToken | null;
  readonly trainer: PerToken | null;
  readonly ratios: PerToken | null;
  readonly start: PerToken | null;
  readonly reference: PerToken | null;
  /** Of each trained token. */
  readonly advantage: number | null;
  readonly weight: number | null;
  /** The most likely alternatives, most likely first. */
  readonly alternatives: readonly (readonly Alternative[])[] | null;
}

export interface Alternative {
  readonly text: string;
  readonly logprob: number;
}

const UNKNOWN: Omit<TokenColumns, 'texts'> = {
  ids: null,
  trained: null,
  sampler: null,
  trainer: null,
  ratios: null,
  start: null,
  reference: null,
  advantage: null,
  weight: null,
  alternatives: null,
};

export const columnsOf = (known: Partial<TokenColumns> & Pick<TokenColumns, 'texts'>): TokenColumns => ({
  ...UNKNOWN,
  ...known,
});

interface Sequence {
  readonly token_ids: readonly number[];
  readonly texts: readonly string[] | null;
  readonly trained: readonly boolean[];
  readonly sampler_logprobs: PerToken;
  readonly trainer_logprobs: PerToken | null;
  readonly ratios: PerToken | null;
  readonly start_logprobs: PerToken | null;
  readonly reference_logprobs: PerToken | null;
  readonly advantage: number;
  readonly weight: number;
}

/** If the tokens' texts are not known, their ids are shown. */
export const trainedColumns = (read: Sequence): TokenColumns => ({
  texts: read.texts ?? read.token_ids.map((id) => `⟨${id}⟩`),
  ids: read.token_ids,
  trained: read.trained,
  sampler: read.sampler_logprobs,
  trainer: read.trainer_logprobs,
  ratios: read.ratios,
  start: read.start_logprobs,
  reference: read.reference_logprobs,
  advantage: read.advantage,
  weight: read.weight,
  alternatives: null,
});

export interface TokenNumbers {
  readonly label: string;
  readonly value: number;
  /** The same number in another unit. */
  readonly also?: string;
}

/** Everything known of one token, in reading order. */
export function numbersOf(columns: TokenColumns, at: number): TokenNumbers[] {
  const isTrained = columns.trained?.[at] ?? true;
  const rows: (readonly [string, number | null | undefined, boolean?])[] = [
    ['token id', columns.ids?.[at]],
    ['sampler logprob', columns.sampler?.[at], true],
    ['trainer logprob', columns.trainer?.[at], true],
    ['ratio', columns.ratios?.[at]],
    ['start logprob', columns.start?.[at], true],
    ['reference logprob', columns.reference?.[at], true],
    ['advantage', isTrained ? columns.advantage : null],
    ['weight', isTrained ? columns.weight : null],
  ];
  return rows.flatMap(([label, value, isLogprob]) =>
    value === null || value === undefined ? [] : [{ label, value, ...(isLogprob ? { also: likelihood(value) } : {}) }],
  );
}

/** Converts nats to per cent: `63 %`, `0.4 %`, `< 0.01 %`. */
function likelihood(logprob: number): string {
  const percent = 100 * Math.exp(logprob);
  if (percent < 0.01) return '< 0.01 %';
  return `${percent >= 10 ? percent.toFixed(0) : percent.toPrecision(2)} %`;
}
