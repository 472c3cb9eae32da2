import type { EventType } from '@gatewright/host'
import { manualClock } from '@gatewright/kernel/testing'
import type { SqlClient } from '@gatewright/kernel/sql'
import t from 'tap'
import * as Type from 'typebox/type'
import * as internals from '../../../harness/internals.ts'

const applied: EventType = {
  data: Type.Object({}),
  ofUnknownObject: 'sent_again',
  keeps: data => ({ amountCents: null, cardId: null, data }),
  apply: async () => 'applied',
}
const decided = (decision: Type.TSchema): EventType => ({
  data: Type.Object({}),
  decision,
  decide: async () => ({ outcome: 'applied', decision: {} }),
})
/** The members of `data` in the response of a host with these types of events. */
function dataOf(...types: readonly EventType[]): Readonly<Record<string, unknown>> {
  const { response } = internals.providerEvents({
    db: undefined as unknown as SqlClient,
    clock: manualClock(0),
    eventTypes: Object.fromEntries(types.map((type, index) => [`some.type_${index}`, type])),
    countEvent: () => {},
    report: () => {},
  })
  return (response as unknown as { properties: { data: { properties: Record<string, unknown> } } }).properties
    .data.properties
}

t.test('describes the decisions of those event types that ask for one', async t => {
  const [card, loan] = [Type.Object({ approved: Type.Boolean() }), Type.Object({ limit: Type.Number() })]
  t.same(Object.keys(dataOf(applied)), ['applied', 'outcome'], 'no type asks for one')
  t.match(dataOf(applied, decided(card), decided(card)), { decision: card })
  t.match(dataOf(decided(card), decided(loan)), { decision: { anyOf: [card, loan] } })
})
