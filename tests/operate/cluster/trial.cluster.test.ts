import { renderText } from '@taskmesh/charts/helm';
import { join } from 'node:path';
import { createRest, register } from '../../http.ts';
import { openForward, type Forward } from './forward.ts';
import { REPOSITORY } from './images.ts';
import { areNodesFaked, kubectl, list, newNamespace, removeNamespaces } from './kubectl.ts';
import { CHART, createRelease, PREFIX, RELEASE, type Release } from './release.ts';
import { openWayIn } from './way-in.ts';

const isReal = !(await areNodesFaked());

describe('the trial', () => {
  let namespace: string;
  let release: Release;
  const values = ['--values', join(CHART, 'values-trial.yaml')];
  let forward: Forward | undefined;

  beforeAll(async () => {
    namespace = await newNamespace();
    release = createRelease({ namespace, values: [{ image: { repository: REPOSITORY } }] });
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

  (isReal ? it : it.skip)(
    'lets operators in as its notes say, by a port-forward and with the token in the pod (not on nodes that run nothing)',
    async () => {
      const read = ['exec', '-n', namespace, `deployment/${PREFIX}`, '--', 'cat', '/data/keys/machine-token'];
      const token = (await kubectl(read)).trim();
      forward = await openForward(namespace, `service/${PREFIX}`, 80);
      const { url } = forward;
      const check = async (headers: Record<string, string>) =>
        (await createRest(url)('POST', '/operations/check', { headers: { origin: url, ...headers } })).status;
      expect(await check({ authorization: `Bearer ${token}` })).toBe(200);
      expect(await check({})).toBe(401);
    },
  );

  (isReal ? it : it.skip)(
    'keeps a task when its pod goes, and when the release does and comes again (not on nodes that run nothing)',
    async () => {
      forward = await openWayIn({ namespace, service: PREFIX });
      const { url } = forward;
      const { token, create } = await register(url);
      await create('Sail');
      const expectKept = async () =>
        expect((await createRest(url)('GET', '/tasks', { token })).body).toMatchObject({
          data: [{ title: 'Sail' }],
        });
      await kubectl(['delete', 'pod', '-n', namespace, '-l', 'app.kubernetes.io/component=all']);
      await kubectl(['rollout', 'status', '-n', namespace, `deployment/${PREFIX}`, '--timeout=180s']);
      await expectKept();
      await release.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
      expect(await list('persistentvolumeclaims', namespace, '.metadata.name')).toEqual([PREFIX]);
      await release.change('install', ...values);
      await expectKept();
    },
    600_000,
  );
});
