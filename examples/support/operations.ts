import { gate, type Handler, type IdempotentCall, type OpenCall, type Gate } from '@gatewright/http'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { scopeCatalogue } from '@gatewright/kernel'
import { createAliases } from '@gatewright/legacy-alias-router'
import { createGuard, type Access, type SpendHold } from '@gatewright/scope-guard'
import { AUDIENCE, demoIssuer, ISSUER } from './demo-issuer.ts'

const issuer = await demoIssuer()

/** The team's own scopes. A rule that names another one does not compile. */
const scopes = scopeCatalogue(['cards.read', 'cards.write', 'orders.write'])

/** The same in every framework: the parts, composed in the one right order. */
export const api: Gate<(typeof scopes.names)[number], Access, SpendHold> = gate({
  scopes,
  guard: createGuard({ issuer: ISSUER, audience: AUDIENCE, keys: issuer.keys }),
  idempotency: createIdempotency({ storage: memoryIdempotency() }),
  aliases: createAliases({
    prefixes: [{ from: '/v0', to: '/v1', mode: { deprecatedSince: Date.UTC(2026, 0, 1) } }],
  }),
})

export const plans = api.open('plans.list')
export const listCards = api.guarded({ operation: 'cards.list', allOf: ['cards.read'] })
export const createCard = api.idempotent({ operation: 'cards.create', allOf: ['cards.write'] })
export const createOrder = api.idempotent({ operation: 'orders.create', allOf: ['orders.write'] })

export const showPlans: Handler<OpenCall> = () => ({ status: 200, body: { plans: ['basic', 'plus'] } })

const cards: { id: string; name: unknown; owner: string }[] = []

/** A handler that returns its response; it knows no framework. `effectId` is what makes a repeated effect visible. */
export const create: Handler<IdempotentCall<Access>> = ({ json, session, effect }) => {
  const body = json()
  if (!body.ok) return body
  const card = { id: effect.effectId, name: body.value['name'], owner: session.accountId }
  cards.push(card)
  return { status: 201, headers: [['Location', `/v1/cards/${card.id}`]], body: { card } }
}

export const ownCards = (owner: string): unknown => ({ cards: cards.filter(card => card.owner === owner) })

/** Prints where the server listens and what to paste. */
export async function announce(url: string): Promise<void> {
  const token = await issuer.token(['cards.read', 'cards.write', 'orders.write'])
  console.log(`listens on ${url}

TOKEN=${token}
curl -i ${url}/v1/cards -H "Authorization: Bearer $TOKEN"
curl -i ${url}/v1/cards -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-card' -d '{"name":"travel"}'
curl -i ${url}/v0/orders -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Idempotency-Key: my-first-order' -d '{"amountCents":500}'`)
}
