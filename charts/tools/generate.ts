import { writeFileSync } from 'node:fs';
import { CHART_NAMES, generatedFiles } from './generated.ts';

const args = process.argv.slice(2);
if (args.length > 0) {
  console.log(`npm run charts:generate
Writes each chart's schema and the table of values in its README, from its values.yaml.`);
  process.exit(args.includes('--help') ? 0 : 2);
}

for (const chart of CHART_NAMES) for (const [file, text] of generatedFiles(chart)) writeFileSync(file, text);
