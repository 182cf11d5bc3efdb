// The tokens that the files beside a tokenizer.json name, as Transformers 5 reads them: which have a role (`bos_token`, `image_token`, …), and
// which are added to the vocabulary, in which order and with which flags. Knows the files' content, not where they lie.
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#base/is-object';
import type { RebuiltClass } from './rebuilt-classes.ts';

type Json = Readonly<Record<string, unknown>>;

export interface TokenFiles {
  /** `added_tokens` of tokenizer.json. */
  readonly ofFile: unknown;
  /** tokenizer_config.json, or {}. */
  readonly config: Json;
  /** special_tokens_map.json, or {}. */
  readonly specialTokensMap: Json;
  /** added_tokens.json, token → id, or {}. */
  readonly older: Json;
}

/** A token with its flags, which files may leave out. */
export interface Token {
  readonly content: string;
  readonly special: boolean;
  readonly [flag: string]: unknown;
  /** Now, or before another file gave it other flags. */
  readonly wasNormalized?: boolean;
}

export interface SpecialTokens {
  /** `eos_token` and the like → their text. */
  readonly named: ReadonlyMap<string, string>;
  /** Roles of which no file speaks, only the class. */
  readonly ofClass: ReadonlySet<string>;
  /** In the order in which they are added. */
  readonly added: readonly Token[];
}

const STANDARD = ['bos_token', 'eos_token', 'unk_token', 'sep_token', 'pad_token', 'cls_token', 'mask_token'];

/** `rebuiltAs`: the class that adds all tokens again; null: those of the file are there already. */
export function readSpecialTokens(files: TokenFiles, rebuiltAs: RebuiltClass | null): SpecialTokens {
  const { config } = files;
  const hasDecoder = isObject(config.added_tokens_decoder);
  const map = hasDecoder ? {} : files.specialTokensMap;
  const extras = extrasOf(config, map);
  const ofFile = numberedTokens(Array.isArray(files.ofFile) ? files.ofFile : []);
  const stated = hasDecoder
    ? decoderTokens(config.added_tokens_decoder as Json)
    : [...olderTokens(files, map), ...ofFile];
  const byId = [...new Map(stated)].sort(([a], [b]) => a - b).map(([, token]) => token);
  const roles = rolesOf(
    config,
    map,
    rebuiltAs?.named ?? {},
    new Map(stated.map(([, token]) => [token.content, token])),
  );

  const added = new Map<string, Token>();
  const add = (token: Token) => {
    const before = added.get(token.content); // the library never forgets what a token was
    const special = token.special || before?.special === true;
    const wasNormalized = isNormalized(token) || before?.wasNormalized === true;
    added.set(token.content, { ...token, special, wasNormalized });
  };
  if (!rebuiltAs) for (const [, token] of ofFile) add(token);
  const names = new Set([...roles.values()].map(({ content }) => content));
  const known = new Set([...added.keys(), ...byId.map(({ content }) => content)]);
  const unknown = [...roles.values(), ...extras]
    .filter(({ content }) => !known.has(content))
    .filter((token, i, all) => all.findIndex((other) => isDeepStrictEqual(other, token)) === i);
  for (const token of [...byId, ...unknown]) add(names.has(token.content) ? asSpecial(token) : token);
  if (rebuiltAs?.namesAgain)
    for (const token of [...roles.values(), ...extras])
      add(rebuiltAs.namesAgain === 'plain' ? plain(token.content) : asSpecial(token));
  return {
    named: new Map([...roles].map(([name, { content }]) => [name, content])),
    ofClass: new Set([...roles.keys()].filter((name) => !Object.hasOwn(config, name) && !Object.hasOwn(map, name))),
    added: [...added.values()],
  };
}

const itemsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list : []);

const isNormalized = ({ normalized, special }: Token): boolean =>
  typeof normalized === 'boolean' ? normalized : !special;

/** A token that a file names by its text. */
const plain = (content: string): Token => ({
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

const asSpecial = (token: Token): Token => ({ ...token, special: true });

/** A text, or an object with the token's flags. */
function tokenOf(value: unknown): Token | null {
  if (typeof value === 'string') return plain(value);
  if (!isObject(value) || typeof value.content !== 'string') return null;
  return { ...value, content: value.content, special: value.special === true };
}

const textOf = (value: unknown): string | null => tokenOf(value)?.content ?? null;

const tokensIn = (list: unknown): Token[] =>
  Array.isArray(list) ? list.map(tokenOf).filter((token) => token !== null) : [];

type NumberedToken = readonly [id: number, token: Token];

const numberedTokens = (list: readonly unknown[]): NumberedToken[] =>
  list.flatMap((value, index): NumberedToken[] => {
    const token = isObject(value) ? tokenOf(value) : null;
    const id = isObject(value) && typeof value.id === 'number' ? value.id : index;
    return token === null ? [] : [[id, token]];
  });

const decoderTokens = (decoder: Json): NumberedToken[] =>
  Object.entries(decoder).flatMap(([id, value]): NumberedToken[] => {
    const token = isObject(value) ? tokenOf(value) : null;
    return token === null ? [] : [[Number(id), token]];
  });

/** added_tokens.json. A token with a standard role, or listed, is special, but not one that tokenizer_config.json names with flags. */
function olderTokens({ older, config }: TokenFiles, map: Json): NumberedToken[] {
  const named = STANDARD.map((name) => (Object.hasOwn(map, name) ? textOf(map[name]) : config[name]));
  const special = new Set([...named, ...itemsOf(listedIn(config)), ...itemsOf(map.extra_special_tokens).map(textOf)]);
  return Object.entries(older).flatMap(([content, id]): NumberedToken[] =>
    typeof id === 'number'
      ? [[id, { ...plain(content), special: special.has(content), normalized: !special.has(content) }]]
      : [],
  );
}

/**
 * The standard roles: special_tokens_map.json comes before tokenizer_config.json, and this before the class. The others, `image_token` and
 * the like: a text in tokenizer_config.json comes first. `null` in a file: there is none.
 */
function rolesOf(config: Json, map: Json, ofClass: Json, known: ReadonlyMap<string, Token>): Map<string, Token> {
  const roles = new Map<string, Token>();
  const given = { ...config, ...map };
  for (const name of STANDARD) {
    const token = tokenOf(Object.hasOwn(given, name) ? given[name] : ofClass[name]);
    if (token) roles.set(name, (Object.hasOwn(given, name) && known.get(token.content)) || token);
  }
  const [texts, objects] = [true, false].map((isText) =>
    filtered(config, (value) => (typeof value === 'string') === isText),
  );
  const first = otherRoles({ ...ofClass, ...objects!, ...map });
  for (const [name, token] of [...first, ...dictionaryRoles(config, otherRoles(texts!), map)]) roles.set(name, token);
  for (const name of Object.keys(ofClass)) if (given[name] === null) roles.delete(name);
  return roles;
}

const otherRoles = (file: Json): [string, Token][] =>
  Object.entries(file).flatMap(([name, value]): [string, Token][] => {
    const token = name.endsWith('_token') && !STANDARD.includes(name) ? tokenOf(value) : null;
    return token === null ? [] : [[name, token]];
  });

const filtered = (file: Json, isWanted: (value: unknown) => boolean): Json =>
  Object.fromEntries(Object.entries(file).filter(([, value]) => isWanted(value)));

/** Those that dictionaries name, and `texts`: those that tokenizer_config.json names by their text. */
function dictionaryRoles(config: Json, texts: [string, Token][], map: Json): [string, Token][] {
  const entries = (value: unknown): [string, Token][] =>
    isObject(value)
      ? Object.entries(value).flatMap(([name, each]): [string, Token][] => {
          const token = tokenOf(each);
          return token === null ? [] : [[name, token]];
        })
      : [];
  const own = [...texts, ...entries(config.extra_special_tokens)];
  return [
    ...(own.length > 0 ? own : entries(config.model_specific_special_tokens)),
    ...entries(map.extra_special_tokens),
  ];
}

const namesOlder = (config: Json): boolean => {
  const { extra_special_tokens: newer } = config;
  const isEmpty = !newer || (Array.isArray(newer) && newer.length === 0);
  return isEmpty && Object.hasOwn(config, 'additional_special_tokens');
};

const listedIn = (config: Json): unknown =>
  namesOlder(config) ? config.additional_special_tokens : config.extra_special_tokens;

/** Tokens that are listed: under one name, or under the older one if there is nothing under the first. */
function extrasOf(config: Json, map: Json): Token[] {
  const hasOlder = namesOlder(config);
  const first = listedIn(config);
  const more = map.extra_special_tokens;
  if (Array.isArray(more)) return [...tokensIn(first), ...tokensIn(more)];
  const isPresent = first !== undefined && !isObject(first) && !isObject(more);
  const others = map.additional_special_tokens ?? (hasOlder ? undefined : config.additional_special_tokens);
  return tokensIn(isPresent ? first : others);
}
