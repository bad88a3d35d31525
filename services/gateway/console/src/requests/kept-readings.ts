import { createContext } from 'preact';

/** What was read last, by its name: views that somebody comes back to show it until it is read anew. */
export type KeptReadings = Map<string, unknown>;

export const KeptReadingsContext = createContext<KeptReadings>(new Map());
