// Makes places and frames: which key each has, under which the table keeps it as one object. Knows no step between them.
import { stringifyExactJson } from '#base/exact-json';
import type { Term } from '../lexemes/terms.ts';
import type { Form, JsonSyntax } from './forms.ts';
import type { PlaceTable, WithoutId } from './place-table.ts';
import type { ArrayFrame, Frame, ObjectFrame, Place } from './places.ts';
import type { ArrayShape, ObjectShape, Obligation } from './shapes.ts';

export type PlaceMakers = ReturnType<typeof createPlaceMakers>;

export function createPlaceMakers({ intern, idOf }: PlaceTable) {
  const place = (key: string, made: WithoutId<Place>): Place => intern<Place>(`P${key}`, made);
  return {
    lexeme: (term: Term, next: Frame) => place(`l${term.id},${next.id}`, { kind: 'lexeme', term, next }),
    begin: (json: JsonSyntax, shape: ObjectShape | ArrayShape, next: Frame) =>
      place(`b${shape.id},${next.id}`, { kind: 'begin', json, shape, next }),
    after: (frame: ObjectFrame | ArrayFrame, gap: Term) =>
      place(`f${frame.id},${gap.id}`, { kind: 'after', frame, gap }),

    key: (frame: ObjectFrame, gap: Term, isFirst: boolean) =>
      place(`k${frame.id},${gap.id},${isFirst ? 1 : 0}`, { kind: 'key', frame, gap, isFirst }),
    named: (frame: ObjectFrame, from: number, to: number, depth: number) =>
      place(`n${frame.id},${from},${to},${depth}`, { kind: 'named', frame, from, to, depth }),
    other: (frame: ObjectFrame, which: number, term: Term, start: number) =>
      place(`e${frame.id},${which},${term.id},${start}`, { kind: 'other', frame, which, term, start }),
    writtenKey: (frame: ObjectFrame, which: number, start: number) =>
      place(`w${frame.id},${which},${start}`, { kind: 'written-key', frame, which, start }),
    colon: (frame: ObjectFrame, value: Obligation, gap: Term) =>
      place(`c${frame.id},${value.id},${gap.id}`, { kind: 'colon', frame, value, gap }),
    value: (frame: ObjectFrame, value: Obligation, gap: Term) =>
      place(`v${frame.id},${value.id},${gap.id}`, { kind: 'value', frame, value, gap }),

    item: (frame: ArrayFrame, gap: Term, isFirst: boolean) =>
      place(`t${frame.id},${gap.id},${isFirst ? 1 : 0}`, { kind: 'item', frame, gap, isFirst }),
    writtenItem: (frame: ArrayFrame) => place(`i${frame.id}`, { kind: 'written-item', frame }),

    sequence: (parts: readonly Form[], at: number, next: Frame) =>
      intern<Frame>(`s${idOf(parts)},${at},${next.id}`, { kind: 'sequence', parts, at, next }),
    repeat: (form: Extract<Form, { kind: 'repeat' }>, count: number, next: Frame) =>
      intern<Frame>(`R${idOf(form)},${count},${next.id}`, { kind: 'repeat', form, count, next }),

    object(opened: Pick<ObjectFrame, 'json' | 'shape' | 'seen' | 'others' | 'next'>): ObjectFrame {
      const { json, shape, seen, others, next } = opened;
      const keys = [...seen].sort((a, b) => a - b).join('.');
      const state = { more: null, close: null, allowed: null };
      const made = { kind: 'object', json, shape, seen, others, next, ...state } as const;
      return intern<ObjectFrame>(`o${shape.id},${keys},${JSON.stringify(others)},${next.id}`, made);
    },
    array({ json, shape, counts, used, start, next, ...opened }: Omit<ArrayFrame, 'id' | 'kind'>): ArrayFrame {
      // Beyond this length, all further items are treated alike.
      const most = shape.max === Infinity ? Math.max(shape.min, shape.items.length - 1) : Infinity;
      const length = Math.min(opened.length, most);
      const written = shape.unique ? `${start},${stringifyExactJson(used)}` : '';
      const made = { kind: 'array', json, shape, length, counts, used, start, next } as const;
      return intern<ArrayFrame>(`a${shape.id},${length},${counts.join('.')},${written},${next.id}`, made);
    },
  };
}
