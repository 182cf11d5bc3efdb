// A schema document: its schemas with their locations, and the targets of references. `$id`, anchors and pointers are followed only
// inside the document; nothing is downloaded. Supports drafts 4 to 7 and 2020-12 by the names of their keywords.
import { isObject } from '#base/is-object';
import { refusal, type Json } from './refusal.ts';

/** A schema and its location. */
export interface SchemaNode {
  readonly id: number;
  readonly raw: Json | boolean;
  readonly pointer: string;
  readonly resource: Resource;
}

interface Resource {
  readonly id: number;
  readonly uri: string;
  readonly root: unknown;
  readonly pointer: string;
  readonly anchors: Map<string, unknown>;
  readonly dynamicAnchors: Map<string, unknown>;
}

export interface SchemaDocument {
  readonly root: SchemaNode;
  /** Reads a part of a schema as a schema. Throws if it is not one. */
  node(raw: unknown, pointer: string, resource: Resource): SchemaNode;
  follow(from: SchemaNode, reference: string): SchemaNode;
  /** `scope`: resources entered on the way, outermost first. */
  followDynamic(from: SchemaNode, reference: string, scope: readonly Resource[]): SchemaNode;
  readonly hasDynamicAnchors: boolean;
}
export type { Resource };

const DEPTH_MAX = 200; // deeper schemas are made to break parsers
const HOME = 'schema://document/';

const DATA_KEYS = new Set(['const', 'enum', 'default', 'examples', 'example']);

/** `spend` counts one unit of work for each object and list. */
export function readDocument(rawRoot: unknown, spend: (units: number) => void): SchemaDocument {
  const resources = new Map<string, Resource>();
  const places = new Map<object, { pointer: string; resource: Resource }>();
  const nodes = new WeakMap<object, SchemaNode>();
  let nodeCount = 0;
  let hasDynamicAnchors = false;
  const leaves = new Map<string, SchemaNode>();

  function openResource(uri: string, root: unknown, pointer: string): Resource {
    const resource = { id: resources.size, uri, root, pointer, anchors: new Map(), dynamicAnchors: new Map() };
    if (!resources.has(uri)) resources.set(uri, resource);
    return resource;
  }

  const dialect = isObject(rawRoot) && typeof rawRoot.$schema === 'string' ? rawRoot.$schema : '';
  /** The keyword is `$id`, or `id` in draft 4. */
  const idKey = /draft-0[34]/.test(dialect) ? 'id' : '$id';

  /** Up to draft 7, keywords next to `$ref` are ignored, including `$id`. */
  const refOverrides = /draft-0[3-7]/.test(dialect);

  function index(part: unknown, pointer: string, outer: Resource, depth: number): void {
    if (depth > DEPTH_MAX) throw refusal(pointer, `it is nested more than ${DEPTH_MAX} deep`);
    if (typeof part === 'object') spend(2);
    if (Array.isArray(part)) {
      part.forEach((item, i) => index(item, `${pointer}/${i}`, outer, depth + 1));
      return;
    }
    if (!isObject(part)) return;
    let resource = outer;
    const id = refOverrides && typeof part.$ref === 'string' ? undefined : part[idKey];
    if (typeof id === 'string' && id !== '') {
      if (id.startsWith('#')) resource.anchors.set(id.slice(1), part);
      else if (pointer !== '') resource = openResource(resolve(id, outer.uri), part, pointer);
    }
    if (typeof part.$anchor === 'string') resource.anchors.set(part.$anchor, part);
    if (typeof part.$dynamicAnchor === 'string') {
      resource.anchors.set(part.$dynamicAnchor, part);
      resource.dynamicAnchors.set(part.$dynamicAnchor, part);
      hasDynamicAnchors = true;
    }
    places.set(part, { pointer, resource });
    for (const [key, value] of Object.entries(part))
      if (!DATA_KEYS.has(key)) index(value, `${pointer}/${escapePointer(key)}`, resource, depth + 1);
  }

  const rootId = isObject(rawRoot) && typeof rawRoot[idKey] === 'string' ? rawRoot[idKey] : '';
  const home = openResource(resolve(rootId, HOME), rawRoot, '');
  index(rawRoot, '', home, 0);

  function node(raw: unknown, pointer: string, resource: Resource): SchemaNode {
    if (typeof raw !== 'boolean' && !isObject(raw)) throw refusal(pointer, 'a schema must be an object, true or false');
    const known = typeof raw === 'boolean' ? leaves.get(String(raw)) : nodes.get(raw);
    if (known) return known;
    const place = (typeof raw === 'boolean' ? undefined : places.get(raw)) ?? { pointer, resource };
    const leaf = leafKey(raw, place.resource);
    const made = (leaf === null ? undefined : leaves.get(leaf)) ?? { id: ++nodeCount, raw, ...place };
    if (leaf !== null) leaves.set(leaf, made);
    if (typeof raw !== 'boolean') nodes.set(raw, made);
    return made;
  }

  function target(from: SchemaNode, reference: string): { resource: Resource; fragment: string } {
    const place = `${from.pointer}/$ref`;
    const uri = resolve(reference, from.resource.uri);
    const [base, fragment = ''] = uri.split('#') as [string, string?];
    const resource = resources.get(base) ?? (base === HOME ? home : undefined);
    if (!resource) throw refusal(place, 'only references within the schema are supported');
    return { resource, fragment: decode(fragment, place) };
  }

  function follow(from: SchemaNode, reference: string): SchemaNode {
    const { resource, fragment } = target(from, reference);
    const place = `${from.pointer}/$ref`;
    if (fragment !== '' && !fragment.startsWith('/')) {
      const anchored = resource.anchors.get(fragment);
      if (anchored === undefined) throw refusal(place, `the schema has nothing at ${reference}`);
      return node(anchored, '', resource);
    }
    let at: unknown = resource.root;
    let pointer = resource.pointer;
    let within = resource;
    for (const part of fragment.split('/').slice(1)) {
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
      at = (isObject(at) || Array.isArray(at)) && Object.hasOwn(at, key) ? (at as Json)[key] : undefined;
      pointer += `/${part}`;
      if (isObject(at)) within = places.get(at)?.resource ?? within;
    }
    if (at === undefined) throw refusal(place, `the schema has nothing at ${reference}`);
    return node(at, pointer, within);
  }

  /** Throws if a chain of references leads back to itself, or is too long. */
  function checkReferences(start: SchemaNode): void {
    const seen = new Set([start]);
    for (let at = start; isObject(at.raw) && typeof at.raw.$ref === 'string'; seen.add(at)) {
      at = follow(at, at.raw.$ref);
      if (seen.has(at)) throw refusal(`${start.pointer}/$ref`, 'its references form a cycle');
      if (seen.size > DEPTH_MAX)
        throw refusal(`${start.pointer}/$ref`, `its references form a chain of more than ${DEPTH_MAX}`);
    }
  }

  return {
    root: node(rawRoot, '', home),
    node,
    follow(from, reference) {
      checkReferences(from);
      return follow(from, reference);
    },
    followDynamic(from, reference, scope) {
      const first = follow(from, reference);
      const { fragment, resource } = target(from, reference);
      if (!resource.dynamicAnchors.has(fragment)) return first;
      const outermost = scope.find((each) => each.dynamicAnchors.has(fragment));
      return outermost ? node(outermost.dynamicAnchors.get(fragment), '', outermost) : first;
    },
    get hasDynamicAnchors() {
      return hasDynamicAnchors;
    },
  };
}

const SHORT = 100;

/** Small schemas with equal content share one node, wherever they are: most properties are a string or a number. Null: not small. */
function leafKey(raw: Json | boolean, { id }: Resource): string | null {
  if (typeof raw === 'boolean') return String(raw);
  let key = `${id}`;
  for (const [name, value] of Object.entries(raw)) {
    if ((typeof value === 'object' && value !== null) || IDENTITIES.has(name)) return null;
    if (WORDLESS.has(name)) continue;
    key += `,${JSON.stringify(name)}:${typeof value === 'string' ? JSON.stringify(value) : typeof value + String(value)}`;
    if (key.length > SHORT) return null;
  }
  return key;
}

const IDENTITIES = new Set(['$id', 'id', '$anchor', '$dynamicAnchor']);
const WORDLESS = new Set(['title', 'description', '$comment']);

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

function resolve(reference: string, base: string): string {
  try {
    return new URL(reference, base).href.replace(/#$/, '');
  } catch {
    return reference.replace(/#$/, '');
  }
}

function decode(fragment: string, place: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    throw refusal(place, 'the value is not a URI reference');
  }
}
