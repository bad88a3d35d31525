import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import './own-modules.ts';

const require = createRequire(import.meta.url);
let files = 0;

// Child processes of tests may use the cache. Only in this process, it would store the instances of our modules for each file.
delete process.env.NODE_DISABLE_COMPILE_CACHE;

/**
 * Loads test files for Jest with Node's own loader: packages once per process, our own modules again for each file. Jest's own
 * runtime evaluates everything again for each file, which took longer than the tests.
 */
export default class {
  #environment;

  constructor(_config, environment) {
    this.#environment = environment;
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    files += 1;
    return import(`${pathToFileURL(path).href}?file=${files}`);
  }

  /** Reloads Jest's test runner for each file, because it keeps state about the tests. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    this.#environment.injected = globals;
  }

  requireModule = require;
  enterTestCode() {}
  leaveTestCode() {}
  getSourceMaps() {}
  getAllCoverageInfoCopy() {}
  teardown() {}
}
