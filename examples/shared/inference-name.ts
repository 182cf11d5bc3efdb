// How requests name a model: its newest checkpoint answers.
import type { Model } from '#client/client';

export const inferenceName = ({ project, name }: Model): string => `${project}/${name}`;
