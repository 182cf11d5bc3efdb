// The terminals of Lark's library `common`, which grammars import by name, as regular expressions. They match the same texts as those of
// lark 1.2.2 (lark/grammars/common.lark).

const EXPONENT = '[eE][+-]?[0-9]+';
const DECIMAL = '(?:[0-9]+\\.[0-9]*|\\.[0-9]+)';
const FLOAT = `(?:[0-9]+${EXPONENT}|${DECIMAL}(?:${EXPONENT})?)`;
const NUMBER = `(?:${FLOAT}|[0-9]+)`;

export const COMMON_TERMINALS: ReadonlyMap<string, string> = new Map([
  ['DIGIT', '[0-9]'],
  ['HEXDIGIT', '[0-9A-Fa-f]'],
  ['INT', '[0-9]+'],
  ['SIGNED_INT', '[+-]?[0-9]+'],
  ['DECIMAL', DECIMAL],
  ['FLOAT', FLOAT],
  ['SIGNED_FLOAT', `[+-]?${FLOAT}`],
  ['NUMBER', NUMBER],
  ['SIGNED_NUMBER', `[+-]?${NUMBER}`],
  ['ESCAPED_STRING', '"(?:[^"\\\\\\n]|\\\\[^\\n])*"'],
  ['LCASE_LETTER', '[a-z]'],
  ['UCASE_LETTER', '[A-Z]'],
  ['LETTER', '[A-Za-z]'],
  ['WORD', '[A-Za-z]+'],
  ['CNAME', '[A-Z_a-z][0-9A-Z_a-z]*'],
  ['WS_INLINE', '[ \\t]+'],
  ['WS', '[ \\t\\f\\r\\n]+'],
  ['CR', '\\r'],
  ['LF', '\\n'],
  ['NEWLINE', '(?:\\r?\\n)+'],
  ['SH_COMMENT', '#[^\\n]*'],
  ['CPP_COMMENT', '\\/\\/[^\\n]*'],
  ['C_COMMENT', '\\/\\*(?:[^*]|\\*+[^*\\/])*\\*+\\/'],
  ['SQL_COMMENT', '--[^\\n]*'],
]);
