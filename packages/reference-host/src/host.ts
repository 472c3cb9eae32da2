import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '@gatewright/kernel'
import type { Config } from './config.ts'
import { createContainer, type Container } from './container.ts'
import { operations } from './operations.ts'
import { firstPartnerKey } from './sandbox.ts'
import { createApp, type ReportFailure } from './server/app.ts'
import { openDatabase } from './storage/database.ts'
import { migrate } from './storage/migrate.ts'
import { loadSecrets } from './storage/secrets.ts'
import * as token from './tokens.ts'

/** A host that listens. */
export interface RunningHost {
  /** Where it listens, with the real port. */
  readonly url: string
  /** The sandbox's first partner key, only on the start that made it. */
  readonly partnerKey: string | undefined
  /** Stops taking connections, lets running requests finish (10 s at most), then closes the database. */
  close(): Promise<void>
}

/** What a caller brings. */
export interface StartOptions {
  readonly report: ReportFailure
  /** Default: the wall clock. */
  readonly clock?: Clock
}

const REQUEST_TIMEOUT_MS = 30_000
const DRAIN_MS = 10_000

/** Opens the data folder, brings its tables up to date and listens. Throws `DataDirInUse` when another host has it. */
export async function startHost(config: Config, { report, clock }: StartOptions): Promise<RunningHost> {
  const database = openDatabase(config.dataDir)
  try {
    await migrate(database.sql)
    const container = createContainer()
    const secrets = loadSecrets(config)
    container.bind(token.CONFIG, () => config)
    container.bind(token.DATABASE, () => database.sql)
    container.bind(token.SECRETS, () => secrets)
    if (clock) container.bind(token.CLOCK, () => clock)

    const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, appOf(container, report).callback())
    const partnerKey = await firstPartnerKey(
      container.get(token.PARTNERS),
      container.get(token.ISSUER),
      container.get(token.CLOCK),
    )
    const url = await listen(server, config)
    return {
      url,
      partnerKey,
      close: async () => {
        await drain(server)
        await container.get(token.IDEMPOTENCY).drained()
        await container.get(token.ISSUER).flush()
        database.close()
      },
    }
  } catch (error) {
    database.close()
    throw error
  }
}

/** Resolves every service once; nothing below knows the container. */
function appOf(container: Container, report: ReportFailure): ReturnType<typeof createApp> {
  const services = {
    clock: container.get(token.CLOCK),
    aliases: container.get(token.ALIASES),
    verifier: container.get(token.VERIFIER),
    issuer: container.get(token.ISSUER),
    guard: container.get(token.GUARD),
    idempotency: container.get(token.IDEMPOTENCY),
    users: container.get(token.USERS),
    cards: container.get(token.CARDS),
    payins: container.get(token.PAYINS),
  }
  return createApp(operations(services), services, report)
}

async function listen(server: Server, { host, port }: Config): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${name}:${address.port}`
}

async function drain(server: Server): Promise<void> {
  const closed = new Promise(resolve => server.close(resolve))
  server.closeIdleConnections()
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(timer)
}
