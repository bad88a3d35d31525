import { z } from 'zod';

/**
 * The key of records that tell a new epoch of the store, on the topic of the changes. No owner is called so: who reads
 * changes only passes them by.
 */
export const EPOCH_KEY = 'epoch';

const epochBegan = z.object({
  /** The store's epoch, as in `TaskChanged`. */
  epoch: z.int().nonnegative(),
});

/** The store was restored (or its relay has just begun): changes of lower epochs mean nothing any more. */
export type EpochBegan = z.infer<typeof epochBegan>;

/** Reads the value of a record with EPOCH_KEY; throws on anything else. */
export function parseEpochBegan(text: string): EpochBegan {
  return epochBegan.parse(JSON.parse(text));
}
