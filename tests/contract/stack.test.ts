import { ownInstallation } from '@taskmesh/testing';
import { describeContract } from './contract.ts';
import { platformForTests } from './platform-for-tests.ts';

describe('the platform as separate processes, as "npm run stack" runs it, keeps the contract:', () => {
  describeContract(platformForTests('stack', ownInstallation));
});
