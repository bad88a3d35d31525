import { parseOptions, runCommand, printLine, UsageError } from '../command.ts';
import { DEMO_ACCOUNT, seed } from './seed.ts';

const { TASKMESH_URL, PORT } = process.env;

await runCommand({
  async start(signal) {
    signal.addEventListener('abort', () => process.exit(130)); // there is nothing to clean up
    const { url: option } = parseOptions(process.argv.slice(2), { texts: ['url'], flags: [] });
    const url = option ?? (TASKMESH_URL || `http://127.0.0.1:${PORT || 4000}`);
    if (!/^https?:\/\//.test(url))
      throw new UsageError(`The address of Taskmesh must be a URL such as http://127.0.0.1:4000 (is: ${url}).`);
    const created = await seed(url.replace(/\/+$/, ''));
    printLine(created > 0 ? `${created} tasks were created.` : 'The account already has tasks.');
    printLine(`Log in as ${DEMO_ACCOUNT.email} with the password "${DEMO_ACCOUNT.password}".`);
  },
});
