// A conversation with one checkpoint, the newest message last, each answer with its tokens.
import { useMemo } from 'preact/hooks';
import { Message } from '../ui/message.tsx';
import { TokenText } from '../tokens/token-text.tsx';
import type { Shading } from '../tokens/tone.ts';
import { counted, measured } from '../ui/numbers.ts';
import { Failure } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { messageOf, tokensOf, type Choice } from './answer.ts';
import type { Answered, Turn } from './use-lane.ts';

interface LaneViewProps {
  readonly name: string;
  readonly model: string;
  readonly turns: readonly Turn[];
  readonly shading: Shading;
}

export function LaneView({ name, model, turns, shading }: LaneViewProps) {
  return (
    <section class="lane" aria-label={name}>
      <h2>
        <Text>{model === '' ? 'the server’s first base model' : model}</Text>
      </h2>
      <div
        class="conversation"
        aria-live="polite"
        aria-busy={turns.some((turn) => turn.kind === 'answered' && turn.state === 'coming')}
      >
        {turns.map((turn, at) =>
          turn.kind === 'said' ? (
            <Message key={at} message={turn.message} />
          ) : (
            <AnswerView key={at} answered={turn} shading={shading} />
          ),
        )}
      </div>
    </section>
  );
}

function AnswerView({ answered, shading }: { answered: Answered; shading: Shading }) {
  const { answer, state, error } = answered;
  return (
    <>
      {answer.choices.map((choice, at) => (
        <Message key={at} message={messageOf(choice)} aside={choice.finish ? `finish ${choice.finish}` : ''}>
          {shading === 'none' || choice.tokens.length === 0 ? undefined : <Tokens choice={choice} shading={shading} />}
        </Message>
      ))}
      {state === 'failed' && <Failure error={error} />}
      <p class="muted small answer-about">{aboutOf(answered)}</p>
    </>
  );
}

function Tokens({ choice, shading }: { choice: Choice; shading: Shading }) {
  const columns = useMemo(() => tokensOf(choice), [choice]);
  return <TokenText label="Answer" columns={columns} shading={shading} />;
}

/** A rate over fewer tokens is mostly noise. */
const RATE_TOKENS_MIN = 16;

const STATES: Readonly<Record<Answered['state'], string>> = {
  coming: 'answering…',
  whole: '',
  stopped: 'stopped',
  failed: '',
};

function aboutOf({ answer, state, firstMs, totalMs }: Answered): string {
  const logprobs = answer.choices[0]?.tokens.map(({ logprob }) => logprob) ?? [];
  const tokens = answer.choices.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const sum = logprobs.reduce((total, logprob) => total + logprob, 0);
  const decodeMs = totalMs - (firstMs ?? totalMs);
  return [
    STATES[state],
    tokens > 0 ? counted(tokens, 'token') : '',
    firstMs === null ? '' : `first token after ${Math.round(firstMs)} ms`,
    tokens >= RATE_TOKENS_MIN && decodeMs > 0 ? `${((1000 * (tokens - 1)) / decodeMs).toFixed(0)} tokens/s` : '',
    logprobs.length > 0 ? `mean logprob ${measured(sum / logprobs.length)}` : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}
