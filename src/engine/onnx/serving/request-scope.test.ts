import { expect, test } from 'vitest';
import { AppError } from '#domain/errors';
import { openRequestScope, type ScopeSources } from './request-scope.ts';

const adapter = { id: 'a', directory: '/a' };
const constraint = { constraint: { kind: 'regex', source: 'x+' }, afterTokenId: null } as const;

/** Counts what is held; `failing` is the number of the call that fails. */
function createSources(failing = '') {
  const open = { matchers: 0, adapters: 0 };
  const sources: ScopeSources = {
    grammars: {
      async open(_, count) {
        if (failing === 'matchers') throw new AppError('engine_unavailable', 'the thread was lost');
        open.matchers += count;
        return Array.from({ length: count }, () => ({
          isReady: () => true,
          mask: () => null,
          accept() {},
          close: () => void open.matchers--,
        }));
      },
    },
    adapters: {
      async acquire() {
        if (failing === 'adapter') throw new AppError('too_many_requests', 'all places are in use');
        open.adapters++;
      },
      release: () => void open.adapters--,
    },
  };
  return { sources, open };
}

test('a request holds its adapter and a matcher per choice until its scope is closed, once', async () => {
  const { sources, open } = createSources();
  const scope = await openRequestScope({ adapter, constraint, n: 3, payer: '' }, sources);
  expect(scope.matchers).toHaveLength(3);
  expect(open).toEqual({ matchers: 3, adapters: 1 });
  scope.close();
  scope.close();
  expect(open).toEqual({ matchers: 0, adapters: 0 });
});

test.each(['adapter', 'matchers'])('if the %s cannot be acquired, everything is released', async (failing) => {
  const { sources, open } = createSources(failing);
  await expect(openRequestScope({ adapter, constraint, n: 3, payer: '' }, sources)).rejects.toBeInstanceOf(AppError);
  expect(open).toEqual({ matchers: 0, adapters: 0 });
});

test('a request with neither holds nothing; a constraint without a vocabulary is refused', async () => {
  const { sources, open } = createSources();
  const scope = await openRequestScope({ adapter: null, constraint: null, n: 2, payer: '' }, sources);
  expect([scope.matchers, open]).toEqual([[], { matchers: 0, adapters: 0 }]);
  scope.close();
  const blind = { ...sources, grammars: null };
  await expect(openRequestScope({ adapter: null, constraint, n: 1, payer: '' }, blind)).rejects.toMatchObject({
    code: 'invalid_request',
  });
});
