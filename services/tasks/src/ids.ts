import { v7 } from 'uuid';

/** Where new ids come from: each call another UUID. */
export interface Ids {
  next(): string;
}

/** In the order of time, so that new rows stand side by side in the indexes. */
export const uuidv7Ids: Ids = { next: () => v7() };
