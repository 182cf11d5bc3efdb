// All skills of the starter model. The shares are of tokens, and sum to 1.
import { addition } from './addition.ts';
import { comparing } from './comparing.ts';
import { guessing } from './guessing.ts';
import { jsonObjects } from './json-objects.ts';
import { letters } from './letters.ts';
import { singleWords } from './single-words.ts';
import type { Skill } from './skill.ts';
import { smallTalk } from './small-talk.ts';
import { toolCalls } from './tool-calls.ts';

export const SKILLS: readonly Skill[] = [
  addition,
  singleWords,
  comparing,
  letters,
  jsonObjects,
  toolCalls,
  guessing,
  smallTalk,
];
