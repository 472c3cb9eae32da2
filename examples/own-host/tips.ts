// One module of a host: a table, a read, and a write that moves money under the caps of the caller.
import { ledgerWrite, listOperation, payAtOnce, type HostServices, type Module } from '@gatewright/host'
import { component, idText, instant, text } from '@gatewright/host/schemas'
import * as columns from '@gatewright/host/tables'
import { allow } from '@gatewright/kernel'
import { migrate } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'

const ddl = `-- version 1
create table {prefix}tips (
  position {position},
  id {id} not null,
  account_id {id} not null,
  artist {id} not null,
  amount_cents bigint not null,
  given_at bigint not null,
  {primary key} (account_id, position),
  unique (account_id, id)
) {by account_id};
`
const tips = columns.table('gw_tips', {
  id: columns.text,
  position: columns.position,
  accountId: columns.text,
  artist: columns.text,
  amountCents: columns.integer,
  givenAt: columns.instant,
})

const gift = { artist: idText(64), amountCents: Type.Integer({ minimum: 1, maximum: 100_000 }) }
const Tip = Type.Object(
  { id: text('Names the tip'), ...gift, givenAt: instant('When it was given') },
  component('Tip', 'Money that the account gave to an artist'),
)
const example = { id: 'tip_1', artist: 'ada', amountCents: 500, givenAt: '2026-11-24T12:00:00.000Z' }
const tipData = ({ id, artist, amountCents, givenAt }: columns.Row<typeof tips>): typeof example => ({
  id,
  artist,
  amountCents,
  givenAt: new Date(givenAt).toISOString(),
})

export const tipModule: Module<HostServices> = {
  tables: db => migrate(db, { namespace: 'tips', ddl }),
  operations: services => [
    listOperation({
      id: 'tips.list',
      title: 'List the tips of the account, newest first',
      path: '/user/v1/tips',
      scopes: ['tips.read'],
      name: 'tips',
      component: component('TipList', 'A page of tips'),
      item: Tip,
      example,
      rows: (accountId, page) => tips.page(services.db, accountId, page),
      write: rows => rows.map(tipData),
    }),
    ledgerWrite({
      id: 'tips.give',
      title: 'Give a tip from the balance',
      surface: 'user',
      method: 'POST',
      paths: ['/user/v1/tips'],
      credential: 'session',
      scopes: ['tips.write'],
      spends: 'spend',
      body: Type.Object(gift, component('GiveTipRequest', 'Who gets how much')),
      response: Type.Object({ tip: Tip }, component('TipResponse', 'A tip')),
      example: { body: { artist: 'ada', amountCents: 500 }, response: { tip: example } },
      async write({ caller, body: { artist, amountCents } }, context) {
        const { accountId } = caller.session
        const id = `tip_${context.effectId}`
        const now = services.clock.now()
        const payee = `artist:${artist}`
        const payment = {
          id: `tip:${id}`,
          accountId,
          credit: 'house:tips',
          amountCents,
          payee,
          cause: 'tip',
        }
        const entry = {
          accountId,
          source: { kind: 'tip', id },
          type: 'payment',
          status: 'completed',
          amountCents,
          direction: 'debit',
          description: `Tip for ${artist}`,
        } as const
        const paid = await payAtOnce(services, context, { ...payment, entries: [entry] }, now)
        if (!paid.ok) return paid
        const tip = await tips.insert(context.tx, { id, accountId, artist, amountCents, givenAt: now })
        if (!tip) throw new Error(`${id} was given before, but its payment was not`)
        return allow({ data: { tip: tipData(tip) }, summary: `${artist} got ${amountCents} US cents.` })
      },
    }),
  ],
}
