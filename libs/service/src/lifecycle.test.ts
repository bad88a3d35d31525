import { Closers } from './lifecycle.ts';

describe('what was opened', () => {
  it('is closed in reverse when the block ends that opened it, and all of it when one part fails', async () => {
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

  it('is closed once, and whoever closes it meanwhile waits for that', async () => {
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

  it('stays open when it was handed over, until whoever has it closes it', async () => {
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
