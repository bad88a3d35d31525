import { parseArgs } from 'node:util';
import { describeError, errorMessage } from '../plain-error.ts';
import { DEMO_ACCOUNT, seed } from './seed.ts';

const HELP = `npm run seed [-- --url URL]
Makes an account with a list of tasks in a Taskmesh that runs, for demonstrations and development. Where the account has
tasks already, nothing is changed.

  --url URL   where Taskmesh listens (http://127.0.0.1:4000)`;

const options = { url: { type: 'string', default: 'http://127.0.0.1:4000' }, help: { type: 'boolean' } } as const;

function readArguments(): { url: string; help?: boolean } {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${errorMessage(error)}\n\n${HELP}`);
    process.exit(2);
  }
}

const { url, help } = readArguments();
if (help) console.log(HELP);
else
  try {
    const made = await seed(url.replace(/\/+$/, ''));
    console.log(made > 0 ? `${made} tasks were made.` : 'The account has tasks already.');
    console.log(`Log in as ${DEMO_ACCOUNT.email} with the password "${DEMO_ACCOUNT.password}".`);
  } catch (error) {
    console.error(describeError(error));
    process.exitCode = 1;
  }
