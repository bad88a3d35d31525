import { describeEventLog } from './testing/event-log.contract.ts';
import { createMemoryEventLog } from './memory.ts';

describeEventLog('memory', () => createMemoryEventLog());
