import { expectedSecrets, preflight } from './preflight.ts';

// A hook of the chart that runs before anything is replaced.
const { EXPECTED_SECRETS = '{}', SECRETS_DIR = '/secrets', ...env } = process.env;
const expected = expectedSecrets.parse(JSON.parse(EXPECTED_SECRETS));
const { problems, notes } = await preflight({ expected, secretsDir: SECRETS_DIR, env });
for (const note of notes) console.log(note);
for (const problem of problems) console.error(problem);
if (problems.length === 0) console.log('All secrets exist, and no server refuses us.');
process.exit(problems.length === 0 ? 0 : 1);
