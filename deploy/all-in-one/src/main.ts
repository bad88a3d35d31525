import { runPlatform } from './run-platform.ts';
import { welcome } from './welcome.ts';

await runPlatform(welcome);
