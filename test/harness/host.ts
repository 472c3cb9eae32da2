import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve as resolvePath } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Clock } from '@gatewright/kernel'
import { readConfig, startHost, type Providers } from '@gatewright/reference-host'
import type { Decision } from '@gatewright/http'
import { atExit } from './at-exit.ts'
import { Conformance } from './conformance.ts'
import { reportHostStarts } from './run/host-starts.ts'
import { hostStores, keptHostStoresEnv } from './host-stores.ts'
import { Leaks, reportResponse, watchForLeaks } from './leaks.ts'
import { plainNode } from './node.ts'
import { PROGRAMS } from './programs.ts'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** An HTTP response with its JSON body. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  /** Errors have no `data`; a test that reads it there fails. */
  readonly body: Record<string, unknown> & { readonly data: Record<string, unknown> }
}

/** A request as tests write it; `body` is sent as JSON unless it is text. */
export interface RequestOptions {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** Connections are kept for a shorter time than a host keeps them. */
const agent = new Agent({ keepAlive: true, timeout: 2000 })

/** The response to one request. `fetch` takes four times the CPU time of a connection of Node's own. */
async function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: string | undefined,
): Promise<{ status: number; headers: Headers; text: string }> {
  // Node sends the body of a DELETE without its length otherwise.
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const sent = httpRequest(url, { method, headers: { ...length, ...headers }, agent }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const fields = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  )
  return { status: response.statusCode as number, headers: new Headers(fields), text: await text(response) }
}

/** Sends one request. Every response of the host with a body must be JSON; a CSV file is kept as text. */
export async function request(
  url: string,
  path: string,
  options: RequestOptions = {},
): Promise<HttpResponse> {
  const body =
    typeof options.body === 'string' || options.body === undefined
      ? options.body
      : JSON.stringify(options.body)
  const response = await exchange(
    new URL(url + path),
    options.method ?? (body === undefined ? 'GET' : 'POST'),
    { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...options.headers },
    body,
  )
  const isCsv = response.headers.get('content-type')?.startsWith('text/csv')
  reportResponse(url, body ?? '""', response.status, response.text)
  const value: unknown = response.text === '' ? {} : isCsv ? response.text : JSON.parse(response.text)
  return {
    status: response.status,
    headers: response.headers,
    body: withoutHelp(response.headers, value as HttpResponse['body']),
  }
}

/**
 * Checks the members of an error that say where to look, and removes them: `requestId`, which is that of the header field, and `docs`.
 * Otherwise no two errors of one cause would be equal.
 */
function withoutHelp(headers: Headers, body: HttpResponse['body']): HttpResponse['body'] {
  if (typeof body !== 'object' || typeof body['error'] !== 'string') return body
  const { requestId, docs, ...rest } = body
  if (requestId !== undefined && requestId !== headers.get('x-request-id'))
    throw new Error('an error must name the request that its header field names')
  if (docs === undefined) return rest
  // A server of `gatewright` names a page of its own.
  if (requestId === undefined && typeof docs === 'string' && !docs.includes('errors.md#'))
    return { ...rest, docs }
  const anchor = body['error'] === 'policy_blocked' ? `policy_blocked.${String(body['rule'])}` : body['error']
  if (typeof docs !== 'string' || !/\/errors\.(md|html)#/.test(docs) || !docs.endsWith(`#${anchor}`))
    throw new Error('docs of an error must lead to its code')
  return rest
}

/** What a host reports of a store or a disk whose check is late, as a busy machine makes it, and of its end. */
const IS_LATE_CHECK =
  /(?:: no answer|^redis: redis did not answer) within [\d.]+ s$|works again after [\d.]+ s$/

/** The clocks of hosts, by their `send`. */
const clocks = new WeakMap<TestHost['send'], Clock>()

/** A host in this process on a free port, with a data folder of its own. */
export interface TestHost {
  readonly url: string
  readonly partnerKey: string
  /** The address of the operator page; undefined if it is off. */
  readonly operatorUrl: string | undefined
  /** Failures the host reported: faults and unexpected errors, but no late check of a store. */
  readonly failures: unknown[]
  /** The decision event of each request, in order. */
  readonly decisions: Decision[]
  /** Runs one of the host's chores now, or all whose names begin with these words: `run jobs` runs the jobs of each kind. */
  chore(name: string): Promise<void>
  /** Sends a request, and holds the response against the host's own API description. */
  send(path: string, options?: RequestOptions): Promise<HttpResponse>
  /** Stops it. Rejects when a secret that went through it is in its errors, decision events or metrics. */
  close(): Promise<void>
}

/** Each test host has a client address of its own, so that hosts which share a Redis share no budget by address. */
const BEHIND_PROXY = { TRUST_PROXY: '127.0.0.0/8' }

/** Settings of which a description says nothing, so that hosts which differ in these publish the same. */
const NOT_DESCRIBED =
  /^(?:DATA_DIR|DATABASE_URL|REDIS_URL|KEY_PEPPERS|SIGNING_KEY_ENCRYPTION_KEY|DATA_KEYS|MIGRATE|PORT|TRUST_PROXY|RATE_LIMITS|OPERATOR_\w+|PROVIDER_WEBHOOK_SECRETS|RPC_URLS|PAYIN_RECEIVERS)$/

/** Limits that the many bootstraps of a test do not meet. */
const HIGH_LIMITS = '{"bootstrapPerAddressPerMinute":10000,"failedCredentialsPerAddressPerMinute":10000}'

/**
 * Starts a host in this process, on the stores that `TEST_HOST_STORES` names. `env` adds to the configuration. `clock` replaces the
 * wall clock, and then chores run only when the test runs them.
 */
export async function startTestHost(
  env: Record<string, string> = {},
  clock?: Clock,
  providers?: Providers,
): Promise<TestHost> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gatewright-host-'))
  const stores = await keptHostStoresEnv(hostStores(), env)
  const config = readConfig({
    PORT: '0',
    DATA_DIR: dataDir,
    RATE_LIMITS: HIGH_LIMITS,
    ...BEHIND_PROXY,
    ...stores.env,
    ...env,
  })
  if (!config.ok) throw new Error(config.problems.join('; '))
  const failures: unknown[] = []
  const decisions: Decision[] = []
  const host = await startHost(config.value, {
    observe: decision => {
      decisions.push(decision)
      if (decision.failure !== undefined) failures.push(decision.failure)
    },
    report: error => {
      if (!(error instanceof Error && IS_LATE_CHECK.test(error.message))) failures.push(error)
    },
    ...(clock ? { clock, repeatChores: false } : {}),
    ...(providers ? { providers } : {}),
  }).catch((error: unknown) => {
    rmSync(dataDir, { recursive: true, force: true })
    throw error
  })
  reportHostStarts()
  const shaping = Object.entries(env).filter(([name]) => !NOT_DESCRIBED.test(name))
  // Providers decide which operations there are.
  const conformance = new Conformance(
    host.url,
    providers ? undefined : JSON.stringify([hostStores(), shaping]),
  )
  const leaks = new Leaks()
  leaks.exchanged(host.partnerKey ?? '')
  const clientAddress = `198.51.${randomInt(256)}.${randomInt(256)}`
  const testHost: TestHost = {
    url: host.url,
    partnerKey: host.partnerKey as string,
    operatorUrl: host.operatorUrl,
    failures,
    decisions,
    async chore(name) {
      const found = host.chores.filter(chore => chore.name === name || chore.name.startsWith(`${name} `))
      if (found.length === 0) throw new Error(`the host has no chore "${name}"`)
      await Promise.all(found.map(chore => chore.run(new AbortController().signal)))
    },
    async send(path, options = {}) {
      const from = { 'x-forwarded-for': clientAddress, ...options.headers }
      const reply = await request(host.url, path, { ...options, headers: from })
      const { method = options.body === undefined ? 'GET' : 'POST', headers = {} } = options
      const { status, body } = reply
      const openResponses = ['1', 'true'].includes(headers['x-open-responses'] ?? '')
      const mediaType = reply.headers.get('content-type')?.split(';')[0] ?? ''
      await conformance.check(method, path, { status, mediaType, body, openResponses })
      const text = JSON.stringify(reply.body)
      leaks.exchanged(JSON.stringify(options.body ?? ''))
      if (reply.status < 400) leaks.exchanged(text)
      else leaks.said(text)
      return reply
    },
    close: async () => {
      leaks.said((await exchange(new URL('/metrics', host.url), 'GET', {}, undefined)).text)
      leaks.said(
        JSON.stringify(decisions.map(({ failure, ...line }) => ({ ...line, failure: String(failure) }))),
      )
      await host.close()
      leaks.check()
      await stores.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  if (clock) clocks.set(testHost.send, clock)
  return testHost
}

/** Starts a host as `startTestHost` does, and closes it at the end of the test. */
export async function openTestHost(
  t: { teardown(end: () => Promise<void>): void },
  ...given: Parameters<typeof startTestHost>
): Promise<TestHost> {
  const host = await startTestHost(...given)
  t.teardown(() => host.close())
  return host
}

/** A host as a process of its own, started as `npm start` does. */
export interface HostProcess {
  readonly url: string
  readonly pid: number
  /** Everything it printed, both streams. */
  output(): string
  /** Sends a signal and waits for the end. Rejects when a secret that went through it is in its errors or in what it printed. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/**
 * Starts a host process, which ends with this one, on a free port and waits for its address. Rejects with its output when it ends instead. A `dataDir` that is
 * no whole path is a folder beside other temporary ones.
 */
export async function spawnHost(
  dataDir: string,
  env: Record<string, string> = {},
  script: readonly string[] = [PROGRAMS.host],
): Promise<HostProcess> {
  const child = plainNode(script, {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: resolvePath(tmpdir(), dataDir), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const exit = new Promise<number | null>(resolve => child.once('exit', resolve))
  void exit.then(atExit(() => child.kill('SIGKILL')))
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const listening = /listens on (\S+)\n[^]*^Ready\./m.exec(output)
      if (listening) resolve(listening[1] as string)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('error', reject)
    // `close`, not `exit`: everything it printed has arrived then.
    child.once('close', code => reject(new Error(`exit ${code}: ${output}`)))
  })
  reportHostStarts()
  const leaks = watchForLeaks(url)
  // The first lines show the key of the sandbox.
  const start = output.length
  return {
    url,
    pid: child.pid as number,
    output: () => output,
    stop: async signal => {
      child.kill(signal)
      const code = await exit
      leaks.said(output.slice(start))
      leaks.check()
      return code
    },
  }
}

/** The fields and the text of one bootstrap statement. */
export interface Statement {
  readonly address: string
  readonly nonce: string
  readonly issuedAt: string
  readonly expiresAt: string
}

/** A statement that is good for five minutes from `now`. */
export function statementOf(address: string, now: number = Date.now()): Statement {
  return {
    address,
    nonce: randomUUID(),
    issuedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 300_000).toISOString(),
  }
}

/** Template A of the contract, written out independently of the verifier. */
export function templateA(
  { address, nonce, issuedAt, expiresAt }: Statement,
  service = 'Gatewright Sandbox',
): string {
  return `${service} Bootstrap\nAddress: ${address}\nNonce: ${nonce}\nIssued At: ${issuedAt}\nExpires At: ${expiresAt}`
}

export function newWallet(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

/** A signed bootstrap body over template A. */
export async function signedBootstrap(
  wallet: PrivateKeyAccount,
  extra: Record<string, unknown> = {},
  now?: number,
): Promise<Record<string, unknown>> {
  const statement = statementOf(wallet.address, now)
  const signature = await wallet.signMessage({ message: templateA(statement) })
  return { ...statement, signature, ...extra }
}

/** What most tests need of a wallet user. */
export interface WalletUser {
  readonly key: string
  readonly token: string
  readonly userId: string
  /** The address of the wallet, in lower case. */
  readonly address: string
}

/** Bootstraps a new wallet at a host, by default at the time of the host's clock. */
export async function bootstrapUser(
  send: TestHost['send'],
  extra: Record<string, unknown> = {},
  now: number | undefined = clocks.get(send)?.now(),
  wallet = newWallet(),
): Promise<WalletUser> {
  const { status, body } = await send('/user/v1/bootstrap', {
    body: await signedBootstrap(wallet, extra, now),
  })
  if (status !== 200) throw new Error(`bootstrap returned ${status}: ${JSON.stringify(body)}`)
  return {
    key: body['userApiKey'] as string,
    token: body['sessionToken'] as string,
    userId: body['userId'] as string,
    address: wallet.address.toLowerCase(),
  }
}

/** Opens a session of a user key, and returns its token. Throws on a denial. */
export async function sessionOf(send: TestHost['send'], key: string, body: object = {}): Promise<string> {
  const opened = await send('/user/v1/sessions', { body, headers: { 'x-user-key': key } })
  if (opened.status !== 200) throw new Error(`no session: ${opened.status} ${JSON.stringify(opened.body)}`)
  return opened.body['sessionToken'] as string
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` }
}
