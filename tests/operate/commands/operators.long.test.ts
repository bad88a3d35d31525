import { atEnd, eventually } from '@taskmesh/testing';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProduct, type Product } from '../../product.ts';

/** Waits for a text, because the command prints some lines after it is ready. */
const expectOutput = (product: Product, text: string) => eventually(() => expect(product.output()).toContain(text));

const check = (url: string, headers: Record<string, string>) =>
  fetch(`${url}/api/operations/check`, { method: 'POST', headers }).then(({ status }) => status);

it.each(['start', 'stack'] as const)(
  'npm run %s prints the folder of mails, and the file of this machine’s token, but not the token',
  async (command) => {
    const product = await startProduct(command);
    atEnd(() => product.stop());
    const file = join(product.dataDir, 'keys', 'machine-token');
    const token = readFileSync(file, 'utf8').trim();
    await expectOutput(product, `${product.url}/#/operations (requires the token in ${file})`);
    await expectOutput(product, command === 'stack' ? 'mails without SMTP_URL: ' : `mails: ${product.dataDir}`);
    expect(product.output()).not.toContain(token);
    const authorization = `Bearer ${token}`;
    expect(await check(product.url, { origin: product.url, authorization })).toBe(200);
    expect(await check(product.url, { origin: 'https://evil.example', authorization })).toBe(403);
  },
  180_000,
);

it('npm start makes no machine token if there is a backup token', async () => {
  const product = await startProduct('start', { BACKUP_TOKEN: 'secret' });
  atEnd(() => product.stop());
  expect(existsSync(join(product.dataDir, 'keys', 'machine-token'))).toBe(false);
  await expectOutput(product, `${product.url}/#/operations (requires BACKUP_TOKEN)`);
  expect(await check(product.url, { origin: product.url })).toBe(401);
  expect(await check(product.url, { origin: product.url, authorization: 'Bearer secret' })).toBe(200);
});
