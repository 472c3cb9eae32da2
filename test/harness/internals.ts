// Parts of the reference host that its package does not export, for the tests of those parts.
type Host = typeof import('../../packages/reference-host/dist/records/jobs.js') &
  typeof import('../../packages/reference-host/dist/storage/migrate.js') &
  typeof import('../../packages/reference-host/dist/http/app.js') &
  typeof import('../../packages/reference-host/dist/http/operation.js') &
  typeof import('../../packages/reference-host/dist/http/limits.js') &
  typeof import('../../packages/reference-host/dist/modules/onboarding/gates.js') &
  typeof import('../../packages/reference-host/dist/modules/agreements/acceptance.js')

const FILES = [
  ...['records/jobs', 'storage/migrate', 'http/app', 'http/operation', 'http/limits'],
  ...['modules/onboarding/gates', 'modules/agreements/acceptance'],
]
const load = (file: string): Promise<object> =>
  import(`${process.cwd()}/packages/reference-host/dist/${file}.js`) as Promise<object>

/** What those files export. */
export const internals: Host = Object.assign({}, ...(await Promise.all(FILES.map(load)))) as Host
