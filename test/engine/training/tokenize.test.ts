// Rollouts become tokens with the starter's real tokenizer and template: sampled ids verbatim, everything else as the service
// would have tokenized it in a prompt.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { ChatMessage } from '#domain/chat';
import type { History, SampledTurn, Turn } from '#domain/trajectory';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { readTextModel } from '#text/text-model';
import * as training from '#training/tokenize';

const text = await readTextModel(fileURLToPath(new URL('../../../models/starter', import.meta.url)));
const encoder = createConversationEncoder('starter', text, text.tokenizer.vocabSize);
const { tokenizer } = text;
const END = tokenizer.tokenId('<|im_end|>')!;

const said = (role: string, content: string): Turn => ({ kind: 'message', message: { role, content } });

function sampled(
  content: string,
  change: Partial<SampledTurn> = {},
  ids = [...tokenizer.encode(content), END],
): SampledTurn {
  return {
    kind: 'sampled',
    message: { role: 'assistant', content },
    finishReason: 'stop',
    tokens: ids,
    logprobs: ids.map((_, i) => -0.5 - i),
    promptTokenIds: null,
    ...change,
  };
}
/** As plain lists: a token's log-probability, null for context. */
async function tokenizeHistory(...args: Parameters<typeof training.tokenizeHistory>) {
  const { sequences, problems } = await training.tokenizeHistory(...args);
  return {
    problems,
    sequences: sequences.map(({ tokens, trained, logprobs }) => ({
      tokens: [...tokens],
      sampled: [...tokens].map((_, i) => (trained[i] === 1 ? logprobs[i]! : null)),
    })),
  };
}
const history = (...turns: Turn[]): History => ({ turns, tools: null });
const promptOf = (...messages: ChatMessage[]) => tokenizer.encode(encoder.renderPrompt(messages, { tools: null }));
const hello: ChatMessage = { role: 'user', content: 'Hello!' };

test('a prompt is context, sampled tokens are trained with their logprobs', async () => {
  const { sequences, problems } = await tokenizeHistory(history(said('user', 'Hello!'), sampled('maybe')), encoder);
  const prompt = promptOf(hello);
  const answer = [...tokenizer.encode('maybe'), END];
  expect(problems).toEqual([]);
  expect(sequences).toHaveLength(1);
  expect(sequences[0]!.tokens).toEqual([...prompt, ...answer]);
  expect(sequences[0]!.sampled).toEqual([...prompt.map(() => null), ...answer.map((_, i) => -0.5 - i)]);
});

test('sampled ids are kept, even if the text would be encoded differently', async () => {
  const byBytes = [...Buffer.from('maybe')].map((byte) => tokenizer.tokenId(String.fromCharCode(byte))!);
  expect(byBytes).not.toEqual(tokenizer.encode('maybe'));
  const { sequences } = await tokenizeHistory(
    history(said('user', 'Hello!'), sampled('maybe', {}, [...byBytes, END])),
    encoder,
  );
  expect(sequences[0]!.tokens.slice(-6)).toEqual([...byBytes, END]);
});

test('a later turn continues in the same sequence, and the end of a turn does not appear twice', async () => {
  const turns = [said('user', 'Hello!'), sampled('yes'), said('user', 'Sure?'), sampled('no')];
  const { sequences } = await tokenizeHistory(history(...turns), encoder);
  expect(sequences).toHaveLength(1);
  const whole = promptOf(hello, { role: 'assistant', content: 'yes' }, { role: 'user', content: 'Sure?' });
  expect(sequences[0]!.tokens).toEqual([...whole, ...tokenizer.encode('no'), END]);
  expect(sequences[0]!.sampled.filter((logprob) => logprob !== null)).toHaveLength(4);
});

test('if the template encodes a turn differently from how it was sampled, the next turn starts a sequence of its own', async () => {
  const byBytes = [...Buffer.from('maybe')].map((byte) => tokenizer.tokenId(String.fromCharCode(byte))!);
  const first = sampled('maybe', {}, [...byBytes, END]);
  const { sequences } = await tokenizeHistory(
    history(said('user', 'Hello!'), first, said('user', 'Sure?'), sampled('no')),
    encoder,
  );
  const behind = promptOf(hello, { role: 'assistant', content: 'maybe' }, { role: 'user', content: 'Sure?' });
  expect(sequences.map(({ tokens }) => tokens)).toEqual([
    [...promptOf(hello), ...byBytes, END],
    [...behind, ...tokenizer.encode('no'), END],
  ]);
  expect(sequences[1]!.sampled.filter((logprob) => logprob !== null)).toHaveLength(2);
});

test('a turn that was cut by its length is closed by the template, untrained', async () => {
  const cut = sampled('yes', { finishReason: 'length' }, tokenizer.encode('yes'));
  const { sequences } = await tokenizeHistory(
    history(said('user', 'Hello!'), cut, said('user', 'Sure?'), sampled('no')),
    encoder,
  );
  const whole = promptOf(hello, { role: 'assistant', content: 'yes' }, { role: 'user', content: 'Sure?' });
  expect(sequences[0]!.tokens.slice(0, whole.length)).toEqual(whole);
  expect(sequences[0]!.sampled[promptOf(hello).length + 1]).toBeNull();
});

test('plain assistant messages are context, and nothing follows the last trained turn', async () => {
  const turns = [
    said('user', 'Hello!'),
    said('assistant', 'Hello!'),
    said('user', 'Sure?'),
    sampled('yes'),
    said('user', 'Bye.'),
    said('assistant', 'Bye.'),
  ];
  const { sequences } = await tokenizeHistory(history(...turns), encoder);
  expect(sequences).toHaveLength(1);
  expect(sequences[0]!.tokens.at(-1)).toBe(END);
  expect(sequences[0]!.sampled.filter((logprob) => logprob !== null)).toHaveLength(2);
});

test("the client's own prompt ids win; if they do not continue the tokens so far, a new sequence starts", async () => {
  const first = sampled('yes', { promptTokenIds: [1, 2, 3], tokens: [7, END], logprobs: null });
  const goesOn = sampled('no', { promptTokenIds: [1, 2, 3, 7, END, 9], tokens: [8], logprobs: null });
  const startsOver = sampled('no', { promptTokenIds: [1, 2, 4], tokens: [8], logprobs: null });
  expect((await tokenizeHistory(history(first, goesOn), encoder)).sequences.map((s) => s.tokens)).toEqual([
    [1, 2, 3, 7, END, 9, 8],
  ]);
  expect((await tokenizeHistory(history(first, startsOver), encoder)).sequences.map((s) => s.tokens)).toEqual([
    [1, 2, 3, 7, END],
    [1, 2, 4, 8],
  ]);
});

test('token texts are looked up in the vocabulary; unknown ones are reported, not guessed', async () => {
  const byText = sampled('yes', { tokens: ['yes', '<|im_end|>'], logprobs: [-1, null] });
  const { sequences } = await tokenizeHistory(history(said('user', 'Hello!'), byText), encoder);
  expect(sequences[0]!.tokens.slice(-2)).toEqual([tokenizer.tokenId('yes'), END]);
  expect(sequences[0]!.sampled.at(-1)).toBeNaN();
  const unknown = sampled('yes', { tokens: ['no such token'], logprobs: [-1] });
  expect(await tokenizeHistory(history(said('user', 'Hello!'), unknown), encoder)).toEqual({
    sequences: [],
    problems: ['unknown_tokens'],
  });
  const beyond = sampled('yes', { tokens: [99999999], logprobs: [-1] });
  expect((await tokenizeHistory(history(beyond), encoder)).problems).toEqual(['unknown_tokens']);
  const behindIt = sampled('yes', { promptTokenIds: [99999999] });
  expect((await tokenizeHistory(history(behindIt), encoder)).problems).toEqual(['unknown_tokens']);
  const uneven = sampled('yes', { tokens: [1, 2, 3], logprobs: [-1] });
  expect((await tokenizeHistory(history(uneven), encoder)).problems).toEqual(['logprob_count_mismatch']);
});

test('texts and bytes of tokens name them where only one token has those bytes', async () => {
  const named = async (ids: readonly number[], tokens: SampledTurn['tokens']) => {
    const turn = sampled('', { tokens }, [...ids]);
    return (await tokenizeHistory(history(said('user', 'Hello!'), turn), encoder)).sequences[0]!.tokens.slice(
      -ids.length,
    );
  };
  const words = [...tokenizer.encode('the number of'), END];
  const texts = words.map((id) => tokenizer.tokenText(id));
  expect(texts).toContain(' number'); // in the vocabulary it is `Ġnumber`
  expect(await named(words, texts)).toEqual(words);
  const halves = tokenizer.encode('é'); // both have the text U+FFFD
  const bytes = halves.map((id) => [...tokenizer.tokenBytes(id)]);
  expect(await named(halves, bytes)).toEqual(halves);
  expect(tokenizer.encode('Ā')).toHaveLength(2);
  const several = sampled('', { tokens: [[...Buffer.from('Ā')]], logprobs: [-1] }); // `Ā` is the vocabulary's spelling of a zero byte
  expect((await tokenizeHistory(history(several), encoder)).problems).toEqual(['unknown_tokens']);
});

test('a history without sampled tokens says so', async () => {
  const without = sampled('yes', { tokens: null, logprobs: null });
  const problemsOf = (...turns: Turn[]) => tokenizeHistory(history(...turns), encoder);
  expect(await problemsOf(said('user', 'Hello!'), without)).toEqual({ sequences: [], problems: ['no_logprobs'] });
  expect(await problemsOf(said('user', 'Hello!'), said('assistant', 'Hello!'))).toEqual({
    sequences: [],
    problems: ['no_trainable_tokens'],
  });
});

test('where the job allows it, assistant turns without tokens are trained as the template writes them', async () => {
  const turns = [said('user', 'Hello!'), said('assistant', 'yes'), said('user', 'Sure?'), sampled('no')];
  const { sequences, problems } = await tokenizeHistory(history(...turns), encoder, 'all');
  expect(problems).toEqual([]);
  expect(sequences).toHaveLength(1);
  const { tokens, sampled: logprobs } = sequences[0]!;
  const start = promptOf(hello).length;
  const written = [...tokenizer.encode('yes'), END];
  expect(tokens.slice(start, start + written.length)).toEqual(written);
  expect(logprobs.slice(start, start + written.length)).toEqual(written.map(() => NaN)); // on-policy
  const whole = promptOf(hello, { role: 'assistant', content: 'yes' }, { role: 'user', content: 'Sure?' });
  expect(tokens.slice(0, whole.length)).toEqual(whole);
  expect(logprobs.filter((logprob) => logprob !== null)).toHaveLength(written.length + 2);
});

test('a tool call without tokens is trained as the template writes it', async () => {
  const call = { id: 'a', type: 'function' as const, function: { name: 'add', arguments: '{"a":1}' } };
  const turn: Turn = { kind: 'message', message: { role: 'assistant', content: '', tool_calls: [call] } };
  const { sequences } = await tokenizeHistory(history(said('user', 'Hello!'), turn), encoder, 'all');
  const trained = sequences[0]!.tokens.filter((_, i) => sequences[0]!.sampled[i] !== null);
  expect(tokenizer.decode(trained)).toContain('"add"');
  expect(trained.at(-1)).toBe(END);
});

test('a long conversation lets other work run between its turns', async () => {
  const turns = Array.from({ length: 100 }, (_, i) => [said('user', `Question ${i}?`), sampled(`Answer ${i}.`)]).flat();
  let others = 0;
  let ended = false;
  const count = () => void (ended || (others++, setImmediate(count)));
  count();
  const { sequences } = await tokenizeHistory(history(...turns), encoder);
  ended = true;
  expect(sequences).toHaveLength(1);
  expect(others).toBeGreaterThan(5);
});

test('a sequence is cut at the length, and nothing of the rest is kept', async () => {
  const turns = [said('user', 'Hello!'), sampled('yes', {}, new Array<number>(1000).fill(7))];
  const start = promptOf(hello).length;
  const counted: number[] = [];
  const limits = { lengthMax: start + 10, count: (tokens: number) => void counted.push(tokens) };
  const { sequences, cut } = await training.tokenizeHistory(history(...turns), encoder, 'none', limits);
  expect(sequences[0]!.tokens.buffer.byteLength).toBe(4 * (start + 10));
  expect(cut).toEqual({ sequences: 1, trainedTokens: 990 });
  expect(counted).toEqual([start + 10]);
  const none = await training.tokenizeHistory(history(...turns), encoder, 'none', { ...limits, lengthMax: start });
  expect(none).toMatchObject({ sequences: [], problems: [], cut: { sequences: 1, trainedTokens: 1000 } });
});
