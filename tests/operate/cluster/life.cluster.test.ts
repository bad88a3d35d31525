import { render } from '@taskmesh/charts/helm';
import { serving, type Manifest } from '@taskmesh/charts/manifest';
import { SHIPPED_AND_ODD } from '@taskmesh/charts/odd-values';
import { eventually } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { areNodesFaked, create, kubectl, list, newNamespace, removeNamespaces } from './kubectl.ts';
import { createRelease, PREFIX, RELEASE, smallCluster, type Release } from './release.ts';
import { useServers } from './servers.ts';

afterAll(removeNamespaces);

describe('the API server, of', () => {
  let namespace: string; // stays empty: only dry runs

  beforeAll(async () => {
    namespace = await newNamespace();
  });

  it.each(SHIPPED_AND_ODD)('%s, knows every field and refuses no object', async (_what, options) => {
    const known = (await kubectl(['api-resources', '--no-headers', '-o', 'name'])).trim().split('\n');
    const manifests = await render({ ...options, namespace });
    const groupOf = ({ apiVersion }: Manifest) => (apiVersion.includes('.') ? apiVersion.replace(/\/.*/, '') : '');
    const groups = [...new Set(manifests.map(groupOf))].filter(Boolean);
    const strange = groups.filter((group) => !known.some((name) => name.endsWith(`.${group}`)));
    if (strange.length > 0) console.warn(`Not looked at, for want of their definitions: ${strange.join(', ')}`);
    const looked = manifests.filter((each) => !strange.includes(groupOf(each)));
    const { stdout, stderr } = await serverSide(looked, namespace);
    expect(stderr).toBe('');
    expect(stdout.trim().split('\n')).toHaveLength(looked.length);
  });
});

async function serverSide(manifests: object[], namespace: string): Promise<{ stdout: string; stderr: string }> {
  const args = ['create', '-n', namespace, '--dry-run=server', '--validate=strict', '-f', '-'];
  const running = promisify(execFile)('kubectl', args);
  running.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }));
  return running.catch((error: { stdout: string; stderr: string }) => error);
}

describe.each([3, 4] as const)('a release by Helm %s', (helm) => {
  let release: Release;
  const listed = (kind: string, path: string) => list(kind, release.namespace, path);
  const replicas = () => listed('deployments', '.metadata.name}={.status.readyReplicas');

  beforeAll(async () => {
    const namespace = await newNamespace();
    const values = (await areNodesFaked()) ? [] : [smallCluster, await useServers(namespace)];
    release = createRelease(namespace, values, helm);
  }, 300_000);

  it('installs into a restricted namespace, and its hooks complete and are removed', async () => {
    await release.change('install');
    expect((await replicas()).toSorted()).toEqual(
      ['auth=2', 'backup=1', 'gateway=2', 'tasks=2'].map((each) => `${PREFIX}-${each}`),
    );
    expect(await listed('jobs', '.metadata.name')).toEqual([]);
    expect(await listed('roles', '.metadata.name')).toEqual([]);
  }, 300_000);

  it('has the rendered deployments, spread over zones', async () => {
    const { namespace } = release;
    const rendered = serving(await render({ namespace })).map(({ metadata }) => metadata.name);
    expect((await listed('deployments', '.metadata.name')).toSorted()).toEqual(rendered.toSorted());
    const rows = await list('nodes', namespace, '.metadata.name}={.metadata.labels.topology\\.kubernetes\\.io/zone');
    const zones = new Map(rows.map((row) => row.split('=') as [string, string]));
    if (new Set(zones.values()).size < 2) return;
    const nodes = await list('pods', namespace, '.spec.nodeName', '-l', 'app.kubernetes.io/component=gateway');
    expect(new Set(nodes.map((node) => zones.get(node))).size).toBe(2);
  });

  it('can be upgraded and rolled back', async () => {
    await release.change('upgrade', '--set', 'gateway.replicas=3,settings.LOG_LEVEL=debug');
    await eventually(async () => expect(await replicas()).toContain(`${PREFIX}-gateway=3`));
    await release.helm('rollback', RELEASE, '1', '--wait', '--timeout', '5m');
    await eventually(async () => expect(await replicas()).toContain(`${PREFIX}-gateway=2`), { timeoutMs: 60_000 });
  }, 600_000);

  it('is not changed by inconsistent values', async () => {
    const before = await listed('deployments', '.metadata.name}={.metadata.generation');
    await expect(release.change('upgrade', '--set', 'ingress.enabled=true')).rejects.toThrow('set ingress.hosts');
    await expect(release.change('upgrade', '--set', 'gateway.replica=3')).rejects.toThrow('gateway');
    expect(await listed('deployments', '.metadata.name}={.metadata.generation')).toEqual(before);
  });

  it('supports the other modes of migration', async () => {
    for (const mode of ['job', 'initContainer', 'start', 'hook'])
      await release.change('upgrade', '--set', `migrations.mode=${mode}`);
  }, 900_000);

  it('passes helm test', () => release.helm('test', RELEASE, '--timeout', '5m'), 300_000);

  it('keeps the volume of the archives when it is uninstalled', async () => {
    await release.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
    expect(await listed('persistentvolumeclaims', '.metadata.name')).toEqual([`${PREFIX}-backup`]);
    for (const kind of ['deployments', 'services', 'networkpolicies', 'serviceaccounts', 'poddisruptionbudgets'])
      expect((await listed(kind, '.metadata.name')).filter((name) => name.startsWith(RELEASE))).toEqual([]);
  }, 300_000);
});

it('the account of the keys job can only create secrets', async () => {
  const namespace = await newNamespace();
  const rights = (await render({ namespace })).filter(({ metadata }) => metadata.name === 'shop-taskmesh-keys');
  for (const each of rights.filter(({ kind }) => kind !== 'Job')) await create(each);
  const others = ['get secrets', 'list secrets', 'update secrets', 'patch secrets', 'delete secrets', 'create pods'];
  const isAllowed = async (verb: string) => {
    const who = `system:serviceaccount:${namespace}:shop-taskmesh-keys`;
    const asked = kubectl(['auth', 'can-i', ...verb.split(' '), '-n', namespace, '--as', who]);
    return (await asked.catch(({ stdout }: { stdout: string }) => stdout)).trim(); // `can-i` exits with 1 for "no"
  };
  expect(await isAllowed('create secrets')).toBe('yes');
  for (const verb of others) expect([verb, await isAllowed(verb)]).toEqual([verb, 'no']);
}, 180_000);
