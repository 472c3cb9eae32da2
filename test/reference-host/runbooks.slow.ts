// The commands of docs/runbooks, run as they are written on a host with the problem that each page is about.
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import t, { type Test } from 'tap'
import { postgresBinaries, redisBinaries } from '../harness/binaries.ts'
import { bearer, bootstrapUser, openTestHost, type TestHost } from '../harness/host.ts'
import { hostStoresEnv } from '../harness/host-stores.ts'
import { PROGRAMS } from '../harness/programs.ts'
import { turnOf } from '../harness/turns.ts'
import { temporaryFolder } from '../harness/files.ts'

const FOLDER = 'docs/runbooks'
const run = promisify(execFile)
t.setTimeout(1_800_000)

const programs = temporaryFolder(t)
// Stands for npx, whose start takes longer than most commands. `npx gatewright` itself is tried by `test/workspace/printed-commands.slow.ts`.
const command = join(programs, 'npx')
writeFileSync(
  command,
  `#!/bin/sh\nunset NODE_OPTIONS\n[ "$1" = gatewright ] || exit 1\nshift\nexec '${process.execPath}' '${resolve(PROGRAMS.command)}' "$@"\n`,
)
chmodSync(command, 0o755)
const [postgres, redis] = [postgresBinaries(), redisBinaries()]

/** Pages take turns: each drill starts a host, and each of its commands a process. */
const drilled = new Set(
  turnOf(
    readdirSync(FOLDER).filter(name => name !== 'README.md'),
    5,
  ),
)

/** The drill of the page that its title begins with, on the days of that page. */
function drillOf(title: string, run: (t: Test) => Promise<void>): void {
  if (drilled.has(`${title.split(':')[0]}.md`)) void t.test(title, run)
}

/** A host on Postgres and Redis, its environment, and what runs the commands of a page there. */
async function drill(t: Test) {
  const { env, drop } = await hostStoresEnv('postgres+redis')
  t.teardown(drop)
  const host = await openTestHost(t, env)
  const pool = new pg.Pool({ connectionString: env['DATABASE_URL'], max: 1 })
  t.teardown(() => pool.end())
  const follow = async (page: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
    const text = readFileSync(join(FOLDER, `${page}.md`), 'utf8')
    const steps = [...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, code]) => code)
    t.ok(steps.length > 0, `${page} has commands`)
    const script = steps.join('\n')
    const path = [
      programs,
      dirname(process.execPath),
      postgres.directory,
      redis.directory,
      process.env['PATH'],
    ]
    const { stdout } = await run('sh', ['-euxc', script], {
      env: {
        ...postgres.env,
        ...redis.env,
        ...env,
        // psql reads a plus sign of a URL as it is.
        DATABASE_URL: env['DATABASE_URL']?.replaceAll('+', '%20'),
        ...variables,
        URL: host.url,
        HOME: programs,
        PATH: path.join(delimiter),
      },
    })
    return stdout
  }
  return { host, env, pool, follow }
}

/** Calls `attempt` until it returns true. */
async function until(attempt: () => Promise<boolean>): Promise<void> {
  while (!(await attempt()));
}

const newSession = (host: TestHost, key: string) =>
  host.send('/user/v1/sessions', { body: {}, headers: { 'x-user-key': key } })
const statusOf = async (host: TestHost, token: string): Promise<number> =>
  (await host.send('/user/v1/keys', { headers: bearer(token) })).status

drillOf('leaked-key: the key and its sessions end, and its owner and the partner get new ones', async t => {
  const { host, follow } = await drill(t)
  const user = await bootstrapUser(host.send)
  const output = await follow('leaked-key', { LEAKED_KEY: user.key, ACCOUNT: user.userId })
  t.match(output, /gw_sandbox_partner_\w{16}_\w+/)
  t.equal((await newSession(host, user.key)).status, 401)
  await until(async () => (await statusOf(host, user.token)) === 401)
  t.equal((await bootstrapUser(host.send)).key.length, user.key.length)
})

drillOf('lost-pepper: hosts with new secrets serve users who sign in again', async t => {
  const { host, env, follow } = await drill(t)
  const user = await bootstrapUser(host.send)
  const [, , , partnerKeyId = ''] = host.partnerKey.split('_')
  const [pepper, encryption, data] = [0, 1, 2].map(() => randomBytes(32).toString('hex')) as [
    string,
    string,
    string,
  ]
  const output = await follow('lost-pepper', {
    NEW_PEPPER: pepper,
    NEW_ENCRYPTION_KEY: encryption,
    NEW_DATA_KEY: data,
    OLD_PARTNER_KEY_ID: partnerKeyId,
  })
  const [partnerKey = ''] = /gw_sandbox_partner_\w{16}_\w+/.exec(output) ?? []
  const next = await openTestHost(t, {
    ...env,
    KEY_PEPPERS: `p2:${pepper}`,
    SIGNING_KEY_ENCRYPTION_KEY: encryption,
    DATA_KEYS: `d2:${data},${env['DATA_KEYS']}`,
  })
  t.equal((await newSession(next, user.key)).status, 503, 'a key under the lost pepper')
  t.equal(await statusOf(next, (await bootstrapUser(next.send)).token), 200)
  const resolved = await next.send('/partner/v1/users/resolve', {
    body: { userId: 'ann' },
    headers: { 'x-partner-key': partnerKey },
  })
  t.equal(resolved.status, 200)
})

drillOf('signing-key: sessions of a revoked signing key fail, and keys get new ones', async t => {
  const { host, follow } = await drill(t)
  const user = await bootstrapUser(host.send)
  const [header = ''] = user.token.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string }
  await follow('signing-key', { KID: kid })
  await until(async () => (await statusOf(host, user.token)) === 401)
  const session = await newSession(host, user.key)
  t.equal(await statusOf(host, session.body['sessionToken'] as string), 200)
})

drillOf('redis-lost: the commands show whether Redis is fit for hosts', async t => {
  const { host, follow } = await drill(t)
  await host.chore('measure')
  const output = await follow('redis-lost')
  t.match(output, '"redis":"ok"')
  t.match(output, 'PONG')
  t.match(output, 'noeviction')
  t.match(output, 'master')
})

drillOf('database-failed-over: the commands show one primary and books that are right', async t => {
  const { follow } = await drill(t)
  const output = await follow('database-failed-over')
  t.match(output, '"database":"ok"')
  t.match(output, /f\|20\d\d-/)
  t.match(output, 'The database has lost nothing')
})

drillOf('history-lost: hosts are ready again when the loss was accepted', async t => {
  const { host, pool, follow } = await drill(t)
  const readiness = async (): Promise<number> => (await host.send('/readyz')).status
  await until(async () => (await readiness()) === 200)
  await pool.query('update gw_heartbeats set beats = beats - 1')
  await until(async () => (await readiness()) === 503)
  t.match(await follow('history-lost'), 'Accepted: 1')
  await until(async () => (await readiness()) === 200)
})

drillOf('restored: all sessions of the restored database end', async t => {
  const { host, follow } = await drill(t)
  const user = await bootstrapUser(host.send)
  await until(async () => (await host.send('/readyz')).status === 200)
  const since = new Date(Date.now() - 60_000).toISOString()
  t.match(await follow('restored', { SINCE: since }), 'Accepted')
  await until(async () => (await statusOf(host, user.token)) === 401)
  t.equal((await newSession(host, user.key)).status, 200)
})

drillOf('disk-full: the commands show sizes of disk and tables', async t => {
  const { follow } = await drill(t)
  const output = await follow('disk-full')
  t.match(output, /\d+%/)
  t.match(output, /^gw_\w+\|\d+ (?:kB|bytes)/m)
})

drillOf('provider-down: a call that waits is shown, and can be made at once', async t => {
  const { host, pool, follow } = await drill(t)
  const { userId } = await bootstrapUser(host.send)
  const far = Date.now() + 3_600_000
  await pool.query(
    `insert into gw_jobs (account_id, kind, subject_id, due_at, attempts, created_at)
     select account_id, 'kyc.submit', 'kyc_1', $1, 3, $2 from gw_users where id = $3`,
    [far, Date.now(), userId],
  )
  await host.chore('measure')
  const output = await follow('provider-down', { KIND: 'kyc.submit', SUBJECT: 'kyc_1' })
  t.match(output, 'kyc_1')
  const { rows } = await pool.query<{ due_at: string }>('select due_at from gw_jobs')
  t.ok(
    rows.every(({ due_at: at }) => Number(at) < far),
    'it is due',
  )
})

drillOf('flood: the commands show what is refused, and to whom', async t => {
  const { host, follow } = await drill(t)
  await host.send('/user/v1/keys')
  const output = await follow('flood')
  t.match(output, /gatewright_requests_total\{operation="keys.list",status="401",code="unauthorized"\} 1/)
  t.match(output, 'gatewright_database_connections{state="waiting"} 0')
})

t.test('each page is in the table of the runbooks, and has a drill', async t => {
  const table = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  const own = readFileSync('test/reference-host/runbooks.slow.ts', 'utf8')
  for (const page of readdirSync(FOLDER).filter(name => name !== 'README.md')) {
    t.ok(table.includes(`(${page})`), page)
    t.ok(own.includes(`follow('${page.replace('.md', '')}'`), page)
  }
})
