import { expect, test } from 'vitest';
import type { TinkerOperation } from '#domain/tinker';
import { neededFrom, planReplay } from './replay.ts';

let seq = 0;
const operation = (kind: TinkerOperation['kind'], status: 'done' | 'failed', body: object): TinkerOperation => ({
  runId: 'r',
  seq: ++seq,
  kind,
  bodyHash: '',
  body: JSON.stringify(body),
  status,
  result: '{}',
  error: null,
  category: null,
  createdAtMs: 0,
});
const data = (status: 'done' | 'failed' = 'done') => operation('forward_backward', status, { forwardOnly: false });
const look = () => operation('forward_backward', 'done', { forwardOnly: true });
const step = (status: 'done' | 'failed' = 'done') => operation('optim_step', status, {});
const save = () => operation('save_weights', 'done', {});

test('updates and the gradients after them are computed again; calls that change nothing are not', () => {
  const [a, b, c] = [data(), step(), data()];
  expect(planReplay([a, look(), save(), b, look(), c])).toEqual({ operations: [a, b, c], lostSeq: null });
});

test('a step with a failed part is not replayed, but the calls after it are', () => {
  const [a, b] = [data(), step()];
  expect(planReplay([data(), data('failed'), step('failed'), a, b])).toEqual({ operations: [a, b], lostSeq: null });
});

test('a step is lost with all its parts if one of them failed', () => {
  const [a, b] = [data(), step()];
  const lost = data('failed');
  expect(planReplay([a, b, data(), lost, data('failed')])).toEqual({ operations: [a, b], lostSeq: lost.seq });
});

test('data that was sent again after a failure is computed again, without the parts before it', () => {
  const [a, b] = [data(), data()];
  expect(planReplay([data(), data('failed'), a, b])).toEqual({ operations: [a, b], lostSeq: null });
});

test('a step that failed by itself discarded its gradients', () => {
  expect(planReplay([data(), step('failed')])).toEqual({ operations: [], lostSeq: null });
});

test.each([
  ['forward passes and saves are never needed', [look(), save(), step('failed')], null],
  ['gradients are needed until a step takes them', [look(), data(), look()], 1],
  ['updates are needed until the state is saved', [save(), data(), step(), data('failed')], 1],
  ['a failed part is needed until its step, but not the parts before it', [data(), data('failed'), look()], 1],
] as const)('%s', (_, finished, index) => {
  expect(neededFrom(planReplay(finished))).toBe(index === null ? null : finished[index].seq);
});
