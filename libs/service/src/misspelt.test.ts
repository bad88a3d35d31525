import { z } from 'zod';
import { readEnv, setting } from './config.ts';
import { misspelt } from './misspelt.ts';

beforeAll(() => {
  readEnv(z.object({ POSTGRES_URL: setting.text().optional(), HOST: setting.text().optional() }), {});
});

describe('settings that are misspelt', () => {
  it.each(['POSTGRES_ULR', 'POSTGRES_UR', 'POSTGRES_URLS', 'POSTGRE_URL', 'POSTGRES-URL', 'OPSTGRES_URL'])(
    'are told: %s',
    (name) => {
      expect(misspelt({ [name]: 'x' })).toEqual([
        `${name} is no setting, and counts for nothing: is POSTGRES_URL meant?`,
      ]);
    },
  );

  it.each(['POSTGRES_URL', 'POSTGRES_PORT', 'POSTGRES_LUX', 'HOSTS', 'PATH', 'postgres_url'])(
    'are not what has other names: %s',
    (name) => {
      expect(misspelt({ [name]: 'x' })).toEqual([]);
    },
  );
});
