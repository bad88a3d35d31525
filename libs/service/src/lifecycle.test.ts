import { Closers, closeOnStop, inOrder, type Service } from './lifecycle.ts';

describe('an opened resource', () => {
  it('is closed in reverse order when its block ends, together with all others even if one fails to close', async () => {
    const closed: string[] = [];
    const use = async () => {
      await using closers = new Closers();
      closers.add(() => closed.push('first'));
      closers.add(() => {
        throw new Error('stuck');
      });
      closers.add(() => closed.push('last'));
    };
    await expect(use()).rejects.toThrow('stuck');
    expect(closed).toEqual(['last', 'first']);
  });

  it('is closed once, and an overlapping call waits for that', async () => {
    const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
    const closed: string[] = [];
    const closers = new Closers();
    closers.add(() => closed.push('database'));
    closers.add(() => held.then(() => closed.push('relay, which uses it')));
    const [first, second] = [closers.closeAll(), closers.closeAll()];
    await new Promise(setImmediate);
    expect(closed).toEqual([]);
    goOn();
    await second;
    expect(closed).toEqual(['relay, which uses it', 'database']);
    await first;
    closers.add(() => closed.push('opened later'));
    await closers.closeAll();
    expect(closed.at(-1)).toBe('opened later');
  });

  it('is stopped when its block ends, even if it does not start', async () => {
    const done: string[] = [];
    const part = { start: () => Promise.reject(new Error('no port')), stop: () => done.push('stopped') };
    const use = async () => {
      await using closers = new Closers();
      await closers.use(part).start();
    };
    await expect(use()).rejects.toThrow('no port');
    expect(done).toEqual(['stopped']);
  });

  it('stays open after it was handed over, until its new owner closes it', async () => {
    const closed: string[] = [];
    const open = async () => {
      await using closers = new Closers();
      closers.add(() => closed.push('kept'));
      return closers.handOver();
    };
    const close = await open();
    expect(closed).toEqual([]);
    await close();
    expect(closed).toEqual(['kept']);
  });
});

describe('ordered parts', () => {
  const partsOf = (seen: string[], names: string[], failing?: string): Service[] =>
    names.map((name) => ({
      async start() {
        if (name === failing) throw new Error(`${name} does not start`);
        seen.push(`${name} starts`);
      },
      async stop() {
        await new Promise(setImmediate);
        seen.push(`${name} stops`);
      },
    }));

  it('start one after the other, and stop in reverse', async () => {
    const seen: string[] = [];
    const service = inOrder([...partsOf(seen, ['store', 'relay']), closeOnStop(() => seen.push('cache closed'))]);
    await service.start();
    await service.stop();
    expect(seen).toEqual(['store starts', 'relay starts', 'cache closed', 'relay stops', 'store stops']);
  });

  it('are stopped if one of them does not start', async () => {
    const seen: string[] = [];
    const service = inOrder(partsOf(seen, ['store', 'relay', 'server'], 'relay'));
    await expect(service.start()).rejects.toThrow('relay does not start');
    expect(seen).toEqual(['store starts', 'relay stops', 'store stops']);
  });

  it('stop once for concurrent calls, which resolve only after the last part has stopped', async () => {
    const seen: string[] = [];
    const service = inOrder(partsOf(seen, ['store', 'relay']));
    await service.start();
    await Promise.all([service.stop(), service.stop().then(() => seen.push('over'))]);
    expect(seen).toEqual(['store starts', 'relay starts', 'relay stops', 'store stops', 'over']);
  });
});
