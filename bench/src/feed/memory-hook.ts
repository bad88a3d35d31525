import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Loaded into a server before its own code: at SIGUSR2 it collects its garbage and writes down what is left.
const dir = process.env.PROFILE_DIR;
if (dir !== undefined) process.on('SIGUSR2', () => writeMemory(dir));

function writeMemory(into: string): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const file = join(into, `${process.pid}.memory`);
  writeFileSync(`${file}.part`, String(heapUsed + external));
  renameSync(`${file}.part`, file);
}
