// A held-out prompt as a line with its mean reward at one step and at another; when opened, every answer of both, side by side.
import { KeyValues } from '../ui/facts.tsx';
import { Message } from '../ui/message.tsx';
import { Change, Meter } from '../ui/comparison.tsx';
import { counted, measured } from '../ui/numbers.ts';
import { Text } from '../ui/text.tsx';
import type { Answer, AnsweredPrompt, AnswerRow } from './answer-rows.ts';

interface AnswerLineProps {
  readonly row: AnswerRow;
  readonly step: number;
  /** Null: no comparison. */
  readonly versus: number | null;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

export function AnswerLine({ row, step, versus, isOpen, toggle }: AnswerLineProps) {
  const { now, then, mean, before } = row;
  return (
    <div class={`line ${isOpen ? 'open' : ''}`}>
      <div class={`answer-cells ${versus === null ? '' : 'compared'}`}>
        <button type="button" class="link mono" aria-expanded={isOpen} onClick={toggle}>
          <span aria-hidden="true">{isOpen ? '▾' : '▸'}</span>
          <span class="sr-only">Prompt </span>
          {now.index}
        </button>
        <span class="number">
          <span class="sr-only">mean reward </span>
          <Meter value={mean} />
        </span>
        {versus !== null && (
          <span class="number">
            <span class="sr-only">change </span>
            {mean === null || before === null ? <span class="muted">–</span> : <Change by={mean - before} />}
          </span>
        )}
        <span class="said" onClick={toggle}>
          <span class="muted">
            <Text>{oneLine(asked(now))}</Text>
          </span>{' '}
          <Text>{now.error ?? oneLine(firstAnswer(now))}</Text>
        </span>
      </div>
      {isOpen && (
        <div class="line-open">
          <KeyValues values={now.metadata} />
          <div class="conversation">
            {now.messages.map((message, at) => (
              <Message key={at} message={message} />
            ))}
            {now.reference && <Message message={now.reference} aside="reference, not shown to the model" />}
          </div>
          <div class={`answers ${versus === null ? '' : 'compared'}`}>
            <Answers title={`Step ${step}`} of={now} />
            {versus !== null && <Answers title={`Step ${versus}`} of={then} />}
          </div>
        </div>
      )}
    </div>
  );
}

function Answers({ title, of }: { title: string; of: AnsweredPrompt | null }) {
  const answers = of?.answers ?? null;
  return (
    <section class="answers-of" aria-label={title}>
      <h2>{title}</h2>
      {of === null && <p class="muted">This step was not asked this prompt.</p>}
      {of !== null && answers === null && <p class="muted">Not answered yet.</p>}
      {of?.error && (
        <p class="skip-reason">
          <b>This prompt could not be answered.</b> <Text>{of.error}</Text>
        </p>
      )}
      {answers?.map((answer) => (
        <OneAnswer key={answer.index} answer={answer} />
      ))}
    </section>
  );
}

const OneAnswer = ({ answer }: { answer: Answer }) => (
  <article class="answer" aria-label={`Answer ${answer.index}, reward ${measured(answer.reward)}`}>
    <header>
      <span class="mono">#{answer.index}</span>
      <span class="muted small">{aboutOf(answer)}</span>
      <span class="reward" title={answer.reward === null ? 'no reward was sent' : `reward ${answer.reward}`}>
        {measured(answer.reward)}
      </span>
    </header>
    <Message message={answer.message} />
    <KeyValues values={{ ...answer.metrics, ...answer.reward_metadata }} />
  </article>
);

function aboutOf({ token_ids: ids, logprobs, finish_reason: reason }: Answer): string {
  const mean = logprobs.reduce((sum, logprob) => sum + logprob / logprobs.length, 0);
  const tokens = counted(ids.length, 'token');
  return [tokens, ...(ids.length > 0 ? [`mean logprob ${measured(mean)}`] : []), `finish ${reason}`].join(' · ');
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, 300);
const asked = ({ messages }: AnsweredPrompt): string => messages.map(({ content }) => textOf(content)).join(' · ');

function firstAnswer({ answers }: AnsweredPrompt): string {
  const first = answers?.[0]?.message;
  if (!first) return '';
  return first['content'] === null || first['content'] === undefined ? '(calls a tool)' : textOf(first['content']);
}
