import { describeLimitedMemory } from './support/limited-memory.ts';

describeLimitedMemory(/^(a small one|a manifest at its limit|a long extended header|a dump: many tables)$/);
