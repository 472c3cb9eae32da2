// Commands on rows that a host keeps: users, sealed columns and jobs. On both databases.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { createSealer, type RingKey } from '#packages/host/dist/records/sealed.js'
import { sealedColumns } from '#packages/reference-host/dist/product/sealed-columns.js'
import t, { type Test } from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright as runGatewright, jsonOf, type Ran } from '../../harness/gatewright.ts'
import { keptHostStoresEnv } from '../../harness/host-stores.ts'

const key = (id: string): RingKey => ({ id, secret: randomBytes(32) })
const [old, current, gone] = [key('old'), key('new'), key('gone')]
const ring = (...keys: RingKey[]): Record<string, string> => ({
  DATA_KEYS: keys.map(({ id, secret }) => `${id}:${Buffer.from(secret).toString('hex')}`).join(','),
})

interface World {
  readonly db: SqlClient
  run(args: readonly string[], keys?: Record<string, string>): Promise<Ran>
  json(...args: string[]): Promise<unknown>
  /** Adds a user with personal data under a key; returns its account. */
  addUser(id: string, under?: RingKey): Promise<string>
  /** Adds an endpoint of webhooks with two secrets under a key. */
  addEndpoint(id: string, under?: RingKey): Promise<void>
}

async function openWorld(t: Test, stores: 'embedded' | 'postgres'): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-records-'))
  const { env: storesEnv, drop } = await keptHostStoresEnv(stores)
  const env = { ...storesEnv, DATA_DIR: dataDir, PORT: '0' }
  const run: World['run'] = (args, keys = ring(current, old)) => runGatewright(args, { ...env, ...keys })
  t.match(await run(['migrate']), { code: 0 })
  const { db, close } = openDatabaseOf(env)
  t.teardown(async () => {
    await close()
    await drop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return {
    db,
    run,
    json: async (...args) => jsonOf(await run([...args, '--json'])),
    async addUser(id, under = old) {
      const sealer = createSealer([under])
      const accountId = `acc_${id}`
      const seal = (column: keyof typeof sealedColumns): string =>
        sealer.seal(sealedColumns[column].purpose, accountId, `${column} of ${id}`)
      const user = `insert into gw_users (id, account_id, principal, kyc_status, created_at, profile, data_key)
        values ($1, $2, $1, 'pending', 1, $3, $4)`
      await rows(db, user, [`usr_${id}`, accountId, seal('profile'), seal('dataKey')])
      const kyc = `insert into gw_kyc_applications (account_id, id, fields, completion_link, submitted_at)
        values ($1, $2, $3, 'https://kyc.example/1', 1)`
      await rows(db, kyc, [accountId, `kyc_${id}`, seal('kycFields')])
      return accountId
    },
    async addEndpoint(id, under = old) {
      const sealer = createSealer([under])
      const secrets = (['webhookSecret', 'previousWebhookSecret'] as const).map(column =>
        sealer.seal(sealedColumns[column].purpose, id, `${column} of ${id}`),
      )
      const text = `insert into gw_webhook_endpoints
        (id, recipient_id, url, secret, previous_secret, sent_to, due_at, created_at)
        values ($1, 'operator', 'https://shop.example', $2, $3, '', 1, 1)`
      await rows(db, text, [id, ...secrets])
    },
  }
}

for (const stores of ['embedded', 'postgres'] as const) {
  void t.test(stores, async t => {
    const world = await openWorld(t, stores)
    const { db, run, json, addUser, addEndpoint } = world
    const stored = async (accountId: string): Promise<Record<string, unknown>> => {
      const text = `select u.profile, u.data_key, k.fields, k.completion_link from gw_users u
        join gw_kyc_applications k on k.account_id = u.account_id where u.account_id = $1`
      return { ...(await rows(db, text, [accountId]))[0] }
    }

    await t.test('reseals personal data under the first key, once', async t => {
      const accounts = [await addUser('a'), await addUser('b'), await addUser('c', current)]
      const endpoints = ['we_a', 'we_b', 'we_c']
      for (const id of endpoints) await addEndpoint(id, id === 'we_c' ? current : old)
      const counts = (resealed: number, already: number) =>
        [
          'users.profile',
          'users.data_key',
          'kyc_applications.fields',
          'webhook_endpoints.secret',
          'webhook_endpoints.previous_secret',
        ].map(column => ({
          column,
          resealed,
          current: already,
          unreadable: [],
        }))
      t.same(await json('data-keys', 'rewrap'), counts(2, 1))
      const reader = createSealer([current])
      for (const accountId of accounts) {
        const { profile, data_key: dataKey, fields } = await stored(accountId)
        const id = accountId.slice(4)
        t.equal(reader.open('profile', accountId, profile as string), `profile of ${id}`)
        t.equal(reader.open('data key', accountId, dataKey as string), `dataKey of ${id}`)
        t.equal(reader.open('kyc application', accountId, fields as string), `kycFields of ${id}`)
      }
      const text = 'select id, secret, previous_secret from gw_webhook_endpoints order by id'
      t.same(
        (await rows(db, text)).map(row =>
          ['secret', 'previous_secret'].map(column =>
            reader.open('webhook secret', row['id'] as string, row[column] as string),
          ),
        ),
        endpoints.map(id => [`webhookSecret of ${id}`, `previousWebhookSecret of ${id}`]),
      )
      t.same(await json('data-keys', 'rewrap'), counts(0, 3))
      t.match(await run(['data-keys', 'rewrap']), { output: /^users\.profile +0 +3$/m })
    })

    await t.test('leaves what no key opens as it is, and names it', async t => {
      const accountId = await addUser('lost', gone)
      const before = await stored(accountId)
      await addUser('d')
      const { code, output } = await run(['data-keys', 'rewrap'])
      t.equal(code, 1)
      t.match(output, /^users\.profile: 1 rows left .*\(1 resealed\).*no key "gone".*Accounts: acc_lost$/m)
      t.notMatch(output, /profile of/)
      t.same(await stored(accountId), before)
      t.match(await run(['data-keys', 'rewrap'], ring(current, old, gone)), { code: 0 })
    })

    await t.test('shows which personal data is stored, and none of it', async t => {
      await addUser('shown')
      const shown = await run(['users', 'show', 'acc_shown', '--json'])
      t.match(jsonOf(shown), {
        userId: 'usr_shown',
        accountId: 'acc_shown',
        kycStatus: 'pending',
        kycId: 'kyc_shown',
        hasProfile: true,
        hasKycFields: true,
        hasDataKey: true,
        moneyCents: 0,
        openCards: 0,
      })
      t.notMatch(shown.output, /old\.|of shown|https/)
      t.match(await run(['users', 'show', 'usr_nobody']), { code: 1, output: /no user or account/ })
    })

    await t.test('erases personal data, after it has asked', async t => {
      const accountId = await addUser('e')
      t.match(await run(['users', 'erase', 'usr_e']), { code: 2, output: /needs --yes/ })
      t.same(await json('users', 'erase', 'usr_e', '--yes'), { userId: 'usr_e', erased: true, accountId })
      const blank = { profile: null, data_key: null, fields: null, completion_link: null }
      t.same(await stored(accountId), blank)
      t.match(await json('users', 'show', 'usr_e'), {
        hasProfile: false,
        hasKycFields: false,
        hasDataKey: false,
        kycStatus: 'pending',
      })
      t.match(await run(['users', 'erase', 'usr_e', '--yes']), { code: 0, output: /usr_e is erased/ })
      t.match(await run(['users', 'erase', 'usr_nobody', '--yes']), { code: 1, output: /no user usr_nobody/ })
    })

    await t.test('refuses to erase a user with money, wherever it is, or with an open card', async t => {
      const accountId = await addUser('f')
      const other = await addUser('other')
      const before = await stored(accountId)
      const refused = async (reason: RegExp): Promise<void> => {
        t.match(await run(['users', 'erase', 'usr_f', '--yes']), { code: 1, output: reason })
        t.same(await stored(accountId), before)
      }
      const account = `insert into gw_ledger_accounts (account_id, id, balance_cents) values ($1, $2, $3)`
      await rows(db, account, [other, `held:${other}:cards`, 1000])
      for (const name of [`held:${accountId}:cards`, `contract:${accountId}:ctr_1`]) {
        await rows(db, account, [accountId, name, 7])
        await refused(/usr_f has 0\.07 USD and 0 open cards/)
        await rows(db, 'update gw_ledger_accounts set balance_cents = 0 where id = $1', [name])
      }
      const card = `insert into gw_cards (id, account_id, position, last4, status, expiration_month, expiration_year,
        created_at) values ('card_f', $1, 1, '4242', 'locked', 1, 2030, 1)`
      await rows(db, card, [accountId])
      await refused(/0\.00 USD and 1 open cards/)
      await rows(db, "update gw_cards set status = 'canceled' where id = 'card_f'")
      await run(['ledger', 'credit', 'usr_f', '0.05', 'gift', '--yes'])
      await refused(/0\.05 USD/)
    })

    await t.test('lists jobs, and makes one due at once', async t => {
      t.match(await run(['jobs', 'list']), { code: 0, output: /^No jobs\.$/m })
      const job = `insert into gw_jobs (account_id, kind, subject_id, due_at, attempts, created_at) values ('acc_1', $1, $2, $3, 3, 1)`
      const later = Date.now() + 600_000
      await rows(db, job, ['kyc.submit', 'kyc_a', later])
      t.match(await json('jobs', 'list'), [
        {
          accountId: 'acc_1',
          kind: 'kyc.submit',
          subjectId: 'kyc_a',
          attempts: 3,
          dueAt: new Date(later).toISOString(),
        },
      ])
      t.match(await run(['jobs', 'retry', 'kyc.submit', 'kyc_b']), {
        code: 1,
        output: /no job kyc\.submit kyc_b/,
      })
      t.match(await run(['jobs', 'retry', 'kyc.submit', 'kyc_a']), { code: 0, output: /is due/ })
      const [{ dueAt } = { dueAt: '' }] = (await json('jobs', 'list')) as { dueAt: string }[]
      t.ok(Date.parse(dueAt) <= Date.now())
    })
  })
}
