// A refusal in the middle of a transaction: it rolls back what was already written, and becomes a value outside.

export class Refused<Reason extends string> extends Error {
  readonly reason: Reason;

  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** `toResult` names the reasons for which the transaction throws `Refused`. */
export async function unlessRefused<Reason extends string, T, R>(
  toResult: (reason: Reason) => R,
  transaction: () => Promise<T>,
): Promise<T | R> {
  try {
    return await transaction();
  } catch (error) {
    if (error instanceof Refused) return toResult(error.reason as Reason);
    throw error;
  }
}
