import { createTestDatabase, listen } from '@taskmesh/testing';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { openDatabase, silent } from '../../tests/open-database.ts';
import { createSchemaGate } from './schema-gate.ts';
import { findDatabaseProblem, findPostgresProblem, findVersionProblem } from './postgres-problems.ts';

const OLD = '140023';
const REASON = 'has version 14, but needs version 15 or newer';

// A relay in front of the test server, which changes the version in its responses.
const store = await createTestDatabase('server_version');
const [{ server_version_num: version } = {}] = await store.query('show server_version_num');
const { hostname, port } = new URL(store.url);
const relay = createServer((client) => {
  const server = connect(Number(port), hostname);
  for (const socket of [client, server]) socket.on('error', () => undefined);
  client.on('close', () => server.destroy());
  const older = new Transform({
    transform: (bytes: Buffer, _encoding, done) =>
      done(null, Buffer.from(bytes.toString('latin1').replaceAll(String(version), OLD), 'latin1')),
  });
  client.pipe(server).pipe(older).pipe(client);
});
const { port: relayPort } = await listen(relay);
const oldUrl = Object.assign(new URL(store.url), { hostname: '127.0.0.1', port: String(relayPort) }).href;

it('recognises versions that are too old', () => {
  expect(findVersionProblem(90_624)?.reason).toMatch(/^has version 9,/);
  expect(findVersionProblem(149_999)).toEqual({ reason: REASON, isPermanent: true });
  expect(findVersionProblem(150_000)).toBeUndefined();
  expect(findVersionProblem(180_004)).toBeUndefined();
});

it.each([
  ['migrates', true],
  ['waits for the schema', false],
])('refuses to start on a server that is too old, for a service that %s', async (_what, migrates) => {
  const database = await openDatabase(oldUrl);
  const gate = createSchemaGate({ database, policy: { migrates, acceptsNewer: false }, log: silent });
  await expect(gate.start()).rejects.toMatchObject({ name: 'ConfigError', problems: [`PostgreSQL ${REASON}`] });
  expect(gate.isOpen()).toBe(false);
  expect(await store.query(`select to_regclass('mikro_orm_migrations') as made`)).toEqual([{ made: null }]);
});

it('detects a server that is too old before an installation', async () => {
  expect(await findPostgresProblem(oldUrl)).toEqual({ reason: REASON, isPermanent: true });
  expect(await findPostgresProblem(store.url)).toBeUndefined();
});

it.each([
  ['UTF8', undefined],
  ['SQL_ASCII', undefined],
  ['LATIN1', expect.stringMatching(/^has the encoding LATIN1, but needs UTF8/)],
])('accepts a database as a store only if it stores any text unchanged: %s', async (encoding, reason) => {
  const { url } = await createTestDatabase('encoding', undefined, `template0 encoding '${encoding}' locale 'C'`);
  expect(await findDatabaseProblem(url, 'test', true)).toEqual(reason && { reason, isPermanent: true });
  expect(await findPostgresProblem(url)).toBeUndefined(); // stores of their own encoding can be created there
});
