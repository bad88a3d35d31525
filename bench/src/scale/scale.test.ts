import { readFileSync } from 'node:fs';
import { UsageError } from '@taskmesh/local';
import { pace } from '../load/paced.ts';
import { placeOf } from '../report/publish.ts';
import { generatedTexts, readMeasured, SCALING_DOC } from './documentation.ts';
import type { Coefficients } from './model/coefficients.ts';
import { workOf, type Demand } from './model/demand.ts';
import { planFor, planInCells, POLICY } from './model/plan.ts';
import { PROFILE } from './model/profile.ts';
import { attribute, cpuOf, noCpu, roundMsFrom, roundsPerS, transactionsOf } from './model/work.ts';
import { scaleOptions } from './options.ts';
import { replayDemand, type Replay } from './replay.ts';
import { replayTable, whereOff } from './tables.ts';

/** Easy to reckon with. */
const COEFFICIENTS: Coefficients = {
  cpuMs: {
    gateway: { gateway: 10, auth: 1 },
    tasks: { tasks: 5 },
    list: { gateway: 1, tasks: 1, postgres: 0.5 },
    create: { gateway: 1, tasks: 1, postgres: 1 },
    record: { gateway: 0.02, kafka: 0.01 },
    change: { tasks: 0.1, postgres: 0.1, kafka: 0.1 },
    socket: { gateway: 0.01 },
    login: { auth: 20, postgres: 1 },
  },
  roundMs: 10,
  relayPerS: 10_000,
  bytes: { gateway: 50 * 2 ** 20, socket: 16 * 1024, task: 300, change: 1_000, feed: 100, wal: 2_000, record: 800 },
  flushes: 1,
  redis: { login: 5, gatewaySecond: 1 },
};
const with_ = (changes: Partial<Demand>): Demand => ({ ...PROFILE, owners: 1e6, ...changes });

describe('the model', () => {
  it('adds up what each kind of work costs in each part', () => {
    const cpu = cpuOf({ list: 10, create: 2, gateway: 1 }, COEFFICIENTS.cpuMs);
    expect(cpu).toEqual({ ...noCpu(), gateway: 22, tasks: 12, auth: 1, postgres: 7 });
  });

  it('has a round of the relay for each change when they are rare, and full rounds when they are many', () => {
    expect(roundsPerS(0, 10)).toBe(0);
    expect(roundsPerS(0.5, 10)).toBeCloseTo(0.5, 2);
    expect(roundsPerS(10_000, 10)).toBeCloseTo(100);
    expect(roundsPerS(roundsPerS(80, 8), 8)).toBeLessThan(80);
    expect(roundMsFrom(200, transactionsOf(200, 8))).toBeCloseTo(8);
  });

  it('has every gateway read every change, and only those of its sockets delivered', () => {
    const perHour = { ...PROFILE.perHour, create: 36, update: 0 };
    const demand = with_({ owners: 1_000, onlineShare: 0.1, socketsPerOnline: 2, perHour });
    const one = workOf(demand, { gateways: 1, tasks: 1, auth: 1 }, 10);
    const four = workOf(demand, { gateways: 4, tasks: 1, auth: 1 }, 10);
    expect([one.change, one.record, one.delivered, one.further]).toEqual([1, 1, 1, 1]);
    expect([four.change, four.record, four.delivered, four.further]).toEqual([1, 4, 1.75, 0.25]);
    expect([one.socket, four.socket]).toEqual([200, 200]);
  });

  it('learns a cost as what is not explained by known ones, and never less than nothing', () => {
    const measured = { ...noCpu(), gateway: 30, tasks: 1 };
    const amounts = { gateway: 1, list: 10, get: 5 };
    const costs = attribute(COEFFICIENTS.cpuMs, { kind: 'get', parts: ['gateway', 'tasks'], amounts }, measured);
    expect(costs.get).toEqual({ gateway: 2, tasks: 0 });
    expect(costs.list).toEqual(COEFFICIENTS.cpuMs.list);
  });
});

describe('a plan', () => {
  it('has as many processes as are needed for the work, themselves included', () => {
    const plan = planFor(with_({}), COEFFICIENTS);
    const work = workOf(with_({}), plan, COEFFICIENTS.roundMs);
    const perGateway = cpuOf(work, COEFFICIENTS.cpuMs).gateway / plan.gateways;
    expect(perGateway).toBeLessThanOrEqual(POLICY.utilisation * 1_000);
    expect(plan.sockets / plan.gateways).toBeLessThanOrEqual(POLICY.socketsPerGateway);
    expect(plan.isEnough).toBe(true);
    expect(plan.postgres.tasks.connections).toBe(plan.tasks * 11);
  });

  it('has two of each at the least, and needs more of everything for more owners', () => {
    const [few, many] = [planFor(with_({ owners: 10 }), COEFFICIENTS), planFor(with_({}), COEFFICIENTS)];
    expect([few.gateways, few.tasks, few.auth, few.broken]).toEqual([2, 2, 2, []]);
    for (const key of ['gateways', 'postgresBytes', 'walBytesPerS', 'redisPerS', 'restoreHours'] as const)
      expect(many[key]).toBeGreaterThan(few[key]);
  });

  it('says that no number of gateways is enough when reading everything takes all that one has', () => {
    const plan = planFor(with_({ owners: 1e9 }), COEFFICIENTS);
    expect(plan.isEnough).toBe(false);
    expect(plan.broken.join()).toContain('reading everybody’s changes');
  });

  it('divides owners among cells until none is too large', () => {
    const plan = planInCells(with_({ owners: 1e8 }), COEFFICIENTS);
    expect(plan.broken).toEqual([]);
    expect(planFor(with_({ owners: 1e8 / (plan.cells * 0.8) }), COEFFICIENTS).broken).not.toEqual([]);
    expect(planInCells(with_({ owners: 1e4 }), COEFFICIENTS).cells).toBe(1);
  });
});

describe('a mixed load', () => {
  it('is the profile of a few owners in a hurry', () => {
    const demand = replayDemand(600, with_({}), 60);
    const work = workOf(demand, { gateways: 1, tasks: 1, auth: 1 }, 10);
    expect([work.socket, work.list, work.update]).toEqual([600, 60, 40]);
  });

  it('comes at random moments, exactly as often as said', async () => {
    let sent = 0;
    const moments = [0.9, 0.1, 0.5, 0.3];
    const random = () => moments[sent % moments.length] ?? 0;
    expect(await pace(async () => void sent++, { perSecond: 100, seconds: 0.04, random })).toHaveLength(4);
    expect(sent).toBe(4);
    const failing = () => Promise.reject(new Error('wrong answer'));
    await expect(pace(failing, { perSecond: 100, seconds: 0.02 })).rejects.toThrow('wrong answer');
  });

  it('names what is off by more than a fifth, and not what is less than the clock shows', () => {
    const cpu = { ...noCpu(), gateway: 100, tasks: 100, redis: 0.5 };
    const memory = { predicted: 130, measured: 100 };
    const replay: Replay = { gateways: 2, predicted: { ...cpu, tasks: 70, redis: 1 }, measured: cpu, memory };
    expect(whereOff([replay])).toEqual([
      '2 gateways: tasks takes more than foretold (−30 %)',
      '2 gateways: the memory of a gateway takes less than foretold (+30 %)',
    ]);
    expect(replayTable([replay])).toMatch(/gateway +\| CPU-ms\/s/);
  });
});

describe('the arguments', () => {
  it('name stacks, of which the first has one gateway', () => {
    expect(scaleOptions.read([]).gateways).toEqual([1, 2, 3]);
    expect(scaleOptions.read(['--gateways', '1,4', '--quick'])).toMatchObject({ gateways: [1, 4], seconds: 1 });
    expect(() => scaleOptions.read(['--gateways', '2'])).toThrow(UsageError);
    expect(() => scaleOptions.read(['--gateways', '1,none'])).toThrow(UsageError);
  });
});

it('docs/scaling.md has the tables that the model makes of the figures that are kept (npm run bench -- scale --tables)', () => {
  const doc = readFileSync(SCALING_DOC, 'utf8');
  for (const [name, text] of Object.entries(generatedTexts(readMeasured()))) {
    expect(doc.slice(...placeOf(doc, name)).trim()).toBe(text);
  }
});
