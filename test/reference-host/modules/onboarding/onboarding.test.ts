import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cardUser } from '../../harness/card-payments.ts'
import {
  bearer,
  bootstrapUser,
  openTestHost,
  startTestHost,
  type HttpResponse,
} from '../../../harness/host.ts'
import { kycBody, kycPartnerUser, kycUser } from '../../harness/kyc.ts'
import { temporaryFolder } from '../../../harness/files.ts'

const host = await openTestHost(t)

t.test('users accept the agreements, once, at the time of the first acceptance', async t => {
  const one = await kycUser(host)
  const before = await one.call('/agreements')
  t.match(before.body.data, {
    agreements: [{ id: 'terms', text: String, links: [{ label: String, url: String }] }, { id: 'privacy' }],
    accepted: false,
    acceptedAt: null,
  })
  t.match(await one.call('/agreements', { accepted: false }), { status: 400, body: { field: 'accepted' } })
  t.match(await one.call('/agreements', {}), { status: 400, body: { field: 'accepted' } })
  const first = await one.call('/agreements', { accepted: true })
  t.match(first, { status: 200, body: { data: { accepted: true, acceptedAt: String } } })
  t.same((await one.call('/agreements', { accepted: true })).body.data, first.body.data)
  t.same((await one.call('/agreements')).body.data, first.body.data)
})

t.test('partner users need an approved identity first, and no scope', async t => {
  const one = await kycPartnerUser(host)
  t.match(await one.call('/agreements', { accepted: true }), {
    status: 409,
    body: { error: 'invalid_state', message: /^kyc required/ },
  })
  await one.submit(kycBody('Approved'))
  t.match(await one.call('/agreements', { accepted: true }), { status: 200 })
  t.match((await one.call('/kyc/status')).body.data, { status: 'approved', isTermsOfServiceAccepted: true })
})

t.test('changed texts must be accepted again', async t => {
  const folder = temporaryFolder(t)
  const PRODUCT_FILE = join(folder, 'product.json')
  const write = (text: string): void =>
    writeFileSync(
      PRODUCT_FILE,
      JSON.stringify({
        support: { email: null, url: null, statusUrl: null, hours: null },
        spotlight: [],
        agreements: text === '' ? [] : [{ id: 'terms', text, links: [] }],
      }),
    )
  const accepted = async (running: typeof host, token: string, body?: object): Promise<unknown> => {
    const options = { headers: bearer(token), ...(body ? { body } : {}) }
    const response: HttpResponse = await running.send('/user/v1/agreements', options)
    return response.body.data['accepted']
  }
  const DATA_DIR = join(folder, 'data')
  let token = ''
  for (const [text, accept] of [
    ['One.', true],
    ['Two.', false],
    ['One.', true],
    ['', true],
  ] as const) {
    write(text)
    const running = await startTestHost({ PRODUCT_FILE, DATA_DIR })
    if (token === '' || process.env['TEST_HOST_STORES']) {
      token = (await bootstrapUser(running.send)).token
      t.equal(await accepted(running, token), text === '')
      if (text === 'One.') t.equal(await accepted(running, token, { accepted: true }), true)
    } else t.equal(await accepted(running, token), accept, text)
    await running.close()
  }
})

t.test('derives the steps from what the account has done', async t => {
  const { token } = await bootstrapUser(host.send)
  const call = (path: string, body?: object): Promise<HttpResponse> =>
    host.send(`/user/v1${path}`, {
      headers: { ...bearer(token), 'idempotency-key': 'fund-0001' },
      ...(body ? { body } : {}),
    })
  const steps = async (): Promise<string> => {
    const { data } = (await call('/onboarding')).body
    const all = data['steps'] as { step: string; status: string }[]
    return `${all.map(({ step, status }) => `${step} ${status}`).join(', ')}; next ${String(data['next'])}`
  }
  t.equal(await steps(), 'wallet done, kyc open, agreements open, funding open, card open; next kyc')
  await call('/kyc', kycBody('Approved'))
  t.equal(await steps(), 'wallet done, kyc done, agreements open, funding open, card open; next agreements')
  await call('/agreements', { accepted: true })
  await call('/deposits', { amountCents: 100 })
  t.equal(await steps(), 'wallet done, kyc done, agreements done, funding done, card open; next card')
  await call('/sandbox/kyc', { status: 'locked' })
  t.equal(await steps(), 'wallet done, kyc open, agreements done, funding done, card open; next kyc')
})

t.test('a declined card payment is no funding; the first credit is', async t => {
  const { token } = await bootstrapUser(host.send)
  const user = cardUser(host.send, token)
  const funding = async (): Promise<unknown> =>
    ((await user.read('/onboarding')).body.data['steps'] as object[])[3]
  t.match(await user.pay(await user.card(), { amountCents: 100 }), { status: 'declined' })
  t.match(await funding(), { step: 'funding', status: 'open' })
  await user.fund(100)
  t.match(await funding(), { status: 'done' })
  t.match(await user.pay(await user.card(), { amountCents: 100 }), { status: 'authorized' })
  t.match(await funding(), { status: 'done' }, 'also when the money has been spent')
})

t.test('skips the optional steps, and names what does the others', async t => {
  const one = await kycUser(host)
  const skip = (step: string): Promise<HttpResponse> => one.call(`/onboarding/${step}`, {})
  const both = await Promise.all([skip('funding'), skip('card'), skip('card')])
  t.same(
    both.map(({ status }) => status),
    [200, 200, 200],
  )
  t.match((await one.call('/onboarding')).body.data, {
    steps: [{}, {}, {}, { step: 'funding', status: 'skipped' }, { step: 'card', status: 'skipped' }],
    next: 'kyc',
  })
  t.match(await skip('kyc'), { status: 400, body: { field: 'step', message: /kyc\.submit/ } })
  for (const step of ['nothing', 'constructor', '%']) t.match(await skip(step), { status: 404 }, step)
})
