import { createContext } from 'preact';

/** The last results by name, so that a view has data when it is opened again. */
export type KeptReadings = Map<string, unknown>;

/** Whether the server does not answer, as seen by the connection for live lists. */
export const AwayContext = createContext(false);

export const KeptReadingsContext = createContext<KeptReadings>(new Map());
