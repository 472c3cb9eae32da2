import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { bearer, openTestHost } from '../../../../harness/host.ts'
import { newMoneyUser, payinOf } from '../../../harness/money.ts'
import { ask } from '../../../harness/paid-host.ts'

const clock = manualClock(Date.UTC(2026, 0, 31, 12))
const host = await openTestHost(t, {}, clock)

t.test('exports the pay-ins of the account as CSV, newest first, by the filters of the list', async t => {
  const user = await newMoneyUser(host.send, clock.now())
  const other = await newMoneyUser(host.send, clock.now())
  await ask(other, { amountCents: 1 })
  const fill = await ask(user, { amountCents: 1234 })
  clock.advance(1)
  const bought = payinOf(await user.write('/subscriptions/checkout', { plan: 'basic' }))
  await user.write(`/sandbox/payins/${fill.id}/settle`, {})
  clock.advance(1)
  const read = async (query = '') => {
    const response = await fetch(`${host.url}/user/v1/subscriptions/payins.csv${query}`, {
      headers: bearer(user.token),
    })
    return { response, text: await response.text() }
  }
  const { response, text } = await read()
  t.match(response.headers.get('content-type'), /^text\/csv; charset=utf-8/)
  t.equal(response.headers.get('content-disposition'), 'attachment; filename="payins.csv"')
  const [header, ...lines] = text.split('\r\n')
  t.equal(
    header,
    'id,created_at,expires_at,status,amount,amount_cents,currency,method,plan,description,subscription_id,asset,pay_to,tx_hash,key_id',
  )
  const { keys } = (await user.read('/keys')).body as unknown as { keys: [{ id: string }] }
  const [plan, filled] = [bought, fill].map(({ createdAt, expiresAt }) => `"${createdAt}","${expiresAt}"`)
  t.same(lines, [
    `"${bought.id}",${plan},"awaiting_payment",5.00,500,"USD","onchain","basic",,"${bought.subscriptionId}",,,,"${keys[0].id}"`,
    `"${fill.id}",${filled},"settled",12.34,1234,"USD","onchain",,,,,,,"${keys[0].id}"`,
    '',
  ])
  t.equal((await read('?status=settled')).text, `${header}\r\n${lines[1]}\r\n`)
  t.equal((await read(`?id=${bought.id}`)).text, `${header}\r\n${lines[0]}\r\n`)
  const misspelt = await read('?stats=settled')
  t.match([misspelt.response.status, JSON.parse(misspelt.text)], [400, { field: 'stats' }])
})
