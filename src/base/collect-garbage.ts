// A full collection, for a process that has just let go of much and will do nothing for a while: V8 collects when something is
// allocated, so an idle process would keep what nobody refers to. Takes as long as the objects that live are many.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | null = null;

export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc'); // holds for contexts that are made from now on
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
