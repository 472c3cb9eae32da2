// An application as a team writes it for a runtime with `fetch`: guarded, with old names, its writes idempotent over a shared store.
import { gate } from '@gatewright/http'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency, type IdempotencyStorage } from '@gatewright/idempotency-store'
import { scopeCatalogue } from '@gatewright/kernel'
import { createAliases } from '@gatewright/legacy-alias-router'
import { createGuard } from '@gatewright/scope-guard'

export interface Addresses {
  readonly issuer: string
  readonly audience: string
  /** The store of idempotency records and effects. */
  readonly store: string
}

/** The storage port over HTTP: the path is the method, the body its arguments. */
function httpStorage(url: string): IdempotencyStorage {
  const call =
    (method: string) =>
    async (...given: readonly unknown[]): Promise<never> => {
      const response = await fetch(`${url}/${method}`, { method: 'POST', body: JSON.stringify(given) })
      return (await response.json()) as never
    }
  return {
    begin: call('begin'),
    end: call('end'),
    extend: call('extend'),
    takeOver: call('takeOver'),
    listLost: call('listLost'),
    find: call('find'),
    collect: call('collect'),
  }
}

/** Makes the application. Called once, where a module is loaded. `waitUntil`: that of a runtime which ends with the client. */
export function createApp(
  { issuer, audience, store }: Addresses,
  waitUntil?: (work: Promise<unknown>) => void,
): (request: Request) => Promise<Response> {
  const api = gate({
    scopes: scopeCatalogue(['cards.read', 'cards.write']),
    guard: createGuard({
      issuer,
      audience,
      limits: [{ name: 'perKey', points: 1000, windowSeconds: 60, per: 'key' }],
    }),
    idempotency: createIdempotency({ storage: httpStorage(store) }),
    aliases: createAliases({
      prefixes: [{ from: '/v0', to: '/v1', mode: { deprecatedSince: Date.UTC(2026, 0, 1) } }],
    }),
  })
  const gw = fetchGate(api, { body: 'stream', peer: 'none', ...(waitUntil ? { waitUntil } : {}) })
  const list = gw.handle(api.guarded({ operation: 'cards.list', allOf: ['cards.read'] }), ({ session }) => ({
    status: 200,
    body: { owner: session.accountId },
  }))
  const create = gw.handle(
    api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] }),
    async ({ json, effect }) => {
      const body = json()
      if (!body.ok) return body
      const response = await fetch(`${store}/effects`, {
        method: 'POST',
        body: JSON.stringify([effect.effectId]),
      })
      return {
        status: 201,
        body: { id: effect.effectId, name: body.value['name'], effects: await response.json() },
      }
    },
  )
  return gw.aliases(request => {
    if (new URL(request.url).pathname !== '/v1/cards') return new Response(null, { status: 404 })
    return request.method === 'POST' ? create(request) : list(request)
  })
}
