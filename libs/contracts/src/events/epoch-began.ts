import { z } from 'zod';

/**
 * The key of records that announce a new epoch of the store, on the topic of the changes. It is no owner's id, so
 * readers of changes skip these records.
 */
export const EPOCH_KEY = 'epoch';

const epochBegan = z.object({
  epoch: z.int().nonnegative(),
});

/** The store was restored (or its relay has just started): changes of lower epochs are void. */
export type EpochBegan = z.infer<typeof epochBegan>;

/** Parses the value of a record whose key is EPOCH_KEY; throws on anything else. */
export function parseEpochBegan(text: string): EpochBegan {
  return epochBegan.parse(JSON.parse(text));
}
