const SEED = 0x9747b28c;
const FACTOR = 0x5bd1e995;

/** The Java client's default, so that a key keeps its partition whichever client publishes. */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions;
}

/** As in Kafka's clients, in 32 bits. (kafkajs has it with big integers, which costs more than all else about a record.) */
function murmur2(bytes: Buffer): number {
  const end = bytes.length - (bytes.length % 4);
  let hash = SEED ^ bytes.length;
  for (let at = 0; at < end; at += 4) {
    const word = Math.imul(bytes.readInt32LE(at), FACTOR);
    hash = Math.imul(hash, FACTOR) ^ Math.imul(word ^ (word >>> 24), FACTOR);
  }
  if (end < bytes.length) hash = Math.imul(hash ^ bytes.readUIntLE(end, bytes.length - end), FACTOR);
  hash = Math.imul(hash ^ (hash >>> 13), FACTOR);
  return hash ^ (hash >>> 15);
}
