// Where a JSON object or list ends, character by character. What is in it is not looked at.

export interface JsonBrackets {
  /** The next character is inside a string. */
  readonly quoted: boolean;
  /** True: it is closed with this character. The first one must open it. */
  step(character: string): boolean;
}

export function createJsonBrackets(): JsonBrackets {
  let depth = 0; // objects and lists alike
  let quoted = false;
  let escaped = false;

  return {
    get quoted() {
      return quoted;
    },
    step(character) {
      if (quoted) {
        if (character === '"' && !escaped) quoted = false;
        escaped = character === '\\' && !escaped;
        return false;
      }
      if (character === '"') quoted = true;
      else if (character === '{' || character === '[') depth++;
      else if (character === '}' || character === ']') depth--;
      return depth === 0;
    },
  };
}
