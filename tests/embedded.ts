import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { makeTempDir } from '@taskmesh/testing';

type Settings = Record<string, string>;

/** Runs the platform in this process for the tests of a file or block. */
export function useEmbedded(
  settings: () => Settings | Promise<Settings> = () => ({}),
  progress: (line: string) => void = () => {},
) {
  const dataDir = makeTempDir();
  let platform: Embedded;
  beforeAll(async () => {
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', ...(await settings()) };
    platform = await startEmbedded({ env, progress });
  }, 180_000);
  afterAll(() => platform?.stop(), 180_000);
  return { dataDir, platform: () => platform };
}
