import { renderText } from '@taskmesh/charts/helm';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createRest } from '../clients/http.ts';
import { REPOSITORY } from './images.ts';
import { areNodesFaked, kubectl, list, newNamespace, removeNamespaces } from './kubectl.ts';
import { CHART, createRelease, PREFIX, RELEASE, type Release } from './release.ts';
import { openWayIn } from './way-in.ts';

const isReal = !(await areNodesFaked());

describe('the trial', () => {
  let namespace: string;
  let release: Release;
  const values = ['--values', join(CHART, 'values-trial.yaml')];

  beforeAll(async () => {
    namespace = await newNamespace();
    release = createRelease({ namespace, values: [{ image: { repository: REPOSITORY } }] });
  });
  afterAll(async () => {
    await removeNamespaces();
    release.forget();
  });

  it('is installed from nothing', async () => {
    await release.change('install', ...values);
    expect(await list('statefulsets', namespace, '.metadata.name}={.status.readyReplicas')).toEqual([`${PREFIX}=1`]);
    expect(await list('persistentvolumeclaims', namespace, '.status.phase')).toEqual(['Bound']);
    expect(await renderText({ values: 'values-trial.yaml' })).not.toContain('kind: Secret');
  }, 300_000);

  (isReal ? it : it.skip)(
    'keeps a task when its pod goes, and when the release does and comes again (not on nodes that run nothing)',
    async () => {
      const way = await openWayIn({ namespace, service: PREFIX });
      const rest = createRest(way.url);
      const { body } = await rest<{ access_token: string }>('POST', '/auth/signup', {
        body: { email: `${randomUUID()}@example.com`, password: 'correct horse battery staple', name: 'Ada' },
      });
      const own = { token: body.access_token };
      expect((await rest('POST', '/tasks', { ...own, body: { title: 'Sail' } })).status).toBe(201);
      const expectKept = async () =>
        expect(await rest('GET', '/tasks', own)).toMatchObject({ status: 200, body: { data: [{ title: 'Sail' }] } });
      await kubectl(['delete', 'pod', '-n', namespace, `${PREFIX}-0`]);
      await kubectl(['rollout', 'status', '-n', namespace, `statefulset/${PREFIX}`, '--timeout=180s']);
      await expectKept();
      await release.helm('uninstall', RELEASE, '--wait', '--timeout', '5m');
      expect(await list('persistentvolumeclaims', namespace, '.metadata.name')).toEqual([PREFIX]);
      await release.change('install', ...values);
      await expectKept();
      await way.close();
    },
    600_000,
  );
});
