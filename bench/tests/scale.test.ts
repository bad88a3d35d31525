import { readFileSync } from 'node:fs';
import { pace } from '../src/load/connections.ts';
import { sectionOf } from '../src/run/report.ts';
import { attribute, NO_CPU, PROFILE, workOf } from '../src/scale/model.ts';
import { readMeasured, SCALING_DOC } from '../src/scale/scale.ts';
import { describeScale } from '../src/scale/tables.ts';

it('counts every change once per gateway, and deliveries once per socket', () => {
  const perHour = { ...PROFILE.perHour, create: 36, update: 0 };
  const demand = { ...PROFILE, owners: 1_000, onlineShare: 0.1, socketsPerOnline: 2, perHour };
  const one = workOf(demand, { gateways: 1, tasks: 1, auth: 1 });
  const four = workOf(demand, { gateways: 4, tasks: 1, auth: 1 });
  expect(one).toMatchObject({ change: 1, record: 1, delivered: 1, further: 1, socket: 200 });
  expect(four).toMatchObject({ change: 1, record: 4, delivered: 1.75, further: 0.25, socket: 200 });
});

it('computes a cost as the remainder after the known costs, never below zero', () => {
  const known = { gateway: { gateway: 10, tasks: 2 }, list: { gateway: 1 } };
  const amounts = { gateway: 1, list: 10, get: 5 };
  const costs = attribute(known, 'get', ['gateway', 'tasks'], amounts, { ...NO_CPU, gateway: 30, tasks: 1 });
  expect(costs).toEqual({ ...known, get: { gateway: 2, tasks: 0 } });
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

it('docs/scaling.md contains the tables that the model computes from the stored figures (npm run bench -- scale --tables)', () => {
  const doc = readFileSync(SCALING_DOC, 'utf8');
  for (const [name, text] of Object.entries(describeScale(readMeasured())))
    expect(doc.slice(...sectionOf(doc, name)).trim()).toBe(text);
});
