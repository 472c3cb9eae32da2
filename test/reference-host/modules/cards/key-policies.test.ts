import { Fault } from '@gatewright/kernel'
import { rows } from '@gatewright/kernel/sql'
import type { KeyLineage } from '@gatewright/session-issuer/internal'
import { cardBench, prepareCardBench } from './card-bench.ts'
import { onBothDatabases } from '../../../harness/databases/host-tables.ts'
import * as internals from '../../../harness/internals.ts'
import { DAY, must, newKey, setUp } from '../../../session-issuer/fixtures.ts'

const unavailable = new Fault('ERR_STORE_UNAVAILABLE', 'the store is down')
const incomplete = new Fault('ERR_STORE_REPLY', 'a policy is missing')
const signal = new AbortController().signal

onBothDatabases(
  'a copy fails while the keys cannot be read, and leaves out a key that is not stored right',
  async (t, { dialect, dbs: [db] }) => {
    const { issuer, clock } = setUp()
    const bench = cardBench(db, dialect, clock)
    await bench.addAccount('ann', 0)
    const { key } = await newKey(issuer, [])
    await bench.addCard('ann', { id: 'card', keyLineage: key })
    const failing = (fault: Fault): typeof issuer => ({
      ...issuer,
      endedLineagePolicies: () => Promise.reject(fault),
    })
    const keep = async (fault: Fault): Promise<readonly unknown[]> => {
      const reported: unknown[] = []
      await internals.cardKeyPolicies(db, failing(fault)).keep(signal, each => reported.push(each))
      return reported
    }
    await t.rejects(keep(unavailable), unavailable)
    t.same(await keep(incomplete), [incomplete])
  },
  prepareCardBench,
)

onBothDatabases(
  'keeps the policies of each key of one account',
  async (t, { dialect, dbs: [db] }) => {
    const { issuer, clock } = setUp()
    const bench = cardBench(db, dialect, clock)
    await bench.addAccount('ann', 0)
    const policies = internals.cardKeyPolicies(db, issuer)
    const lineages: KeyLineage[] = []
    const unexpected = (error: unknown): void => void t.fail(String(error))
    for (const accountId of ['one', 'one', 'two']) {
      const { key } = await newKey(issuer, [], { accountId, policy: { maxAuthAmountCents: lineages.length } })
      const keyLineage = { accountId, lineageId: key.lineageId }
      await bench.addCard('ann', { id: `card-${lineages.length}`, keyLineage })
      lineages.push(keyLineage)
      must(await issuer.revokeKey('operator', key.id))
      await policies.keep(signal, unexpected)
    }
    clock.advance(8 * DAY)
    await issuer.maintain()
    for (const [index, lineage] of lineages.entries())
      t.match(await policies.read(lineage), [{ document: { maxAuthAmountCents: index } }])
    const aborted = AbortSignal.abort()
    await rows(db, 'delete from gw_card_key_policies')
    await policies.keep(aborted, unexpected)
    t.same(await rows(db, 'select 1 from gw_card_key_policies'), [], 'a host that ends copies nothing more')
  },
  prepareCardBench,
)
