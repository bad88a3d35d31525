import { describeBoundedMemory } from './support/bounded-memory.ts';

describeBoundedMemory(/^(?!a dump: )/);
