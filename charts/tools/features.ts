import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHARTS } from './generated.ts';
import { render, renderText, valuesFiles } from '../tests/support/helm.ts';
import { containersOf, serving, workloads, type Container, type Manifest } from '../tests/support/manifest.ts';

const HELP = readFileSync(new URL('features.help.txt', import.meta.url), 'utf8').trim();
const args = process.argv.slice(2);
if (args.length > 0) {
  console.error(HELP);
  process.exit(2);
}

const chart = 'taskmesh';
const manifests = await render({ chart });
const pods = workloads(manifests);
const containers = pods.flatMap(({ template }) => containersOf(template));
const serve = serving(manifests);
const everything = (await Promise.all(valuesFiles(chart).map((values) => render({ chart, values })))).flat();
const schema = JSON.parse(readFileSync(join(CHARTS, chart, 'values.schema.json'), 'utf8')) as Part;

interface Part {
  additionalProperties?: unknown;
  properties?: Record<string, Part>;
}

const objectsOf = (part: Part): Part[] => [
  ...(part.properties ? [part] : []),
  ...Object.values(part.properties ?? {}).flatMap(objectsOf),
];
const ratio = <Item>(items: readonly Item[], fits: (item: Item) => boolean) =>
  `${items.filter(fits).length}/${items.length}`;
const secured = (fits: (context: Record<string, unknown>) => boolean) =>
  ratio(containers, ({ securityContext = {} }) => fits(securityContext));
const count = (kind: string, among: readonly Manifest[] = manifests) =>
  among.filter((each) => each.kind === kind).length;
const withAny = (kind: string) => (count(kind, everything) > 0 ? `${kind} opt` : '–');
const probes = (name: keyof Container) =>
  ratio(
    serve.flatMap(({ template }) => template.spec.containers),
    (container) => container[name] !== undefined,
  );
const testSuites = globSync('tests/*.test.ts', { cwd: CHARTS }).flatMap((file) => {
  const text = readFileSync(join(CHARTS, file), 'utf8');
  return text.match(/^\s*(it|it\.concurrent)(\.each|\()/gm) ?? [];
});
const strict = objectsOf(schema);
const denied = manifests.filter(({ spec }) => spec?.policyTypes?.join() === 'Ingress,Egress');
const alerts = (await render({ chart, set: { 'prometheusRule.enabled': true } }))
  .flatMap(({ spec }) => spec?.groups ?? [])
  .flatMap(({ rules }) => rules);
const isDeterministic = (await renderText({ chart })) === (await renderText({ chart }));
const modes = (schema.properties?.migrations?.properties?.mode as { enum: string[] }).enum;
const secretsNamed = new Set(everything.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name));

const rows: [point: string, ours: string][] = [
  [
    'values.schema.json',
    `strict: ${ratio(strict, ({ additionalProperties }) => additionalProperties === false)} objects, drift-tested`,
  ],
  [
    'README from the values',
    readFileSync(join(CHARTS, chart, 'README.md'), 'utf8').includes('| value | default |') ? 'yes' : '–',
  ],
  ['unit tests', String(testSuites.length)],
  ['ci/ value files', String(globSync('ci/*-values.yaml', { cwd: join(CHARTS, chart) }).length)],
  [
    'helm test hooks rendered',
    String(
      manifests.filter(({ kind, metadata }) => kind === 'Job' && metadata.annotations?.['helm.sh/hook'] === 'test')
        .length,
    ),
  ],
  ['runAsNonRoot n/m', secured(({ runAsNonRoot }) => runAsNonRoot === true)],
  ['readOnlyRootFS', secured(({ readOnlyRootFilesystem }) => readOnlyRootFilesystem === true)],
  [
    'seccomp RuntimeDefault (pods)',
    ratio(pods, ({ template }) => JSON.stringify(template.spec.securityContext).includes('RuntimeDefault')),
  ],
  [
    'drop ALL + no escalation',
    secured(
      (context) =>
        context.allowPrivilegeEscalation === false && JSON.stringify(context.capabilities) === '{"drop":["ALL"]}',
    ),
  ],
  ['SA token off (serving pods)', ratio(serve, ({ template }) => template.spec.automountServiceAccountToken === false)],
  [
    'resources set',
    ratio(containers, ({ resources }) => resources?.requests !== undefined && resources.limits?.memory !== undefined),
  ],
  [
    'liveness / readiness / startup',
    [probes('livenessProbe'), probes('readinessProbe'), probes('startupProbe')].join(' '),
  ],
  ['preStop', probes('lifecycle')],
  ['default replicas >1', ratio(serve, ({ spec }) => (spec?.replicas ?? 1) > 1)],
  ['PDB by default', String(count('PodDisruptionBudget'))],
  [
    'topologySpread by default',
    ratio(serve, ({ template }) => (template.spec.topologySpreadConstraints ?? []).length > 0),
  ],
  ['NetworkPolicy by default', `${count('NetworkPolicy')}, ${denied.length} of them deny both ways`],
  ['HPA / KEDA', `${withAny('HorizontalPodAutoscaler')}, ${withAny('ScaledObject')}`],
  ['HTTPRoute', `${withAny('HTTPRoute')}, ${withAny('Ingress')}`],
  ['ExternalSecret template', withAny('ExternalSecret')],
  [
    'existingSecret',
    secretsNamed.size === 0 ? 'every secret, key map; none rendered' : `${secretsNamed.size} rendered`,
  ],
  [
    'ServiceMonitor / Rule / dashboard',
    `${count('ServiceMonitor', everything) > 0 ? 'SM' : '–'} + ${new Set(alerts.map(({ alert }) => alert)).size} rules + ${new Set(alerts.map(({ annotations }) => annotations.runbook_url)).size} runbooks + ${globSync('files/dashboards/*.json', { cwd: join(CHARTS, chart) }).length} dashboard`,
  ],
  ['migrations', `${modes.length} modes: ${modes.join(', ')}`],
  ['deterministic render', isDeterministic ? 'yes, tested' : '**no**'],
  ['bundled DBs', count('StatefulSet') === 0 ? 'none; CRs in taskmesh-data' : String(count('StatefulSet'))],
];

const [BEGIN, END] = ['<!-- features: begin -->', '<!-- features: end -->'];
const document = join(CHARTS, '../docs/deploy.md');
const text = readFileSync(document, 'utf8');
const [before = '', rest = ''] = text.split(BEGIN);
const [, after = ''] = rest.split(END);
const table = ['| point | taskmesh |', '| --- | --- |', ...rows.map(([point, ours]) => `| ${point} | ${ours} |`)].join(
  '\n',
);
writeFileSync(document, `${before}${BEGIN}\n${table}\n${END}${after}`);
