import t from 'tap'
import { cardUser, networkEvent, networkRequest } from '../harness/card-payments.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser, startTestHost, type TestHost } from '../../harness/host.ts'
import { signedFields, WEBHOOK_SECRET } from '../harness/kyc.ts'
import { fundedUser, memberOf } from '../harness/transfers.ts'
import { temporaryFolder } from '../../harness/files.ts'

const DATA_DIR = temporaryFolder(t)
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, { PORT: '0', DATA_DIR })
const env = { DATA_DIR, PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}` }

/** Starts a host, works with it, and stops it, so that commands see what it left. */
async function onHost<T>(work: (host: TestHost) => Promise<T>): Promise<T> {
  const host = await startTestHost(env)
  try {
    return await work(host)
  } finally {
    host.failures.splice(0)
    await host.close()
  }
}

t.test('an operator lists what an issuer reported in excess, and marks it as handled', async t => {
  const { id, send } = await onHost(async host => {
    const user = cardUser(host.send, (await bootstrapUser(host.send)).token)
    await user.fund(1000)
    const data = networkRequest(await user.card(), { amountCents: 600 })
    const later = (type: string, amountCents: number) => (host: TestHost) =>
      networkEvent(host.send, { type: `authorization.${type}`, data: { id: data.id, amountCents } })
    const { body } = await networkEvent(host.send, { type: 'authorization.request', data })
    await later('cleared', 650)(host)
    await later('refunded', 620)(host)
    return { id: (body.data['decision'] as { authorizationId: string }).authorizationId, send: later }
  })
  const { output } = await gatewright('authorizations', 'list')
  t.match(output, new RegExp(`refunded_beyond_cleared +20 +acc_\\w+ +${id}`))
  t.match(output, new RegExp(`cleared_beyond_hold +50 +acc_\\w+ +${id}`))
  for (const [code, args, problem] of [
    [2, [id, 'two words'], /REFERENCE must be 1 to 120 visible ASCII/],
    [1, ['auth_none', 'ticket-1'], /nothing is open about auth_none/],
  ] as const)
    t.match(await gatewright('authorizations', 'handled', ...args), { code, output: problem })
  const handled = await gatewright('authorizations', 'handled', id, 'ticket-1')
  const ended = `${id} is handled: 0.20 USD (refunded_beyond_cleared), 0.50 USD (cleared_beyond_hold).`
  t.match(handled, { code: 0, output: ended })
  t.match(await gatewright('authorizations', 'handled', id, 'ticket-1'), { code: 1 }, 'once')
  t.match(await gatewright('authorizations', 'list'), { code: 0, output: /No open reports/ })
  await onHost(send('refunded', 7))
  const again = jsonOf<object[]>(await gatewright('authorizations', 'list', '--json'))
  t.match(again, [{ id, detail: 'refunded_beyond_cleared', amountCents: 7 }], 'only what came since')
  t.equal(again.length, 1)
})

t.test('an operator lists a repeated id with other data, and marks it as handled', async t => {
  const id = await onHost(async host => {
    const user = cardUser(host.send, (await bootstrapUser(host.send)).token)
    await user.fund(1000)
    const data = networkRequest(await user.card(), { amountCents: 600 })
    const { body } = await networkEvent(host.send, { type: 'authorization.request', data })
    for (const other of [{ amountCents: 700 }, { currency: 'EUR' }, { amountCents: 700 }])
      await networkEvent(host.send, { type: 'authorization.request', data: { ...data, ...other } })
    return (body.data['decision'] as { authorizationId: string }).authorizationId
  })
  const { output } = await gatewright('authorizations', 'list')
  t.match(output, new RegExp(`request_conflict: amountCents 700 instead of 600 +700 +acc_\\w+ +${id}`))
  t.match(output, new RegExp(`request_conflict: currency EUR instead of USD +0 +acc_\\w+ +${id}`))
  t.equal(output.split(id).length, 3, 'each once')
  t.match(await gatewright('authorizations', 'handled', id, 'ticket-3'), { code: 0 })
  t.notMatch((await gatewright('authorizations', 'list')).output, id)
})

t.test('an operator lists payments that a deposit could not take, and marks them as handled', async t => {
  const id = await onHost(async host => {
    const user = await fundedUser(host, 0)
    const made = await user.write('/deposits', { currency: 'usdc', network: 'base' })
    const deposit = memberOf(made, 'deposit').id
    for (const creditedCents of [100, 150, 150]) {
      const payments = [{ id: 'payment-1', creditedCents }]
      const body = JSON.stringify({
        type: 'deposit.report',
        data: { id: deposit, status: 'completed', payments },
      })
      await host.send('/providers/sandbox/events', { body, headers: signedFields(body, { now: Date.now() }) })
    }
    return deposit
  })
  const { output } = await gatewright('deposits', 'list')
  t.match(output, new RegExp(`payment-1 +150 +acc_\\w+ +${id}`))
  t.equal(output.split(id).length, 2, 'once')
  t.match(await gatewright('deposits', 'handled', id, 'ticket-2'), {
    code: 0,
    output: `${id} is handled: 1.50 USD (payment-1).`,
  })
  t.match(await gatewright('deposits', 'list'), { code: 0, output: /No open reports/ })
})
