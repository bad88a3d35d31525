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
