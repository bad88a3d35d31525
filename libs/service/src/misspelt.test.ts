import { z } from 'zod';
import { readEnv, setting } from './config.ts';
import { misspelt, refuseRemoved } from './misspelt.ts';

beforeAll(() => {
  const names = ['POSTGRES_URL', 'HOST', 'ACCESS_TOKEN_TTL_S', 'RATE_LIMIT_FACTOR', 'SMTP_URL', 'KAFKA_TOPIC_PREFIX'];
  readEnv(z.object(Object.fromEntries(names.map((name) => [name, setting.text().optional()]))), {});
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

  it.each([
    ['ACCESS_TOKEN_TTL', 'ACCESS_TOKEN_TTL_S'],
    ['RATE_LIMIT', 'RATE_LIMIT_FACTOR'],
    ['SMTP_HOST', 'SMTP_URL'],
  ])('are told without their last word, unless the setting is there, too: %s', (name, meant) => {
    expect(misspelt({ [name]: 'x' })).toEqual([`${name} is no setting, and counts for nothing: is ${meant} meant?`]);
    expect(misspelt({ [name]: 'x', [meant]: 'x' })).toEqual([]);
  });

  it('are told what to do instead when they were settings once', () => {
    expect(misspelt({ KAFKA_SSL: 'true', REALTIME_MAX_QUEUED_MB: '8' })).toEqual([
      'KAFKA_SSL is no setting any more, and counts for nothing: KAFKA_BROKERS=kafkas://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE says it.',
      'REALTIME_MAX_QUEUED_MB is no setting any more, and counts for nothing: it is always 64.',
    ]);
  });

  it('stop a start when they protected a connection', () => {
    expect(() => refuseRemoved({ KAFKA_SSL: 'false', KAFKA_SASL_USERNAME: '' }, 'KAFKA_')).not.toThrow();
    expect(() => refuseRemoved({ KAFKA_SSL: 'true' }, 'KAFKA_')).toThrow('KAFKA_SSL is no setting any more');
  });

  const ofOthers = ['ACCESS_TOKEN', 'KAFKA_TOPIC', 'REDIS_HOST', 'SMTP', 'POSTGRES'];
  it.each([...ofOthers, 'POSTGRES_URL', 'POSTGRES_PORT', 'POSTGRES_LUX', 'HOSTS', 'PATH', 'postgres_url'])(
    'are not what has other names: %s',
    (name) => {
      expect(misspelt({ [name]: 'x' })).toEqual([]);
    },
  );
});
