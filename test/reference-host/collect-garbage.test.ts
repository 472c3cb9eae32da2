import { manualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { startOpenHost } from './harness/open-host.ts'

const clock = manualClock()
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)

const count = async (table: string): Promise<number> =>
  toInteger((await rows(db, `select count(*) as n from ${table}`))[0]?.['n'])

t.test('no round deletes anything while a loss of history is not accepted', async t => {
  const lost = `insert into gw_lost_history (host_id, found_at, acknowledged_at) values ('host_1', 1, 1)`
  const message = `insert into gw_provider_messages (provider, message_id, digest, received_at) values ('provider', 'lost', '', 0)`
  for (const text of [lost, message]) await rows(db, text)
  await host.chore('collect garbage')
  t.equal(await count('gw_provider_messages'), 1)
  await rows(db, 'update gw_lost_history set accepted_at = 1')
  clock.advance(1000)
  await host.chore('collect garbage')
  t.equal(await count('gw_provider_messages'), 0)
  host.failures.splice(0)
})

t.test('one round deletes all rows that are due, however many came since the last one', async t => {
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)`
  const requests = `insert into gw_cli_requests (request_id, token_digest, code, status, client_address, requested_key, started_at, expires_at)
    ${numbers} select 'request' || n, 'token' || n, 'code', 'started', 'address', '{}', 0, 1 from numbers`
  const messages = `insert into gw_provider_messages (provider, message_id, digest, received_at)
    ${numbers} select 'provider', 'message' || n, '', 0 from numbers`
  const audit = `insert into gw_audit (lane, id, account, at, expires_at, entry)
    ${numbers} select '1', 'entry' || n, 'account', 0, 1, '{}' from numbers`
  for (const text of [requests, messages, audit]) await rows(db, text)
  for (const chore of ['collect garbage', 'maintain keys']) await host.chore(chore)
  for (const table of ['gw_cli_requests', 'gw_provider_messages']) t.equal(await count(table), 0)
  t.equal(await count("gw_audit where account = 'account'"), 0)
  t.same(host.failures, [])
})
