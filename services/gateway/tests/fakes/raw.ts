export * from '@taskmesh/testing/raw';
