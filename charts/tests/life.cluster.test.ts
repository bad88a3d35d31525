import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@taskmesh/testing';
import { CHARTS, CHART_NAMES } from '../tools/generated.ts';
import { render, renderText, runHelm, valuesFiles } from '../tools/helm.ts';
import { serving } from '../tools/manifest.ts';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Values of servers that this cluster has, for a cluster whose pods really run. */
const GIVEN = process.env.TASKMESH_CLUSTER_VALUES;

async function kubectl(args: string[], input?: string): Promise<string> {
  const running = run('kubectl', args, { maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(input);
  return (await running).stdout;
}

async function list<Item>(kind: string, namespace: string, path: string): Promise<Item[]> {
  const text = await kubectl(['get', kind, '-n', namespace, '-o', `jsonpath={range .items[*]}{${path}}{"\\n"}{end}`]);
  return text.split('\n').filter((line) => line !== '') as Item[];
}

const namespaces: string[] = [];

/** A namespace that takes no pod beyond the restricted standard. */
async function newNamespace(): Promise<string> {
  const name = `taskmesh-test-${randomBytes(4).toString('hex')}`;
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  await kubectl(
    ['create', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }),
  );
  namespaces.push(name);
  return name;
}

afterAll(() => Promise.all(namespaces.map((name) => kubectl(['delete', 'namespace', name, '--wait=false']))));

describe.each(CHART_NAMES.flatMap((chart) => valuesFiles(chart).map((values) => ({ chart, values }))))(
  'the API server, of $chart with $values',
  ({ chart, values }) => {
    it('knows every field and refuses no object', async () => {
      const namespace = await newNamespace();
      const known = new Set((await kubectl(['api-resources', '--no-headers', '-o', 'name'])).trim().split('\n'));
      const manifests = await render({ chart, values, namespace });
      const groups = new Set(
        manifests.flatMap(({ apiVersion }) => (apiVersion.includes('.') ? [apiVersion.split('/')[0] ?? ''] : [])),
      );
      const strange = [...groups].filter((group) => ![...known].some((name) => name.endsWith(`.${group}`)));
      if (strange.length > 0) console.warn(`Not looked at, for want of their definitions: ${strange.join(', ')}`);
      const looked = manifests.filter(({ apiVersion }) => !strange.includes(apiVersion.split('/')[0] ?? ''));
      const { stdout, stderr } = await serverSide(looked, namespace);
      expect(stderr).toBe('');
      expect(stdout.trim().split('\n')).toHaveLength(looked.length);
    }, 60_000);
  },
);

async function serverSide(manifests: object[], namespace: string): Promise<{ stdout: string; stderr: string }> {
  const args = ['create', '-n', namespace, '--dry-run=server', '--validate=strict', '-f', '-'];
  const running = run('kubectl', args, { maxBuffer: MAX_OUTPUT_BYTES });
  running.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
  return running.catch((error: { stdout: string; stderr: string }) => error);
}

describe.each([3, 4] as const)('a release by Helm %s', (helm) => {
  let namespace: string;
  const chart = join(CHARTS, 'taskmesh');
  const by = (...args: string[]) => runHelm([...args, '--namespace', namespace], helm);
  const change = (verb: string, ...args: string[]) =>
    by(verb, 'shop', chart, ...(GIVEN ? ['--values', GIVEN] : []), '--wait', '--timeout', '5m', ...args);
  const replicas = () => list<string>('deployments', namespace, '.metadata.name}={.status.readyReplicas');

  beforeAll(async () => {
    namespace = await newNamespace();
    const nodes = await kubectl(['get', 'nodes', '-o', 'jsonpath={.items[*].status.nodeInfo.kubeletVersion}']);
    if (!nodes.includes('kwok') && !GIVEN)
      throw new Error('Pods run here: name values of servers for them with TASKMESH_CLUSTER_VALUES.');
  });

  it('is installed into a restricted namespace, its hooks done and gone', async () => {
    await change('install');
    expect((await replicas()).toSorted()).toEqual([
      'shop-taskmesh-auth=2',
      'shop-taskmesh-backup=1',
      'shop-taskmesh-gateway=2',
      'shop-taskmesh-tasks=2',
    ]);
    expect(await list('jobs', namespace, '.metadata.name')).toEqual([]);
    expect(await list('roles', namespace, '.metadata.name')).toEqual([]);
  }, 300_000);

  it('has what was rendered, spread over zones', async () => {
    const rendered = serving(await render({ namespace })).map(({ metadata }) => metadata.name);
    expect((await list('deployments', namespace, '.metadata.name')).toSorted()).toEqual(rendered.toSorted());
    const zones = new Map(
      (
        await kubectl([
          'get',
          'nodes',
          '-o',
          'jsonpath={range .items[*]}{.metadata.name}={.metadata.labels.topology\\.kubernetes\\.io/zone}{"\\n"}{end}',
        ])
      )
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    );
    if (new Set(zones.values()).size < 2) return;
    const pods = await kubectl([
      'get',
      'pods',
      '-n',
      namespace,
      '-l',
      'app.kubernetes.io/component=gateway',
      '-o',
      'jsonpath={.items[*].spec.nodeName}',
    ]);
    expect(new Set(pods.split(' ').map((node) => zones.get(node))).size).toBe(2);
  });

  it('is upgraded, and taken back', async () => {
    await change('upgrade', '--set', 'gateway.replicas=3,settings.LOG_LEVEL=debug');
    await eventually(async () => expect(await replicas()).toContain('shop-taskmesh-gateway=3'));
    await by('rollback', 'shop', '1', '--wait', '--timeout', '5m');
    await eventually(async () => expect(await replicas()).toContain('shop-taskmesh-gateway=2'));
  }, 300_000);

  it('is not changed by values that do not go together', async () => {
    const before = await list('deployments', namespace, '.metadata.name}={.metadata.generation');
    await expect(change('upgrade', '--set', 'ingress.enabled=true')).rejects.toThrow('set ingress.hosts');
    await expect(change('upgrade', '--set', 'gateway.replica=3')).rejects.toThrow('gateway');
    expect(await list('deployments', namespace, '.metadata.name}={.metadata.generation')).toEqual(before);
  });

  it('goes through the other ways of migrating', async () => {
    for (const mode of ['job', 'initContainer', 'start', 'hook'])
      await change('upgrade', '--set', `migrations.mode=${mode}`);
  }, 600_000);

  it('is tested', async () => {
    await by('test', 'shop', '--timeout', '5m');
  }, 300_000);

  it('leaves the archives’ volume when it goes', async () => {
    await by('uninstall', 'shop', '--wait', '--timeout', '5m');
    expect(await list('persistentvolumeclaims', namespace, '.metadata.name')).toEqual(['shop-taskmesh-backup']);
    for (const kind of ['deployments', 'services', 'networkpolicies', 'serviceaccounts', 'poddisruptionbudgets'])
      expect((await list<string>(kind, namespace, '.metadata.name')).filter((name) => name.startsWith('shop'))).toEqual(
        [],
      );
  }, 300_000);
});

it('the maker of keys may make secrets, and do nothing else', async () => {
  const namespace = await newNamespace();
  const rights = (await render({ namespace })).filter(({ metadata }) => metadata.name === 'shop-taskmesh-keys');
  for (const each of rights.filter(({ kind }) => kind !== 'Job'))
    await kubectl(['create', '-f', '-'], JSON.stringify(each));
  const verbs = [
    'create secrets',
    'get secrets',
    'list secrets',
    'update secrets',
    'patch secrets',
    'delete secrets',
    'create pods',
  ];
  const answers = await Promise.all(
    verbs.map(async (verb) => {
      const who = `system:serviceaccount:${namespace}:shop-taskmesh-keys`;
      const asked = kubectl(['auth', 'can-i', ...verb.split(' '), '-n', namespace, '--as', who]);
      return [verb, (await asked.catch(({ stdout }: { stdout: string }) => stdout)).trim()]; // a no ends with 1
    }),
  );
  expect(Object.fromEntries(answers)).toEqual(
    Object.fromEntries(verbs.map((verb, index) => [verb, index === 0 ? 'yes' : 'no'])),
  );
}, 60_000);

it('the trial is installed from nothing', async () => {
  const namespace = await newNamespace();
  const chart = join(CHARTS, 'taskmesh');
  await runHelm([
    'install',
    'shop',
    chart,
    '--namespace',
    namespace,
    '--values',
    join(chart, 'values-trial.yaml'),
    '--wait',
    '--timeout',
    '5m',
  ]);
  expect(await list('statefulsets', namespace, '.metadata.name}={.status.readyReplicas')).toEqual(['shop-taskmesh=1']);
  expect(await list('persistentvolumeclaims', namespace, '.status.phase')).toEqual(['Bound']);
  expect(await renderText({ values: 'values-trial.yaml' })).not.toContain('kind: Secret');
}, 300_000);
