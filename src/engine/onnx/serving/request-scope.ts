// What a request holds from its admission until its last choice has ended: its adapter and one grammar matcher per choice.
// They are opened together or not at all, and released together.
import { AppError } from '#domain/errors';
import type { GenerateRequest } from '../../inference-engine.ts';
import type { AdapterStore } from './adapter-store.ts';
import type { GrammarMatcher, Grammars } from '#grammar/grammars';

export interface RequestScope {
  /** By choice; empty without a constraint. */
  readonly matchers: readonly GrammarMatcher[];
  /** Idempotent. */
  close(): void;
}

export interface ScopeSources {
  readonly adapters: Pick<AdapterStore, 'acquire' | 'release'>;
  /** Null: the engine has no vocabulary. */
  readonly grammars: Pick<Grammars, 'open'> | null;
}

export async function openRequestScope(
  { adapter, constraint, n, payer }: Pick<GenerateRequest, 'adapter' | 'constraint' | 'n' | 'payer'>,
  { adapters, grammars }: ScopeSources,
): Promise<RequestScope> {
  const matchers: GrammarMatcher[] = [];
  let acquired = false;
  const close = () => {
    for (const matcher of matchers.splice(0)) matcher.close();
    if (acquired) adapters.release(adapter!.id);
    acquired = false;
  };
  try {
    if (constraint) matchers.push(...(await grammarsOrRefuse(grammars).open(constraint.constraint, n, payer)));
    if (adapter) await adapters.acquire(adapter);
    acquired = adapter !== null;
    return { matchers: [...matchers], close };
  } catch (error) {
    close();
    throw error;
  }
}

export function grammarsOrRefuse<G>(grammars: G | null): G {
  if (grammars) return grammars;
  const message = 'This engine was opened without a vocabulary, so it cannot enforce a constraint.';
  throw new AppError('invalid_request', message);
}
