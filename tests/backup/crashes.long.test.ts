import { describeCrashes, type CrashPlan } from './crashes.ts';

const SEED = Number(process.env.TASKMESH_SEED ?? 20_261_122);
const TIMES = 4;

const once: CrashPlan['rounds'] = [
  { victim: 'backup', during: 'restore' },
  { victim: 'postgres', during: 'restore' },
  { victim: 'tasks', during: 'restore' },
  { victim: 'backup', during: 'create' },
  { victim: 'postgres', during: 'create' },
];

describe('kill -9, again and again', () => {
  describeCrashes({ seed: SEED, tasks: 30_000, rounds: Array.from({ length: TIMES }, () => once).flat() });
});
