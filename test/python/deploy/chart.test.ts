// The Helm chart, rendered by Helm's own library: the result matches Kubernetes' schemas, its servers accept their flags and
// variables, the Ingress routes every path to the role that answers it, and impossible values are refused with a reason.
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { skipWithoutPython } from '../../support/skipping.ts';
import { lint } from './linters.ts';
import { pathsByRole } from './paths-by-role.ts';
import { configOf, read, stopSeconds, type Variables } from '../../support/deploy/product.ts';

const CHART = 'deploy/helm/whetstone';
const KUBERNETES = '1.34';

const secret: Variables = {
  WHETSTONE_API_KEY: 'wk-a',
  WHETSTONE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  WHETSTONE_DATABASE_URL: 'postgres://whetstone:secret@db:5432/whetstone',
  WHETSTONE_BLOBS_URL: 's3://whetstone?endpoint=https://s3.internal&region=eu-1',
};

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe & { readonly periodSeconds: number; readonly failureThreshold: number };
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface Pod {
  readonly metadata: { readonly labels: Variables };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly containers: readonly [Container];
    readonly volumes: readonly { readonly name: string }[];
  };
}
interface Path {
  readonly path: string;
  readonly backend: { readonly service: { readonly name: string } };
}
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Variables };
  readonly stringData?: Variables;
  readonly spec: {
    readonly template: Pod;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly selector: Variables & { readonly matchLabels?: Variables };
    readonly rules: readonly [{ readonly http: { readonly paths: readonly Path[] } }];
  };
}
interface Rendered {
  readonly error?: string;
  readonly lint: readonly { readonly severity: number; readonly error: string }[];
  readonly manifests: readonly Manifest[];
  readonly invalid: readonly string[];
}

const everything = {
  secret,
  models: ['Qwen/Qwen3-0.6B', 'starter'],
  workerModels: ['Qwen/Qwen3-8B'],
  args: ['--precision=int8'],
  config: { WHETSTONE_LOG_LEVEL: 'debug', WHETSTONE_STEP_SECONDS: 120, WHETSTONE_EVALUATION_TOKENS_MAX: 5_000_000 },
  imagePullSecrets: [{ name: 'registry' }],
  modelsClaim: 'weights',
  ingress: { enabled: true, className: 'nginx', annotations: { a: 'b' }, host: 'whetstone.test', tlsSecret: 'tls' },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  roles: { train: { nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] } },
  extraVolumes: [{ name: 'more', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
  podAnnotations: { one: 'two' },
  podLabels: { three: 'four' },
};
const GOOD = {
  'with what it needs': { secret },
  'with everything': everything,
  'as one server': { mode: 'single', secret: { WHETSTONE_API_KEY: 'wk-a' } },
  'as one server with everything': { ...everything, mode: 'single', single: { storage: { storageClassName: 'fast' } } },
  'with a Secret of one’s own': { existingSecret: 'mine', preStopSeconds: 0 },
};
const BAD: [why: string, values: object, message: RegExp][] = [
  [
    'no secret',
    {},
    /needs WHETSTONE_API_KEY: name a Secret that has it in existingSecret, or set secret.WHETSTONE_API_KEY/,
  ],
  ['no database', { secret: { ...secret, WHETSTONE_DATABASE_URL: '' } }, /mode roles needs WHETSTONE_DATABASE_URL/],
  ['a mode that there is not', { secret, mode: 'double' }, /one of 'roles', 'single'/],
  ['a misspelled value', { secret, model: ['starter'] }, /'model' not allowed/],
  ['a secret among what is not secret', { secret, config: { HF_TOKEN: 'hf_a' } }, /invalid propertyName 'HF_TOKEN'/],
  ['a flag that the chart sets', { secret, args: ['--role=api'] }, /args\/0/],
  [
    'several servers in one data directory',
    { secret, mode: 'single', single: { replicas: 2 } },
    /'replicas' not allowed/,
  ],
];

const workloads = (all: readonly Manifest[]) =>
  all.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
const named = (all: readonly Manifest[], kind: string) => all.filter((each) => each.kind === kind);

/** The configuration with which `whetstone serve` would start in that pod. */
function configIn({ spec }: Pod, variables: Variables) {
  const { args, env } = spec.containers[0];
  return configOf(args, { ...variables, ...Object.fromEntries(env.map(({ name, value }) => [name, value])) });
}

describe('the chart', skipWithoutPython('WHETSTONE_DEPLOY_PYTHON'), () => {
  let good: Rendered[];
  let bad: Rendered[];
  beforeAll(() => {
    const values = [...Object.values(GOOD), ...BAD.map(([, each]) => each)];
    const rendered = JSON.parse(
      lint('python', ['python/deploy/chart.py', CHART, KUBERNETES], JSON.stringify(values)),
    ) as Rendered[];
    good = rendered.slice(0, Object.keys(GOOD).length);
    bad = rendered.slice(good.length);
  });

  describe.each(Object.keys(GOOD).map((name, index) => [name, index] as const))('%s', (_, index) => {
    test('is taken by Helm and by Kubernetes', () => {
      const { error, lint: found, invalid } = good[index]!;
      expect({ error, invalid }).toEqual({ error: undefined, invalid: [] });
      expect(found.filter(({ severity }) => severity > 1)).toEqual([]); // 1: an icon is recommended
    });

    test('starts servers that take their flags and variables, are asked for their health, and may stop in their own time', () => {
      const { manifests } = good[index]!;
      const roles = workloads(manifests).flatMap(({ spec: { template, volumeClaimTemplates = [] } }) => {
        const config = configIn(template, secret);
        const { terminationGracePeriodSeconds: grace, containers, volumes } = template.spec;
        const [{ startupProbe, readinessProbe, livenessProbe, ports, volumeMounts }] = containers;
        for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe])
          expect(httpGet).toEqual({ path: '/v1/health', port: 'http' });
        expect(ports).toEqual([{ name: 'http', containerPort: config.listen.port }]);
        expect(config.listen.host).toBe('0.0.0.0');
        expect(grace).toBeGreaterThan(stopSeconds(config));
        const has = [...volumes.map(({ name }) => name), ...volumeClaimTemplates.map(({ metadata }) => metadata.name)];
        expect(has.toSorted()).toEqual(volumeMounts.map(({ name }) => name).toSorted());
        const data = volumeMounts.find(({ name }) => name === 'data')!;
        expect(config.dataDirectory.startsWith(`${data.mountPath}/`)).toBe(true);
        return config.roles;
      });
      expect(roles.toSorted()).toEqual(['api', 'serve', 'train']);
    });

    test('has a Service for each server, and the Secret that they name', () => {
      const { manifests } = good[index]!;
      const servers = workloads(manifests).map(({ spec }) => spec.template);
      for (const { spec } of named(manifests, 'Service')) {
        const chosen = servers.filter(({ metadata }) =>
          Object.entries(spec.selector).every(([name, value]) => metadata.labels[name] === value),
        );
        expect(chosen).toHaveLength(1);
      }
      expect(named(manifests, 'Service')).toHaveLength(servers.length);
      const wanted = new Set(servers.map(({ spec }) => spec.containers[0].envFrom[0]!.secretRef.name));
      expect([...wanted]).toEqual([named(manifests, 'Secret')[0]?.metadata.name ?? 'mine']);
    });
  });

  test.each(BAD.map(([why, , message], index) => [why, message, index] as const))(
    '%s is refused',
    (_, message, index) => {
      expect(bad[index]!.error).toMatch(message);
    },
  );

  test('the health route is the API’s', async () => {
    const { paths } = JSON.parse(await read('docs/openapi.json')) as { paths: object };
    expect(paths).toHaveProperty(['/v1/health']);
    expect(paths).toHaveProperty(['/metrics']);
  });

  test('the Ingress sends every path of the API to the role that answers it', async () => {
    const { serve, api } = await pathsByRole();
    const [ingress] = named(good[1]!.manifests, 'Ingress');
    const [{ http }] = ingress!.spec.rules;
    const longestFirst = http.paths.toSorted((a, b) => b.path.length - a.path.length);
    const goesTo = (path: string) =>
      longestFirst.find((each) => each.path === '/' || path === each.path || path.startsWith(`${each.path}/`))!.backend
        .service.name;
    expect(new Set(serve.map(goesTo))).toEqual(new Set(['release-whetstone-serve']));
    expect(new Set(api.map(goesTo))).toEqual(new Set(['release-whetstone-api']));
  });

  test('longer stop limits lengthen the grace period of Kubernetes', () => {
    const grace = ({ manifests }: Rendered) =>
      workloads(manifests)[0]!.spec.template.spec.terminationGracePeriodSeconds;
    expect(grace(good[0]!)).toBe(37); // 22 for a step, 7 to end, 3 to spare, 5 before it
    expect(grace(good[1]!)).toBe(135);
  });
});

test('the chart is of the version of the package', async () => {
  const { version } = JSON.parse(await read('package.json')) as { version: string };
  expect(parse(await read(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
});
