// Very many pay-ins, moves and transfers in Postgres: every statement of a host uses an index and reads few
// blocks.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { manualClock } from '@gatewright/kernel/testing'
import pg from 'pg'
import t from 'tap'
import { HDKey } from 'viem/accounts'
import { mine, startEvm } from '../../../harness/chain/evm.ts'
import {
  buffersOf,
  explainQueries,
  nodesOf,
  type StatementPlans,
  type PlanNode,
} from '../../../harness/databases/explain.ts'
import { hostStoresEnv } from '../../../harness/host-stores.ts'
import { request, spawnHost, openTestHost, type HttpResponse, sessionOf } from '../../../harness/host.ts'
import { moneyUser, payinOf } from '../../harness/money.ts'
import { chainUser, payinChain } from '../../harness/paid-host.ts'
import { MANY_ROWS } from '../../../harness/turns.ts'
import { fillTables } from './many-payins.ts'

/** The tables under test: those that grow. */
const OURS =
  /gw_(payins|payin_moves|open_payins|payin_transfers|subscriptions|deposit_addresses|deposit_sources|unmatched_transfers|chain_audits|ledger_\w+|chain_cursors)\b/
/** Cursors have one row per chain and do not grow. */
const BIG = /^gw_(?!chain_cursors|chain_audits|deposit_sources)/
const MAX_BUFFERS = 80
/** Small tables are read completely, such as the tail after folding. */
const FEW_BUFFERS = 8
const MAX_FILTERED = 100

/** The statements in the sources, up to the first inserted part. */
function spelled(): readonly string[] {
  const folder = 'packages/reference-host/src/modules/subscriptions'
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  const files = [...names.map(name => join(folder, name)), 'packages/host/src/ledger/statements.ts']
  const quoted = /`((?:select|insert|update|delete|with) [^`]*)`|'((?:select|insert|update|delete) [^'\n]*)'/g
  return files
    .flatMap(file => [...readFileSync(file, 'utf8').matchAll(quoted)].map(([, long, short]) => long ?? short))
    .map(text => plain((text as string).split('${')[0] as string))
}

/** `ledger check` reads the whole ledger for an operator; the others write and fold on SQLite, or are parts of statements. */
const ELSEWHERE = [
  'update gw_ledger_accounts as a',
  // The balance of a house account, which a command reads.
  'select coalesce(sum(balance_cents), 0) as balance',
  // Ids from outside: payments of providers, and references of operators.
  'insert into gw_ledger_references',
  'select account_id from gw_ledger_references',
  'delete from gw_ledger_references',
  // A transfer that moved to another block, or was lost with its block.
  'update gw_payin_transfers',
  'delete from gw_payin_transfers',
  // Operator commands, and addresses that were paid before they were given out.
  'select account_id from gw_open_payins',
  'select chain_id, tx_hash, log_index from gw_payin_transfers where settled = 1',
  'update gw_unmatched_transfers',
  'update gw_deposit_sources',
  'insert into gw_deposit_sources as s (id, next_index) values ($1, 0)',
  'insert into gw_deposit_addresses (chain_id, token, xpub, skipped, address, xpub_index) values',
  'insert into gw_chain_audits',
  // The account of the other user of a transfer between two users.
  'select l.uses, case when a.id is null',
  // One row per chain: for the health of the search, for the first reading, and for a lagging node.
  'select c.chain_id, c.scanned_at',
  'update gw_chain_cursors set next_block = $1, head_block',
]
/** Their cost grows with what there is to fold. */
const FOLDING =
  /^(select distinct ledger_account as id from gw_ledger_tail|insert into gw_ledger_accounts \(account_id, id\) select distinct|select a\.id from gw_ledger_accounts|with folded)/

/** Makes one pay-in old enough to be deleted. */
const ENDED_LONG_AGO = `update gw_payins set due_at = $1 where (account_id, id) = (select account_id, id from gw_payins
  where status = 'expired' and own_receiver = 0 and transfer_tx is null limit 1)`

/** A statement without line breaks, with the table in place of its partition, as the sources spell it or as it was sent. */
function plain(text: string): string {
  return text
    .replace(/@\$\d+|_p\d+of\d+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

t.setTimeout(1_800_000)

t.test('every statement uses an index among very many pay-ins', async t => {
  const evm = await startEvm()
  t.teardown(() => evm.stop())
  const clock = manualClock()
  const chain = await payinChain(evm, clock)
  const stores = await hostStoresEnv('postgres')
  const [usdc, eurc] = JSON.parse(chain.env['PAYIN_RECEIVERS'] as string) as [object, object]
  const { publicExtendedKey: xpub } = HDKey.fromMasterSeed(new Uint8Array(32).fill(1)).derive("m/44'/60'/0'")
  const PAYIN_RECEIVERS = JSON.stringify([{ ...usdc, xpub }, eurc])
  const env = { ...stores.env, ...chain.env, PAYIN_RECEIVERS, RATE_LIMITS: 'off', LOG_LEVEL: 'error' }
  const url = stores.env['DATABASE_URL'] as string

  const startedEmpty = performance.now()
  const first = await spawnHost('unused', env)
  const emptyMs = performance.now() - startedEmpty
  const made = await chainUser((path, options) => request(first.url, path, options), 1, Date.now())
  await first.stop('SIGTERM')
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  const { rows } = await pool.query<{ account_id: string }>('select account_id from gw_users')
  const accountId = rows[0]?.account_id as string
  t.teardown(async () => {
    await pool.end()
    await stores.drop()
  })
  const filled = performance.now()
  const newestAt = await fillTables(url, {
    accountId,
    chainId: evm.chainId,
    token: chain.usdc.address,
    receiver: chain.receiver,
  })
  t.comment(`measured ${((performance.now() - filled) / 1000).toFixed(1)} s to fill ${MANY_ROWS} of each`)

  const started = performance.now()
  const ready = await spawnHost('unused', env)
  const readyMs = Math.round(performance.now() - started)
  await ready.stop('SIGTERM')
  // On this machine at this time: reading all rows would take longer than anything else in a start.
  t.ok(readyMs < 3 * emptyMs, `ready after ${readyMs} ms, on empty tables after ${Math.round(emptyMs)} ms`)
  t.comment(`measured ready after ${readyMs} ms`)

  // An address that is no longer configured and was never used.
  const withdrawn = 'insert into gw_deposit_addresses (chain_id, address, token) values ($1, $2, $3)'
  await pool.query(withdrawn, [evm.chainId, `0x${'e'.repeat(40)}`, chain.usdc.address])
  const explained = explainQueries(text => OURS.test(text) && !/^\s*(create|alter|drop|vacuum)/.test(text), 3)
  t.teardown(() => explained.stop())
  // After the other host's lease of the chain.
  clock.set(Date.now() + 60_000)
  const host = await openTestHost(t, env, clock)
  const user = moneyUser(host.send, { token: await sessionOf(host.send, made.key) })
  const ofBalance = 'from gw_ledger_accounts a where a.account_id = $1'
  const account = {
    balance: await buffersOfRead(ofBalance, () => user.balance()),
    list: {} as Record<string, number>,
  }
  const unfolded = explained.found.findLastIndex(({ text }) =>
    plain(text).startsWith('select a.id, a.balance_cents +'),
  )
  await host.chore('fold balances')
  // What autovacuum does by itself.
  await pool.query('vacuum gw_ledger_tail')
  const folded = await buffersOfRead(ofBalance, () => user.balance())
  // Of few rows that are left, Postgres may read and sort all.
  const nearOldest = 20_000
  for (const path of ['/subscriptions?', '/subscriptions/payins?', '/subscriptions/payins?status=settled&']) {
    const table = path === '/subscriptions?' ? 'gw_subscriptions' : 'gw_payins'
    for (const after of [0, MANY_ROWS - 100_000, nearOldest]) {
      const cursor =
        after === 0
          ? ''
          : `&cursor=${cursorOf(`at:${path.startsWith('/subscriptions/') ? newestAt - MANY_ROWS + after : after}:1`)}`
      account.list[`${path} after ${after}`] = await buffersOfRead(
        `from ${table} where account_id = $1`,
        () => user.read(`${path}limit=50${cursor}`),
      )
    }
  }
  const lists = Object.values(account.list)
  for (const three of [lists.slice(0, 3), lists.slice(3, 6), lists.slice(6)]) {
    t.ok(Math.max(...three) - Math.min(...three) <= 12, `a page costs the same everywhere: ${three.join()}`)
  }
  t.ok(folded <= 10 && folded < account.balance, `a balance is short to read once it is folded: ${folded}`)
  await everything()
  explained.stop()
  checkPlans()

  function cursorOf(place: string): string {
    return Buffer.from(place).toString('base64url')
  }

  /** The cost of the last statement with such a text after `act`. The host's own rounds send others meanwhile. */
  async function buffersOfRead(from: string, act: () => Promise<unknown>): Promise<number> {
    await act()
    const read = explained.found.findLast(({ text }) => plain(text).includes(from)) as StatementPlans
    return Math.max(...read.plans.map(buffersOf))
  }

  /** Every code path that sends a statement of its own. */
  async function everything(): Promise<void> {
    await user.fund(600)
    const key = randomUUID()
    const checkedOut = (): Promise<HttpResponse> =>
      user.write('/subscriptions/checkout', { plan: 'basic' }, key)
    const fromBalance = payinOf(await checkedOut())
    const confirm = '/subscriptions/payin/confirm'
    await user.write(`${confirm}-balance`, { payinId: fromBalance.id })
    // The record has expired, and the same request is repeated.
    await pool.query('delete from gw_idempotency')
    t.equal(payinOf(await checkedOut()).id, fromBalance.id)
    const { subscriptionId } = fromBalance
    const renewal = payinOf(await user.write('/subscriptions/payin', { subscriptionId }))
    const poor = await chainUser(host.send, 2, clock.now())
    const tooDear = payinOf(await poor.write('/subscriptions/checkout', { plan: 'basic' }))
    t.equal((await poor.write(`${confirm}-balance`, { payinId: tooDear.id })).status, 400)
    const own = payinOf(
      await poor.write('/subscriptions/payin', { amountCents: 77, asset: 'EURC', payFrom: 'anywhere' }),
    )
    await chain.pay(1, own.payTo?.address as string, BigInt(own.payTo?.units as string), chain.eurc)
    payinOf(await poor.write('/subscriptions/payin', { amountCents: 78, asset: 'USDC', payFrom: 'anywhere' }))
    await chain.pay(1, own.payTo?.address as string, 5n, chain.eurc)
    const named = payinOf(await user.write('/subscriptions/payin', { plan: 'pro' }))
    const txHash = await chain.pay(1, chain.receiver, BigInt(named.payTo?.units as string))
    await mine(evm.url)
    t.equal(payinOf(await user.write(confirm, { payinId: named.id, txHash })).status, 'settled')
    const popular = payinOf(await user.write('/subscriptions/payin', { plan: 'basic' }))
    await chain.pay(1, chain.receiver, BigInt(popular.payTo?.units as string))
    await mine(evm.url, 2)
    await host.chore(`watch chain ${evm.chainId}`)
    // Both have the same price, so the older one is paid.
    t.match(await poor.payin(own.id), { status: 'settled' })
    t.match(await user.payin(renewal.id), { status: 'settled' })
    await host.chore('measure deposit addresses')
    await mine(evm.url, 30)
    await host.chore(`watch chain ${evm.chainId}`)
    clock.advance(300_000)
    await host.chore(`record unmatched transfers of chain ${evm.chainId}`)
    await host.chore('expire pay-ins')
    await pool.query(ENDED_LONG_AGO, [clock.now() - 31 * 86_400_000])
    await host.chore('collect garbage')
    await host.chore('fold balances')
    t.equal((await user.write(`/subscriptions/${subscriptionId}/cancel`, {})).status, 200)
    t.equal((await user.write('/contracts', {})).status, 200)
    t.same(host.failures, [])
  }

  function checkPlans(): void {
    const sent = new Set(explained.found.map(({ text }) => plain(text)))
    const missing = spelled().filter(start => ![...sent].some(text => text.startsWith(start)))
    t.same(
      missing.filter(text => !ELSEWHERE.some(start => text.startsWith(start))),
      [],
      'every statement of the sources was sent',
    )
    t.same(
      ELSEWHERE.filter(start => !missing.some(text => text.startsWith(start))),
      [],
      'those that are excepted are in the sources, and were not sent',
    )
    for (const { text, plans } of explained.found.toSpliced(unfolded, 1)) {
      if (FOLDING.test(plain(text))) continue
      for (const [at, plan] of plans.entries()) {
        const line = `${['custom', 'generic'][at]} ${describe(plan)}: ${plain(text).slice(0, 110)}`
        const whole = nodesOf(plan).filter(
          node =>
            node['Node Type'] === 'Seq Scan' &&
            BIG.test(node['Relation Name'] ?? '') &&
            buffersOf(node) > FEW_BUFFERS,
        )
        t.same(whole, [], `no whole table: ${line}`)
        const filtered = Math.max(...nodesOf(plan).map(node => node['Rows Removed by Filter'] ?? 0))
        t.ok(filtered <= MAX_FILTERED, `${filtered} rows read and filtered out: ${line}`)
        t.ok(buffersOf(plan) <= MAX_BUFFERS, line)
      }
    }
    const most = Math.max(
      ...explained.found
        .toSpliced(unfolded, 1)
        .filter(({ text }) => !FOLDING.test(plain(text)))
        .flatMap(({ plans }) => plans.map(buffersOf)),
    )
    t.comment(`measured ${sent.size} statements by index, ${most} buffers at most`)
    t.comment(
      `measured buffers of a balance: ${account.balance}, folded ${folded}; of pages: ${JSON.stringify(account.list)}`,
    )
  }
})

function describe(plan: PlanNode): string {
  const scans = nodesOf(plan).filter(node => node['Node Type'].includes('Scan'))
  const names = scans.map(node => node['Index Name'] ?? `${node['Node Type']} ${node['Relation Name'] ?? ''}`)
  return `${names.join(' + ') || plan['Node Type']}, ${buffersOf(plan)} buffers`
}
