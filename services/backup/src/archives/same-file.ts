export interface FileState {
  sizeBytes: number;
  modifiedAt: Date;
}

/** Whether a file of the storage is the one that was seen before, and not another of the same name. */
export function isSameFile(one: FileState, other: FileState): boolean {
  const [time, otherTime] = [one.modifiedAt.getTime(), other.modifiedAt.getTime()];
  const inSeconds = time % 1_000 === 0 || otherTime % 1_000 === 0; // a bucket's answers differ in precision
  const isSameTime = inSeconds ? Math.floor(time / 1_000) === Math.floor(otherTime / 1_000) : time === otherTime;
  return one.sizeBytes === other.sizeBytes && isSameTime;
}
