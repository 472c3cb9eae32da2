import { rows } from '@gatewright/kernel/sql'
import type { KeyLineage } from '@gatewright/session-issuer/internal'
import { cardBench, prepareCardBench } from './card-bench.ts'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'
import * as internals from '../../../harness/internals.ts'
import { DAY, must, newKey, setUp } from '../../../session-issuer/fixtures.ts'

const MORE_THAN_A_PAGE = 501
const signal = new AbortController().signal

onBothDatabases(
  'cards keep the last policies of every ended key, and follow those of live keys',
  async (t, { dialect, dbs: [db] }) => {
    const { issuer, clock } = setUp()
    const bench = cardBench(db, dialect, clock)
    await bench.addAccount('ann', 0)
    const made = []
    for (let n = 0; n < MORE_THAN_A_PAGE; n += 1) {
      const owner = { accountId: `owner-${n}`, policy: { maxAuthAmountCents: n } }
      const { key } = await newKey(issuer, [], owner)
      const keyLineage = { accountId: key.accountId, lineageId: key.lineageId }
      await bench.addCard('ann', { id: `card-${n}`, keyLineage })
      made.push({ key, keyLineage, policies: await issuer.lineagePolicies(keyLineage) })
    }
    const [live, ...ended] = made
    if (!live) throw new Error('nothing was made')
    for (const { key } of ended) must(await issuer.revokeKey('operator', key.id))
    await rows(db, "update gw_cards set status = 'canceled' where id = 'card-1'")
    const policies = internals.cardKeyPolicies(db, issuer)
    const faults: unknown[] = []
    for (let round = 0; round < 2; round += 1) await policies.keep(signal, fault => faults.push(fault))
    t.same(faults, [])
    clock.advance(8 * DAY)
    await issuer.maintain()
    const [canceled, ...others] = ended
    t.equal(canceled && (await policies.read(canceled.keyLineage)), undefined)
    for (const each of others)
      if (JSON.stringify(await policies.read(each.keyLineage)) !== JSON.stringify(each.policies))
        t.fail(`the policies of ${each.keyLineage.accountId} are lost`)
    must(await issuer.changeKey('operator', live.key.id, { policy: { maxAuthAmountCents: 7 } }))
    t.match(await policies.read(live.keyLineage), [{ document: { maxAuthAmountCents: 7 } }])
    t.equal(await policies.read({ accountId: 'owner-0', lineageId: 'none' }), undefined)

    const deleted = ended[1]?.keyLineage as KeyLineage
    t.same(await internals.deletedLineages(db, deleted.lineageId), [deleted])
    await rows(db, "update gw_cards set status = 'canceled' where id = 'card-2'")
    await policies.keep(signal, fault => faults.push(fault))
    t.same(await internals.deletedLineages(db, deleted.lineageId), [], 'no card needs it any more')
  },
  prepareCardBench,
)
