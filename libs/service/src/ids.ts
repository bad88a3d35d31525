/** Where new ids come from: each call another one. */
export interface Ids {
  next(): string;
}
