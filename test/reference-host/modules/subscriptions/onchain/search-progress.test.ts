// What the operator sees of a search that does not move.
import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import * as internals from '../../../../harness/internals.ts'
import { openMoney } from '../../../harness/money-operations.ts'

const MINUTE_MS = 60_000
const { db } = await openMoney(t)

t.test('warns every half hour while a search has blocks to read and does not move', async t => {
  await rows(
    db,
    `insert into gw_chain_cursors (chain_id, next_block, head_block, scanned_at, lease_owner, lease_until)
      values (7, 5000, 5020, 60000, 'o', 0), (8, 100, 120, 60000, 'o', 0)`,
  )
  await rows(
    db,
    'insert into gw_chain_audits (chain_id, next_block, claimed_at) values (7, 1000, 0), (8, 100, 0)',
  )
  const warnings: string[] = []
  const shown = new Map<string, number>()
  const measure = internals.searchProgress(
    db,
    [7, 8],
    {
      chainReadAge: (chainId, ageMs) => shown.set(`age ${chainId}`, ageMs),
      unsearchedBlocks: (chainId, blocks) => shown.set(`blocks ${chainId}`, blocks),
    },
    error => warnings.push((error as Error).message),
  )
  const stopped = (minutes: number, blocks: number): string =>
    `the search for unmatched payments of chain 7 has not moved for ${minutes} minutes and has ${blocks} blocks to read: look for its failures in the log, and at the node's limits`
  const at = async (minute: number): Promise<string[]> => {
    await measure(MINUTE_MS * minute)
    return warnings.splice(0)
  }
  t.same(await at(1), [])
  t.same(Object.fromEntries(shown), { 'age 7': 0, 'blocks 7': 4000, 'age 8': 0, 'blocks 8': 0 })
  t.same(await at(30), [])
  t.same(await at(31), [stopped(30, 4000)])
  t.same(await at(60), [])
  t.same(await at(61), [stopped(60, 4000)])
  await rows(db, 'update gw_chain_audits set next_block = 1200 where chain_id = 7')
  t.same(await at(91), [], 'it has moved')
  t.same(await at(121), [stopped(30, 3800)])
  await rows(db, 'update gw_chain_audits set next_block = 5000 where chain_id = 7')
  t.same([await at(160), await at(400)], [[], []], 'it has read everything')
})
