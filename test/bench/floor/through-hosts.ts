import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { wrkBinary } from '../../harness/binaries.ts'
import { bearer, bootstrapUser, request, type HostProcess, type TestHost } from '../../harness/host.ts'
import { moneyUser } from '../../reference-host/harness/money.ts'
import type { Request } from '../load.ts'
import { timesOf, type LoadResult } from './times.ts'

const SCRIPT = fileURLToPath(new URL('../../../../test/bench/floor/payments.lua', import.meta.url))
/** Accounts that are opened at once. */
const AT_ONCE = 8

/** An account with money, whose key has a cap of a day. */
export interface Payer {
  readonly token: string
  readonly address: string
}

/** Opens accounts with play money. */
export async function openPayers(url: string, count: number): Promise<readonly Payer[]> {
  const send: TestHost['send'] = (path, options) => request(url, path, options)
  const payers: Payer[] = []
  const open = async (): Promise<void> => {
    const policy = { dailySpendCapCents: 1_000_000_000 }
    const user = await bootstrapUser(send, { sessionTtlSeconds: 86_400, policy })
    const { status, body } = await moneyUser(send, user).fund(10_000_000)
    if (status !== 200) throw new Error(`a deposit returned ${status}: ${JSON.stringify(body)}`)
    payers.push(user)
  }
  while (payers.length < count)
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - payers.length) }, open))
  return payers
}

/** A payment of one of the accounts to the next one. */
export function paymentOf(payers: readonly Payer[], index: number): Request {
  const [payer, payee] = [index, (index + 1) % payers.length].map(at => payers[at] as Payer) as [Payer, Payer]
  return {
    path: '/user/v1/payments',
    method: 'POST',
    headers: {
      ...bearer(payer.token),
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ to: { walletAddress: payee.address }, amountCents: 1 }),
  }
}

/** Runs payments through hosts for some seconds: of the first account, or between all of them. */
export async function payThroughHosts(
  hosts: readonly HostProcess[],
  payers: readonly Payer[],
  {
    clients,
    accounts,
    seconds,
  }: { readonly clients: number; readonly accounts: number; readonly seconds: number },
): Promise<LoadResult> {
  const payments = payers.slice(0, accounts).map((_, index) => paymentOf(payers, index))
  const used = hosts.slice(0, clients)
  const all = await Promise.all(
    used.map((host, index) => {
      const share = Math.floor(clients / used.length) + (index < clients % used.length ? 1 : 0)
      return wrk(host.url, payments, share, seconds)
    }),
  )
  const made = all.reduce((sum, { payments }) => sum + payments, 0)
  return timesOf(
    all.flatMap(({ times }) => times),
    seconds,
    made,
  )
}

/** Sends payments over so many connections, and returns how many were made and how long they took in ms. */
async function wrk(
  url: string,
  payments: readonly Request[],
  connections: number,
  seconds: number,
): Promise<{ readonly payments: number; readonly times: readonly number[] }> {
  const program = wrkBinary()
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-floor-'))
  try {
    const file = join(directory, 'payments.lua')
    // A text of ASCII is written in Lua as in JSON.
    const quoted = (text: string): string => JSON.stringify(text)
    const rows = payments.map(({ path, headers = {}, body = '' }) => {
      const fields = Object.entries(headers).map(([name, value]) => `[${quoted(name)}]=${quoted(value)}`)
      return `{${quoted(path)},{${fields.join()}},${quoted(body)}}`
    })
    writeFileSync(file, `return {${rows.join(',\n')}}`)
    const load = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT, url]
    const seed = String(Math.floor(Math.random() * 1e9))
    const { stdout } = await promisify(execFile)(
      program.path,
      [...load, '--', file, `${randomUUID()}-`, seed],
      {
        env: { ...process.env, ...program.env },
        maxBuffer: 64 * 1024 * 1024,
      },
    )
    if (/connections failed|returned \d/.test(stdout)) throw new Error(stdout)
    const times = [...stdout.matchAll(/^took (\d+) (\d+)$/gm)].flatMap(([, micros, count]) =>
      Array.from({ length: Number(count) }, () => Number(micros) / 1000),
    )
    return { payments: Number(/^made (\d+)$/m.exec(stdout)?.[1]), times }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
