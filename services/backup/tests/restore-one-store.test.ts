import {
  accountsDump,
  createBackupFixture,
  ownArchive,
  tasksDump,
  type BackupFixture,
  type Restored,
} from './support/backup-fixture.ts';

let fixture: BackupFixture;

beforeAll(async () => {
  fixture = await createBackupFixture('one_store', { keepOldMs: 60_000 });
  await fixture.archive('own.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: accountsDump(['new@x']) }));
  await fixture.archive('bad-auth.tar.gz', ownArchive({ tasks: tasksDump(['new']), auth: 'selec;' }));
  await fixture.archive('foreign.tar.gz', { 'database.sql': tasksDump(['new']) });
});
afterAll(() => fixture.close());

beforeEach(async () => {
  await fixture.fillStores('old', 'old@x');
});

const OPERATOR = { identity: { role: 'operator' as const }, requestId: 'r' };

async function restore(file: string, stores: string[]): Promise<{ end?: Restored; refused?: string }> {
  const query = `mutation ($file: String!, $stores: [String!]) {
    restoreBackup(file: $file, stores: $stores) { success message databaseRestored outcome }
  }`;
  const { data, errors } = await fixture.backup.subgraph.execute({ query, variables: { file, stores } }, OPERATOR);
  const [error] = errors ?? [];
  if (!error) return { end: data?.restoreBackup as Restored };
  expect(error.extensions?.code).toBe('BAD_USER_INPUT');
  return { refused: error.message };
}

describe('a restore of one store', () => {
  it.each([
    ['tasks', ['new', 'old@x'], 'if there are tasks of accounts that are gone, no one sees them'],
    ['auth', ['old', 'new@x'], 'if there are tasks of accounts that are gone, they stay and no one sees them'],
  ])('replaces %s and leaves the other as it is, until it is taken back', async (store, expected, message) => {
    const { end } = await restore('own.tar.gz', [store, store]);
    expect(end).toMatchObject({ outcome: 'RESTORED', databaseRestored: true });
    expect(end?.message).toContain(`Only the store ${store} was replaced: ${message}`);
    expect(await fixture.inStores()).toEqual(expected);
    expect(await fixture.own.query('select stores from restores order by started_at desc limit 1')).toEqual([
      { stores: [store] },
    ]);
    const { data } = await fixture.backup.subgraph.execute({ query: 'mutation { undoRestore { outcome } }' }, OPERATOR);
    expect(data).toEqual({ undoRestore: { outcome: 'RESTORED' } });
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  });

  it('does not look at rows of the other: those may be broken', async () => {
    expect(await restore('bad-auth.tar.gz', ['tasks'])).toMatchObject({ end: { outcome: 'RESTORED' } });
    expect(await fixture.inStores()).toEqual(['new', 'old@x']);
  });

  it('of all that the archive holds is an ordinary one', async () => {
    const { end } = await restore('own.tar.gz', ['auth', 'tasks']);
    expect(end).toMatchObject({ message: 'Database restored; the application may need a restart.' });
    expect(await fixture.inStores()).toEqual(['new', 'new@x']);
  });

  it('changes nothing when one of those that are named is broken, or not in the archive', async () => {
    expect(await restore('bad-auth.tar.gz', ['tasks', 'auth'])).toMatchObject({ end: { outcome: 'PROCESSED' } });
    for (const stores of [['auth'], ['tasks', 'auth']])
      expect(await restore('foreign.tar.gz', stores)).toMatchObject({
        end: { outcome: 'PROCESSED', message: expect.stringContaining('The archive holds no dump of the store auth') },
      });
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  });

  it.each([
    ['a name that there is not', ['tasks', 'everything']],
    ['a name in other letters', ['Tasks']],
    ['an object’s own name', ['toString']],
    ['nothing at all', []],
  ])('is refused with %s, and changes nothing', async (_what, stores) => {
    expect(await restore('own.tar.gz', stores)).toEqual({
      refused: expect.stringMatching(/^The list of stores names .*There are: tasks, auth\.$/),
    });
    expect(await fixture.inStores()).toEqual(['old', 'old@x']);
  });
});
