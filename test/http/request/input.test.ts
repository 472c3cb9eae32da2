import { scopeCatalogue } from '@gatewright/kernel'
import { gate } from '@gatewright/http'
import type { StandardSchema } from '@gatewright/http/internal'
import { fetchGate } from '@gatewright/http/fetch'
import { createAliases } from '@gatewright/legacy-alias-router'
import t from 'tap'
import { z } from 'zod'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['cards.write'])

async function setUp(aliases = createAliases({})) {
  const { guard, bearer } = await bench()
  const api = gate({ guard, scopes, aliases })
  const authorization = await bearer({ scopes: ['cards.write'] })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const post = (body: unknown, query = ''): Request =>
    new Request(`http://api.test/cards${query}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return { api, handle, post }
}
const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const

t.test('checks and types body, query and path parameters', async t => {
  const { api, handle, post } = await setUp()
  const route = api.guarded(rule, {
    body: z.object({ amountCents: z.number().int().positive(), note: z.string().default('none') }),
    query: z.object({ limit: z.coerce.number().max(100), tag: z.array(z.string()).optional() }),
    params: z.object({ cardId: z.string().regex(/^card_/) }),
  })
  const serve = handle(route, ({ input: { body, query, params } }) => {
    const sum: number = body.amountCents + query.limit
    return {
      status: 200,
      body: { sum, note: body.note.trim(), tags: query.tag?.length, id: params.cardId.slice(5) },
    }
  })
  const ask = async (body: unknown, query: string, cardId: string) => {
    const response = await serve(post(body, query), undefined, { cardId })
    return { status: response.status, body: await response.json() }
  }
  t.same(await ask({ amountCents: 5 }, '?limit=7&tag=a&tag=b', 'card_1'), {
    status: 200,
    body: { sum: 12, note: 'none', tags: 2, id: '1' },
  })
  const wrong = { error: 'invalid_request' }
  t.match(await ask({ amountCents: -5 }, '?limit=7', 'card_1'), {
    status: 400,
    body: { ...wrong, field: 'amountCents' },
  })
  t.match(await ask({}, '?limit=7', 'card_1'), { status: 400, body: { ...wrong, field: 'amountCents' } })
  t.match(await ask({ amountCents: 5 }, '?limit=700', 'card_1'), {
    status: 400,
    body: { ...wrong, field: 'limit' },
  })
  t.match(await ask({ amountCents: 5 }, '?limit=7', 'ann'), {
    status: 400,
    body: { ...wrong, field: 'cardId' },
  })
  t.match(await ask('{"amountCents":', '?limit=7', 'card_1'), {
    status: 400,
    body: { ...wrong, field: 'body' },
  })
})

t.test('names the field at any depth, and the body for an issue without a path', async t => {
  const { api, handle, post } = await setUp()
  const inner = z.object({ to: z.object({ lines: z.array(z.object({ text: z.string() })) }) })
  const serve = handle(api.guarded(rule, { body: inner }), () => ({ status: 200 }))
  const response = await serve(post({ to: { lines: [{ text: 'a' }, { text: 4 }] } }), undefined)
  t.match(await response.json(), { field: 'to.lines.1.text', message: /^to\.lines\.1\.text: / })
  const never: StandardSchema<string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: async () => ({ issues: [{ message: 'no body will do' }] }),
    },
  }
  const none = handle(api.guarded(rule, { body: never }), () => ({ status: 200 }))
  t.match(await (await none(post({}), undefined)).json(), { field: 'body', message: 'body: no body will do' })
})

t.test('translates old field names before the check, and names them in the response', async t => {
  const deprecatedSince = Date.UTC(2026, 0, 1)
  const aliases = createAliases({
    requestFields: [
      { operation: 'cards.create', from: 'amount', to: 'amountCents', mode: { deprecatedSince } },
    ],
  })
  const { api, handle, post } = await setUp(aliases)
  const body = z.strictObject({ amountCents: z.number() })
  const serve = handle(api.guarded(rule, { body }), ({ input, json }) => ({
    status: 200,
    body: { checked: input.body, parsed: json() },
  }))
  const response = await serve(post({ amount: 5 }), undefined)
  t.same(await response.json(), {
    checked: { amountCents: 5 },
    parsed: { ok: true, value: { amountCents: 5 } },
  })
  t.equal(response.headers.get('deprecation'), `@${deprecatedSince / 1000}`)
})

t.test('returns 500 if a schema throws, and refuses an invalid schema at construction', async t => {
  const { api, handle, post } = await setUp()
  const throwing: StandardSchema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate() {
        throw new Error('broken schema')
      },
    },
  }
  const serve = handle(api.guarded(rule, { body: throwing }), () => ({ status: 200 }))
  t.equal((await serve(post({}), undefined)).status, 500)
  t.throws(
    () => api.guarded(rule, { body: { type: 'object' } as never }),
    /cards\.create: body must be a Standard Schema/,
  )
})
