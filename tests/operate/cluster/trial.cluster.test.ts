import { renderText } from '@taskmesh/charts/helm';
import { join } from 'node:path';
import { createRest, register } from '../../http.ts';
import { openForward, type Forward } from './forward.ts';
import { REPOSITORY } from './images.ts';
import { areNodesFaked, kubectl, list, newNamespace, removeNamespaces } from './kubectl.ts';
import { CHART, createRelease, PREFIX, RELEASE, type Release } from './release.ts';
import { openWayIn } from './way-in.ts';

/** Nodes that run nothing skip it. */
const itReal = (await areNodesFaked()) ? it.skip : it;

describe('the trial', () => {
  let namespace: string;
  let release: Release;
  const values = ['--values', join(CHART, 'values-trial.yaml')];
  let forward: Forward | undefined;

  beforeAll(async () => {
    namespace = await newNamespace();
    release = createRelease(namespace, [{ image: { repository: REPOSITORY } }]);
  });
  afterAll(removeNamespaces);

  afterEach(async () => {
    await forward?.close();
    forward = undefined;
  });

  it('is installed from nothing', async () => {
    await release.change('install', ...values);
    expect(await list('deployments', namespace, '.metadata.name}={.status.readyReplicas')).toEqual([`${PREFIX}=1`]);
    expect(await list('persistentvolumeclaims', namespace, '.status.phase')).toEqual(['Bound']);
    expect(await renderText({ values: 'values-trial.yaml' })).not.toContain('kind: Secret');
  }, 300_000);

  itReal(
    'lets operators in as its notes say, by a port-forward and with the token in the pod (not on nodes that run nothing)',
    async () => {
      const read = ['exec', '-n', namespace, `deployment/${PREFIX}`, '--', 'cat', '/data/keys/machine-token'];
      const token = (await kubectl(read)).trim();
      forward = await openForward(namespace, `service/${PREFIX}`, 80);
      const { url } = forward;
      const check = async (token?: string) =>
        (await createRest(url)('POST', '/operations/check', { token, headers: { origin: url } })).status;
      expect([await check(token), await check()]).toEqual([200, 401]);
    },
  );

  itReal(
    'keeps a task when its pod goes, and when the release does and comes again (not on nodes that run nothing)',
    async () => {
      forward = await openWayIn(namespace, PREFIX);
      const { create, titles } = await register(forward.url);
      await create('Sail');
      await kubectl(['delete', 'pod', '-n', namespace, '-l', 'app.kubernetes.io/component=all']);
      await kubectl(['rollout', 'status', '-n', namespace, `deployment/${PREFIX}`, '--timeout=180s']);
      expect(await titles()).toEqual(['Sail']);
      await release.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
      expect(await list('persistentvolumeclaims', namespace, '.metadata.name')).toEqual([PREFIX]);
      await release.change('install', ...values);
      expect(await titles()).toEqual(['Sail']);
    },
    600_000,
  );
});
