import { createTestDatabase } from '@taskmesh/testing';
import { openDatabase } from '../../tests/open-database.ts';
import { asUnavailable, outcomeOf, retryWhileUnavailable } from './failures.ts';

const failing = (properties: object) => Object.assign(new Error('failed'), properties);

const CONNECTING = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ENOENT'];

describe('the outcome of a failed statement', () => {
  it.each([
    ...['ENOTFOUND', 'EAI_AGAIN'].map((code) => ({ code, syscall: 'getaddrinfo' })),
    ...CONNECTING.map((code) => ({ code, syscall: 'connect' })),
    { code: 'ECONNREFUSED', errors: [new Error('IPv6'), new Error('IPv4')] },
    ...['53100', '53200', '53300', '53400', '25006', '57P01', '57P03', '57P05'].map((code) => ({ code })),
    ...['08001', '08004', '28000', '28P01'].map((code) => ({ code })),
    { code: '42501', routine: 'CheckMyDatabase' },
    { code: '0A000', routine: 'RevalidateCachedQuery' },
  ])('%j: it had no effect', (properties) => {
    expect(outcomeOf(failing(properties))).toBe('not-done');
    expect(outcomeOf(new Error('wrapped', { cause: failing(properties) }))).toBe('not-done');
  });

  it.each([
    ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].map((code) => ({ code, syscall: 'read' })),
    ...['57P02', '08000', '08003', '08006', '08007', '08P01'].map((code) => ({ code })),
  ])('%j: it may have taken effect', (properties) => expect(outcomeOf(failing(properties))).toBe('unknown'));

  it.each([
    { code: '23505' },
    { code: '42P01' },
    { code: '42501', routine: 'aclcheck_error' },
    { code: '0A000', routine: 'transformOnConflictArbiter' },
    { code: 'ERR_INVALID_ARG_TYPE' },
    {},
  ])('%j: the statement itself is at fault', (properties) => {
    expect(outcomeOf(failing(properties))).toBe('other');
    expect(asUnavailable(failing(properties))).toBeUndefined();
  });

  it('is never repeated for a write that may have taken effect', async () => {
    const write = jest.fn(() => Promise.reject(failing({ code: 'EHOSTUNREACH', syscall: 'read' })));
    const written = retryWhileUnavailable({ kind: 'write' }, write);
    await expect(written).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(write).toHaveBeenCalledTimes(1);
  });
});

it('closes connections to a server that no longer accepts writes, because the next one may reach a server that does', async () => {
  const store = await createTestDatabase('read_only');
  const database = await openDatabase(store.url, { poolSize: 1 });
  const write = async () => {
    const client = await database.pool.connect();
    await client.query('create table written (id int)').finally(() => client.release());
  };
  const set = `alter database ${store.name} set default_transaction_read_only`;
  const freeze = (to: 'on' | 'off') => store.query(`begin read write; ${set} = ${to}; commit`);
  await freeze('on');
  const refused = retryWhileUnavailable({ kind: 'write', deadlineMs: 0 }, write);
  await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  await freeze('off');
  await retryWhileUnavailable({ kind: 'write' }, write);
  expect(await store.query('select * from written')).toEqual([]);
});
