import { createHmac } from 'node:crypto'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'

const { providerMessages, standardWebhooks } = internals
// The example of the specification's own tools, made by another implementation.
const SECRET = Buffer.from('plJ3nmyCDGBKInavdOK15jsl', 'base64')
const FIELDS: Readonly<Record<string, string>> = {
  'webhook-id': 'msg_loFOjxBNrRLzqYUf',
  'webhook-timestamp': '1731705121',
  'webhook-signature': 'v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=',
}
const BODY = Buffer.from('{"event_type":"ping","data":{"success":true}}')
const clock = manualClock(1_731_705_121_000)

t.test('accepts the test vector of Standard Webhooks', async t => {
  const verify = standardWebhooks([SECRET], clock)
  t.equal(await verify({ header: name => FIELDS[name], body: BODY }), FIELDS['webhook-id'])
  t.equal(
    await verify({ header: name => FIELDS[name], body: Buffer.concat([BODY, Buffer.from(' ')]) }),
    undefined,
  )
})

t.test('accepts what the standardwebhooks package signs, which signs the test vector as it is', async t => {
  const webhook = new Webhook(`whsec_${SECRET.toString('base64')}`)
  const at = new Date(clock.now())
  const vector = webhook.sign(FIELDS['webhook-id'] ?? '', at, BODY.toString())
  t.equal(vector, FIELDS['webhook-signature'])
  const verify = standardWebhooks([SECRET], clock)
  for (const body of ['{}', '', '{"name":"Zoë €"}', 'x'.repeat(100_000)]) {
    const signature = webhook.sign('msg_1', at, body)
    const signed: Readonly<Record<string, string>> = {
      ...FIELDS,
      'webhook-id': 'msg_1',
      'webhook-signature': signature,
    }
    t.equal(await verify({ header: name => signed[name], body: Buffer.from(body) }), 'msg_1')
    t.equal(await verify({ header: name => signed[name], body: Buffer.from(`${body}.`) }), undefined)
  }
})

t.test(
  'charges each failure to the address, asks for its turn first, and uses a verifier of the provider',
  async t => {
    const charged: unknown[] = []
    const full = { ok: false, code: 'rate_limited', status: 429, message: 'later' } as const
    let hasPlace = true
    const check = providerMessages({
      secrets: [
        { provider: 'signed', secret: SECRET },
        { provider: 'other', secret: Buffer.alloc(24, 1) },
      ],
      clock,
      verifiers: new Map([['own', async ({ header }) => header('x-own-id')]]),
      failures: {
        runWithinLimit: async (_, run) => (hasPlace ? run() : (full as never)),
        charge: async address => {
          await new Promise(resolve => setImmediate(resolve))
          charged.push(address)
        },
      },
    })
    const ask = (provider: string, fields: Readonly<Record<string, string>>) =>
      check({ address: '192.0.2.1', header: (name: string) => fields[name] } as never, provider, BODY)
    t.match(await ask('signed', FIELDS), {
      ok: true,
      value: { provider: 'signed', messageId: 'msg_loFOjxBNrRLzqYUf' },
    })
    t.match(await ask('own', { 'x-own-id': 'evt_1' }), {
      ok: true,
      value: { provider: 'own', messageId: 'evt_1' },
    })
    t.same(charged, [])
    const denials = [
      await ask('own', FIELDS),
      await ask('own', { 'x-own-id': 'has spaces' }),
      await ask('nobody', FIELDS),
      await ask('other', FIELDS),
    ]
    for (const denial of denials) t.match(denial, { ok: false, code: 'unauthorized', status: 401 })
    t.same(charged, Array(4).fill('192.0.2.1'))
    hasPlace = false
    t.same(await ask('signed', FIELDS), full)
  },
)

t.test('a verifier of a provider that throws denies the message, and only a fault is passed on', async t => {
  let charged = 0
  const failures = {
    runWithinLimit: async (_: string, work: () => Promise<unknown>) => work(),
    charge: async () => void charged++,
  } as never
  const check = (error: Error) => {
    const verify = async (): Promise<never> => {
      throw error
    }
    const verifiers = new Map([['acme', verify]])
    const messages = providerMessages({ secrets: [], verifiers, clock: manualClock(0), failures })
    return messages({ address: '192.0.2.1', header: () => undefined } as never, 'acme', new Uint8Array())
  }
  t.match(await check(new TypeError('bad signature')), { ok: false, status: 401 })
  t.equal(charged, 1)
  await t.rejects(check(new Fault('ERR_PROVIDER_UNAVAILABLE', 'no keys')), {
    code: 'ERR_PROVIDER_UNAVAILABLE',
  })
})

t.test('checks a message of Standard Webhooks to the letter', async t => {
  const NOW = 1_731_705_121_000
  const other = Buffer.from('another secret of some length')
  const signed = (id: string, timestamp: string, secret = SECRET): string =>
    `v1,${createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(BODY).digest('base64')}`
  const check = async (
    id: string,
    timestamp: string,
    signature?: string,
    at = NOW,
  ): Promise<string | undefined> => {
    const fields: Readonly<Record<string, string>> = {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature ?? signed(id, timestamp),
    }
    const verify = standardWebhooks([other, SECRET], manualClock(at))
    return verify({ header: name => fields[name], body: BODY })
  }
  const AT = String(NOW / 1000)
  t.equal(await check('a', AT), 'a')
  t.equal(await check('a', AT, signed('a', AT, other)), 'a', 'with either secret')
  t.equal(await check('a', AT, `v1,AAAA v2,x ${signed('a', AT)}`), 'a', 'one of several signatures')
  t.equal(await check('a', AT, signed('a', AT).slice(3)), undefined, 'without its version')
  t.equal(await check('a', AT, 'v1,AAAA'), undefined, 'another length')
  t.equal(await check('a', AT, signed('b', AT)), undefined, 'of another id')
  t.equal(await check('a', AT, signed('a', '1')), undefined, 'of another time')
  for (const [at, isTaken] of [
    [NOW + 300_000, true],
    [NOW + 300_001, false],
    [NOW - 300_000, true],
    [NOW - 300_001, false],
  ] as const)
    t.equal((await check('a', AT, undefined, at)) === 'a', isTaken, `${at - NOW} ms`)
  for (const [id, isTaken] of [
    ['x'.repeat(120), true],
    ['x'.repeat(121), false],
    ['', false],
    ['a b', false],
  ] as const)
    t.equal((await check(id, AT)) === id, isTaken, id)
  for (const timestamp of ['', `${AT}x`, `-${AT}`, `${AT}.5`, `000${AT}`])
    t.equal(await check('a', timestamp), undefined)
  const far = '9'.repeat(12)
  t.equal(await check('a', far, undefined, Number(far) * 1000), 'a', 'the longest timestamp')
  for (const absent of Object.keys(FIELDS)) {
    const header = (name: string): string | undefined => (name === absent ? undefined : FIELDS[name])
    t.equal(await standardWebhooks([SECRET], clock)({ header, body: BODY }), undefined, absent)
  }
})
