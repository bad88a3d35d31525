import { createContext } from 'preact';

/** What was read last, by its name: views that somebody comes back to show it until it is read anew. */
export type KeptReadings = Map<string, unknown>;

/** Whether nobody answers at the moment, as the connection that follows the lists tells. */
export const AwayContext = createContext(false);

export const KeptReadingsContext = createContext<KeptReadings>(new Map());
