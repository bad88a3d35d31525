import { v7 } from 'uuid';

/** Where new ids come from: UUIDs in lower case. */
export interface Ids {
  next(): string;
}

export const randomIds: Ids = { next: () => v7() };
