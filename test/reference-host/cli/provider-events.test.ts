import t from 'tap'
import { cardUser, networkEvent, networkRequest } from '../harness/card-payments.ts'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser } from '../../harness/host.ts'
import { WEBHOOK_SECRET } from '../harness/kyc.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'
import { startOperatedHost } from '../harness/operator.ts'

// Commands run beside the host, which the embedded database does not allow.
const { env: stores, drop } = await keptHostStoresEnv('postgres')
const host = await startOperatedHost({
  ...stores,
  PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`,
})
const { db, close } = openDatabaseOf(stores)
t.teardown(async () => {
  await close()
  await host.close()
  await drop()
})
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(['provider-events', ...args], stores)

const user = cardUser(host.send, (await bootstrapUser(host.send)).token)
await user.fund(10_000)
const cardId = await user.card()
/** Sends a clearing of a payment that never had a request. */
async function keep(objectId: string): Promise<void> {
  const data = { id: objectId, clearingId: 'c', amountCents: 650, cardId }
  const { body } = await networkEvent(host.send, { type: 'authorization.cleared', data })
  t.match(body, { data: { outcome: 'kept' } })
}
const waiting = async (): Promise<{ id: string; objectId: string }[]> =>
  jsonOf(await gatewright('list', '--json'))
/** Keeps an event, and returns its id. */
async function kept(objectId: string): Promise<string> {
  await keep(objectId)
  return (await waiting()).find(event => event.objectId === objectId)?.id as string
}

t.test('lists what waits, the same in the command and for the operator page', async t => {
  t.match(await gatewright('list'), { code: 0, output: /No events of providers wait/ })
  const id = await kept('offline-1')
  const { code, output } = await gatewright('list')
  t.equal(code, 0)
  t.match(output, new RegExp(`sandbox +authorization\\.cleared +unknown_object +650 +.*offline-1.*${id}`))
  const { body } = await host.ask('/operator/api/provider-events')
  t.match(body, { events: [{ id, objectId: 'offline-1', amountCents: 650, cardId }], more: false })
  t.same(body['events'], await waiting())
})

const LONG = 'x'.repeat(121)
t.test('refuses arguments that name no event or no reference, and changes nothing', async t => {
  const id = await kept('offline-2')
  const before = await waiting()
  for (const [code, args, problem] of [
    [2, ['handled'], /EVENT/],
    [2, ['handled', id], /REFERENCE/],
    [2, ['handled', id, ''], /REFERENCE must be 1 to 120 visible ASCII/],
    [2, ['handled', id, 'two words'], /REFERENCE must be/],
    [2, ['handled', id, 'é'], /REFERENCE must be/],
    [2, ['handled', id, LONG], /REFERENCE must be/],
    [2, ['handled', id, 'ticket', 'more'], /takes EVENT REFERENCE/],
    [2, ['list', 'more'], /takes no arguments/],
    [
      1,
      ['handled', 'kept_none', 'ticket'],
      /no event kept_none waits: see npx gatewright provider-events list/,
    ],
    [1, ['handled', 'offline-2', 'ticket'], /no event offline-2 waits/],
  ] as const)
    t.match(await gatewright(...args), { code, output: problem }, args.join(' '))
  for (const [status, body, field] of [
    [400, {}, 'event'],
    [400, { event: 7, reference: 'ticket' }, 'event'],
    [400, { event: 'a\0', reference: 'ticket' }, 'event'],
    [400, { event: id }, 'reference'],
    [400, { event: id, reference: 'two words' }, 'reference'],
    [400, { event: id, reference: LONG }, 'reference'],
    [409, { event: 'kept_none', reference: 'ticket' }, undefined],
  ] as const)
    t.match(await host.ask('/operator/api/provider-events/handled', { body }), { status, body: { field } })
  t.same(await waiting(), before)
})

t.test('marks an event once, of two operators at once by command and page', async t => {
  for (const reference of ['x', 'x'.repeat(120), '!~']) {
    const id = await kept(`once-${reference.length}-${reference[0]}`)
    const [command, page] = await Promise.all([
      gatewright('handled', id, reference),
      host.ask('/operator/api/provider-events/handled', { body: { event: id, reference: 'page' } }),
    ])
    t.equal(Number(command.code === 0) + Number(page.status === 200), 1, 'one takes effect')
    if (command.code === 0)
      t.match(command.output, `${id} is handled: authorization.cleared of 6.50 USD about`)
    const { rows } = await db.query('select reference from gw_kept_events where id = $1', [id])
    t.equal(rows[0]?.['reference'], command.code === 0 ? reference : 'page', 'its reference is kept')
    t.match(await gatewright('handled', id, 'again'), { code: 1, output: /waits/ })
    const again = { body: { event: id, reference: 'again' } }
    t.match(await host.ask('/operator/api/provider-events/handled', again), {
      status: 409,
      body: { error: 'invalid_state' },
    })
    t.notOk((await waiting()).some(event => event.id === id))
  }
})

t.test(
  'an event that was handled is not applied, by its repeat or by the request that comes later',
  async t => {
    const data = networkRequest(cardId, { amountCents: 1000 })
    const id = await kept(data.id)
    t.match(await gatewright('handled', id, 'ticket-9'), { code: 0 })
    const balance = await user.balance()
    t.match(await networkEvent(host.send, { type: 'authorization.request', data }), {
      body: { data: { decision: { approved: true } } },
    })
    const clearing = { id: data.id, clearingId: 'c', amountCents: 650, cardId }
    t.match(await networkEvent(host.send, { type: 'authorization.cleared', data: clearing }), {
      body: { data: { outcome: 'repeated' } },
    })
    t.equal(await user.balance(), balance - 1000, 'the hold only')
  },
)
