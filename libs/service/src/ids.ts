/** Every call returns a new id. */
export interface Ids {
  next(): string;
}
