// A call as gpt-oss writes it in the harmony format: a header with the recipient, `to=functions.f`, on either side of the channel, then
// the arguments up to the end of the message. The model also leaves out `functions.`, as vLLM knows; its built-in tools are not served.
import { beginningAtEnd } from '../beginning-at-end.ts';
import { HEADER_CHARACTERS_MAX, isHarmonyHeader, MESSAGE } from '../harmony-header.ts';
import type { CallReader } from './call-reader.ts';
import { createJsonPieces } from './json-pieces.ts';

const ENDS = ['<|call|>', '<|end|>', '<|return|>', '<|start|>', '<|channel|>'];
const RECIPIENT = /(?:^|\s)to=(?:functions\.)?([^\s<]+)/;
const NO_FUNCTIONS = /^(?:functions\.|assistant|(?:python|browser|container)(?:\..*)?)$/;
/** The beginning of a header that begins with the recipient: other text has ` to=`, too. */
const RECIPIENT_FIRST = /^ to=[^\s<>"'=(){}]*(?:[\s<]|$)/;

/** `opening`: what of the header was read. */
export function createHarmonyCall(opening: string): CallReader {
  let state: CallReader['state'] = 'reading';
  let name: string | null = null;
  const pieces = createJsonPieces();

  function readHeader(text: string, from: number): number {
    const end = text.indexOf(MESSAGE, from);
    const header = opening + text.slice(from, end < 0 ? text.length : end);
    const length = header.length - (end < 0 ? beginningAtEnd(header, [MESSAGE]) : 0);
    const isHeader = length <= HEADER_CHARACTERS_MAX && !ENDS_HEADER.test(header) && isBeginning(header);
    if (isHeader && end < 0) return from;
    name = isHeader && isHarmonyHeader(header) ? recipientIn(header) : null;
    if (name === null) state = 'broken';
    return name === null ? from : end + MESSAGE.length;
  }

  function readArguments(text: string, from: number): number {
    const ends = ENDS.map((tag) => text.indexOf(tag, from)).filter((at) => at >= 0);
    const end = ends.length > 0 ? Math.min(...ends) : null;
    const upTo = from + text.slice(from, end ?? text.length - beginningAtEnd(text.slice(from), ENDS)).trimEnd().length;
    pieces.add(text.slice(from, upTo));
    if (end === null) return upTo;
    if (pieces.isEmpty) pieces.add('{}');
    state = 'done';
    return end;
  }

  return {
    read(text, from) {
      const at = name === null ? readHeader(text, from) : from;
      return name === null || state === 'broken' ? at : readArguments(text, at);
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments: pieces.take,
    /** The end of a message is a stop token, which is no part of the answer's text. */
    end(isStopped) {
      if (!isStopped || name === null || state !== 'reading') return;
      if (pieces.isEmpty) pieces.add('{}');
      state = 'done';
    },
  };
}

const isBeginning = (header: string): boolean => !header.startsWith(' to=') || RECIPIENT_FIRST.test(header);

function recipientIn(header: string): string | null {
  const name = RECIPIENT.exec(header)?.[1];
  return name === undefined || NO_FUNCTIONS.test(name) ? null : name;
}

/** A header is one line. */
const ENDS_HEADER = /\n|<\|(?:call|end|return)\|>/;
