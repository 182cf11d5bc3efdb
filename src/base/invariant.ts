// For bugs: a condition that cannot be false unless our own code is wrong. Users' mistakes are AppErrors.

class InvariantError extends Error {
  override readonly name = 'InvariantError';
}

export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
