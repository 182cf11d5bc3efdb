// JSON text that is produced while a call is read, and taken piece by piece.

export interface JsonPieces {
  add(this: void, text: string): void;
  /** What was added since the last time. */
  take(this: void): string;
  /** Whether nothing was ever added. */
  readonly isEmpty: boolean;
}

export function createJsonPieces(): JsonPieces {
  let pieces = '';
  let isEmpty = true;
  return {
    add(text) {
      pieces += text;
      isEmpty &&= text === '';
    },
    take() {
      const taken = pieces;
      pieces = '';
      return taken;
    },
    get isEmpty() {
      return isEmpty;
    },
  };
}
