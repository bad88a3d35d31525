import { createLog } from '@taskmesh/service';
import { Registry } from 'prom-client';
import { createMemory, type Holding, type Memory } from './memory.ts';

const MIB = 1024 * 1024;

let cuts: unknown[];
const memoryOf = (maxBytes: number) => {
  cuts = [];
  const write = (line: string) => cuts.push((JSON.parse(line) as { cut: number }).cut);
  const log = createLog({ service: 'gateway', level: 'warn', destination: { write } });
  return createMemory({ maxBytes, metrics: new Registry(), log });
};

/** The names of evicted holdings, in order: `<network>/<account>/<what>`. */
function holdings(bytesByName: Record<string, number>, more: Partial<Holding> = {}) {
  const givenUp: string[] = [];
  const made = Object.entries(bytesByName).map(([name, bytes]): Holding => {
    const [network = '', account] = name.split('/');
    return { bytes, network, account: account || undefined, evict: () => void givenUp.push(name), ...more };
  });
  return { givenUp, made };
}

describe('responses that wait to be read', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const check = async (memory: Memory) => {
    await memory.start();
    jest.advanceTimersByTime(150);
    await memory.stop();
  };

  it.each<[string, Record<string, number>, string[]]>([
    ['nothing within the limit', { 'n//a': 10, 'n//b': 20, 'n//c': 30, 'n//d': 40 }, []],
    ['the largest', { 'n//a': 10, 'n//b': 60, 'n//c': 50, 'n//d': 30 }, ['n//b', 'n//c']],
    ['just enough', { 'n//a': 76, 'n//b': 25 }, ['n//a']],
    ['no small ones', { 'n//a': 1, 'n//b': 1, 'n//c': 1, 'n//d': 200 }, ['n//d']],
    [
      'those of the network with the most, of that the account, of that the connection',
      { 'home/ada/1': 40, 'home/eve/1': 13, 'office/bob/1': 27, 'office/bob/2': 7, 'office/kim/1': 30 },
      ['office/bob/1', 'office/bob/2', 'office/kim/1'],
    ],
  ])('are cut off beyond the limit: %s', async (_what, waiting, expected) => {
    const { givenUp, made } = holdings(waiting);
    const memory = memoryOf(100);
    memory.watch(() => made);
    await check(memory);
    jest.advanceTimersByTime(1_000); // it has stopped
    expect(givenUp).toEqual(expected);
  });

  it('have less room while there are requests', async () => {
    const { givenUp, made } = holdings({ 'n//a': 60 });
    const memory = memoryOf(100);
    memory.watch(() => made);
    expect(memory.hold({ bytes: 0, network: 'm' }, 50)).toBe(true);
    await check(memory);
    expect([givenUp, cuts]).toEqual([['n//a'], [1]]);
  });

  it('are not cut off, and nothing is logged, if requests alone take the room', async () => {
    const memory = memoryOf(100);
    memory.hold({ bytes: 0, network: 'm' }, 150);
    await check(memory);
    expect(cuts).toEqual([]);
  });

  it('stay if a network holds more in arriving requests, which are evicted first', async () => {
    const { givenUp, made } = holdings({ 'n//a': 45 });
    const arriving = holdings({ 'm//1': 0, 'm//2': 0 });
    const memory = memoryOf(100);
    memory.watch(() => made);
    for (const request of arriving.made) memory.hold(request, 30);
    await check(memory);
    expect([givenUp, arriving.givenUp]).toEqual([[], ['m//1']]);
  });
});

describe('requests', () => {
  let memory: Memory;
  beforeEach(() => (memory = memoryOf(128 * MIB)));

  const holdAll = (made: Holding[]) => made.map((request) => memory.hold(request, request.bytes || MIB));

  it('are evicted while they arrive: first those of the network with the most, the oldest first', () => {
    const { givenUp, made } = holdings({ 'n//1': 0, 'm//1': 0, 'm//2': 0, 'm//3': 0 });
    const [small, ...large] = made.map((request, index) => ({ ...request, since: 3 - index }));
    memory.hold(small as Holding, 2 * MIB);
    for (const request of large) memory.hold(request, 10 * MIB);
    expect(givenUp).toEqual([]);
    expect(memory.hold({ bytes: 0, network: 'x', account: 'kim' }, MIB)).toBe(false); // the evicted one has not ended yet
    expect(givenUp).toEqual(['m//3']);
    memory.hold(large[2] as Holding, 0);
    expect(memory.hold({ bytes: 0, network: 'x', account: 'kim' }, MIB)).toBe(true);
  });

  it('from anonymous clients of one network are evicted by age, not when they are almost complete', () => {
    const { givenUp, made } = holdings({ 'n//old': 0, 'n//almost': 0, 'n//new': 0 });
    for (const [index, bytes] of [10, 20, 1].entries())
      memory.hold({ ...(made[index] as Holding), since: index }, bytes * MIB);
    memory.hold({ bytes: 0, network: 'n', since: 3, evict: () => undefined }, 2 * MIB);
    expect(givenUp).toEqual(['n//old']);
  });

  it.each(['n/ada', 'n/'])('may use half of the room while they are processed for one network: %s', (of) => {
    const { made } = holdings(Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`${of}/${at}`, 0])), {
      evict: undefined,
    });
    expect(holdAll(made)).toEqual([...Array<boolean>(16).fill(true), false]);
    memory.hold(made[16] as Holding, 0);
    const another = { bytes: 0, network: 'n', account: 'bob' };
    expect(memory.hold(another, MIB)).toBe(false);
    memory.hold(another, 0);
    expect(memory.hold({ bytes: 0, network: 'n', evict: () => undefined }, MIB)).toBe(true);
    expect(memory.hold({ bytes: 0, network: 'm' }, 8 * MIB)).toBe(true);
    memory.hold(made[0] as Holding, 0);
    expect(memory.hold(another, MIB)).toBe(true);
  });

  it('are not all looked at when a piece of a body arrives', () => {
    let looks = 0;
    const look = <Value>(value: Value) => (looks++, value);
    const other = (at: number) => ({
      ...{ bytes: 0, network: `n${at % 2}` },
      get account() {
        return look(`ada-${at % 2}`);
      },
      get evict() {
        return look(undefined);
      },
    });
    for (let at = 0; at < 20; at++) memory.hold(other(at), MIB);
    looks = 0;
    const arriving = { bytes: 0, network: 'n0', account: 'ada-0', evict: () => undefined };
    for (let bytes = 1; bytes < 5; bytes++) expect(memory.hold(arriving, bytes)).toBe(true);
    expect(looks).toBe(0);
  });
});
