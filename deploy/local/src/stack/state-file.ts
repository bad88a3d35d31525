import { renameSync, writeFileSync } from 'node:fs';
import type { StackProcess } from './start-stack.ts';
