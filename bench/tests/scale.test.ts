import { readFileSync } from 'node:fs';
import { pace } from '../src/load/connections.ts';
import { sectionOf } from '../src/run/report.ts';
import {
  attribute,
  cpuOf,
  NO_CPU,
  planFor,
  planInCells,
  POLICY,
  PROFILE,
  workOf,
  type Coefficients,
  type Demand,
} from '../src/scale/model.ts';
import { readMeasured, SCALING_DOC } from '../src/scale/scale.ts';
import { describeScale, replayTable } from '../src/scale/tables.ts';

/** Coefficients that are easy to calculate with. */
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
  ...{ gatewayMiB: 50, socketKiB: 16, taskBytes: 300, changeBytes: 1_000, feedBytes: 100, walBytes: 2_000 },
  recordBytes: 800,
};
const owners = (count: number, changes: Partial<Demand> = {}): Demand => ({ ...PROFILE, owners: count, ...changes });

it('adds up the costs of each kind of work in each part', () => {
  const cpu = cpuOf({ list: 10, create: 2, gateway: 1 }, COEFFICIENTS.cpuMs);
  expect(cpu).toEqual({ ...NO_CPU, gateway: 22, tasks: 12, auth: 1, postgres: 7 });
});

it('counts every change once per gateway, and deliveries once per socket', () => {
  const perHour = { ...PROFILE.perHour, create: 36, update: 0 };
  const demand = owners(1_000, { onlineShare: 0.1, socketsPerOnline: 2, perHour });
  const one = workOf(demand, { gateways: 1, tasks: 1, auth: 1 });
  const four = workOf(demand, { gateways: 4, tasks: 1, auth: 1 });
  expect(one).toMatchObject({ change: 1, record: 1, delivered: 1, further: 1, socket: 200 });
  expect(four).toMatchObject({ change: 1, record: 4, delivered: 1.75, further: 0.25, socket: 200 });
});

it('computes a cost as the remainder after the known costs, never below zero', () => {
  const measured = { ...NO_CPU, gateway: 30, tasks: 1 };
  const amounts = { gateway: 1, list: 10, get: 5 };
  const costs = attribute(COEFFICIENTS.cpuMs, 'get', ['gateway', 'tasks'], amounts, measured);
  expect(costs.get).toEqual({ gateway: 2, tasks: 0 });
  expect(costs.list).toEqual(COEFFICIENTS.cpuMs.list);
});

it('plans as many processes as the work needs, including their own', () => {
  const plan = planFor(owners(1e6), COEFFICIENTS);
  const perGateway = cpuOf(workOf(owners(1e6), plan), COEFFICIENTS.cpuMs).gateway / plan.gateways;
  expect(perGateway).toBeLessThanOrEqual(POLICY.utilisation * 1_000);
  expect(plan.sockets / plan.gateways).toBeLessThanOrEqual(POLICY.socketsPerGateway);
  expect(plan).toMatchObject({ isEnough: true, tasksConnections: plan.tasks * 11 });
  const few = planFor(owners(10), COEFFICIENTS);
  expect(few).toMatchObject({ gateways: 2, tasks: 2, auth: 2, broken: [] });
  for (const key of ['gateways', 'postgresBytes', 'walBytesPerS', 'restoreHours'] as const)
    expect(plan[key]).toBeGreaterThan(few[key]);
});

it('divides owners among cells until none is too large', () => {
  const plan = planInCells(owners(1e8), COEFFICIENTS);
  expect(plan.broken).toEqual([]);
  const whole = planFor(owners(1e9), COEFFICIENTS);
  expect(whole.isEnough).toBe(false);
  expect(whole.broken.join()).toContain('reading everybody’s changes');
  expect(planFor(owners(1e8 / (plan.cells * 0.8)), COEFFICIENTS).broken).not.toEqual([]);
  expect(planInCells(owners(1e4), COEFFICIENTS).cells).toBe(1);
});

it('sends a load at random moments, exactly as often as configured', async () => {
  let sent = 0;
  const moments = [0.9, 0.1, 0.5, 0.3];
  const random = () => moments[sent % moments.length] ?? 0;
  expect(await pace(async () => void sent++, { perSecond: 100, seconds: 0.04, random })).toHaveLength(4);
  expect(sent).toBe(4);
  const failing = () => Promise.reject(new Error('wrong response'));
  await expect(pace(failing, { perSecond: 100, seconds: 0.02 })).rejects.toThrow('wrong response');
});

it('compares a prediction with the measurement, unless both are small', () => {
  const cpu = { ...NO_CPU, gateway: 100, tasks: 100, redis: 0.5 };
  const memory = { predicted: 130, measured: 100 };
  const text = replayTable([{ gateways: 2, predicted: { ...cpu, tasks: 70, redis: 1 }, measured: cpu, memory }]);
  expect(text).toMatch(/tasks +\| CPU-ms\/s \| +70.0 \| +100 \| −30 % \|/);
  expect(text).toMatch(/Redis +\| CPU-ms\/s \| +1.00 \| +0.500 \| +\|/);
  expect(text).toMatch(/memory of a gateway \| MiB +\| +130 \| +100 \| \+30 % \|/);
});

it('docs/scaling.md contains the tables that the model computes from the stored figures (npm run bench -- scale --tables)', () => {
  const doc = readFileSync(SCALING_DOC, 'utf8');
  for (const [name, text] of Object.entries(describeScale(readMeasured())))
    expect(doc.slice(...sectionOf(doc, name)).trim()).toBe(text);
});
