import { createSchedule, shortest, type Schedule } from './schedule.ts';
import { simulate } from './simulate.ts';
import type { Tamper } from './world.ts';

/** Runs `count` schedules. @throws with the seed of the first one that finds an error, and the shortest schedule that does */
export async function runSchedules(firstSeed: number, count: number, tamper?: Tamper) {
  let received = 0;
  let subscriptions = 0;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const schedule = createSchedule(seed);
    const outcome = await simulate(schedule, tamper);
    if (outcome.findings.length > 0) throw await explained(schedule, outcome.findings, tamper);
    received += outcome.received;
    subscriptions += outcome.subscriptions;
  }
  return { received, subscriptions };
}

async function explained(schedule: Schedule, findings: string[], tamper?: Tamper) {
  const fails = async (candidate: Schedule) => (await simulate(candidate, tamper)).findings.length > 0;
  const short = await shortest(schedule, fails);
  const { findings: shown } = await simulate(short, tamper);
  const lines = [
    `seed ${schedule.seed} finds:`,
    ...findings.slice(0, 5),
    `The shortest schedule of this seed that finds something has ${short.steps.length} of ${schedule.steps.length} steps:`,
    ...short.steps.map((step) => JSON.stringify(step)),
    'and finds:',
    ...shown.slice(0, 5),
  ];
  return new Error(lines.join('\n'));
}
