import { hash } from 'bcrypt';
import { createHasher } from './hasher.ts';

const PASSWORD = 'correct horse battery staple';
const bcryptHash = (variant = '2b') => `$${variant}$04$vwcJ89neRBeNRktthxo58.7c8RDECMZI9gVkRUWJRCYibOlmpVZcq`;

describe('the hasher', () => {
  const times: number[] = [];
  const hasher = createHasher({ concurrency: 2, onHashed: (seconds) => times.push(seconds) });

  it('hashes with argon2id, 19 MiB and two passes, and a new salt for each password', async () => {
    const hashes = await Promise.all([hasher.hash(PASSWORD), hasher.hash(PASSWORD), hasher.hash(PASSWORD)]);
    for (const each of hashes) expect(each).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(new Set(hashes).size).toBe(3);
    expect(times).toHaveLength(3);
  });

  it('lets callers take turns: a flood from one does not hold up another', async () => {
    const shared = createHasher({ concurrency: 1, cost: { memoryCost: 1_024, timeCost: 1 } });
    const made = await shared.hash(PASSWORD);
    let finished = 0;
    const guess = () => shared.verify(undefined, PASSWORD, { ip: '192.0.2.7' }).then(() => finished++);
    const flood = Array.from({ length: 250 }, () => guess().catch(() => undefined));
    expect(await shared.verify(made, PASSWORD, { ip: '192.0.2.8' })).toBe(true);
    expect(finished).toBeLessThan(20);
    await Promise.all(flood);
  });

  it('rejects passwords at once while 200 are waiting', async () => {
    const quick = createHasher({ concurrency: 1, cost: { memoryCost: 64, timeCost: 1 } });
    const outcomes = await Promise.allSettled(Array.from({ length: 260 }, () => quick.verify(undefined, 'x')));
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(59);
    expect(refused[0]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE' } });
  });

  it.each(['nonsense', `$argon2id$v=19$m=19456,t=2,p=1$c2hvcnQ$${'h'.repeat(43)}`])(
    'matches no password if the hash cannot be decoded: %s',
    async (malformed) => {
      expect(await hasher.verify(malformed, PASSWORD)).toBe(false);
      expect(await hasher.hash(PASSWORD)).toMatch(/^\$argon2id/);
    },
  );
});

describe('a bcrypt hash', () => {
  const hasher = createHasher({ concurrency: 1 });

  it('matches the password as it was sent, as the system that made the hash did not normalise it', async () => {
    const composed = await hash('caf\u00e9', 4);
    expect(await hasher.verify(composed, 'caf\u00e9')).toBe(true);
    expect(await hasher.verify(composed, 'cafe\u0301')).toBe(false);
  });

  it('makes every rejection take the same work, with any kind of hash', async () => {
    const spent: number[] = [];
    let used = process.cpuUsage();
    const timed = createHasher({
      concurrency: 1,
      findCostliestBcryptHash: async () => bcryptHash().replace('$04$', '$10$'), // 64 times the rounds
      // CPU instead of time, which depends on what else the machine does.
      onHashed: () => {
        const { user, system } = process.cpuUsage(used);
        spent.push(user + system); // only their sum is exact: the kernel divides it by samples
        used = process.cpuUsage();
      },
    });
    /** Returns the minimum over several attempts for both hashes: other load on the machine only adds to it. */
    const work = async (passwordHash: string | undefined, password = 'wrong') => {
      const tries: number[][] = [];
      for (let count = 0; count < 3; count++) {
        spent.length = 0;
        used = process.cpuUsage();
        expect(await timed.verify(passwordHash, password, { mayPass: async () => false })).toBe(false);
        const [argon2 = NaN, ...bcrypt] = spent;
        tries.push([argon2, bcrypt.reduce((sum, each) => sum + each, 0)]);
      }
      return [0, 1].map((at) => Math.min(...tries.map((each) => each[at] ?? NaN)));
    };
    const [argon2 = 0, costliest = 0] = await work(bcryptHash().replace('$04$', '$10$'));
    const made = await hasher.hash(PASSWORD);
    const cheap = await hash(PASSWORD, 4);
    for (const [passwordHash, password] of [
      [undefined],
      [made],
      [made, PASSWORD],
      [cheap],
      [cheap, PASSWORD],
    ] as const) {
      const [own = NaN, foreign = NaN] = await work(passwordHash, password);
      expect(own / argon2).toBeLessThan(5);
      expect(foreign / costliest).toBeGreaterThan(0.5);
      expect(foreign / costliest).toBeLessThan(2);
    }
  });

  it('delays only rejections: right passwords overtake them', async () => {
    const slow = bcryptHash().replace('$04$', '$11$');
    const shared = createHasher({ concurrency: 1, findCostliestBcryptHash: async () => slow });
    const own = await shared.hash(PASSWORD);
    let refused = 0;
    const refusals = Array.from({ length: 6 }, async () => {
      expect(await shared.verify(own, 'wrong')).toBe(false);
      refused++;
    });
    for (let login = 0; login < 5; login++) expect(await shared.verify(own, PASSWORD)).toBe(true);
    expect(refused).toBeLessThan(4);
    await Promise.all(refusals);
  });
});
