import { describeBoundedMemory, QUICK } from './support/bounded-memory.ts';

describeBoundedMemory((what) => !QUICK.test(what));
