import { describeBoundedMemory } from './support/bounded-memory.ts';

describeBoundedMemory(/^(a small one|a manifest at its limit|a dump: )/);
