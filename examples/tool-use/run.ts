// node --import tsx -C source examples/tool-use/run.ts
import { learn } from '../shared/environments.ts';
import { toolUse } from './agent.ts';

await learn(toolUse);
