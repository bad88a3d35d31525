import { describeContract } from './contract.ts';
import { platformForTests } from './platform-for-tests.ts';

describe('the platform in one process, as "npm start" runs it, keeps the contract:', () => {
  describeContract(platformForTests('start'));
});
