import type { Clock, EpochMs } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'

/** The name of the built-in providers. Other providers must have another name. */
export const SANDBOX_PROVIDER = 'sandbox'

/** What built-in providers work with. Each takes what it needs. */
export interface SandboxOptions {
  readonly db: SqlClient
  readonly clock: Clock
  /** The host's own origin, such as `https://pay.example`. */
  readonly origin: string
  /** The same on every host that shares its secrets. */
  readonly secret: Uint8Array
}

/** What a built-in provider has stored about an id. */
export interface SandboxCall {
  readonly at: EpochMs
  readonly what: string
}

/** The calls that the built-in provider of a port has had: one row for each id. */
export interface SandboxCalls {
  /** Stores the first call of an id. Returns false if there was one. */
  addFirst(id: string, at: EpochMs, what: string): Promise<boolean>
  find(id: string): Promise<SandboxCall | undefined>
  /** Replaces the call of an id if it is `from`. */
  replace(id: string, from: string, at: EpochMs, what: string): Promise<void>
}

/** Opens the calls of a port. */
export function sandboxCalls(db: SqlQueries, port: string): SandboxCalls {
  return {
    async addFirst(id, at, what) {
      const text = `insert into gw_sandbox_provider_calls (port, id, at, what) values ($1, $2, $3, $4)
        on conflict (port, id) do nothing returning id`
      return (await rows(db, text, [port, id, at, what])).length > 0
    },
    async find(id) {
      const text = 'select at, what from gw_sandbox_provider_calls where port = $1 and id = $2'
      const [row] = await rows(db, text, [port, id])
      return row && { at: toInteger(row['at']), what: toText(row['what']) }
    },
    async replace(id, from, at, what) {
      const text = `update gw_sandbox_provider_calls set at = $4, what = $5
        where port = $1 and id = $2 and what = $3`
      await rows(db, text, [port, id, from, at, what])
    },
  }
}
