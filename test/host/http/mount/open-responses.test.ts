import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import {
  bearer,
  bootstrapUser,
  signedBootstrap,
  newWallet,
  openTestHost,
  type HttpResponse,
} from '../../../harness/host.ts'

const host = await openTestHost(t)
const validate = new Ajv2020({ strict: false }).compile(
  JSON.parse(readFileSync('test/vectors/open-responses.schema.json', 'utf8')) as object,
)
interface OpenResponsesBody {
  readonly status: string
  readonly model: string
  readonly error: { code: string; message: string } | null
  readonly output: [{ content: [{ text: string }] }, { call_id: string; output: string }]
}
const wrapped = ({ body }: HttpResponse): OpenResponsesBody => body as unknown as OpenResponsesBody

t.test('wraps a success with the same status and headers and the whole normal body as text', async t => {
  const headers = { 'x-open-responses': '1', 'x-open-responses-call-id': 'call-7' }
  const response = await host.send('/user/v1/bootstrap', {
    body: await signedBootstrap(newWallet()),
    headers,
  })
  t.equal(response.status, 200)
  t.ok(validate(response.body), JSON.stringify(validate.errors))
  const { status, model, error, output } = wrapped(response)
  t.same([status, model, error], ['completed', 'Gatewright Sandbox.user', null])
  t.equal(output[1].call_id, 'call-7')
  const normal = JSON.parse(output[1].output) as { ok: boolean; summary: string; userApiKey: string }
  t.equal(normal.ok, true)
  t.equal(output[0].content[0].text, normal.summary)
  t.match(normal.userApiKey, /^gw_sandbox_user_/)
})

t.test('wraps errors of every kind too, on both surfaces', async t => {
  const { token } = await bootstrapUser(host.send)
  const headers = { 'x-open-responses': 'true' }
  const errors = [
    await host.send('/user/v1/bootstrap', { body: '{', headers }),
    await host.send('/user/v1/keys', { headers }),
    await host.send('/partner/v1/cards', { headers: { ...headers, ...bearer(token) } }),
    await host.send('/partner/v1/sessions', { body: {}, headers }),
  ]
  for (const response of errors) {
    t.ok(response.status >= 400)
    t.ok(validate(response.body), JSON.stringify(validate.errors))
    const { status, error, output } = wrapped(response)
    t.equal(status, 'failed')
    t.match(JSON.parse(output[1].output), { error: error?.code, message: error?.message })
    t.match(output[1].call_id, /^call_/)
  }
  t.same(wrapped(errors[2] as HttpResponse).model, 'Gatewright Sandbox.partner')
})

t.test('stores the unwrapped response, so that a replay can be wrapped or not', async t => {
  const { token } = await bootstrapUser(host.send)
  const pay = (headers: Record<string, string>): Promise<HttpResponse> =>
    host.send('/user/v1/subscriptions/payin', {
      body: { amountCents: 5 },
      headers: { ...bearer(token), ...headers },
    })
  const key = { 'idempotency-key': randomUUID() }
  const first = await pay({ ...key, 'x-open-responses': '1' })
  const replay = await pay(key)
  t.equal(replay.headers.get('idempotency-replayed'), 'true')
  t.same(JSON.parse(wrapped(first).output[1].output), replay.body)
})

t.test("does not wrap responses without the header, and never the host's own documents", async t => {
  t.notOk('object' in (await host.send('/user/v1/keys', { headers: { 'x-open-responses': '0' } })).body)
  t.match(await host.send('/healthz', { headers: { 'x-open-responses': '1' } }), { body: { status: 'ok' } })
})
