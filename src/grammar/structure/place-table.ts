// Interns places, frames and sets of places. Their number is limited, and the table can be cleared. Objects that are still in use stay
// valid: equal ones that are made again later only repeat the work of a step.
import { stringifyExactJson } from '#base/exact-json';
import { OutOfRoom } from '../lexemes/terms.ts';
import type { JsonSyntax } from './forms.ts';
import type { ArrayFrame, Frame, ObjectFrame, Place, PlaceSet } from './places.ts';
import type { ArrayShape, ObjectShape } from './shapes.ts';

export const PLACES_MAX = 100_000;

/** Thrown when the table is full. */
export class OutOfPlaces extends OutOfRoom {}

export type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

export function createPlaceTable(placesMax: number) {
  const known = new Map<string, Place | Frame>();
  const sets = new Map<string, PlaceSet>();
  let count = 0;
  let lastId = 0;
  let generation = 0;

  function takeRoom(): void {
    if (++count > placesMax) throw new OutOfPlaces('it allows too many continuations');
  }

  function intern<T extends Place | Frame>(key: string, make: () => WithoutId<T>): T {
    const found = known.get(key);
    if (found) return found as T;
    takeRoom();
    const made = { id: ++lastId, ...make() } as unknown as T;
    known.set(key, made);
    return made;
  }

  const end: Frame = { id: 0, kind: 'end' };
  const endPlace: Place = { id: 0, kind: 'end' };

  const objectFrame = (json: JsonSyntax, shape: ObjectShape, seen: ReadonlySet<number>, others: readonly string[], next: Frame): ObjectFrame =>
    intern<ObjectFrame>(`o${shape.id},${[...seen].sort((a, b) => a - b).join('.')},${JSON.stringify(others)},${next.id}`, () => ({
      kind: 'object', json, shape, seen, others, next, more: null, close: null, allowed: null,
    })); // prettier-ignore

  function arrayFrame(
    json: JsonSyntax,
    shape: ArrayShape,
    length: number,
    counts: readonly number[],
    used: readonly unknown[],
    start: number,
    next: Frame,
  ): ArrayFrame {
    // Beyond this length, all further items are treated alike.
    const most = shape.max === Infinity ? Math.max(shape.min, shape.items.length - 1) : Infinity;
    const kept = Math.min(length, most);
    return intern<ArrayFrame>(`a${shape.id},${kept},${counts.join('.')},${shape.unique ? `${start},${stringifyExactJson(used)}` : ''},${next.id}`, () => ({
      kind: 'array', json, shape, length: kept, counts, used, start, next,
    })); // prettier-ignore
  }

  const place = <T extends Place>(key: string, make: () => WithoutId<T>): T => intern<T>(`P${key}`, make);

  const ids = new Map<object, number>();
  const idOf = (thing: object): number => {
    const id = ids.get(thing) ?? ids.size + 1;
    ids.set(thing, id);
    return id;
  };

  const dead: PlaceSet = { places: [], isEnd: false, next: [] };

  function setOf(places: readonly Place[]): PlaceSet {
    if (places.length === 0) return dead;
    const key =
      places.length === 1
        ? `${places[0]!.id}`
        : [...places]
            .map(({ id }) => id)
            .sort((a, b) => a - b)
            .join();
    const found = sets.get(key);
    if (found) return found;
    takeRoom();
    const made: PlaceSet = { places, isEnd: places.includes(endPlace), next: [] };
    sets.set(key, made);
    return made;
  }

  return {
    ...{ intern, place, objectFrame, arrayFrame, setOf, idOf, end, endPlace, dead },
    forget(): void {
      known.clear();
      sets.clear();
      count = 0;
      generation++;
    },
    get size() {
      return count;
    },
    get generation() {
      return generation;
    },
  };
}
