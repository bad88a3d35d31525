import { readFileSync, writeFileSync } from 'node:fs';
import { CHART_NAMES, generatedFiles } from './generated.ts';

const HELP = readFileSync(new URL('generate.help.txt', import.meta.url), 'utf8').trim();
const args = process.argv.slice(2);
if (args.some((arg) => arg !== '--check')) {
  console.error(HELP);
  process.exit(2);
}

for (const [file, text] of CHART_NAMES.flatMap((chart) => [...generatedFiles(chart)])) {
  if (args.length === 0) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is out of date: run npm run charts:generate`);
    process.exitCode = 1;
  }
}
