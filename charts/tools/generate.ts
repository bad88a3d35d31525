import { writeFileSync } from 'node:fs';
import { CHART_NAMES, generatedFiles } from './generated.ts';

// npm run charts:generate: each chart's schema and table of values, from its values.yaml.
for (const chart of CHART_NAMES) for (const [file, text] of generatedFiles(chart)) writeFileSync(file, text);
