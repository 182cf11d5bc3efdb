// The compose files: they match the specification's schema, their servers accept their flags and variables, the proxy routes
// every path to the role that answers it, and the monitoring finds its targets.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { skipWithoutPython } from '../../support/skipping.ts';
import { lint } from './linters.ts';
import { pathsByRole } from './paths-by-role.ts';
import { configOf, read, ROOT, stopSeconds, type Variables } from '../../support/deploy/product.ts';

interface Service {
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Variables;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const FOLDER = 'deploy/compose/';

/** The values that the operator fills in, as example.env says. */
const filled: Variables = {
  WHETSTONE_API_KEY: `wk-${'a1'.repeat(20)}`,
  WHETSTONE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  POSTGRES_PASSWORD: 'b2'.repeat(20),
  S3_SECRET_KEY: 'c3'.repeat(20),
  GRAFANA_PASSWORD: 'd4'.repeat(20),
  HF_TOKEN: '',
};

const VARIABLE = /\$\{(?<name>\w+)(?::(?<how>[-?])(?<text>[^}]*))?\}/g;

/** Substitutes variables as Compose does. */
const interpolate = (text: string): string =>
  text.replace(VARIABLE, (...found) => {
    const { name, how, text: other } = found.at(-1) as { name: string; how?: string; text?: string };
    const value = filled[name];
    if (value === undefined && how !== '-') throw new Error(`example.env has no ${name}`);
    return value || (how === '-' ? other! : '');
  });

const load = async (name: string): Promise<Compose> =>
  parse(interpolate(await read(FOLDER + name)), { merge: true }) as Compose;
const ours = ({ services }: Compose) => Object.entries(services).filter(([, { build }]) => build !== undefined);
const ALL = ['single.yaml', 'full.yaml'];

test('the specification’s schema takes them', skipWithoutPython('WHETSTONE_DEPLOY_PYTHON'), () => {
  lint('check-jsonschema', ['--builtin-schema', 'vendor.compose-spec', ...ALL.map((name) => FOLDER + name)]);
});

describe.each(ALL)('%s', (name) => {
  test('starts servers that other hosts can reach, with a key, and waits for them to stop', async () => {
    const servers = ours(await load(name));
    expect(servers.length).toBeGreaterThan(0);
    for (const [, { build, command, environment, stop_grace_period: grace }] of servers) {
      const config = configOf(command!, environment!);
      expect(config.listen.host).toBe('0.0.0.0');
      expect(config.bootstrapKey).toBe(filled['WHETSTONE_API_KEY']);
      expect(Number.parseInt(grace!)).toBeGreaterThan(stopSeconds(config));
      expect(existsSync(join(ROOT, FOLDER, build!, 'Dockerfile'))).toBe(true);
    }
  });

  test('mounts existing files, and opens ports to this machine alone', async () => {
    const { services, volumes } = await load(name);
    for (const { volumes: mounts = [], ports = [] } of Object.values(services)) {
      for (const source of mounts.filter((each) => each.includes(':')).map((each) => each.split(':')[0]!))
        if (source.startsWith('.')) expect(existsSync(join(ROOT, FOLDER, source)), source).toBe(true);
        else expect(volumes).toHaveProperty(source);
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    }
  });

  test('waits only for the health of services with a health check', async () => {
    const { services } = await load(name);
    for (const { depends_on: on = [] } of Object.values(services))
      for (const [other, condition] of Array.isArray(on)
        ? on.map((each: string) => [each, 'service_started'] as const)
        : Object.entries(on as Record<string, { condition: string }>).map(
            ([key, each]) => [key, each.condition] as const,
          )) {
        expect(services).toHaveProperty(other);
        if (condition === 'service_healthy')
          expect(services[other]!.healthcheck ?? services[other]!.build).toBeDefined();
      }
  });
});

test('example.env names the variables they need, and nothing else', async () => {
  const texts = await Promise.all(ALL.map((name) => read(FOLDER + name)));
  const asked = [...texts.join('\n').matchAll(VARIABLE)].map(({ groups }) => groups!['name']!);
  const offered = (await read(`${FOLDER}example.env`)).split('\n').flatMap((line) => /^(\w+)=$/.exec(line)?.[1] ?? []);
  expect(offered.toSorted()).toEqual(Object.keys(filled).toSorted());
  expect([...new Set([...offered, 'WHETSTONE_IMAGE'])].toSorted()).toEqual([...new Set(asked)].toSorted());
});

test('the full one has each role once, on one database and blob store', async () => {
  const configs = ours(await load('full.yaml')).map(([, { command, environment }]) => configOf(command!, environment!));
  expect(configs.flatMap(({ roles }) => roles).toSorted()).toEqual(['api', 'serve', 'train']);
  expect(new Set(configs.map(({ databaseUrl }) => databaseUrl)).size).toBe(1);
});

test.each([`${FOLDER}nginx.conf`, 'docs/operations.md'])(
  'the proxy of %s sends every path of the API to the role that answers it',
  async (path) => {
    const [, pattern] = /location ~ (\S+) \{\s+proxy_pass http:\/\/(?:serve|chat);/.exec(await read(path))!;
    const { serve, api } = await pathsByRole();
    expect(serve.length).toBeGreaterThan(5);
    expect(serve.filter((each) => !new RegExp(pattern!).test(each))).toEqual([]);
    expect(api.filter((each) => new RegExp(pattern!).test(each))).toEqual([]);
    const ofEpisodes = serve
      .filter((each) => each.startsWith('/v1/'))
      .flatMap((each) => [`/e/name${each}`, `/e/group/name${each}`]);
    expect(ofEpisodes.filter((each) => !new RegExp(pattern!).test(each))).toEqual([]);
  },
);

test('its proxy asks the servers at their ports', async () => {
  const { services } = await load('full.yaml');
  const servers = [...(await read(`${FOLDER}nginx.conf`)).matchAll(/server (\w+):(\d+) resolve;/g)];
  expect(servers).toHaveLength(2);
  for (const [, name, port] of servers) {
    const { command, environment } = services[name!]!;
    expect(configOf(command!, environment!).listen.port).toBe(Number(port));
  }
});

test('Prometheus asks every server for its metrics, and Grafana shows the dashboard of this repository', async () => {
  const full = await load('full.yaml');
  const { scrape_configs: jobs } = parse(await read(`${FOLDER}prometheus.yml`)) as {
    scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
  };
  const [{ names, port }] = jobs[0]!.dns_sd_configs as [{ names: string[]; port: number }];
  expect(names).toEqual(ours(full).map(([name]) => name));
  expect(port).toBe(8484);

  const { providers } = parse(await read(`${FOLDER}grafana/dashboards.yaml`)) as {
    providers: { options: { path: string } }[];
  };
  const folder = providers[0]!.options.path;
  expect(full.services['grafana']!.volumes).toContain(`../grafana:${folder}:ro`);
  expect(full.services['grafana']!.environment!['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']).toBe(
    `${folder}/whetstone.json`,
  );
  expect(existsSync(join(ROOT, 'deploy/grafana/whetstone.json'))).toBe(true);
  const { datasources } = parse(await read(`${FOLDER}grafana/datasources.yaml`)) as {
    datasources: { type: string; url: string }[];
  };
  expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }]);
});
