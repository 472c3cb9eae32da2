import type { FetchGateOptions } from '@gatewright/http/fetch'
import type { OptionTable } from '@gatewright/kernel/internal'
import type { GatewrightOptions } from './options.ts'

/** Options of `gatewright` for servers with `fetch`. `Env` is what the server passes beside the request. */
export interface FetchOptions<S extends string = string, Env = unknown>
  extends GatewrightOptions<S>,
    Pick<FetchGateOptions<Env>, 'peer' | 'waitUntil'> {
  /** How bodies are read. `clone` (default): from a copy, so that existing handlers can read them, too. `stream`: from the request. */
  readonly body?: 'clone' | 'stream'
}

/** The options that `GatewrightOptions` does not have. The binding checks them. */
export const FETCH_OPTIONS: OptionTable<Pick<FetchOptions, 'peer' | 'waitUntil' | 'body'>> = {
  peer: true,
  waitUntil: true,
  body: true,
}

/** The options of the binding. */
export function fetchGateOptions<Env>({
  peer,
  waitUntil,
  body = 'clone',
}: FetchOptions<string, Env>): FetchGateOptions<Env> {
  return { peer, body, ...(waitUntil ? { waitUntil } : {}) }
}
