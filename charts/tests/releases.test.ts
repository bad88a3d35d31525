import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { CHARTS, CHART_NAMES } from '../tools/generated.ts';
import { SHIPPED, SHIPPED_AND_ODD } from './support/odd-values.ts';
import { findRefusals } from './settings-readers.ts';
import { render, renderText, runHelm, valuesFiles } from './support/helm.ts';
import { containersOf, isSelected, policiesOf, portsOf, serving, workloads } from './support/manifest.ts';
import { problemsOf } from './valid.ts';

// Each rendering starts a process of Helm: an ordinary run lints the defaults, and tries the oldest Helm and Kubernetes at once.
const IS_LONG = process.env.TASKMESH_LONG !== undefined;
const LINTED = IS_LONG ? SHIPPED : SHIPPED.filter(([, { values }]) => values === 'values.yaml');
const OTHER_KUBERNETES = IS_LONG ? ['1.30.0', '1.35.0', '1.37.0'] : ['1.30.0'];

it.each(LINTED)('%s passes the strict lint of each Helm', async (_what, { chart = '', values = '' }) => {
  const folder = join(CHARTS, chart);
  for (const helm of [3, 4] as const)
    await runHelm(['lint', '--strict', folder, '--values', join(folder, values)], helm);
});

describe.each(SHIPPED)('%s', (_what, options) => {
  it('is rendered the same each time, and by both Helms, for every Kubernetes that is supported', async () => {
    const names = (await render(options)).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(names.filter((name, at) => names.indexOf(name) < at)).toEqual([]);
    const partsOf = (text: string) =>
      text
        .trim()
        .split(/\s*^---\s*/m)
        .sort();
    for (const kubernetes of OTHER_KUBERNETES) {
      const older = await renderText({ ...options, helm: 3, kubernetes });
      expect(partsOf(older)).toEqual(partsOf(await renderText(options)));
    }
  });

  it('puts everything into the namespace of the release, with the usual labels', async () => {
    for (const { kind, metadata } of await render(options)) {
      expect([kind, metadata.name, metadata.namespace]).toEqual([kind, metadata.name, 'prod']);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': expect.any(String),
        'app.kubernetes.io/instance': 'shop',
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/component': expect.any(String),
        'helm.sh/chart': expect.stringMatching(`^${options.chart}-`),
      });
      expect(metadata.name.length).toBeLessThanOrEqual(63);
    }
  });
});

describe.each(SHIPPED_AND_ODD)('%s', (_what, options) => {
  it('becomes objects that a server accepts, with settings that the services read', async () => {
    const manifests = await render(options);
    expect(manifests.length).toBeGreaterThan(0);
    expect(manifests.flatMap(problemsOf)).toEqual([]);
    for (const { env = [] } of workloads(manifests).flatMap(({ template }) => containersOf(template)))
      for (const { name, value } of env) expect([name, typeof (value ?? '')]).toEqual([name, 'string']);
    for (const { name, env = [] } of serving(manifests).flatMap(({ template }) => containersOf(template))) {
      const given = env.flatMap((each) => (each.value === undefined ? [] : [[each.name, each.value]]));
      expect(findRefusals(Object.fromEntries(given), name === 'all' ? undefined : [name])).toEqual([]);
    }
  });

  it('is read alike by parsers of YAML 1.1 and of YAML 1.2', async () => {
    const text = await renderText(options);
    const older = parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS() as unknown);
    expect(text).not.toMatch(/: \d+(\.\d+)?e[-+]?\d+$/m); // some parsers read that as text
    expect(older.filter((each) => each !== null)).toEqual(await render(options));
  });
});

describe.each(valuesFiles('taskmesh'))('every pod with %s', (values) => {
  const pods = async () => workloads(await render({ values }));

  it('meets the restricted standard, and writes only to volumes', async () => {
    const all = await pods();
    expect(all.length).toBeGreaterThan(0);
    for (const { template } of all) {
      expect(template.spec.securityContext).toEqual({
        runAsNonRoot: true,
        ...(values !== 'values-openshift.yaml' && { runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001 }),
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const { securityContext } of containersOf(template))
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          privileged: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('has its own service account without a token, unless it makes the keys', async () => {
    const manifests = await render({ values });
    const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount');
    for (const { automountServiceAccountToken } of accounts) expect(automountServiceAccountToken).toBe(false);
    for (const { template, metadata } of workloads(manifests)) {
      expect(accounts.map(({ metadata: { name } }) => name)).toContain(template.spec.serviceAccountName);
      const makesKeys = metadata.name.endsWith('-keys');
      expect([metadata.name, template.spec.automountServiceAccountToken]).toEqual([metadata.name, makesKeys]);
    }
  });

  it('has requests, limits of memory and of its node’s disk, and an image with a version', async () => {
    const all = (await pods()).map(({ template }) => template);
    for (const { name, emptyDir } of all.flatMap(({ spec }) => spec.volumes ?? []))
      if (emptyDir && name !== 'more') expect([name, emptyDir]).toEqual([name, { sizeLimit: expect.any(String) }]); // `more` is the user's
    for (const container of all.flatMap(containersOf)) {
      expect(container.resources).toMatchObject({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      expect(container.resources?.limits).not.toHaveProperty('cpu');
      expect(container.image).toMatch(/(:\d+\.\d+\.\d+(-all)?|@sha256:[0-9a-f]{64})$/);
    }
  });

  it('declares each variable, volume and mount once, and mounts only declared volumes', async () => {
    for (const { template } of await pods()) {
      const volumes = (template.spec.volumes ?? []).map(({ name }) => name);
      expect(new Set(volumes).size).toBe(volumes.length);
      for (const { env = [], volumeMounts = [] } of containersOf(template)) {
        expect(env.map(({ name }) => name).toSorted()).toEqual([...new Set(env.map(({ name }) => name))].toSorted());
        expect(new Set(volumeMounts.map(({ mountPath }) => mountPath)).size).toBe(volumeMounts.length);
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
        for (const { value = '' } of env) expect(value).not.toMatch(/^\d+(\.\d+)?e\+\d+$/);
      }
    }
  });

  it('that serves has probes for startup, liveness and readiness, and time to stop', async () => {
    for (const { template } of serving(await render({ values })))
      for (const container of template.spec.containers) {
        const probe = (path: string) => expect.objectContaining({ httpGet: { path, port: 'admin' } });
        expect(container).toMatchObject({
          startupProbe: probe('/livez'),
          livenessProbe: probe('/livez'),
          readinessProbe: probe('/readyz'),
          lifecycle: { preStop: { sleep: { seconds: expect.any(Number) } } },
        });
      }
  });

  it('with common labels and annotations has them on every object', async () => {
    const common = { 'example.com/cost-center': '42' };
    for (const { kind, metadata } of await render({ values, set: { commonLabels: common, commonAnnotations: common } }))
      expect({ kind, ...metadata }).toMatchObject({ kind, labels: common, annotations: common });
  });
});

const WITH_POLICIES = valuesFiles('taskmesh').filter((file) => file !== 'ci/bare-values.yaml');
describe.each(WITH_POLICIES)('the network with %s', (values) => {
  it('is closed in both directions for every pod, those of jobs included', async () => {
    const manifests = await render({ values });
    const closed = policiesOf(manifests).filter(({ spec }) => spec?.policyTypes?.join() === 'Ingress,Egress');
    for (const { template, metadata } of workloads(manifests)) {
      const policies = closed.filter(({ spec }) => isSelected(spec?.podSelector ?? {}, template.metadata.labels));
      expect([metadata.name, policies.length > 0]).toEqual([metadata.name, true]);
    }
  });

  it('lets only scrapers reach the admin port, and names the ports of every way out', async () => {
    const policies = policiesOf(await render({ values }));
    for (const rule of policies.flatMap(({ spec }) => spec?.egress ?? [])) expect(portsOf(rule)).not.toEqual([]);
    const rules = policies.flatMap(({ spec }) => spec?.ingress ?? []);
    const admin = rules.filter((rule) => portsOf(rule).includes('admin'));
    expect(admin.length).toBeGreaterThan(0);
    const namespace = values === 'values-openshift.yaml' ? 'openshift-user-workload-monitoring' : 'monitoring';
    for (const rule of admin) {
      expect(portsOf(rule)).toEqual(['admin']);
      expect(rule.from).toEqual([{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }]);
    }
    expect(rules.every(({ ports = [] }) => ports.length > 0)).toBe(true); // no ports would be all of them
  });
});

it.each(CHART_NAMES)('every file of ci/ of %s has a name by which chart-testing finds it', (chart) => {
  for (const file of readdirSync(join(CHARTS, chart, 'ci'))) expect(file).toMatch(/^[a-z-]+-values\.yaml$/);
});

describe.each(CHART_NAMES)('what a chart registry shows of %s', (chart) => {
  const { version, annotations } = parse(readFileSync(join(CHARTS, chart, 'Chart.yaml'), 'utf8'));
  const listed = <Item>(name: string) => parse(annotations[`artifacthub.io/${name}`] ?? '') as Item[];

  it('are the images that it runs', async () => {
    const files = valuesFiles(chart).filter((file) => !file.startsWith('ci/'));
    const texts = await Promise.all(files.map((values) => renderText({ chart, values })));
    const images = [...texts.join('\n').matchAll(/^ *image(?:Name)?: "?([^"\s]+)"?$/gm)].map(([, image]) => image);
    const shown = listed<{ image: string }>('images').map(({ image }) => image);
    expect(shown.toSorted()).toEqual([...new Set(images)].toSorted());
  });

  it('shows what changed with this version, and where to read what to do', () => {
    const kind = expect.stringMatching(/^(added|changed|deprecated|removed|fixed|security)$/);
    for (const change of listed('changes')) expect(change).toEqual({ kind, description: expect.any(String) });
    expect(readFileSync(join(CHARTS, chart, 'UPGRADING.md'), 'utf8').split('\n')).toContain(`## ${version}`);
    const pathOf = ({ url }: { url: string }) => /\/(?:blob|tree)\/main\/(.+)$/.exec(url)?.[1] ?? [];
    const paths = listed<{ url: string }>('links').flatMap(pathOf);
    expect(paths).toContain(`charts/${chart}/UPGRADING.md`);
    for (const path of paths) expect([path, existsSync(join(CHARTS, '..', path))]).toEqual([path, true]);
  });
});

it('refuses a Kubernetes that is too old, and does not repeat the chart in a name', async () => {
  await expect(render({ kubernetes: '1.29.0' })).rejects.toThrow('kubeVersion');
  expect((await render({ release: 'taskmesh' })).map(({ metadata }) => metadata.name)).toContain('taskmesh-gateway');
});
