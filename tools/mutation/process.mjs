// Loaded first by every process that a test starts: it gets the mutant, too, and says what it reached before it says anything else.
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { NODE_MUTANT, NODE_MUTATION_DIR } = process.env;
const stryker = { activeMutant: NODE_MUTANT || null, mutantCoverage: { static: {}, perTest: {} } };
globalThis.__stryker__ = stryker;

function tell() {
  const file = join(NODE_MUTATION_DIR, String(process.pid));
  try {
    writeFileSync(`${file}~`, JSON.stringify(stryker.mutantCoverage.static));
    renameSync(`${file}~`, file);
  } catch {} // the run is over
}

const { send } = process;
if (send)
  process.send = (...args) => {
    tell();
    return send.apply(process, args);
  };
process.on('exit', tell);
