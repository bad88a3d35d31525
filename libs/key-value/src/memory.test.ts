import { describeKeyValue } from './key-value.contract.ts';
import { createMemoryKeyValue } from './memory.ts';

describeKeyValue('memory', () => createMemoryKeyValue());
