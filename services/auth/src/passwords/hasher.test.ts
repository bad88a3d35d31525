import { jest } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { startHashThread, type HashThread, type Priority } from './hash-thread.ts';
import { createHashThreadPool, type HashThreadPool } from './hash-thread-pool.ts';
import { createHasher } from './hasher.ts';
import { isCurrent } from './argon2-hash.ts';
import { stepAside } from './step-aside.ts';

const PASSWORD = 'correct horse battery staple';

describe('passwords', () => {
  const times: number[] = [];
  const hasher = createHasher({ concurrency: 2, onHashed: (seconds) => times.push(seconds) });
  afterAll(() => hasher.close());

  it('are hashed with argon2id, 19 MiB and two passes, each with a salt of its own', async () => {
    const hashes = await Promise.all([hasher.hash(PASSWORD), hasher.hash(PASSWORD), hasher.hash(PASSWORD)]);
    for (const each of hashes) expect(each).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(new Set(hashes).size).toBe(3);
    expect(times).toHaveLength(3);
  });

  it('match their hash, however their characters are composed, and nothing else does', async () => {
    const hash = await hasher.hash('caf\u00e9 au lait');
    expect(await hasher.verify(hash, 'cafe\u0301 au lait')).toBe(true);
    expect(await hasher.verify(hash, 'caf\u00e9 au lait ')).toBe(false);
    expect(await hasher.verify(undefined, PASSWORD)).toBe(false);
  });

  it('are current as they are made, and not with other parameters', async () => {
    expect(isCurrent(await hasher.hash(PASSWORD))).toBe(true);
    for (const other of [
      'argon2i$v=19$m=19456,t=2,p=1',
      'argon2id$v=19$m=19456,t=3,p=1',
      'argon2id$v=16$m=19456,t=2,p=1',
    ])
      expect(isCurrent(`$${other}$c29tZXRoaW5n$c29tZXRoaW5n`)).toBe(false);
  });
});

describe('passwords beside others', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('are hashed one at a time less, for a moment after each word of them', async () => {
    let running = 0;
    let most = 0;
    const threads: HashThreadPool = {
      ...createHashThreadPool(),
      async verify() {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 5));
        running--;
        return false;
      },
    };
    const hasher = createHasher({ concurrency: 2, threads });
    const verifySome = async () => {
      most = 0;
      const verified = Promise.all(Array.from({ length: 6 }, () => hasher.verify(undefined, PASSWORD)));
      await jest.advanceTimersByTimeAsync(100);
      await verified;
      return most;
    };
    expect(await verifySome()).toBe(2);
    hasher.giveWay();
    expect(await verifySome()).toBe(1);
    await jest.advanceTimersByTimeAsync(150);
    expect(await verifySome()).toBe(2);
    await hasher.close();
  });
});

describe('the password of an unknown address', () => {
  it('is checked like any, against a current hash that it does not match', async () => {
    const checked: string[] = [];
    const real = createHashThreadPool();
    const threads: HashThreadPool = {
      ...real,
      verify(passwordHash, password) {
        checked.push(passwordHash);
        return real.verify(passwordHash, password);
      },
    };
    let hashed = 0;
    const hasher = createHasher({ concurrency: 1, threads, onHashed: () => hashed++ });
    expect(await hasher.verify(undefined, PASSWORD)).toBe(false);
    expect(checked).toHaveLength(1);
    expect(hashed).toBe(1);
    // As long as any other: an invalid hash would be rejected at once.
    expect(isCurrent(checked[0] ?? '')).toBe(true);
    await hasher.close();
  });

  it('is never right, not even when the check says so', async () => {
    const threads: HashThreadPool = { ...createHashThreadPool(), verify: () => Promise.resolve(true) };
    const hasher = createHasher({ concurrency: 1, threads });
    expect(await hasher.verify(undefined, PASSWORD)).toBe(false);
    await hasher.close();
  });

  it('can be checked although hashing failed before', async () => {
    const broken = createHashThreadPool(() => {
      throw new Error('no thread');
    });
    const real = createHashThreadPool();
    let isBroken = true;
    const now = () => (isBroken ? broken : real);
    const threads: HashThreadPool = {
      hash: (password) => now().hash(password),
      verify: (passwordHash, password) => now().verify(passwordHash, password),
      close: () => real.close(),
    };
    const hasher = createHasher({ concurrency: 1, threads });
    await expect(hasher.verify(undefined, PASSWORD)).rejects.toThrow('no thread');
    isBroken = false;
    expect(await hasher.verify(undefined, PASSWORD)).toBe(false);
    await hasher.close();
  });
});

describe('threads that hash', () => {
  const onLinux = process.platform === 'linux' ? it : it.skip;

  onLinux('step aside for everybody else in the process', async () => {
    const before = getPriority();
    const threads = createHashThreadPool();
    await threads.hash(PASSWORD);
    await threads.hash(PASSWORD);
    expect(nicenessOfThreads()).toContain(19);
    expect(getPriority()).toBe(before);
    await threads.close();
  });

  it('are as many as work at once, and used again', async () => {
    let started = 0;
    const threads = createHashThreadPool((priority) => {
      if (priority === 'low') started++;
      return startHashThread(priority);
    });
    await Promise.all([threads.hash(PASSWORD), threads.hash(PASSWORD)]);
    expect(started).toBe(2);
    const hash = await threads.hash(PASSWORD);
    expect(await threads.verify(hash, PASSWORD)).toBe(true);
    expect(started).toBe(2);
    await threads.close();
  });

  it('are replaced when one ends', async () => {
    const started = new Array<ReturnType<typeof startHashThread>>();
    const threads = createHashThreadPool(() => {
      const thread = startHashThread('low');
      started.push(thread);
      return thread;
    });
    const cut = threads.hash(PASSWORD);
    await started[0]?.end();
    await expect(cut).rejects.toThrow('has ended');
    expect(await threads.hash(PASSWORD)).toMatch(/^\$argon2id/);
    expect(started).toHaveLength(2);
    await threads.close();
  });

  it('say what is wrong with a hash that is none', async () => {
    const threads = createHashThreadPool();
    await expect(threads.verify('nonsense', PASSWORD)).rejects.toThrow('could not be hashed');
    expect(await threads.hash(PASSWORD)).toMatch(/^\$argon2id/);
    await threads.close();
    await expect(threads.hash(PASSWORD)).rejects.toThrow('not hashed any more');
  });
});

describe('threads of low priority', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Those of low priority take so long, the others no time. */
  function createThreads(takes: { ms: number; noMore?: boolean }) {
    const started: { priority: Priority; thread: HashThread }[] = [];
    const start = (priority: Priority): HashThread => {
      if (priority === 'normal' && takes.noMore) throw new Error('no memory');
      let alive = true;
      const thread: HashThread = {
        async run() {
          if (priority === 'low') await new Promise((resolve) => setTimeout(resolve, takes.ms));
          return { hash: priority };
        },
        isAlive: () => alive,
        end: () => Promise.resolve(void (alive = false)),
      };
      started.push({ priority, thread });
      return thread;
    };
    const threads = createHashThreadPool(start);
    const hashIn = async (ms: number) => {
      let hash: string | undefined;
      void threads.hash(PASSWORD).then((each) => (hash = each));
      await jest.advanceTimersByTimeAsync(ms);
      return hash;
    };
    return { threads, hashIn, living: () => started.flatMap((each) => (each.thread.isAlive() ? each.priority : [])) };
  }

  it('are relieved by others as soon as one starves, and until a minute after that', async () => {
    const takes = { ms: 249 };
    const { threads, hashIn, living } = createThreads(takes);
    expect(await hashIn(249)).toBe('low');
    expect(await hashIn(249)).toBe('low');
    expect(living()).toEqual(['low']);

    takes.ms = 90_000;
    expect(await hashIn(249)).toBeUndefined();
    await jest.advanceTimersByTimeAsync(1);
    expect(living()).toEqual(['low', 'normal']);
    expect(await hashIn(89_750)).toBe('normal');
    expect(await Promise.all([hashIn(0), hashIn(0)])).toEqual(['normal', 'normal']);
    expect(await hashIn(59_999)).toBe('normal');
    expect(living()).toEqual(['low', 'normal', 'normal']);

    takes.ms = 15;
    expect(await hashIn(1)).toBe('normal');
    expect(await hashIn(15)).toBe('low');
    expect(living()).toEqual(['low', 'normal']);
    await threads.close();
    expect(living()).toEqual([]);
  });

  it('do their jobs in the end where no other can start', async () => {
    const takes = { ms: 10_000, noMore: true };
    const { threads, hashIn } = createThreads(takes);
    for (const _ of [1, 2]) expect(await hashIn(10_000)).toBe('low');
    await threads.close();
  });

  it('do not starve while they start', async () => {
    const { threads, hashIn, living } = createThreads({ ms: 10_000 });
    expect(await hashIn(9_999)).toBeUndefined();
    expect(living()).toEqual(['low']);
    expect(await hashIn(10_000)).toBe('low');
    await threads.close();
  });

  it('hash also where a priority must not be set', () => {
    expect(() =>
      stepAside(() => {
        throw new Error('EPERM');
      }),
    ).not.toThrow();
  });
});

/** The 19th field of each thread's line (`man 5 proc`), counted from behind its name. */
function nicenessOfThreads(): number[] {
  return readdirSync('/proc/self/task').map((id) => {
    const line = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
    return Number(line.slice(line.lastIndexOf(')') + 2).split(' ')[16]);
  });
}
