import type { ConsoleStorage } from '../session/console-storage.ts';

export interface WayInProps {
  storage: ConsoleStorage;
  /** The address typed so far, shared by all forms. */
  email: string;
  onEmail: (email: string) => void;
}
