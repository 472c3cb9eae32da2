import t from 'tap'
import { openTestHost, type HttpResponse } from '../../../harness/host.ts'

const OWN = 'https://pay.example'
const host = await openTestHost(t, { PUBLIC_URL: OWN })
const start = (headers: Record<string, string> = {}): Promise<HttpResponse> =>
  host.send('/auth/cli/start', { body: { clientName: 'gw' }, headers })

t.test('denies the start of a sign-in to a web page of another origin', async t => {
  const denied = {
    status: 403,
    body: { error: 'policy_blocked', rule: 'cross_origin', message: /command line/ },
  }
  for (const origin of ['https://evil.example', 'http://pay.example', `${OWN}.evil.example`, 'null', ''])
    t.match(await start({ origin }), denied, `Origin: ${origin}`)
  for (const site of ['cross-site', 'same-site', 'unknown', ''])
    t.match(await start({ 'sec-fetch-site': site }), denied, `Sec-Fetch-Site: ${site}`)
  t.match(
    await start({ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }),
    denied,
    'rebound name',
  )
  t.match(await start({ origin: OWN, 'sec-fetch-site': 'cross-site' }), denied, 'at odds')
})

t.test('starts for a command line, and for a page of the host itself', async t => {
  for (const headers of [
    {},
    { origin: OWN },
    { origin: OWN, 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])
    t.match(await start(headers), { status: 200 }, JSON.stringify(headers))
})

t.test('a poll needs its token and nothing else', async t => {
  const { body } = await start()
  const polled = await host.send('/auth/cli/poll', {
    body: { requestToken: body.data['requestToken'] },
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  })
  t.match(polled, { status: 202 })
})
