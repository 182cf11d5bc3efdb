// Finds where a JSON object or list ends, character by character, without interpreting its content.

export interface JsonBrackets {
  /** The next character is inside a string. */
  readonly quoted: boolean;
  /** Returns true if this character closes it. The first character must open it. */
  step(character: string): boolean;
}

export function createJsonBrackets(): JsonBrackets {
  let depth = 0; // of objects and lists together
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
