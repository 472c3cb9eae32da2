import { manualClock } from '@gatewright/kernel/testing'
import { rows } from '@gatewright/kernel/sql'
import { toInteger } from '@gatewright/kernel/internal/sql'
import t from 'tap'
import { startOpenHost } from '../harness/open-host.ts'

const clock = manualClock()
const { host, db, close } = await startOpenHost(clock)
t.teardown(close)

const count = async (table: string): Promise<number> =>
  toInteger((await rows(db, `select count(*) as n from ${table}`))[0]?.['n'])

t.test('one round deletes all rows that are due, however many came since the last one', async t => {
  const numbers = `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)`
  const requests = `insert into gw_cli_requests (request_id, token_digest, code, status, client_address, started_at, expires_at)
    ${numbers} select 'request' || n, 'token' || n, 'code', 'started', 'address', 0, 1 from numbers`
  const messages = `insert into gw_provider_messages (provider, message_id, received_at)
    ${numbers} select 'provider', 'message' || n, 0 from numbers`
  const audit = `insert into gw_audit (route, id, account, at, expires_at, entry)
    ${numbers} select 'en', 'entry' || n, 'account', 0, 1, '{}' from numbers`
  for (const text of [requests, messages, audit]) await rows(db, text)
  await host.chore('collect garbage')
  for (const table of ['gw_cli_requests', 'gw_provider_messages']) t.equal(await count(table), 0)
  t.equal(await count("gw_audit where account = 'account'"), 0)
  t.same(host.failures, [])
})
