import { readFileSync, writeFileSync } from 'node:fs';
import { CHART_NAMES, generatedFiles } from './generated.ts';

const HELP = readFileSync(new URL('generate.help.txt', import.meta.url), 'utf8').trim();
const args = process.argv.slice(2);
if (args.length > 0) {
  console.error(HELP);
  process.exit(2);
}

for (const chart of CHART_NAMES) for (const [file, text] of generatedFiles(chart)) writeFileSync(file, text);
