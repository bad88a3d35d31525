import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { type LiveGraph, watchSupergraph } from './live-graph.ts';

describe('the watch over a supergraph file', () => {
  let folder: string;
  let file: string;
  let offered: string[];
  let watch: ReturnType<typeof watchSupergraph>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'supergraph-watch-'));
    file = join(folder, 'supergraph.graphql');
    await writeFile(file, 'the one that is served');
    offered = [];
    const graph = {
      current: { supergraph: { sdl: 'the one that is served' } },
      replace: (sdl: string) => {
        offered.push(sdl);
        return Promise.reject(new Error('It cannot be used.'));
      },
    } as unknown as LiveGraph;
    watch = watchSupergraph({
      file,
      graph,
      metrics: new Registry(),
      log: createLog({ service: 'test', level: 'silent' }),
      lookEveryMs: 5,
    });
    await watch.start();
  });
  afterEach(async () => {
    await watch.stop();
    await rm(folder, { recursive: true });
  });

  const put = async (sdl: string) => {
    await writeFile(`${file}.new`, sdl);
    await rename(`${file}.new`, file);
  };

  it('tries a file once that was refused, and again when it is asked to, and when it changes', async () => {
    await put('broken');
    await eventually(() => expect(offered).toEqual(['broken']));
    await sleep(100);
    expect(offered).toEqual(['broken']);
    await watch.reload();
    expect(offered).toEqual(['broken', 'broken']);
    await put('broken in another way');
    await eventually(() => expect(offered).toEqual(['broken', 'broken', 'broken in another way']));
  });
});
