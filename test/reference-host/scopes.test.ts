import t, { type Test } from 'tap'
import * as internals from '../harness/internals.ts'
import { bearer, bootstrapUser, openTestHost, type HttpResponse, sessionOf } from '../harness/host.ts'

interface OperationDescription {
  readonly operationId: string
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
}

const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const paths = (await host.send('/openapi.json')).body['paths'] as Record<
  string,
  Record<string, OperationDescription>
>
const operations = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, each]) => ({ path, method: method.toUpperCase(), ...each })),
)

/** Opens sessions, one for each set of scopes. */
function opener(
  open: (scopes: readonly string[]) => Promise<string>,
): (scopes: readonly string[]) => Promise<string> {
  const opened = new Map<string, Promise<string>>()
  return scopes => {
    const name = scopes.toSorted().join()
    const session = opened.get(name) ?? open(scopes)
    opened.set(name, session)
    return session
  }
}

/** Whether the scopes of a session were not enough for an operation. Nothing but the scopes decides it. */
async function isDenied({ path, method }: (typeof operations)[number], token: string): Promise<boolean> {
  const { status, body }: HttpResponse = await host.send(path.replaceAll(/\{\w+\}/g, 'unknown'), {
    method,
    headers: { ...bearer(token), 'idempotency-key': 'scope-matrix' },
    ...(method === 'GET' || method === 'DELETE' ? {} : { body: {} }),
  })
  return status === 403 && body['error'] === 'insufficient_scope'
}

async function checkMatrix(
  t: Test,
  scheme: string,
  catalogue: readonly string[],
  open: (scopes: readonly string[]) => Promise<string>,
): Promise<void> {
  const session = opener(open)
  const used = new Set<string>()
  const wrong: string[] = []
  for (const operation of operations) {
    const alternatives = operation.security.flatMap(each => (each[scheme] ? [each[scheme]] : []))
    if (alternatives.length === 0) continue
    const name = `${operation.method} ${operation.path}`
    for (const scope of alternatives.flat()) used.add(scope)
    for (const needed of alternatives) {
      // A session always has a scope; any will do for an operation that needs none.
      const least = needed.length > 0 ? needed : [catalogue[0] as string]
      if (await isDenied(operation, await session(least))) wrong.push(`${name} denies ${least.join()}`)
    }
    const some = alternatives.flat()
    if (some.length === 0) continue
    const others = catalogue.filter(scope => !some.includes(scope))
    if (!(await isDenied(operation, await session(others))))
      wrong.push(`${name} allows all but ${some.join()}`)
  }
  t.same(wrong, [])
  t.same(
    catalogue.filter(scope => !used.has(scope)),
    [],
    'every scope is needed by an operation',
  )
}

t.test('the scopes of the host are lower-case words joined by dots', async t => {
  for (const name of internals.allScopes.names) t.match(name, /^[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+$/)
})

t.test('each user operation needs exactly the scopes that the API description lists', async t => {
  const { key } = await bootstrapUser(host.send)
  await checkMatrix(t, 'UserSessionBearer', internals.userScopes.names, async scopes => {
    return await sessionOf(host.send, key, { scopes })
  })
})

t.test('each partner operation needs exactly the scopes that the API description lists', async t => {
  const headers = { 'x-partner-key': host.partnerKey }
  await host.send('/partner/v1/users/resolve', { body: { userId: 'ann' }, headers })
  await checkMatrix(t, 'PartnerSessionBearer', internals.partnerScopes.names, async scopes => {
    const made = await host.send('/partner/v1/sessions', { body: { userId: 'ann', scopes }, headers })
    return made.body.data['sessionToken'] as string
  })
})
