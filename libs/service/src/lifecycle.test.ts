import { closeOnStop, inOrder, type Service } from './lifecycle.ts';

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

  it('start one after the other, and stop in reverse, once for concurrent calls, which resolve after the last part', async () => {
    const seen: string[] = [];
    const service = inOrder([...partsOf(seen, ['store', 'relay']), closeOnStop(() => seen.push('cache closed'))]);
    await service.start();
    await Promise.all([service.stop(), service.stop().then(() => seen.push('over'))]);
    expect(seen).toEqual(['store starts', 'relay starts', 'cache closed', 'relay stops', 'store stops', 'over']);
  });

  it('are stopped if one of them does not start', async () => {
    const seen: string[] = [];
    const service = inOrder(partsOf(seen, ['store', 'relay', 'server'], 'relay'));
    await expect(service.start()).rejects.toThrow('relay does not start');
    expect(seen).toEqual(['store starts', 'relay stops', 'store stops']);
  });
});
