import { legacyPaths } from '@gatewright/legacy-alias-router'
import { aliasTable } from '#packages/reference-host/dist/product/aliases.js'

/** A request in current names. */
export interface Current {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Which parts of a request to write in legacy names. */
export interface Spelling {
  readonly path: boolean
  readonly headers: boolean
  readonly fields: boolean
}

/** Writes a request in legacy names where the table has them. */
export function respell(request: Current, spelling: Spelling): Current {
  const [plain = '', query] = request.path.split('?')
  const old = spelling.path ? legacyPaths(aliasTable, plain)[0]?.path : undefined
  const path = (old ?? plain) + (query === undefined ? '' : `?${query}`)
  const headers = { ...request.headers }
  for (const { from, to } of spelling.headers ? (aliasTable.headers ?? []) : []) {
    if (headers[to] === undefined) continue
    headers[from] = headers[to]
    delete headers[to]
  }
  const { body } = request
  if (!spelling.fields || typeof body !== 'object' || body === null || Array.isArray(body))
    return { ...request, path, headers }
  const fields: Record<string, unknown> = { ...body }
  for (const { operation, from, to } of aliasTable.requestFields ?? []) {
    if (operation !== request.operation || typeof fields[to] !== 'string') continue
    const [name = '', inner] = from.split('.')
    // The only nested legacy name: wallet.address, besides the chain that clients send with it.
    fields[name] = inner === undefined ? fields[to] : { chain: 'evm', [inner]: fields[to] }
    delete fields[to]
  }
  return { ...request, path, headers, body: fields }
}

/**
 * Compares the responses of two hosts whose ids and tokens are random: texts may differ if each has exactly one
 * counterpart throughout, so that a replayed id is the replayed id on both. Throws with the place of the
 * first difference.
 */
export function counterparts(): (one: unknown, other: unknown, at: string) => void {
  const there = new Map<string, string>()
  const back = new Map<string, string>()
  const pair = (one: string, other: string, at: string): void => {
    if (one === other) return
    const known = there.get(one) ?? other
    const knownBack = back.get(other) ?? one
    if (known !== other || knownBack !== one || one.length < 8 || other.length < 8) {
      throw new Error(`${at}: ${JSON.stringify(one)} on one host, ${JSON.stringify(other)} on the other`)
    }
    there.set(one, other)
    back.set(other, one)
  }
  const compare = (one: unknown, other: unknown, at: string): void => {
    if (typeof one === 'string' && typeof other === 'string') return pair(one, other, at)
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) {
      if (!Object.is(one, other)) throw new Error(`${at}: ${String(one)} and ${String(other)}`)
      return
    }
    const names = [...new Set([...Object.keys(one), ...Object.keys(other)])]
    for (const name of names) {
      compare(
        (one as Record<string, unknown>)[name],
        (other as Record<string, unknown>)[name],
        `${at}.${name}`,
      )
    }
  }
  return compare
}
