import t from 'tap'
import { compile } from '../harness/compile.ts'

const PRELUDE = `
import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import { expressGate } from '@gatewright/http/express'
import { fastifyGate } from '@gatewright/http/fastify'
import { koaGate } from '@gatewright/http/koa'
import { fetchGate } from '@gatewright/http/fetch'
import { createGuard, localKeys } from '@gatewright/scope-guard'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { createAliases } from '@gatewright/legacy-alias-router'
const scopes = scopeCatalogue(['cards.read', 'cards.write'])
const guard = createGuard({ issuer: 'i', audience: 'a', keys: localKeys({ keys: [] }) })
const idempotency = createIdempotency({ storage: memoryIdempotency() })
const aliases = createAliases({})
const api = gate({ guard, scopes, idempotency, aliases })
const http = expressGate(api, { body: 'stream' })
const list = api.guarded({ operation: 'cards.list', allOf: ['cards.read'] })
const create = api.idempotent({ operation: 'cards.create', anyOf: ['cards.write'] })
const plans = api.open('plans.list')
const pay = api.idempotent({ operation: 'payments.create', allOf: ['cards.write'], spends: 'spend' })
const priced = api.idempotent({ operation: 'payments.create', allOf: [], spends: 'withdrawal' }, { prepare: async ({ session }) =>
  session.scopes.length > 0 ? { ok: true, value: { price: 5 } } : { ok: false, code: 'x', status: 404, message: 'x' } })
`

/** Mistakes that a compiler must find, each with what it must say, and the member that it must point at where the text does not name it. */
const mistakes: Record<string, [code: string, message: RegExp, member?: string]> = {
  'a misspelt scope': [
    `api.guarded({ operation: 'cards.list', allOf: ['cards.raed'] })`,
    /'"cards\.raed"' is not assignable to type '"cards\.read" \| "cards\.write"'/,
  ],
  'a rule that names no scopes': [`api.guarded({ operation: 'cards.list' })`, /Property 'allOf' is missing/],
  'a rule whose list of scopes is misspelt': [
    `api.guarded({ operation: 'cards.list', allof: ['cards.read'] })`,
    /'allof' does not exist/,
  ],
  'a list of scopes that may be undefined': [
    `api.guarded({ operation: 'cards.list', allOf: [], anyOf: undefined })`,
    /exactOptionalPropertyTypes|undefined/,
  ],
  'a misspelt scope among alternatives': [
    `api.idempotent({ operation: 'cards.create', anyOf: ['cards.write', 'cards.wirte'] })`,
    /cards\.wirte/,
  ],
  'a session that an open operation does not have': [
    `http.handle(plans, call => ({ status: 200, body: call.session.accountId }))`,
    /Property 'session' does not exist/,
  ],
  'a session of a request whose operation is open': [
    `http.call(plans, {} as never).session`,
    /Property 'session' does not exist/,
  ],
  'an effect that a guarded operation does not have': [
    `http.handle(list, call => ({ status: 200, body: call.effect.effectId }))`,
    /Property 'effect' does not exist/,
  ],
  'a reservation of an operation that does not spend': [
    `http.handle(create, call => call.reserve({ amountCents: 1, currency: 'USD' }).then(() => ({ status: 200 })))`,
    /Property 'reserve' does not exist/,
  ],
  'a reservation in prepare': [
    `api.idempotent({ operation: 'payments.create', allOf: [], spends: 'spend' }, { prepare: call => ({ ok: true, value: call.reserve }) })`,
    /Property 'reserve' does not exist/,
  ],
  'what prepare does not make': [
    `http.handle(priced, ({ prepared }) => ({ status: 200, body: prepared.prize }))`,
    /Property 'prize' does not exist/,
  ],
  'the guard in the place of idempotency': [
    `gate({ guard, scopes, idempotency: guard })`,
    /^\d+\): error TS2739: Type 'Guard' is missing the following properties from type 'IdempotencyPort': begin, complete$/m,
    'idempotency: g',
  ],
  'idempotency in the place of the guard': [
    `gate({ guard: idempotency, scopes })`,
    /Type 'Idempotency' is missing the following properties from type 'GuardPort<.*>': check, prepare$/m,
    'guard',
  ],
  'a misspelt port': [
    `gate({ guard, scopes, idempotencey: idempotency })`,
    /'idempotencey' does not exist in type 'GateOptions<"cards\.read" \| "cards\.write", Access, SpendHold, Credentials, unknown>'\. Did you mean to write 'idempotency'\?$/m,
    'idempotencey',
  ],
  'a misspelt shape of errors': [
    `gate({ guard, scopes, errors: 'problems' })`,
    /Type '"problems"' is not assignable to type .* Did you mean '"problem"'\?$/m,
    'errors',
  ],
  'a misspelt scope of a write that spends': [
    `api.idempotent({ operation: 'payments.create', allOf: ['cards.wirte'], spends: 'spend' })`,
    /Type '"cards\.wirte"' is not assignable to type '"cards\.read" \| "cards\.write"'\. Did you mean '"cards\.write"'\?$/m,
    "'cards.wirte'",
  ],
  'a misspelt way of spending': [
    `api.idempotent({ operation: 'payments.create', allOf: [], spends: 'spent' })`,
    /Type '"spent"' is not assignable to type '"spend" \| "withdrawal"'\. Did you mean '"spend"'\?$/m,
    'spends',
  ],
  'a misspelt member of the rule of a write': [
    `api.idempotent({ operation: 'payments.create', allOf: [], spend: 'spend' })`,
    /'spend' does not exist in type .* Did you mean to write 'spends'\?$/m,
    'spend:',
  ],
  'a misspelt option of a route': [
    `api.idempotent({ operation: 'cards.create', allOf: [] }, { prepair: () => ({ ok: true, value: 1 }) })`,
    /'prepair' does not exist in type 'IdempotentOptions<.*>'\. Did you mean to write 'prepare'\?$/m,
    'prepair',
  ],
  'a misspelt function of a call': [
    `http.handle(pay, call => call.reserv({ amountCents: 1, currency: 'USD' }).then(() => ({ status: 201 })))`,
    /Property 'reserv' does not exist on type .* Did you mean 'reserve'\?$/m,
    'reserv',
  ],
  'a misspelt member of an amount': [
    `http.handle(pay, call => call.reserve({ amountCent: 1, currency: 'USD' }).then(() => ({ status: 201 })))`,
    /'amountCent' does not exist in type .* Did you mean to write 'amountCents'\?$/m,
    'amountCent',
  ],
  'a hold of a write that declares no amount': [
    `http.handle(pay, call => ({ status: 200, body: call.hold }))`,
    /Property 'hold' does not exist/,
  ],
  'a binding without a body choice (Express)': [`expressGate(api, {})`, /Property 'body' is missing/],
  'a binding without a body choice (Koa)': [`koaGate(api, {})`, /Property 'body' is missing/],
  'a binding without a body choice (Fastify)': [`fastifyGate(api, {})`, /Property 'body' is missing/],
  'a binding without a body choice (fetch)': [
    `fetchGate(api, { peer: 'none' })`,
    /Property 'body' is missing/,
  ],
  'a fetch binding that does not say who calls': [
    `fetchGate(api, { body: 'stream' })`,
    /Property 'peer' is missing/,
  ],
  'a misspelt option': [`gate({ guard, scopes, erors: 'plain' })`, /'erors' does not exist/],
  'a misspelt option of an open gate': [`gate({ erors: 'plain' })`, /'erors' does not exist/],
  'what a server must pass beside the request': [
    `void ((): ((request: Request) => Promise<Response>) => fetchGate(api, { body: 'clone', peer: (_request, env: { ip: string }) => env.ip }).handle(plans, () => ({ status: 200 })))`,
    /is not assignable|Target signature provides too few arguments/,
  ],
  'a handler that returns nothing': [`http.handle(list, () => {})`, /Type 'void' is not assignable/],
  'a response with a misspelt status': [`http.handle(list, () => ({ stauts: 200 }))`, /stauts/],
  'a guard whose check is not one': [
    `gate({ guard: { ...guard, check: 5 }, scopes })`,
    /'number' is not assignable/,
    'check',
  ],
  'a port whose function has another result': [
    `gate({ guard, scopes, idempotency: { ...idempotency, complete: async () => 5 } })`,
    /'number' is not assignable/,
    '5 } })',
  ],
  'an alias port without resolve': [
    `gate({ guard, scopes, aliases: {} })`,
    /'resolve' is missing/,
    'aliases',
  ],
  'a port of an open gate': [`gate({ aliases: { resolve: 5 } })`, /'number' is not assignable/, 'resolve'],
  'an option of an open gate': [`gate({ bodyLimitBytes: '5' })`, /'number'/, 'bodyLimitBytes'],
  'an option of another type': [`gate({ guard, scopes, bodyLimitBytes: '5' })`, /'number'/, 'bodyLimitBytes'],
  'a body choice that Fastify does not have': [`fastifyGate(api, { body: 'stream' })`, /"stream"/],
  'a handler that returns no response': [`http.handle(list, () => ({ body: 1 }))`, /status/],
}

const fileOf = (index: number): string => `mistake_${index}.ts`

t.test('correct code compiles: the session, the effect and the catalogue are typed', async t => {
  const right = `import { Hono } from 'hono'
${PRELUDE}
http.handle(plans, ({ facts }) => ({ status: 200, body: facts.path }))
http.handle(list, ({ session }) => ({ status: 200, body: session.accountId satisfies string }))
http.handle(create, ({ session, effect, access }) => {
  const fence: number = effect.fence
  return { status: 201, body: [session.scopes, fence, access.evidence.operation] }
})
http.handle(pay, async ({ reserve, effect }) => {
  const hold = await reserve({ amountCents: 5, currency: 'USD' })
  if (!hold.ok) return hold
  const { accountId, held } = hold.value.keep()
  return { status: 201, body: [accountId, held, effect.effectId] }
})
const fixed = api.idempotent({ operation: 'payments.create', allOf: [], spends: 'spend' }, { amount: ({ session }) => ({ amountCents: session.scopes.length, currency: 'USD' }) })
http.handle(fixed, ({ hold, effect }) => {
  hold.settle(5)
  return { status: 201, body: effect.effectId }
})
http.handle(priced, async ({ reserve, prepared }) => {
  const price: number = prepared.price
  const hold = await reserve({ amountCents: price, currency: 'USD' })
  if (hold.ok) hold.value.settle(price)
  return hold.ok ? { status: 201 } : hold
})
type Plain = (request: Request) => Promise<Response>
const web = fetchGate(api, { body: 'clone', peer: request => request.headers.get('x-real-ip') ?? undefined })
const wrapped = web.wrap(list, () => new Response())
export const served: Plain[] = [web.handle(plans, () => ({ status: 200 })), wrapped, web.aliases(wrapped), web.aliases(() => new Response())]
const hono = fetchGate(api, { body: 'clone', peer: (_request, env: { ip: string }) => env.ip })
export const beside: (request: Request, env: { ip: string }) => Promise<Response> = hono.handle(plans, () => ({ status: 200 }))
new Hono<{ Bindings: { ip: string } }>().post('/pay/:id?', hono.guard(create), c => c.json({}))
declare const config: any
gate(config).guarded({ operation: 'cards.list', allOf: ['cards.read'] })
fetchGate(api, { body: 'clone', peer: 'none', waitUntil: work => void work }); koaGate(api, { body: 'kept' }); fastifyGate(api, { body: 'parsed' })
`
  t.equal(await compile('types-right', { 'right.ts': right }), '')
})

t.test('the compiler reports every mistake at its line', async t => {
  const entries = Object.entries(mistakes)
  const files = Object.fromEntries(entries.map(([, [code]], index) => [fileOf(index), PRELUDE + code]))
  const output = await compile('types-wrong', files)
  const line = PRELUDE.split('\n').length
  for (const [index, [title, [code, message, member]]] of entries.entries()) {
    const [, said = ''] = output.split(`${fileOf(index)}(${line},`)
    t.match(said.split(/\nbuild|\nexit/)[0], message, title)
    if (member !== undefined)
      t.equal(parseInt(said), code.indexOf(member) + 1, `${title}: at the member ${member}`)
    t.notMatch(output, new RegExp(`${fileOf(index)}\\((?!${line},)`), `${title}: and nothing else`)
  }
})
