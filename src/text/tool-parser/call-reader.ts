// One call as a JSON object, `{"name": "f", "arguments": {…}}`, read character by character: says the name once it is whole
// and passes the arguments on as they were written. Knows nothing of what stands around the object.

export interface CallReader {
  /** Reads on from `text[from]`; returns where it stopped: behind the object, or at what is no JSON. */
  read(text: string, from: number): number;
  /** `broken`: not a call, or not JSON. */
  readonly state: 'reading' | 'done' | 'broken';
  /** Null until it is known. */
  readonly name: string | null;
  /** What has been read of the arguments since the last time; empty until the name is known. */
  takeArguments(): string;
}

const SPACE = /\s/;
const ARGUMENT_KEYS: ReadonlySet<string> = new Set(['arguments', 'parameters']);

type Place = 'start' | 'key' | 'colon' | 'value' | 'in string' | 'in scalar' | 'in container' | 'behind value';

export function createCallReader(): CallReader {
  let state: CallReader['state'] = 'reading';
  let place: Place = 'start';
  let name: string | null = null;
  let key: string | null = null; // null while a key is read
  let raw = ''; // of the string or scalar that is being read
  let escaped = false;
  let depth = 0; // of a container value; strings in it count too
  let quoted = false;
  let pieces = '';
  let hasArguments = false;

  const isArguments = () => key !== null && ARGUMENT_KEYS.has(key);

  /** False: no JSON object of a call goes on like this. */
  function step(character: string): boolean {
    switch (place) {
      case 'start':
        if (SPACE.test(character)) return true;
        place = 'key';
        return character === '{';
      case 'key':
        if (SPACE.test(character) || character === ',') return true;
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
        stepContainer(character);
        return true;
      case 'in scalar':
        if (character !== ',' && character !== '}' && !SPACE.test(character)) {
          if (isArguments()) pieces += character;
          return true;
        }
        place = 'behind value';
        return step(character);
      case 'behind value':
        if (character === ',') place = 'key';
        return character === ',' || SPACE.test(character) || (character === '}' && finish());
    }
  }

  function finish(): boolean {
    if (name === null) return false;
    if (!hasArguments) pieces = '{}';
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
    if (isArguments()) hasArguments = true;
    if (character === '"') return beginString();
    if (key === 'name') return false;
    if (isArguments()) pieces += character;
    const isContainer = character === '{' || character === '[';
    place = isContainer ? 'in container' : 'in scalar';
    depth = 1;
    quoted = false;
    escaped = false;
    return isContainer || /[-\dtfn]/.test(character);
  }

  /** Keys, the name, and arguments that are JSON text inside a string. */
  function stepString(character: string): boolean {
    if (character !== '"' || escaped) {
      escaped = character === '\\' && !escaped;
      raw += character;
      return true;
    }
    const text = parseString(raw);
    if (text === null) return false;
    if (key === null) {
      key = text;
      place = 'colon';
      return true;
    }
    if (key === 'name') name = text;
    if (isArguments()) pieces += text;
    place = 'behind value';
    return true;
  }

  function stepContainer(character: string): void {
    if (isArguments()) pieces += character;
    if (quoted) {
      if (character === '"' && !escaped) quoted = false;
      escaped = character === '\\' && !escaped;
    } else if (character === '"') quoted = true;
    else if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) place = 'behind value';
  }

  return {
    read(text, from) {
      let at = from;
      while (at < text.length && state === 'reading') {
        if (!step(text[at]!)) state = 'broken';
        else at++;
      }
      return at;
    },
    get state() {
      return state;
    },
    get name() {
      return name;
    },
    takeArguments() {
      if (name === null) return '';
      const taken = pieces;
      pieces = '';
      return taken;
    },
  };
}

function parseString(raw: string): string | null {
  try {
    return JSON.parse(`"${raw.replace(/[\n\r\t]/g, (control) => CONTROLS[control]!)}"`) as string;
  } catch {
    return null;
  }
}

/** Models write line breaks into strings as they are. */
const CONTROLS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
