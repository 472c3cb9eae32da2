import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, type Ran } from '../../harness/gatewright.ts'
import { bearer, bootstrapUser, startTestHost, type TestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const env = { DATA_DIR: dataDir, PORT: '0' }
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, env)

/** Runs a host on the data folder while `work` runs. */
async function withHost<T>(work: (send: TestHost['send']) => Promise<T>): Promise<T> {
  const host = await startTestHost(env)
  try {
    return await work(host.send)
  } finally {
    await host.close()
  }
}

const { user, payinId } = await withHost(async send => {
  const made = await bootstrapUser(send, { sessionTtlSeconds: 3600 })
  const headers = { ...bearer(made.token), 'idempotency-key': 'subscribe-1' }
  const { body } = await send('/user/v1/subscriptions/checkout', { body: { plan: 'basic' }, headers })
  return { user: made, payinId: (body.data['payin'] as { id: string }).id }
})

t.test('credits a balance once per reference, and the host pays from it', async t => {
  const credit = (...args: string[]) => gatewright('ledger', 'credit', ...args)
  t.match(await credit(user.userId, '7.00', 'wire-1'), { code: 2, output: /needs --yes/ })
  t.match(await credit(user.userId, '7.00', 'wire-1', '--yes'), {
    code: 0,
    output: /^Credited\. acc_\w+ has 7\.00 USD/,
  })
  t.match(await credit(user.userId, '7.00', 'wire-1', '--yes'), {
    code: 0,
    output: /nothing moved\. acc_\w+ has 7\.00 USD/,
  })
  t.match(await credit(user.userId, '7.01', 'wire-1', '--yes'), {
    code: 1,
    output: /^wire-1 was credited before/,
  })
  const paid = await withHost(send =>
    send('/user/v1/subscriptions/payin/confirm-balance', {
      body: { payinId },
      headers: { ...bearer(user.token), 'idempotency-key': 'pay-0001' },
    }),
  )
  t.match(paid, { status: 200, body: { data: { payin: { status: 'settled' } } } })
  t.match(await gatewright('ledger', 'balance', user.userId), { code: 0, output: / has 2\.00 USD/ })
  t.match(await gatewright('ledger', 'check'), {
    code: 0,
    output: /^Balanced: 2 transfers checked, no differences/,
  })
})

t.test('books what the house has paid out, once per reference', async t => {
  const remit = (...args: string[]) => gatewright('ledger', 'remit', ...args)
  t.match(await remit('revenue', '3.00', 'out-1'), { code: 2, output: /needs --yes/ })
  t.match(await remit('revenue', '5.01', 'out-1', '--yes'), {
    code: 1,
    output: /^house:revenue has 5\.00 USD only/,
  })
  t.match(await remit('revenue', '3.00', 'out-1', '--yes'), {
    code: 0,
    output: /^Booked\. house:revenue has 2\.00 USD/,
  })
  t.match(await remit('revenue', '3.00', 'out-1', '--yes'), {
    code: 0,
    output: /nothing moved\..* has 2\.00 USD/,
  })
  t.match(await remit('revenue', '3.01', 'out-1', '--yes'), { code: 1, output: /^out-1 was booked before/ })
  t.match(await remit('bills', '3.00', 'out-1', '--yes'), { code: 1 })
  t.match(await remit('users', '0.01', 'out-2', '--yes'), {
    code: 2,
    output: /FROM must be one of bills, fees/,
  })
  t.match(await remit('fees', '0.00', 'out-2', '--yes'), { code: 2, output: /AMOUNT must be/ })
  t.match(await gatewright('ledger', 'check'), { code: 0, output: /no differences/ })
})

t.test('says in sentences what differs', async t => {
  const { db, close } = openDatabaseOf(env)
  const change = (cents: number): Promise<unknown> =>
    db.query("update gw_transactions set amount_cents = amount_cents + $1 where source_kind = 'credit'", [
      cents,
    ])
  await change(-1)
  const broken = await gatewright('ledger', 'check')
  await change(1)
  await close()
  t.match(broken, {
    code: 1,
    output:
      /^the ledger is broken: user:(acc_\w+) has 200 US cents in the ledger, but the transactions of \1 add up to 199$/m,
  })
  t.match(await gatewright('ledger', 'check'), { code: 0 })
})

t.test('explains invalid arguments', async t => {
  for (const [code, args, message] of [
    [1, ['usr_none', '0.05', 'r'], /no user or account usr_none/],
    [
      2,
      [user.userId, '5', 'r'],
      /AMOUNT must be US dollars with two decimals such as 50\.00, at most 9,999,999,999\.99 USD/,
    ],
    [2, [user.userId, '1.5', 'r'], /AMOUNT must be/],
    [2, [user.userId, '0.00', 'r'], /AMOUNT must be/],
    [2, [user.userId, '10000000000.00', 'r'], /AMOUNT must be/],
    [2, [user.userId, '0.05', 'two words'], /REFERENCE must be/],
  ] as const) {
    t.match(await gatewright('ledger', 'credit', ...args, '--yes'), { code, output: message })
  }
})

t.test('cancels an open pay-in and refuses a closed one', async t => {
  const open = await withHost(async send => {
    const headers = { ...bearer(user.token), 'idempotency-key': 'open-0001' }
    const { body } = await send('/user/v1/subscriptions/payin', { body: { amountCents: 5 }, headers })
    return (body.data['payin'] as { id: string }).id
  })
  t.match(await gatewright('payins', 'cancel', open, '--yes'), { code: 0, output: /is canceled/ })
  t.match(await gatewright('payins', 'cancel', open, '--yes'), {
    code: 1,
    output: /no pay-in payin_\w+ is open/,
  })
  t.match(await gatewright('payins', 'cancel', payinId, '--yes'), { code: 1, output: /is open/ })
  t.match(await gatewright('payins', 'cancel', 'payin_none', '--yes'), { code: 1, output: /no pay-in/ })
})
