import { envOf } from './containers.ts';
import { render, type RenderOptions } from './support/helm.ts';
import { containersOf, ofKind, serving, workloads, type Manifest, type PodSpec } from './support/manifest.ts';

const hookOf = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'];
const weightOf = ({ metadata }: Manifest) => Number(metadata.annotations?.['helm.sh/hook-weight']);
const isMigration = ({ metadata }: Manifest) => metadata.name.includes('migrate');
const preflightOf = async (options: RenderOptions) =>
  (await jobs(options)).find(({ metadata }) => metadata.name.endsWith('-preflight'))?.template.spec;
const jobs = async (options?: RenderOptions) =>
  workloads(await render(options)).filter(({ kind, metadata }) => kind === 'Job' && !metadata.name.includes('-test-'));

describe('before an install or an upgrade', () => {
  it('creates keys, then checks secrets and servers, then migrates stores', async () => {
    const steps = (await jobs()).toSorted((one, other) => weightOf(one) - weightOf(other));
    expect(steps.map(({ metadata }) => metadata.name.replace('shop-taskmesh-', ''))).toEqual([
      'keys',
      'preflight',
      ...['migrate-auth', 'migrate-tasks', 'migrate-backup'],
    ]);
    expect(new Set(steps.map(hookOf))).toEqual(new Set(['pre-install,pre-upgrade']));
    expect(steps.map(({ spec }) => spec?.activeDeadlineSeconds)).toEqual([300, 300, 600, 600, 600]); // pulling its image included
  });

  it('creates the account, the rights and the network of each job before it', async () => {
    const manifests = await render();
    for (const job of await jobs()) {
      const component = job.metadata.labels?.['app.kubernetes.io/component'];
      const needed = manifests.filter(
        ({ kind, metadata }) => kind !== 'Job' && metadata.labels?.['app.kubernetes.io/component'] === component,
      );
      const rights = component === 'keys' ? ['Role', 'RoleBinding'] : [];
      expect(needed.map(({ kind }) => kind).toSorted()).toEqual(['NetworkPolicy', ...rights, 'ServiceAccount']);
      for (const each of needed) {
        expect(hookOf(each)).toBe(hookOf(job));
        expect(weightOf(each)).toBeLessThan(weightOf(job));
      }
    }
  });

  it('allows the job that creates keys to create secrets only, and creates none when all are given', async () => {
    const roles = ofKind(await render(), 'Role').map(({ rules }) => rules);
    expect(roles).toEqual([[{ apiGroups: [''], resources: ['secrets'], verbs: ['create'] }]]);
    const given = await render({ values: 'ci/tls-sasl-values.yaml' });
    expect(given.filter(({ kind, metadata: { name } }) => kind === 'Role' || name.endsWith('-keys'))).toEqual([]);
  });

  it.each(['values.yaml', 'ci/tls-sasl-values.yaml', 'ci/mutual-tls-values.yaml'])(
    'the preflight looks for every secret that a pod needs, and none keeps it from starting: %s',
    async (values) => {
      const preflight = await preflightOf({ values });
      const sourcesIn = (volumes: PodSpec['volumes'] = []) =>
        volumes.flatMap(({ projected }) => projected?.sources ?? []).map(({ secret }) => secret);
      const keysIn = (volumes: PodSpec['volumes']) =>
        sourcesIn(volumes).flatMap(({ name, items }) => items.map(({ key }) => `${name}/${key}`));
      expect(sourcesIn(preflight?.volumes).every(({ optional }) => optional)).toBe(true);
      const looked = new Set(keysIn(preflight?.volumes));
      const needed = serving(await render({ values })).flatMap(({ template }) => {
        const env = containersOf(template).flatMap((each) => each.env ?? []);
        const refs = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []);
        return [...keysIn(template.spec.volumes), ...refs.map(({ name, key }) => `${name}/${key}`)];
      });
      expect(looked).toEqual(new Set(needed));
      const said = preflight?.containers[0]?.env?.find(({ name }) => name === 'EXPECTED_SECRETS')?.value ?? '{}';
      const all = Object.values<Record<'secret' | 'key' | 'path', string>[]>(JSON.parse(said)).flat();
      expect(new Set(all.map(({ secret, key }) => `${secret}/${key}`))).toEqual(looked);
      expect(all.every(({ path }) => path !== '')).toBe(true);
    },
  );

  it('checks a migration’s own secret in the preflight as well', async () => {
    const preflight = await preflightOf({ set: { 'migrations.tasks': { existingSecret: 'owners', key: 'url' } } });
    expect(JSON.stringify(preflight?.volumes)).toContain('"name":"owners","optional":true');
    expect(JSON.stringify(preflight?.containers)).toContain('migrations.tasks');
  });

  it('creates external secrets first, and keeps them after the hook', async () => {
    const values = 'ci/gateway-api-values.yaml';
    const first = Math.min(...(await jobs({ values })).map(weightOf));
    const external = (await render({ values })).filter(({ kind }) => kind === 'ExternalSecret');
    expect(external.map((each) => weightOf(each) < first)).toEqual([true, true]);
    for (const { spec } of external)
      expect(spec).toMatchObject({ target: { creationPolicy: 'Orphan', deletionPolicy: 'Retain' } });
  });
});

describe('the pod of each job', () => {
  const place = {
    ...{ nodeSelector: { disk: 'fast' }, tolerations: [{ key: 'tasks', operator: 'Exists' }] },
    ...{ affinity: { nodeAffinity: {} }, priorityClassName: 'high' },
  };
  const pod = {
    ...{ annotations: { a: 'of all', b: 'of all' }, labels: { tier: 'tasks' }, ...place },
    extraEnv: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
    extraVolumes: [{ name: 'more', configMap: { name: 'authorities' } }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
  };
  const podsOf = async (set: Record<string, unknown>, values?: string) =>
    workloads(await render({ values, set: { pod, commonAnnotations: { c: 'common' }, ...set } }));

  it.each([
    { values: 'values.yaml', count: 9 },
    { values: 'ci/migrations-job-values.yaml', count: 3 },
    { values: 'values-trial.yaml', count: 1 },
  ])('runs on the nodes of the services, with the settings of their pods: $values', async ({ values, count }) => {
    const found = (await podsOf({ 'image.pullSecrets': ['registry'] }, values)).filter(({ kind }) => kind === 'Job');
    expect(found).toHaveLength(count);
    for (const { template } of found) {
      expect(template.metadata.labels).toMatchObject(pod.labels);
      expect(template.metadata.annotations).toEqual({ ...pod.annotations, c: 'common' });
      expect(template.spec).toMatchObject({ ...place, imagePullSecrets: [{ name: 'registry' }] });
      expect(template.spec.volumes).toEqual(expect.arrayContaining(pod.extraVolumes));
      for (const container of containersOf(template)) {
        expect(container.env).toEqual(expect.arrayContaining(pod.extraEnv));
        expect(container.volumeMounts).toEqual(expect.arrayContaining(pod.extraVolumeMounts));
      }
    }
  });

  it('has the settings of jobs instead, and each variable once, its own first', async () => {
    const trusted = { name: 'NODE_EXTRA_CA_CERTS', value: '/more/ca.crt' };
    const own = { annotations: { 'sidecar.istio.io/inject': 'false' }, extraEnv: [trusted] };
    const found = await podsOf({ 'jobs.pod': own });
    for (const { kind, template, metadata } of found) {
      const annotations = kind === 'Job' ? own.annotations : pod.annotations;
      expect([metadata.name, template.metadata.annotations]).toEqual([metadata.name, { ...annotations, c: 'common' }]);
    }
    const variablesOf = (name: string) =>
      found.find(({ metadata }) => metadata.name.endsWith(name))?.template.spec.containers[0]?.env ?? [];
    expect(variablesOf('-preflight')).toContainEqual(trusted);
    const authorities = variablesOf('-keys').filter(({ name }) => name === trusted.name);
    expect(authorities).toEqual([{ name: trusted.name, value: expect.stringContaining('serviceaccount/ca.crt') }]);
  });

  it('in front of a service has the settings of that service’s pod', async () => {
    const own = [{ name: 'PGAPPNAME', value: 'auth' }];
    const found = await podsOf({ 'auth.pod': { extraEnv: own } }, 'ci/migrations-init-values.yaml');
    const inits = found.flatMap(({ template }) => template.spec.initContainers ?? []);
    const extras = inits.map(({ env = [] }) => env.filter(({ name }) => ['PGAPPNAME', 'HTTPS_PROXY'].includes(name)));
    expect(extras).toEqual([own, pod.extraEnv, pod.extraEnv]);
    for (const { volumeMounts } of inits) expect(volumeMounts).toEqual(expect.arrayContaining(pod.extraVolumeMounts));
  });
});

describe('migrations', () => {
  const STORES = ['auth', 'tasks', 'backup'];
  const migrations = async (options: RenderOptions) => (await jobs(options)).filter(isMigration);

  it.each<{ mode: string; options: RenderOptions; inJobs?: string[]; inPods?: string[]; atStart?: string }>([
    { mode: 'as a hook', options: {}, inJobs: STORES },
    { mode: 'as a job', options: { values: 'ci/migrations-job-values.yaml' }, inJobs: STORES },
    { mode: 'as an init container', options: { values: 'ci/migrations-init-values.yaml' }, inPods: STORES },
    { mode: 'at start', options: { values: 'ci/migrations-start-values.yaml' }, atStart: 'true' },
    { mode: 'none', options: { set: { 'migrations.mode': 'none' } } },
  ])('$mode: run there, once for each store', async ({ options, inJobs = [], inPods = [], atStart = 'false' }) => {
    const made = (await migrations(options)).flatMap(({ template }) => template.spec.containers);
    expect(made.map(({ args }) => args)).toEqual(inJobs.map((name) => ['migrate', name]));
    const found = serving(await render(options)).flatMap(({ template: { spec } }) => {
      const inits = (spec.initContainers ?? []).map(({ args }) => args);
      return spec.containers.map((each) => [each.name, inits, envOf(each).MIGRATE_AT_START]);
    });
    const inits = (name: string) => (inPods.includes(name) ? [['migrate', name]] : []);
    expect(found).toEqual([['gateway', [], undefined], ...STORES.map((name) => [name, inits(name), atStart])]);
  });

  it.each([
    { values: 'values.yaml', secret: 'taskmesh-postgresql' },
    { values: 'ci/migrations-job-values.yaml', secret: 'owners' },
  ])('take the address of their store from its own secret: $values', async ({ values, secret }) => {
    const last = (await migrations({ values })).map(({ template }) => template.spec.containers[0]?.env?.at(-1));
    const addresses = last.map((variable) => variable?.valueFrom?.secretKeyRef);
    expect(addresses).toEqual(STORES.map((name) => ({ name: secret, key: `${name}-url` })));
  });

  it('as a job: no hook, tried until it succeeds, and a new name for every change', async () => {
    const values = 'ci/migrations-job-values.yaml';
    const names = async (set: Record<string, unknown> = {}) =>
      (await jobs({ values, set })).map(({ metadata }) => metadata.name);
    for (const job of await jobs({ values })) {
      expect([hookOf(job), job.spec?.activeDeadlineSeconds]).toEqual([undefined, undefined]);
      expect(job.spec).toMatchObject({ backoffLimit: 1_000_000, template: { spec: { restartPolicy: 'OnFailure' } } });
    }
    const others = async (options?: RenderOptions) => {
      const named = (await render(options)).filter(({ metadata }) => /-migrat/.test(metadata.name));
      return named.flatMap(({ kind, metadata }) => (kind === 'Job' ? [] : metadata.name));
    };
    const left = await others(); // by a failed hook
    const made = await others({ values });
    expect(made).toHaveLength(2);
    expect(made.filter((name) => left.includes(name))).toEqual([]);
    const [before, after] = [await names(), await names({ 'image.tag': '9.9.9' })];
    expect(before.filter((name) => after.includes(name))).toEqual([]);
    expect(await names()).toEqual(before);
  });

  it.each([
    { values: 'values.yaml', takers: ['migrate', 'migrate', 'migrate', 'auth', 'tasks', 'backup'] },
    { values: 'ci/migrations-init-values.yaml', takers: ['migrate', 'auth', 'migrate', 'tasks', 'migrate', 'backup'] },
    { values: 'values-trial.yaml', takers: ['all'] },
  ])(
    'take the schema of a newer version where that is allowed, as the services do: $values',
    async ({ values, takers }) => {
      const manifests = await render({ values, set: { 'migrations.newerSchema': 'allow' } });
      const containers = workloads(manifests).flatMap(({ template }) => containersOf(template));
      const allowed = containers.filter((each) => envOf(each).NEWER_SCHEMA === 'allow');
      expect(allowed.map(({ name }) => name).toSorted()).toEqual(takers.toSorted());
    },
  );
});

it.each([
  { values: 'values.yaml', tests: ['gateway', 'auth', 'tasks', 'backup'] },
  { values: 'values-trial.yaml', tests: ['all'] },
  { values: 'ci/migrations-job-values.yaml', tests: [] },
])('helm test requests each service of $values', async ({ values, tests }) => {
  const found = workloads(await render({ values })).filter((each) => hookOf(each) === 'test');
  expect(found.map(({ metadata }) => metadata.name.split('-test-')[1])).toEqual(tests);
  for (const { template } of found)
    expect(template.spec.containers[0]?.args?.[1]).toMatch(/^http:\/\/[\w-]+:(80|4000)$/);
});
