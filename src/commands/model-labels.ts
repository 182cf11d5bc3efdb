// What `whetstone models` does with models that exist: delete, archive, tag and note them, and show their projects. Creating and listing
// them: models.ts and model-list.ts.
import { Option, type Command } from 'commander';
import { counted } from '#base/counted';
import type { Client, Model, ModelLabels } from '#client/client';
import { UsageError } from '#domain/errors';
import { all, confirm, linesOr, show, table, withJson, withYes, type JsonFlag, type YesFlag } from './output.ts';
import { nameOf } from './model-list.ts';
import { getWholeModel, type Remote, type RemoteFlags } from './remote.ts';
import { ago } from './times.ts';

type Flags = RemoteFlags & JsonFlag;

export function addModelLabels(models: Command, remote: Remote): void {
  withYes(withJson(remote.command(models, 'rm <models...>')))
    .description('delete models with their checkpoints, jobs and episodes; calls that run now end as usual')
    .action(async (names: string[], flags: Flags & YesFlag) => {
      const client = remote.connect(flags);
      const found = await getAll(client, names);
      const which = found.length === 1 ? nameOf(found[0]!) : `${found.length} models (${found.map(nameOf).join(', ')})`;
      await confirm(flags, `Delete ${which} with all checkpoints, jobs and episodes?`);
      const deleted = [];
      for (const { id } of found) deleted.push(await client.deleteModel(id));
      show(flags, deleted, (list) =>
        list.map(
          ({ deleted_checkpoints: steps }, i) => `${nameOf(found[i]!)}: ${counted(steps, 'checkpoint')} deleted`,
        ),
      );
    });

  for (const [word, archived, does] of [
    ['archive', true, 'leave models out of lists; they still answer, and can be trained, by their names'],
    ['unarchive', false, 'show archived models in lists again'],
  ] as const)
    withJson(remote.command(models, `${word} <models...>`))
      .description(does)
      .action(async (names: string[], flags: Flags) => {
        const client = remote.connect(flags);
        const found = await getAll(client, names);
        const changed: ModelLabels[] = [];
        for (const { id } of found) changed.push(await client.setModelLabels(id, { archived }));
        show(flags, changed, () =>
          found.map((model) => `${nameOf(model)} is ${archived ? 'archived' : 'listed again'}`),
        );
      });

  withJson(remote.command(models, 'tag <model> [tags...]'))
    .description('add tags to a model; without tags, print those that it has')
    .addOption(new Option('--remove', 'remove these tags instead'))
    .action(async (name: string, tags: string[], flags: Flags & { remove?: boolean }) => {
      if (flags.remove && tags.length === 0) throw new UsageError('Name the tags to remove.');
      const client = remote.connect(flags);
      const { id } = await getWholeModel(client, name);
      const { tags: had = [] } = await client.getModel(id);
      const wanted = flags.remove ? had.filter((tag) => !tags.includes(tag)) : [...new Set([...had, ...tags])];
      const now = tags.length === 0 ? had : (await client.setModelLabels(id, { tags: wanted })).tags;
      show(flags, { tags: now }, () => linesOr(`${name} has no tags.`, now));
    });

  withJson(remote.command(models, 'note <model> [text]'))
    .description('write a note on a model; an empty text removes it; without a text, print the note')
    .action(async (name: string, text: string | undefined, flags: Flags) => {
      const client = remote.connect(flags);
      const { id } = await getWholeModel(client, name);
      const { note = null } =
        text === undefined ? await client.getModel(id) : await client.setModelLabels(id, { note: text });
      show(flags, { note }, () => [note ?? `${name} has no note.`]);
    });

  withJson(remote.command(models, 'projects'))
    .description('list the projects with the number of their models')
    .action(async (flags: Flags) => {
      const client = remote.connect(flags);
      show(flags, await all(client.listModelProjects()), (list) =>
        table(
          'No models.',
          ['PROJECT', 'MODELS', 'ARCHIVED', 'ACTIVE'],
          list.map((each) => [each.id, `${each.model_count}`, `${each.archived_count}`, ago(each.active_at)]),
        ),
      );
    });
}

/** All are found before the first is changed; each once. */
async function getAll(client: Client, names: readonly string[]): Promise<Model[]> {
  const found = new Map<string, Model>();
  for (const name of names) {
    const model = await getWholeModel(client, name);
    found.set(model.id, model);
  }
  return [...found.values()];
}
