// Forces a full garbage collection in a process that has just released much memory and will be idle for a while: V8 collects when
// something is allocated, so an idle process would keep unreachable objects. Takes time in proportion to the live objects.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

let collect: (() => void) | null = null;

export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc'); // affects contexts that are created from now on
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
