import type { ConsoleStorage } from '../session/console-storage.ts';

export interface WayInProps {
  storage: ConsoleStorage;
}
