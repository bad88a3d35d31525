import { eventually } from '@taskmesh/testing';
import { createRest, logIn, makeBackup, register, restoreBackup } from '../../http.ts';
import { describeFeedClients } from '../../feed/feed-clients.ts';
import { describeJourney } from '../journey/journey.ts';
import { describeReal, installationForTests } from './installation.ts';
import { kubectl, list, podsOf, runIn } from './kubectl.ts';
import { backupToken, PREFIX } from './release.ts';

const SERVICES = ['gateway', 'auth', 'tasks', 'backup'];

/** Runs sixteen clients for a minute and a half. */
const BUSY = `
  const until = Date.now() + 90_000;
  for (let count = 0; count < 16; count++)
    (async () => { while (Date.now() < until) await (await fetch(process.argv[1])).arrayBuffer(); })();`;

describeReal('the product in a cluster, through its service (not on nodes that run nothing)', () => {
  const product = installationForTests();

  describeJourney(() => ({ urls: [product().way.url] }));
  describeFeedClients(() => ({ urls: [product().way.url] }));

  it('shows operators every part, and that all is well', async () => {
    const { namespace, way } = product();
    const rest = createRest(way.url);
    expect((await rest('GET', '/operations/status')).status).toBe(401);
    const token = await backupToken(namespace);
    const data = {
      problems: [],
      services: SERVICES.map((name) => ({ name, isUp: true })),
      eventLog: { system: 'kafka', isUpForTasks: true, isUpForGateway: true },
      cache: { isUp: true },
    };
    const status = async () => (await rest('GET', '/operations/status', { token })).body;
    await eventually(async () => expect(await status()).toMatchObject({ data }));
  });

  it('makes, verifies and restores a backup', async () => {
    const { namespace, way } = product();
    const token = await backupToken(namespace);
    const rest = createRest(way.url);
    const { create, titles } = await register(way.url);
    await create('in the backup');
    expect((await rest('POST', '/backups')).status).toBe(401);
    const file = await makeBackup(way.url, { token });
    const verified = await rest('POST', `/backups/${file}/verify`, { token });
    expect(verified.body).toMatchObject({ data: { verifiedAt: expect.any(String) } });
    await create('made after it');
    expect(await restoreBackup(way.url, file, { token })).toMatchObject({ status: 200, body: { success: true } });
    await eventually(async () => expect(await titles()).toEqual(['in the backup']));
  });

  // Follows docs/runbooks/rotate-signing-keys.md. Kubelets update a changed secret in running pods within a minute or two.
  it('signs with another key after its secret changes, and still accepts tokens signed with the previous one', async () => {
    const { namespace, way } = product();
    const rest = createRest(way.url);
    const name = `${PREFIX}-keys`;
    const file = 'access-token-keys.json';
    const read = async () => {
      const path = `jsonpath={.data.${file.replace('.', '\\.')}}`;
      const text = await kubectl(['get', 'secret', '-n', namespace, name, '-o', path]);
      return (JSON.parse(Buffer.from(text, 'base64').toString()) as { keys: { kid: string }[] }).keys;
    };
    const put = (keys: object[]) => {
      const patch = JSON.stringify({ stringData: { [file]: JSON.stringify({ keys }) } });
      return kubectl(['patch', 'secret', '-n', namespace, name, '--patch', patch]);
    };
    const account = await register(way.url);
    const kidOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
    const before = await read();
    expect(kidOf(account.token)).toBe(before[0]?.kid);

    const make = ['node', 'services/auth/src/keys/generate-signing-key.js'];
    const made = JSON.parse(await kubectl(['exec', '-n', namespace, `deployment/${PREFIX}-auth`, '--', ...make]));
    const patience = { timeoutMs: 240_000, everyMs: 1_000 };
    await put([...before, made]);
    await eventually(async () => {
      const { keys } = (await (await fetch(`${way.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] };
      expect(keys.map(({ kid }) => kid)).toEqual([...before, made].map(({ kid }) => kid));
    }, patience);
    await put([made, ...before]);
    await eventually(async () => {
      const { token } = await logIn(way.url, account);
      expect(kidOf(token)).toBe(made.kid);
      expect((await rest('GET', '/tasks', { token })).status).toBe(200);
    }, patience);
    expect((await rest('GET', '/tasks', { token: account.token })).status).toBe(200);
  }, 600_000);

  it('runs no pod as root or with a writable root file system', async () => {
    for (const component of SERVICES) {
      const [name = ''] = await podsOf(product().namespace, component);
      const script = `
        const written = ['/app/x', '/x', '/data/x'].map((file) => {
          try { require('node:fs').writeFileSync(file, ''); return true; } catch { return false; }
        });
        console.log(JSON.stringify([process.getuid(), ...written]));`;
      expect(JSON.parse(await runIn(product().namespace, name, script))).toEqual([10_001, false, false, true]);
    }
  });

  it('scales the gateways up under load', async () => {
    const { namespace, release, way } = product();
    const ready = () => list('deployments', namespace, '.metadata.name}={.status.readyReplicas');
    const values = ['resources.requests.cpu=100m', 'autoscaling.mode=hpa', 'autoscaling.maxReplicas=3'];
    values.push('autoscaling.cpuUtilization=40'); // low, because pods get little CPU on a busy machine
    await release.change('upgrade', '--set', values.map((each) => `gateway.${each}`).join(','));
    expect(await ready()).toContain(`${PREFIX}-gateway=2`);
    const busy = runIn(namespace, way.pod, BUSY, `http://${PREFIX}-gateway/api/docs`);
    const isScaled = async () => expect(await ready()).toContain(`${PREFIX}-gateway=3`);
    await eventually(isScaled, { timeoutMs: 180_000, everyMs: 1_000 });
    await busy;
  }, 600_000);
});
