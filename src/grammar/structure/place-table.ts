// Interns places, frames and sets of places. Their number is limited, and the table can be cleared. Objects that are still in use stay
// valid: equal ones that are made again later only repeat the work of a step.
import { OutOfRoom } from '../lexemes/terms.ts';
import type { Frame, Place, PlaceSet } from './places.ts';

export const PLACES_MAX = 100_000;

/** Thrown when the table is full. */
export class OutOfPlaces extends OutOfRoom {}

/** The end of the text. */
export const END: Place & Frame = { id: 0, kind: 'end' };

export type PlaceTable = ReturnType<typeof createPlaceTable>;

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

  /** The object that is known under this key, or this one with an id. */
  function intern<T extends Place | Frame>(key: string, made: WithoutId<T>): T {
    const found = known.get(key);
    if (found) return found as T;
    takeRoom();
    const kept = { id: ++lastId, ...made } as unknown as T;
    known.set(key, kept);
    return kept;
  }

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
    const made: PlaceSet = { places, isEnd: places.includes(END), next: [] };
    sets.set(key, made);
    return made;
  }

  return {
    ...{ intern, setOf, idOf, dead },
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
