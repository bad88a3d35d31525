import { DEMO_ACCOUNT } from '@taskmesh/local';
import { atEnd, eventually } from '@taskmesh/testing';
import { utimesSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createRest } from '../../http.ts';
import { startProduct } from '../../product.ts';

const SOURCE = fileURLToPath(new URL('../../../libs/contracts/src/index.ts', import.meta.url));
const STYLE = fileURLToPath(new URL('../../../services/gateway/console/src/style/rows.css', import.meta.url));

it('npm run dev has demo data, and restarts when a file changes', async () => {
  const product = await startProduct('dev');
  atEnd(() => product.stop());
  const rest = createRest(product.url);
  await eventually(() => expect(product.output()).toContain(DEMO_ACCOUNT.email), { timeoutMs: 30_000 });
  const { email, password } = DEMO_ACCOUNT;
  const { body } = await rest<{ access_token: string }>('POST', '/auth/login', { body: { email, password } });
  const count = async () => (await rest('GET', '/tasks', { token: body.access_token })).body['count'];
  expect(await count()).toBeGreaterThan(20);
  const restarts = () => product.output().match(/^Restarted in [0-9.]+ s\.$/gm)?.length ?? 0;
  utimesSync(SOURCE, new Date(), new Date());
  await eventually(() => expect(restarts()).toBe(1), { timeoutMs: 30_000 });
  expect(await count()).toBeGreaterThan(20);

  // The sources of the console, a separate program in the browser, are watched as well.
  utimesSync(STYLE, new Date(), new Date());
  await eventually(() => expect(restarts()).toBe(2), { timeoutMs: 30_000 });
}, 180_000);
