// One call as a turn: what was added to the conversation, what the model answered, and how it counts for training.
import { useState } from 'preact/hooks';
import { call as ask } from '../api/client.ts';
import { useLoad } from '../api/use-load.ts';
import type { EpisodeCall, EpisodeWithCalls } from '../api/wire.ts';
import { KeyValues } from '../ui/facts.tsx';
import { Message, type WireMessage } from '../ui/message.tsx';
import { columnsOf } from '../tokens/token-columns.ts';
import { TokenText } from '../tokens/token-text.tsx';
import { counted, measured, whole } from '../ui/numbers.ts';
import { Loaded } from '../ui/states.tsx';
import { Text } from '../ui/text.tsx';
import { notTrainedBecause } from './not-trained.ts';
import { ToolList } from './tool-list.tsx';

interface TurnViewProps {
  readonly episode: Pick<EpisodeWithCalls, 'id'>;
  readonly call: EpisodeCall;
  readonly number: number;
  /** Id of the call before it in the episode. */
  readonly before: string | null;
  readonly reward: number | null;
}

export function TurnView({ episode, call, number, before, reward }: TurnViewProps) {
  const [showsTokens, setShowsTokens] = useState(false);
  const { choices, policy_step: step } = call;
  const why = notTrainedBecause(call);
  const sampled = choices.reduce((sum, { completion_tokens: count }) => sum + count, 0);
  return (
    <article class={`turn ${call.trained ? '' : 'untrained'}`} aria-label={`Turn ${number}`}>
      <header>
        <b class="mono">#{number}</b>
        {call.cut && <span class="turn-mark cut">cut off</span>}
        {!call.trained && <span class="turn-mark">not trained</span>}
        {reward !== null && <span>reward {measured(reward)}</span>}
        <span class="muted small">{step === null ? <Text>{call.model}</Text> : `step ${step}`}</span>
        <span class="muted small" title={`${call.shared_tokens} of the prompt are those of the turn before`}>
          {counted(call.prompt_tokens, 'token')} in ({whole(call.prompt_tokens - call.shared_tokens)} new),{' '}
          {whole(sampled)} out
        </span>
        <button class="link" type="button" aria-pressed={showsTokens} onClick={() => setShowsTokens(!showsTokens)}>
          {showsTokens ? 'Text' : 'Tokens'}
        </button>
      </header>
      {why !== null && <p class="muted small">{why}</p>}
      {call.tools && <ToolList tools={call.tools} />}
      <Prompt call={call} />
      {showsTokens ? <Sampled episodeId={episode.id} before={before} number={number} /> : <Answers call={call} />}
      <details class="folded">
        <summary>Sampling and template</summary>
        <KeyValues values={{ ...call.sampling, ...call.template }} />
      </details>
    </article>
  );
}

/** The last ones are what the agent has just added. */
const MESSAGES_SHOWN = 3;

/** Without the answer that it continues: that stands in the turn before. */
function Prompt({ call: { messages, parent_id: parent, parent_choice: choice } }: Pick<TurnViewProps, 'call'>) {
  if (messages === null) return parent === null ? <p class="muted">The prompt was text or token ids.</p> : null;
  const isRepeat = parent !== null && choice !== null && messages[0]?.['role'] === 'assistant';
  const added = (isRepeat ? messages.slice(1) : messages).map((message, at) => (
    <Message key={at} message={message as WireMessage} />
  ));
  const folded = added.length - MESSAGES_SHOWN > 1 ? added.length - MESSAGES_SHOWN : 0;
  return (
    <>
      {isRepeat && choice > 0 && <p class="muted small">It continues choice {choice + 1}.</p>}
      {folded > 0 && (
        <details class="folded">
          <summary>{counted(folded, 'earlier message')}</summary>
          <div class="conversation">{added.slice(0, folded)}</div>
        </details>
      )}
      {added.length > 0 && <div class="conversation">{added.slice(folded)}</div>}
    </>
  );
}

const Answers = ({ call: { choices } }: Pick<TurnViewProps, 'call'>) => (
  <div class="conversation">
    {choices.map(({ index, content, reasoning, tool_calls: calls, ...choice }) => (
      <Message
        key={index}
        message={{
          role: 'assistant',
          content,
          reasoning_content: reasoning,
          tool_calls: calls.map((called) => ({ function: called })),
        }}
        aside={`${choices.length > 1 ? `choice ${index + 1} · ` : ''}${counted(choice.completion_tokens, 'token')} · finish ${choice.finish_reason ?? 'none'}${choice.constrained ? ' · constrained' : ''}`}
      />
    ))}
  </div>
);

function Sampled({ episodeId, before, number }: { episodeId: string; before: string | null; number: number }) {
  const read = useLoad(
    (signal) =>
      ask('get', '/v1/preview/episodes/{episode}/tokens', {
        path: { episode: episodeId },
        query: { limit: 1, ...(before === null ? {} : { after: before }) },
        signal,
      }),
    [episodeId, before],
  );
  return (
    <Loaded of={read}>
      {({ data: [found] }) => (
        <div class="conversation">
          {(found?.choices ?? []).map(({ index, texts, token_ids: ids, logprobs }) => (
            <Message key={index} message={{ role: 'assistant' }} aside="stronger: less likely for the sampler">
              <TokenText
                label={`Turn ${number}, choice ${index + 1}`}
                columns={columnsOf({ texts: texts ?? ids.map((id) => `⟨${id}⟩`), ids, sampler: logprobs })}
                shading="logprob"
              />
            </Message>
          ))}
        </div>
      )}
    </Loaded>
  );
}
