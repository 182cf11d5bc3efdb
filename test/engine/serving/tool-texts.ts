// Texts under the constraint that tools impose on an answer, as the grammar threads enforce it. Every byte is a token.
import { afterAll } from 'vitest';
import { silentLog } from '#base/log';
import type { Constraint } from '#domain/constraint';
import { createGrammars } from '#grammar/grammars';
import { toolConstraint } from '#services/chat/tool-constraint';
import type { ToolSyntax } from '#text/tool-parser';

/** Ends the text. */
const EOS = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};
const grammars = createGrammars({ vocabulary, vocabSize: 257, stopTokenIds: [EOS], log: silentLog });
afterAll(() => grammars.close());

const parameters = { type: 'object', properties: { city: { enum: ['Oslo', 'Rome'] } }, required: ['city'] };
export const strict = { type: 'function', function: { name: 'weather', strict: true, parameters } };
export const loose = { type: 'function', function: { name: 'note', parameters } };

/** How much of the text can be written; all of it and the end: `complete`. */
export const reach = (text: string, syntax: ToolSyntax, parallel = true): Promise<string> =>
  reachIn(toolConstraint({ mode: 'auto', callable: null }, [strict, loose], syntax, parallel)!, text);

export async function reachIn(constraint: Constraint, text: string): Promise<string> {
  const [matcher] = await grammars.open(constraint, 1, 'a');
  const may = (token: number) => {
    const mask = matcher!.mask();
    return mask !== null && ((mask[token >> 5]! >>> (token & 31)) & 1) === 1;
  };
  try {
    const bytes = [...Buffer.from(text)];
    for (const [at, byte] of bytes.entries()) {
      if (!may(byte)) return Buffer.from(bytes.slice(0, at)).toString();
      matcher!.accept(byte);
    }
    return may(EOS) ? 'complete' : 'open';
  } finally {
    matcher!.close();
  }
}

/** A text that the constraint allows, without analysis before a call, and without white space where there may be some. */
export async function write(constraint: Constraint): Promise<string> {
  const [matcher] = await grammars.open(constraint, 1, 'a');
  const bytes: number[] = [];
  try {
    for (let mask = matcher!.mask(); mask !== null && bytes.length < 2_000; mask = matcher!.mask()) {
      const allowed = Array.from({ length: 257 }, (_, token) => token).filter(
        (token) => (mask[token >> 5]! >>> (token & 31)) & 1,
      );
      const token = allowed.at(-1) === EOS ? EOS : (allowed.findLast((each) => each > 0x20) ?? allowed[0]!);
      if (token !== EOS) bytes.push(token);
      matcher!.accept(token);
    }
    return Buffer.from(bytes).toString();
  } finally {
    matcher!.close();
  }
}
