// node --import tsx -C source examples/number-guessing/run.ts
import { learn } from '../shared/environments.ts';
import { numberGuessing } from './game.ts';

await learn(numberGuessing);
