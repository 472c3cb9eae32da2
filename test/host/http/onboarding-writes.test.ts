// A sample write with onboarding requirements, mounted as the host mounts its own, over both SQL stores.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createTransactionalIdempotency } from '@gatewright/idempotency-store/transactional'
import { migrateIdempotency, postgresTransactionalIdempotency } from '@gatewright/idempotency-store/postgres'
import { migrateIdempotency as sqliteRecords, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { createAliases } from '@gatewright/legacy-alias-router'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'
import t, { type Test } from 'tap'
import { bench } from '../../scope-guard/issuer.ts'
import { internals } from '../../harness/internals.ts'
import { openPostgres, openSqlite } from '../../harness/stores.ts'

const { createApp, ledgerWrite, entryLimits, migrateHost, onboardingRequirements, agreementAcceptances } =
  internals
type Operation = ReturnType<typeof ledgerWrite>
type Requirements = ReturnType<typeof onboardingRequirements>
type Idempotency = NonNullable<Parameters<typeof ledgerWrite>[0]['idempotency']>

const AGREEMENTS = [{ id: 'terms', text: 'I accept.', links: [] }]
const EMPTY = { type: 'object', properties: {} } as unknown as Parameters<typeof ledgerWrite>[0]['response']
const never = async (): Promise<never> => {
  throw new Error('not used')
}

/** `POST /<surface>/v1/things/<way>`: inserts a row, and prepares before it. */
function sample(surface: Surface, idempotency: Idempotency, prepared: string[]): Operation {
  return ledgerWrite({
    id: `things.${idempotency}`,
    title: 'Make a thing',
    surface,
    method: 'POST',
    scopes: [],
    paths: [`/${surface}/v1/things/${idempotency}`],
    credential: 'session',
    response: EMPTY,
    example: { response: {} },
    spends: false,
    requires: 'onboarding',
    idempotency,
    async prepare({ caller }) {
      prepared.push(caller.session.accountId)
      return allow(undefined)
    },
    async write({ caller }, { tx, effectId }) {
      await rows(tx, 'insert into things (id) values ($1)', [effectId])
      return allow({ data: { madeFor: caller.session.accountId }, summary: 'Made.' })
    },
  })
}

async function setUp(t: Test, dialect: SqlDialect, surfaces: readonly Surface[]) {
  const open = dialect === 'postgres' ? openPostgres : openSqlite
  const { connections, close } = await open(1, async client => {
    await migrateHost(client)
    await (dialect === 'postgres' ? migrateIdempotency : sqliteRecords)(client)
    await client.query('create table things (id text primary key)', [])
    const text = `insert into gw_users (id, account_id, principal, kyc_status, created_at)
      values ('usr_1', 'acc_1', 'p', 'not_submitted', 0)`
    await client.query(text, [])
  })
  const [db] = connections as [SqlClient]
  const { guard, bearer, clock } = await bench()
  const acceptances = agreementAcceptances(AGREEMENTS)
  const real = onboardingRequirements(surfaces, acceptances)
  let asked = 0
  const requirements: Requirements = {
    ...real,
    check(queries, session) {
      asked += 1
      return real.check(queries, session)
    },
  }
  const prepared: string[] = []
  const storage = (tx: SqlQueries) =>
    dialect === 'postgres' ? postgresTransactionalIdempotency(tx) : sqliteIdempotency(tx)
  const table = (['user', 'partner'] as const).flatMap(surface =>
    (['required', 'optional', 'none'] as const).map(way => sample(surface, way, prepared)),
  )
  const { listener } = createApp(table, {
    guard,
    keyGuard: guard,
    db,
    requirements,
    clock,
    scopes: internals.allScopes,
    serviceName: 'Test',
    errorsPage: 'https://errors.example',
    trustProxy: [],
    directUserKey: false,
    requireHttps: false,
    validated: async () => true,
    isHeld: async () => false,
    isPaused: async () => false,
    observe: () => {},

    operationRules: new Map(),
    operationTitles: new Map(),
    issuer: {} as never,
    spendStorage: never as never,
    providerMessages: never,
    webTokens: {} as never,
    aliases: createAliases(aliasTable),
    limits: entryLimits({ rateLimits: 'off' }, {}, clock),
    idempotency: createTransactionalIdempotency({ db, storage, clock }),
  })
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await close()
  })
  const { port } = server.address() as AddressInfo
  return {
    prepared,
    asked: () => asked,
    async make(surface: Surface, way: string, key?: string) {
      const headers = {
        authorization: await bearer({ surface }),
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      }
      const url = `http://127.0.0.1:${port}/${surface}/v1/things/${way}`
      const response = await fetch(url, { method: 'POST', headers, body: '{}' })
      const body = (await response.json()) as Record<string, unknown>
      return { status: response.status, replayed: response.headers.get('idempotency-replayed'), body }
    },
    status: (status: string) => db.query('update gw_users set kyc_status = $1', [status]),
    accept: () => acceptances.accept(db, { accountId: 'acc_1', keyId: 'key_1' }, clock.now()),
    made: async () => (await rows(db, 'select id from things')).length,
  }
}

const deniedWith = (surface: Surface, rule: string): object =>
  surface === 'user'
    ? { status: 403, replayed: null, body: { error: 'policy_blocked', rule } }
    : {
        status: 409,
        replayed: null,
        body: { error: 'invalid_state', message: new RegExp(`^${rule.replace('_', ' ')}`, 'i') },
      }

const DIALECTS: readonly SqlDialect[] = ['sqlite', 'postgres']
for (const dialect of DIALECTS) {
  for (const surface of ['user', 'partner'] as const) {
    void t.test(`denies writes until identity and agreements are done: ${surface}, ${dialect}`, async t => {
      const { make, made, status, accept, prepared, asked } = await setUp(t, dialect, ['user', 'partner'])
      const ways = [
        ['required', 'key-00000001'],
        ['optional', 'key-00000002'],
        ['optional', undefined],
        ['none', undefined],
      ] as const
      const everyWay = async (rule: string): Promise<void> => {
        for (const [way, key] of ways)
          t.match(await make(surface, way, key), deniedWith(surface, rule), `${way} ${key}`)
      }
      await everyWay('kyc_required')
      await status('pending')
      await everyWay('kyc_required')
      await status('approved')
      await everyWay('agreements_required')
      await accept()
      for (const gone of ['locked', 'denied']) {
        await status(gone)
        await everyWay('account_locked')
      }
      t.same([prepared.length, await made()], [0, 0], 'nothing was prepared or made')
      await status('approved')
      for (const [way, key] of ways) {
        const reply = await make(surface, way, key)
        t.match(reply, { status: 200, replayed: null }, `the same key works: ${way} ${key}`)
      }
      t.equal(await made(), 4)
      await status('locked')
      const before = asked()
      for (const [way, key] of ways.slice(0, 2))
        t.match(await make(surface, way, key), { status: 200, replayed: 'true' })
      t.equal(asked(), before, 'a stored response is replayed without a check of the requirements')
    })
  }
}

void t.test(
  'requirements on the partner surface alone let users write, unless the account is locked',
  async t => {
    const { make, status } = await setUp(t, 'sqlite', ['partner'])
    t.match(await make('user', 'required', 'key-00000001'), { status: 200 })
    t.match(await make('user', 'none'), { status: 200 })
    t.match(await make('partner', 'none'), deniedWith('partner', 'kyc_required'))
    for (const gone of ['locked', 'denied']) {
      await status(gone)
      t.match(await make('user', 'required', 'key-00000002'), deniedWith('user', 'account_locked'))
      t.match(await make('partner', 'none'), deniedWith('partner', 'account_locked'))
    }
  },
)
