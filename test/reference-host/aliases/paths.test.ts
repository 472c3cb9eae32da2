import assert from 'node:assert/strict'
import { createAliases } from '@gatewright/legacy-alias-router'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'
import fc from 'fast-check'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { holds } from '../../harness/holds.ts'
import { openTestHost } from '../../harness/host.ts'
import { editedPath } from '../../legacy-alias-router/edited-paths.ts'
import { sendTarget } from '../../legacy-alias-router/raw.ts'

const host = await openTestHost(t, {
  RATE_LIMITS: '{"bootstrapPerAddressPerMinute":100000,"failedCredentialsPerAddressPerMinute":100000}',
})
// The harness reads the API description at its own time; wait, so that its decision event is not taken for
// one of these requests.
await host.send('/healthz')
const port = Number(new URL(host.url).port)
const aliases = createAliases(aliasTable)

/** The operation that a request target reached, if the request reached the host. */
async function reached(
  method: string,
  target: string,
): Promise<{ status: number; operation?: string | undefined }> {
  const before = host.decisions.length
  const { status } = await sendTarget(port, method, target)
  const decision = host.decisions[before]
  return { status, operation: decision?.operation }
}

const target = editedPath(
  [
    '/consumer/v1/bootstrap',
    '/consumer/v1/sessions',
    '/consumer/v1/subscriptions/payin',
    '/identity/consumer-api-keys',
    '/user/v1/sessions',
    '/users/resolve',
  ],
  2,
)

/** The current paths among the targets. */
const SERVED = /^(?:\/user\/v1\/(?:bootstrap|sessions|subscriptions\/payin)|\/users\/resolve)$/

t.test('no bytes in a legacy path reach an operation that the current path does not reach', async t => {
  const seen = new Set<string>()
  await holds(
    t,
    fc.asyncProperty(fc.constantFrom('GET', 'POST'), target, async (method, target) => {
      const old = await reached(method, target)
      const came = target.split('?')[0] as string
      const resolved = aliases.resolve({ path: came, header: () => undefined })
      assert.ok(resolved.ok)
      const { path, used } = resolved.value
      if (old.operation !== undefined && used.length > 0) seen.add(old.operation)
      // An untranslated target reaches an operation only when it is exactly its path, as the router reads it.
      if (used.length === 0 && old.operation !== undefined) assert.ok(SERVED.test(path), path)
      if (path.startsWith('/')) assert.deepEqual(await reached(method, path + target.slice(came.length)), old)
      else assert.equal(old.operation, undefined)
    }),
    { numRuns: randomCases(1000) },
  )
  for (const operation of ['auth.bootstrap', 'sessions.create', 'subscriptions.payin']) {
    t.ok(seen.has(operation), `${operation} was reached by its old path`)
  }
})
