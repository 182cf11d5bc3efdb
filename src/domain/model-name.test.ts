import { expect, test } from 'vitest';
import { checkpointName, parseModelName } from './model-name.ts';

const model = { entity: 'team', project: 'p', name: 'agent-1' };

test.each([
  ['wandb-artifact:///team/p/agent-1', null],
  ['wandb-artifact://team/p/agent-1', null],
  ['artifact:///team/p/agent-1:latest', null],
  ['wandb-artifact:///team/p/agent-1:step12', 12],
  ['wandb-artifact:///team/p/agent-1:v3', 3],
  ['team/p/agent-1', null],
  ['team/p/agent-1@latest', null],
  ['team/p/agent-1@7', 7],
  ['team/p/agent-1:latest', null],
  ['team/p/agent-1:step1', 1],
  ['team/p/agent-1:v2', 2],
  ['wandb-artifact:///team/p/agent-1@4', 4],
  ['team--p--agent-1', null],
  ['team--p--agent-1:step3', 3],
])('%s is a trained model', (text, step) => {
  expect(parseModelName(text)).toEqual({ ...model, step });
});

test.each([
  ['p/agent-1', null],
  ['p/agent-1:latest', null],
  ['p/agent-1:step12', 12],
  ['p/agent-1:v3', 3],
  ['p/agent-1@7', 7],
  ['p--agent-1', null],
  ['p--agent-1@7', 7],
])('%s is one of the key’s own entity', (text, step) => {
  expect(parseModelName(text)).toEqual({ ...model, entity: null, step });
});

test.each([
  'agent-1',
  'a--b--c--d',
  'team--p/',
  '--agent-1',
  'a/b/c/d',
  'artifact:///p/agent-1',
  'agent-1:step1',
  'p/agent-1:step1@2',
  'p/agent-1@',
  'p/:step1',
  'wandb-artifact:/team/p/agent-1',
  'wandb-artifact:////team/p/agent-1',
  'wandb-artifact:///team/p/agent-1:best',
  'wandb-artifact:///team/p/agent-1:step',
  'team/p/agent-1@-1',
  '',
  '//',
])('%j is not', (text) => {
  expect(parseModelName(text)).toBeNull();
});

test('the name of a checkpoint means that checkpoint', () => {
  expect(parseModelName(checkpointName(model, 4))).toEqual({ ...model, step: 4 });
});
