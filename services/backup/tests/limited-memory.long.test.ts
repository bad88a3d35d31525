import { describeLimitedMemory } from './support/limited-memory.ts';

describeLimitedMemory(/./);
