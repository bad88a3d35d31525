import { parseManifests, render, renderText, runHelm, valuesFiles } from './support/helm.ts';
import { CHARTS, CHART_NAMES } from '../tools/generated.ts';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const cases = CHART_NAMES.flatMap((chart) => valuesFiles(chart).map((values) => ({ chart, values })));

// Each look is a process of Helm: an ordinary run lints with the newest and tries the oldest Kubernetes, a long one all.
const IS_LONG = process.env.TASKMESH_LONG !== undefined;
const LINTERS = IS_LONG ? ([3, 4] as const) : ([4] as const);
const OTHER_KUBERNETES = IS_LONG ? ['1.30.0', '1.35.0', '1.37.0'] : ['1.30.0'];

describe.each(cases)('$chart with $values', ({ chart, values }) => {
  const folder = join(CHARTS, chart);

  it.each(LINTERS)('passes the strict lint of Helm %s', async (helm) => {
    await runHelm(['lint', '--strict', folder, '--values', join(folder, values)], helm);
  });

  it('is rendered the same each time, and by both Helms, for every Kubernetes that is supported', async () => {
    const [first, second, byHelm3] = await Promise.all([
      renderText({ chart, values }),
      renderText({ chart, values }),
      render({ chart, values, helm: 3 }),
    ]);
    expect(first).toBe(second);
    const manifests = parseManifests(first);
    expect(manifests.length).toBeGreaterThan(0);
    const byName = (list: typeof manifests) =>
      Object.fromEntries(list.map((each) => [`${each.kind}/${each.metadata.name}`, each]));
    expect(byName(byHelm3)).toEqual(byName(manifests));
    expect(Object.keys(byName(manifests))).toHaveLength(manifests.length); // no name twice
    for (const kubernetes of OTHER_KUBERNETES)
      expect(parseManifests(await renderText({ chart, values, kubernetes }))).toEqual(manifests);
  });

  it('puts everything into the namespace of the release, with the usual labels', async () => {
    for (const { kind, metadata } of await render({ chart, values })) {
      expect([kind, metadata.name, metadata.namespace]).toEqual([kind, metadata.name, 'prod']);
      expect(metadata.labels).toMatchObject({
        'app.kubernetes.io/name': expect.any(String),
        'app.kubernetes.io/instance': 'shop',
        'app.kubernetes.io/managed-by': 'Helm',
        'app.kubernetes.io/component': expect.any(String),
        'helm.sh/chart': expect.stringMatching(`^${chart}-`),
      });
      expect(metadata.name.length).toBeLessThanOrEqual(63);
    }
  });
});

it.each(valuesFiles('taskmesh'))(
  'every object of taskmesh with %s has the common labels and annotations',
  async (values) => {
    const common = { 'example.com/cost-center': '42' };
    const set = { commonLabels: common, commonAnnotations: common };
    for (const { kind, metadata } of await render({ values, set })) {
      const { labels, annotations = {} } = metadata;
      expect({ kind, labels, annotations }).toMatchObject({ kind, labels: common, annotations: common });
    }
  },
);

it.each(CHART_NAMES)('every file of ci/ of %s has a name by which chart-testing finds it', (chart) => {
  for (const file of readdirSync(join(CHARTS, chart, 'ci'))) expect(file).toMatch(/^[a-z-]+-values\.yaml$/);
});

describe.each(CHART_NAMES)('what a registry of charts shows of %s', (chart) => {
  const { version, annotations } = parse(readFileSync(join(CHARTS, chart, 'Chart.yaml'), 'utf8')) as {
    version: string;
    annotations: Record<string, string>;
  };
  const listed = <Item>(name: string) => parse(annotations[`artifacthub.io/${name}`] ?? '') as Item[];

  it('are the images that it runs', async () => {
    const files = valuesFiles(chart).filter((file) => !file.startsWith('ci/'));
    const texts = await Promise.all(files.map((values) => renderText({ chart, values })));
    const images = texts.flatMap((text) =>
      [...text.matchAll(/^ *image(?:Name)?: "?([^"\s]+)"?$/gm)].map(([, image]) => image),
    );
    expect(
      listed<{ image: string }>('images')
        .map(({ image }) => image)
        .toSorted(),
    ).toEqual([...new Set(images)].toSorted());
  });

  it('shows what changed with this version, and where to read what to do', () => {
    for (const change of listed('changes'))
      expect(change).toEqual({
        kind: expect.stringMatching(/^(added|changed|deprecated|removed|fixed|security)$/),
        description: expect.any(String),
      });
    expect(readFileSync(join(CHARTS, chart, 'UPGRADING.md'), 'utf8').split('\n')).toContain(`## ${version}`);
    const paths = listed<{ url: string }>('links').flatMap(
      ({ url }) => /\/(?:blob|tree)\/main\/(.+)$/.exec(url)?.[1] ?? [],
    );
    expect(paths).toContain(`charts/${chart}/UPGRADING.md`);
    for (const path of paths) expect([path, existsSync(join(CHARTS, '..', path))]).toEqual([path, true]);
  });
});

describe('names', () => {
  it('have room for the longest release name', async () => {
    const release = `a${'b'.repeat(52)}`;
    for (const values of [undefined, 'ci/migrations-job-values.yaml'])
      for (const { metadata } of await render({ release, values }))
        expect(metadata.name.length).toBeLessThanOrEqual(63);
  });

  it('do not say the chart twice', async () => {
    const names = (await render({ release: 'taskmesh' })).map(({ metadata }) => metadata.name);
    expect(names).toContain('taskmesh-gateway');
  });

  it('refuses a Kubernetes that is too old', async () => {
    await expect(render({ kubernetes: '1.29.0' })).rejects.toThrow('kubeVersion');
  });
});
