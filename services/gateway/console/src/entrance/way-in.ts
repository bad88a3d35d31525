import type { ConsoleStorage } from '../session/console-storage.ts';

export interface WayInProps {
  storage: ConsoleStorage;
  /** What was typed as such in whichever way in: nobody types it twice. */
  email: string;
  onEmail: (email: string) => void;
}
