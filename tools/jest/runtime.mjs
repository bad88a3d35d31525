import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import './own-modules.ts';

const require = createRequire(import.meta.url);
let files = 0;

// What tests start may have it: only here each file's instances of our modules would be kept in it.
delete process.env.NODE_DISABLE_COMPILE_CACHE;

/**
 * What Jest needs to load a test file, by Node's own loader: packages once for all files of a process, our own modules
 * again for each. Jest's own runtime evaluates everything again for each file, which took longer than the tests.
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

  /** Jest's part that runs the tests keeps what it knows of them. */
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
