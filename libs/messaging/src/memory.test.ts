import { describeEventLog } from './event-log.contract.ts';
import { createMemoryEventLog } from './memory.ts';

describeEventLog('memory', () => createMemoryEventLog());
