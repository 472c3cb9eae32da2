import { scopeCatalogue } from '@gatewright/kernel'
import { denialResponse, gate } from '@gatewright/http'
import { failureResponse, type Outcome, type Render } from '@gatewright/http/internal'
import { fetchGate } from '@gatewright/http/fetch'
import { createIdempotency } from '@gatewright/idempotency-store'
import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import t from 'tap'
import { bench } from '../../scope-guard/issuer.ts'

const scopes = scopeCatalogue(['cards.write'])
const rule = { operation: 'cards.create', allOf: ['cards.write'] } as const

/** Puts every response into an envelope that names the request. */
const envelope: Render = (outcome, { operation, requestId }) => {
  const plain =
    outcome.kind === 'response'
      ? outcome.response
      : outcome.kind === 'denial'
        ? denialResponse(outcome.denial, 'plain')
        : failureResponse(outcome.error, 'plain')
  return {
    ...plain,
    body: { of: operation, data: plain.body },
    headers: [...plain.headers, ['X-Request-Id', requestId]],
  }
}

async function setUp(render: Render, errors?: 'problem', maxResponseBytes = 262_144) {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency(), maxResponseBytes })
  const reported: unknown[] = []
  const report = ({ error }: { readonly error: unknown }): unknown => reported.push(error)
  const api = gate({ guard, scopes, idempotency, render, report, ...(errors ? { errors } : {}) })
  const authorization = await bearer({ scopes: ['cards.write'] })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  let response: object = { status: 201, body: { id: 7 }, headers: [['Location', '/cards/7']] }
  const serve = handle(api.idempotent(rule), () => response as never)
  const send = async (key: string, headers: Record<string, string> = {}) => {
    const all = { authorization, 'content-type': 'application/json', 'idempotency-key': key, ...headers }
    const got = await serve(
      new Request('http://api.test/', { method: 'POST', headers: all, body: '{}' }),
      undefined,
    )
    return { status: got.status, headers: got.headers, body: (await got.json()) as Record<string, unknown> }
  }
  return { send, reported, responseWith: (next: object) => void (response = next) }
}

t.test('renders every response, and a replay from what the handler returned', async t => {
  const { send } = await setUp(envelope)
  const first = await send('key-00000001')
  t.match(first, { status: 201, body: { of: 'cards.create', data: { id: 7 } } })
  const again = await send('key-00000001')
  t.match(again, { status: 201, body: first.body })
  t.equal(again.headers.get('location'), '/cards/7')
  t.equal(again.headers.get('idempotency-replayed'), 'true')
  t.not(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
})

t.test('renders denials and failures, and a stored denial as a denial again', async t => {
  const { send, responseWith } = await setUp(envelope)
  const missing = await send('')
  t.match(missing, { status: 400, body: { data: { error: 'idempotency_key_required' } } })
  responseWith({
    ok: false,
    code: 'conflict',
    status: 409,
    message: 'there is one',
    field: 'id',
    details: { at: 3 },
  })
  const first = await send('key-00000002')
  t.match(first.body, { data: { error: 'conflict', message: 'there is one', field: 'id', at: 3 } })
  const again = await send('key-00000002')
  t.same([again.status, again.body], [409, first.body])
  responseWith({ status: 'wrong' })
  t.match(await send('key-00000003'), { status: 500, body: { data: { error: 'internal_error' } } })
})

t.test('replays the status of a response whose body was too long to store, and of a denial', async t => {
  const { send, responseWith } = await setUp(envelope, undefined, 7)
  await send('key-00000001')
  const long = await send('key-00000001')
  t.match(long, { status: 201, body: { of: 'cards.create' } })
  t.equal(long.body['data'], undefined)
  t.equal(long.headers.get('idempotency-replayed'), 'true')
  t.equal(long.headers.get('location'), '/cards/7')
  responseWith({ ok: false, code: 'conflict', status: 409, message: 'there is one' })
  await send('key-00000002')
  t.match(await send('key-00000002'), { status: 409, body: { of: 'cards.create' } })
})

t.test('renders a stored denial in the shape of the request that repeats the write', async t => {
  const { guard, bearer } = await bench()
  const idempotency = createIdempotency({ storage: memoryIdempotency() })
  const api = gate({
    guard,
    scopes,
    idempotency,
    errors: facts => (facts.header('accept') ? 'problem' : 'plain'),
  })
  const { handle } = fetchGate(api, { body: 'stream', peer: 'none' })
  const no = { ok: false, code: 'conflict', status: 409, message: 'there is one' } as const
  const serve = handle(api.idempotent(rule), () => no)
  const headers = {
    authorization: await bearer({ scopes: ['cards.write'] }),
    'content-type': 'application/json',
    'idempotency-key': 'key-00000004',
  }
  const send = (more: object): Promise<Response> =>
    serve(
      new Request('http://api.test/', { method: 'POST', headers: { ...headers, ...more }, body: '{}' }),
      undefined,
    )
  t.match(await (await send({})).json(), { error: 'conflict' })
  const problem = await send({ accept: 'application/problem+json' })
  t.equal(problem.headers.get('content-type'), 'application/problem+json')
  t.match(await problem.json(), { code: 'conflict', detail: 'there is one' })
})

t.test('reports a renderer that throws, and returns 500 without its message', async t => {
  const { send, reported } = await setUp((outcome: Outcome) => {
    throw new Error(`cannot render ${outcome.kind}`)
  })
  t.match(await send('key-00000005'), { status: 500, body: { error: 'internal_error' } })
  t.match(reported, [{ message: 'cannot render response' }])
})
