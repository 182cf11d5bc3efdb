// How much work may still be done, counted in terms made and derivatives taken: what a constraint costs is bounded by a number, not
// by a clock, so that the same constraint is refused everywhere or nowhere.
import { TooComplex } from './term.ts';

export class WorkBudget {
  left = Infinity;
  /** False while a text is written: then another way to continue is known, and a question may be given up. */
  isCompiling = true;

  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new TooComplex('it takes too much work to compile');
  }
}
