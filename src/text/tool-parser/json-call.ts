// One call as a JSON object, `{"name": "f", "arguments": {…}}`, read character by character: reports the name once it is complete and passes
// the arguments on as written. Whether all of it is JSON shows at its end. Knows nothing about what surrounds the object.
import type { CallReader } from './call-reader.ts';
import { isJson } from './is-json.ts';
import { createJsonBrackets } from './json-brackets.ts';
import { createJsonPieces } from './json-pieces.ts';

const SPACE = /\s/;
const SCALAR_START = /[-\dtfn]/;
/** Allowed in JSON only inside strings; elsewhere the model has stopped and closes, or opens, a block. */
const TAG_START = '<';
const ARGUMENT_KEYS: ReadonlySet<string> = new Set(['arguments', 'parameters']);
/** Keys that a call without arguments may have beside its name. Under any other one they may stand, and would be lost. */
const OTHER_KEYS: ReadonlySet<string> = new Set(['id', 'type']);

type ReadingState = 'start' | 'key' | 'colon' | 'value' | 'in string' | 'in scalar' | 'in container' | 'behind value';

/** `needsArguments`: an object without them is not a call, whatever its name. */
export function createJsonCall({ needsArguments }: { needsArguments: boolean }): CallReader {
  let state: CallReader['state'] = 'reading';
  let place: ReadingState = 'start';
  let name: string | null = null;
  let key: string | null = null; // null while a key is read
  let raw = ''; // of the string or scalar that is being read
  let escaped = false;
  let container = createJsonBrackets(); // of the value, where it is an object or a list
  const pieces = createJsonPieces();
  let hasArguments = false;
  let mayLackArguments = !needsArguments;
  let isOver = false; // nothing of it follows
  let whole = '';
  let inArguments = false; // the current value is the arguments

  const isCall = () => name !== null && (hasArguments || (isOver && mayLackArguments));

  /** False: no call continues like this. */
  function step(character: string): boolean {
    switch (place) {
      case 'start':
        if (SPACE.test(character)) return true;
        place = 'key';
        return character === '{';
      case 'key':
        if (SPACE.test(character)) return true;
        if (character === '}') return finish();
        key = null;
        return character === '"' && beginString();
      case 'colon':
        if (character === ':') place = 'value';
        return character === ':' || SPACE.test(character);
      case 'value':
        return SPACE.test(character) || beginValue(character);
      case 'in string':
        return stepString(character);
      case 'in container':
        return stepContainer(character);
      case 'in scalar':
        if (character !== ',' && character !== '}' && !SPACE.test(character)) {
          if (inArguments && character !== TAG_START) pieces.add(character);
          return character !== TAG_START;
        }
        place = 'behind value';
        return step(character);
      case 'behind value':
        if (character === ',') place = 'key';
        return character === ',' || SPACE.test(character) || (character === '}' && finish());
    }
  }

  function finish(): boolean {
    isOver = true;
    if (!isCall() || !isJson(`${whole}}`)) return false;
    if (pieces.isEmpty) pieces.add('{}'); // missing, or a string without text: clients parse the arguments
    state = 'done';
    return true;
  }

  function beginString(): true {
    raw = '';
    escaped = false;
    place = 'in string';
    return true;
  }

  function beginValue(character: string): boolean {
    const isContainer = character === '{' || character === '[';
    inArguments = ARGUMENT_KEYS.has(key!);
    if (key === 'name' ? name !== null || character !== '"' : inArguments && hasArguments) return false; // twice, or no name
    if (character !== '"' && !isContainer && !SCALAR_START.test(character)) return false;
    if (inArguments) hasArguments = true;
    else if (key !== 'name' && !OTHER_KEYS.has(key!)) mayLackArguments = false;
    if (character === '"') return beginString();
    if (inArguments) pieces.add(character);
    place = isContainer ? 'in container' : 'in scalar';
    container = createJsonBrackets();
    if (isContainer) container.step(character);
    return true;
  }

  /** Keys, the name, and arguments that are JSON text inside a string. */
  function stepString(character: string): boolean {
    if (character < ' ') return false;
    if (character !== '"' || escaped) {
      escaped = character === '\\' && !escaped;
      raw += character;
      return true;
    }
    const isName = key === 'name';
    place = key === null ? 'colon' : 'behind value';
    if (key !== null && !isName && !inArguments) return true;
    const text = parseString(raw);
    if (text === null || (isName && text === '')) return false;
    if (key === null) key = text;
    else if (isName) name = text;
    else pieces.add(text.trim() === '' ? '' : text);
    return true;
  }

  function stepContainer(character: string): boolean {
    if (container.quoted ? character < ' ' : character === TAG_START) return false;
    if (inArguments) pieces.add(character);
    if (container.step(character)) place = 'behind value';
    return true;
  }

  return {
    read(text, from) {
      let at = from;
      while (at < text.length && state === 'reading') {
        if (!step(text[at]!)) state = 'broken';
        else whole += text[at++]!;
      }
      return at;
    },
    get state() {
      return state;
    },
    get name() {
      return isCall() ? name : null;
    },
    takeArguments: () => (isCall() ? pieces.take() : ''),
    end(isStopped) {
      if (isStopped || state !== 'reading') return;
      isOver = true;
      if (place === 'in string' && inArguments) pieces.add(parseString(raw.replace(PART_OF_ESCAPE, '')) ?? '');
    },
  };
}

const PART_OF_ESCAPE = /(?<=(?:^|[^\\])(?:\\\\)*)\\(?:u[\da-fA-F]{0,3})?$/;

function parseString(raw: string): string | null {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return null;
  }
}
