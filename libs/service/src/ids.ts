import { v7 } from 'uuid';

export interface Ids {
  next(): string;
}

/** UUIDs whose order is that of their creation, also within a millisecond (`randomUUIDv7` of Node keeps none there). */
export const timeOrderedIds: Ids = { next: () => v7() };
