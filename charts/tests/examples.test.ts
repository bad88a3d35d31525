import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { CHARTS } from '../tools/generated.ts';
import { envOf } from './containers.ts';
import { render } from './support/helm.ts';
import { ofKind, serving } from './support/manifest.ts';

const EXAMPLES = join(CHARTS, '../deploy/examples');
const read = (file: string) => readFileSync(join(EXAMPLES, file), 'utf8');

const has = (text: string): unknown => expect.arrayContaining([text]);

describe('the examples for Argo CD', () => {
  const project = parse(read('argocd/project.yaml'));
  const { metadata, spec } = parse(read('argocd/applications.yaml')).spec.template;

  it('allow the applications to create namespaces, and nothing else of the cluster', () => {
    expect(spec).toMatchObject({
      destination: { namespace: expect.stringMatching(/^taskmesh-/) },
      syncPolicy: { syncOptions: has('CreateNamespace=true') },
    });
    expect(project).toMatchObject({
      metadata: { name: spec.project },
      spec: {
        clusterResourceWhitelist: [{ group: '', kind: 'Namespace', name: 'taskmesh-*' }],
        destinations: [{ namespace: 'taskmesh-*' }],
      },
    });
    for (const { repoURL } of spec.sources) expect(project.spec).toMatchObject({ sourceRepos: has(repoURL) });
  });

  it('name the release after the application, as Argo CD’s tracking by label does with the Services to scrape', async () => {
    const name = metadata.name.replace(/\{\{.*\}\}/, 'staging');
    const release = spec.sources[0]?.helm?.releaseName ?? name;
    const [monitor] = ofKind(await render({ values: 'ci/monitoring-values.yaml', release }), 'ServiceMonitor');
    expect(monitor?.spec?.selector?.matchLabels).toMatchObject({ 'app.kubernetes.io/instance': name });
  });

  it('allow every kind that the charts have', async () => {
    const refused = project.spec.namespaceResourceBlacklist.map(({ kind }: { kind: string }) => kind);
    for (const chart of ['taskmesh', 'taskmesh-data'])
      for (const { kind } of await render({ chart })) expect(refused).not.toContain(kind);
  });
});

it('no example ignores the number of pods: with an autoscaler the chart has none', () => {
  for (const file of globSync('{argocd,flux}/*.yaml', { cwd: EXAMPLES }))
    expect([file, /ignoreDifferences|\/spec\/replicas/.test(read(file))]).toEqual([file, false]);
});

it('no overlay of kustomize names another image, because the chart names a migration’s job after it', () => {
  for (const file of globSync('kustomize/overlays/*/kustomization.yaml', { cwd: EXAMPLES }))
    expect([file, Object.keys(parse(read(file)) as object)]).toEqual([file, expect.not.arrayContaining(['images'])]);
});

it('the versions that Flux takes are those of the chart', () => {
  const { version } = parse(readFileSync(join(CHARTS, 'taskmesh/Chart.yaml'), 'utf8'));
  expect(read('flux/source.yaml')).toContain(`semver: '${version.replace(/\d+$/, 'x')}'`);
});

it('what Flux rolls back to runs on the schema of the upgrade that failed', async () => {
  expect(read('flux/release.yaml')).toContain('strategy: rollback');
  const rendered = await render({ set: parse(read('flux/values.yaml')) });
  const policies = serving(rendered).flatMap(({ template }) => template.spec.containers.map(envOf));
  expect(policies.filter(({ NEWER_SCHEMA }) => NEWER_SCHEMA === 'allow').length).toBe(3);
});

it('every example is YAML, and the values are the chart’s', async () => {
  for (const file of globSync('**/*.yaml', { cwd: EXAMPLES }))
    for (const { errors } of parseAllDocuments(read(file))) expect([file, errors]).toEqual([file, []]);
  for (const file of ['flux/values.yaml', 'kustomize/base/values.yaml'])
    expect((await render({ set: parse(read(file)) })).length).toBeGreaterThan(10);
});
