// A text that arrives in many small pieces, joined every so often: added up with `+`, each piece stays an object until the text is read,
// which is 60 bytes for each token of an answer.

export interface JoinedText {
  add(piece: string): void;
  read(): string;
}

/** The pieces of one text that wait. */
const PIECES_MAX = 256;

export function createJoinedText(): JoinedText {
  const joined: string[] = [];
  let pieces: string[] = [];
  return {
    add(piece) {
      if (piece === '' || pieces.push(piece) < PIECES_MAX) return;
      joined.push(pieces.join(''));
      pieces = [];
    },
    read: () => [...joined, ...pieces].join(''),
  };
}
