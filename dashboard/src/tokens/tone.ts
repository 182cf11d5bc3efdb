// Maps numbers of a token to one of a few tones, whose colours are in tones.css for both schemes. There are few so that neighbours can be
// told apart, also by users who do not see red and green: one scale varies only in lightness, the other runs from orange to blue.

/** What the tokens are coloured by. `trained`: whether the token is trained on. */
export type Shading = 'logprob' | 'ratio' | 'advantage' | 'trained' | 'none';

export const SHADINGS: readonly { readonly id: Shading; readonly label: string; readonly legend: string }[] = [
  { id: 'logprob', label: 'log-probability', legend: 'stronger: less likely for the sampler' },
  {
    id: 'ratio',
    label: 'ratio',
    legend: 'blue: more likely for the trainer than for the sampler; orange: less likely',
  },
  { id: 'advantage', label: 'advantage', legend: 'blue: training makes it more likely; orange: less likely' },
  { id: 'none', label: 'none', legend: '' },
];

/** −4 … 4; 0 is uncoloured. For log-probabilities 0 … 4. */
export type Tone = number;

/** Upper bounds of a token's surprisal in nats: 0.1 is 90 % likely, 0.7 is 50 %, 2.3 is 10 %, 4.6 is 1 %. */
const SURPRISES = [0.1, 0.7, 2.3, 4.6];
/** Factors between trainer and sampler. 1 % is noise of half precision, 20 % is where PPO clips. */
const FACTORS = [1.01, 1.05, 1.2, 2];
const ADVANTAGES = [0.05, 0.5, 1, 2];

const steps = (bounds: readonly number[], value: number): number => bounds.filter((bound) => value > bound).length;
const signed = (bounds: readonly number[], size: number, isPositive: boolean): Tone =>
  (isPositive ? 1 : -1) * steps(bounds, size) || 0;

/** `logprob`: nats, ≤ 0. Returns 0 for a certain token, 4 for one below 1 %. */
export const toneOfLogprob = (logprob: number): Tone => steps(SURPRISES, -logprob);

/** `ratio`: trainer over sampler, > 0. */
export const toneOfRatio = (ratio: number): Tone => signed(FACTORS, Math.max(ratio, 1 / ratio), ratio >= 1);

export const toneOfAdvantage = (advantage: number): Tone => signed(ADVANTAGES, Math.abs(advantage), advantage >= 0);

export interface Shaded {
  readonly logprob: number | null;
  readonly ratio: number | null;
  readonly advantage: number | null;
  readonly isTrained: boolean;
}

/** The class in tones.css; '' if the number is not known or the tone is 0. */
export function toneClass(shading: Shading, { logprob, ratio, advantage, isTrained }: Shaded): string {
  switch (shading) {
    case 'logprob':
      return logprob === null ? '' : className('s', toneOfLogprob(logprob));
    case 'ratio':
      return ratio === null ? '' : className('d', toneOfRatio(ratio));
    case 'advantage':
      return advantage === null ? '' : className('d', toneOfAdvantage(advantage));
    case 'trained':
      return isTrained ? 'trained' : '';
    case 'none':
      return '';
  }
}

const className = (scale: 's' | 'd', tone: Tone): string =>
  tone === 0 ? '' : `tone-${scale}${tone < 0 ? `n${-tone}` : tone}`;
