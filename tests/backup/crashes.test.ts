import { describeCrashes } from './crashes.ts';

const SEED = Number(process.env.TASKMESH_SEED ?? 20_261_121);

describe('kill -9', () => {
  describeCrashes({
    seed: SEED,
    tasks: 5_000,
    rounds: [
      { victim: 'backup', during: 'restore' },
      { victim: 'backup', during: 'create' },
      { victim: 'tasks', during: 'restore' },
      { victim: 'postgres', during: 'restore' },
    ],
  });
});
