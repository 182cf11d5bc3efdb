// What the first event of a job says about its rows: those that the chat template refuses, with the place of the first, and turns whose
// end nobody knows. Rows that are too long are only counted.
import type { AppError } from '#domain/errors';

export function createRowRemarks() {
  let refusals = 0;
  let endless = 0;
  let refusal: { readonly row: number; readonly error: AppError } | null = null;
  return {
    addEndless(endlessTurns: number): void {
      endless += endlessTurns;
    },
    /** `row` counts from 1; lines without a row do not count. */
    refuse(row: number, error: AppError): void {
      refusals++;
      refusal ??= { row, error };
    },
    throwIfAllRefused(rows: number): void {
      if (refusal && refusals === rows) throw refusal.error;
    },
    warnings(): string[] {
      return [
        ...(refusal
          ? [
              `${refusals === 1 ? '1 row was' : `${refusals} rows were`} not trained, because the chat template refuses ` +
                `${refusals === 1 ? 'it' : 'them'}; the first is row ${refusal.row}: ${refusal.error.message}`,
            ]
          : []),
        ...(endless > 0
          ? [
              'No end of turn is known: the chat template writes no token that ends generation, and the model names none ' +
                '(eos_token in tokenizer_config.json, or eos_token_id in generation_config.json). The model will not learn to stop.',
            ]
          : []),
      ];
    },
  };
}
