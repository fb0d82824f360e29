/**
 * The files that take longest, the longest first, as `npm test -- --profile` tells. Begun last, one of them would keep a
 * single core busy when all others are done.
 */
export const LONGEST: readonly string[] = [
  'src/s3/safety.test.ts',
  'test/clients/start.test.ts',
  'test/clients/damaged-objects.test.ts',
  'test/clients/damaged-folder.test.ts',
  'test/simulation/volumes-model.test.ts',
  'src/resources/storage/volumes/move.test.ts',
  'test/clients/tools.test.ts',
  'src/engines/sqlite/catalog.test.ts',
  'src/s3/connections.test.ts',
  'test/runner/runner.test.ts',
  'src/faces/rest/server.test.ts',
  'test/clients/crash.test.ts',
  'src/s3/server.test.ts',
  'src/engines/directory/volumes.test.ts',
  'test/docs.test.ts',
  'test/conformance/bad-input.test.ts',
  'test/clients/ansible.test.ts',
  'test/conformance/s3/put-object-retention.test.ts',
  'src/engines/sqlite/writer-process.test.ts',
  'test/clients/small-objects-killed.test.ts',
  'test/guide-to-automation.test.ts',
  'test/simulation/jobs-broken.test.ts',
  'test/clients/seed.test.ts',
]

export function longestFirst(files: readonly string[]): string[] {
  const long = LONGEST.filter((file) => files.includes(file))
  return [...long, ...files.filter((file) => !long.includes(file))]
}
