import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atExit } from '../../harness/at-exit.ts'
import { startChild } from '../../harness/child.ts'
import { bearer, request, type TestHost } from '../../harness/host.ts'
import { hostStoresEnv } from '../../harness/host-stores.ts'
import { runNode } from '../../harness/node.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { extent } from '../extent.ts'
import { openPayers, paymentOf, type Payer } from '../floor/through-hosts.ts'
import { RATE_LIMITS } from '../host-lines.ts'
import type { Request } from '../load.ts'
import { cardUser } from '../../reference-host/harness/card-payments.ts'
import { cpuOfProcess, postgresCpu } from '../shared-stores/cpu.ts'
import { copyRows } from './copies.ts'

const PAYMENTS = extent(40, 2)
const PAGES = extent(20, 1)
const CHORE_ROUNDS = extent(5, 1)

/** A host on a database whose tables were filled. */
export interface Grown {
  readonly stores: 'postgres' | 'embedded'
  /** How many rows the filled tables have. */
  readonly rows: Readonly<Record<string, number>>
  /** What is measured: a payment, lists by their paths, chores by their names, and the check of the ledger. */
  readonly subjects: readonly string[]
  /** Time of one call in ms, and CPU of the host and of Postgres in microseconds. */
  measure(subject: string): Promise<{ readonly ms: number; readonly micros: number }>
  close(): Promise<void>
}

interface RunningHost {
  readonly url: string
  readonly pid: number
  readonly chores: readonly string[]
  runChore(name: string): Promise<unknown>
  stop(): Promise<unknown>
}

async function startHost(env: Readonly<Record<string, string>>): Promise<RunningHost> {
  const child = startChild(new URL('./host.child.js', import.meta.url), [JSON.stringify(env)])
  const [{ url, chores }] = (await once(child, 'message')) as [Pick<RunningHost, 'url' | 'chores'>]
  return {
    url,
    chores,
    pid: child.pid as number,
    runChore(name) {
      const done = once(child, 'message')
      child.send(name)
      return done
    },
    stop() {
      const ended = once(child, 'exit')
      child.disconnect()
      return ended
    },
  }
}

const sendTo =
  (url: string): TestHost['send'] =>
  (path, options) =>
    request(url, path, options)

async function ask(url: string, { path, ...asked }: Request): Promise<void> {
  const { status, body } = await request(url, path, asked)
  if (status !== 200) throw new Error(`${path} got ${status}: ${JSON.stringify(body)}`)
}

/** Does everything once whose rows are copied, most of it as the first of two accounts. */
async function makeRows(host: RunningHost): Promise<readonly Payer[]> {
  const payers = await openPayers(host.url, 2)
  const { token } = payers[0] as Payer
  const user = cardUser(sendTo(host.url), token)
  const { id } = await user.pay(await user.card())
  await user.later(id, 'clear')
  await user.write('/subscriptions/payin', { amountCents: 2500 })
  await user.write('/bills', { payee: 'City Power', amountCents: 100, dueAt: '2030-01-01' })
  for (let payment = 0; payment < 4; payment++) await ask(host.url, paymentOf(payers, payment % 2))
  for (const chore of ['write requests', 'publish events', 'fold balances']) await host.runChore(chore)
  return payers
}

/** The lists of users that have pages, and take no id. */
async function listsOf(url: string): Promise<readonly string[]> {
  const { body } = await request(url, '/openapi.json')
  const paths = body['paths'] as Record<
    string,
    { get?: { parameters?: readonly { name?: string; $ref?: string }[] } }
  >
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const isPaged = get?.parameters?.some(({ name, $ref }) => name === 'cursor' || /cursor/i.test($ref ?? ''))
    return path.startsWith('/user/v1/') && !path.includes('{') && isPaged === true ? [path] : []
  })
}

/** Starts a host on stores of its own, whose largest table has about so many rows. */
export async function openGrown(stores: Grown['stores'], most: number): Promise<Grown> {
  const { env: given, drop } = await hostStoresEnv(stores)
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-growth-'))
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  const forget = atExit(remove)
  const env = { PORT: '0', DATA_DIR: folder, RATE_LIMITS, ...given }
  const first = await startHost(env)
  const payers = await makeRows(first)
  await first.stop()
  const rows = await copyRows(given['DATABASE_URL'] ?? join(folder, 'host.sqlite'), most)
  const host = await startHost(env)
  const postgres =
    stores === 'postgres' ? await postgresCpu(process.env['TEST_POSTGRES_URL'] as string) : undefined
  const lists = await listsOf(host.url)
  const chores = host.chores.filter(name => name !== 'deliver events')
  const headers = bearer((payers[0] as Payer).token)
  const check = async (): Promise<void> => {
    const { code, output } = await runNode([PROGRAMS.command, 'ledger', 'check', '--full'], {
      PATH: process.env['PATH'],
      ...env,
    })
    if (code !== 0) throw new Error(output)
  }
  const CHECK = 'ledger check --full'
  const times = (subject: string): number => {
    if (subject === 'payment') return PAYMENTS
    if (lists.includes(subject)) return PAGES
    return subject === CHECK ? 1 : CHORE_ROUNDS
  }
  const run = (subject: string, index: number): Promise<unknown> => {
    if (subject === 'payment') return ask(host.url, paymentOf(payers, index % 2))
    if (lists.includes(subject)) return ask(host.url, { path: `${subject}?limit=50`, headers })
    return subject === CHECK ? check() : host.runChore(subject)
  }
  const cpu = async (): Promise<number> => cpuOfProcess(host.pid) + ((await postgres?.read()) ?? 0)
  return {
    stores,
    rows,
    // On SQLite the check is for a stopped host.
    subjects: ['payment', ...lists, ...chores, ...(postgres ? [CHECK] : [])],
    async measure(subject) {
      const count = times(subject)
      const [before, started] = [await cpu(), performance.now()]
      for (let index = 0; index < count; index++) await run(subject, index)
      const ms = (performance.now() - started) / count
      return { ms, micros: ((await cpu()) - before) / count }
    },
    async close() {
      await host.stop()
      await postgres?.close()
      remove()
      forget()
      await drop()
    },
  }
}
