import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wrkBinary } from '../harness/binaries.ts'

/** One request of the client. */
export interface Request {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** So many requests over so many keep-alive connections, each with one request at a time. */
export interface Load {
  readonly port: number
  /**
   * Sent in turn, from the first again after the last. A connection sends its next one when the response came, so that
   * up to `connections` more than `count` are sent. Not more than some 10 000: they are one Lua table.
   */
  readonly requests: readonly Request[]
  readonly count: number
  readonly connections: number
  /** The status that every response must have. */
  readonly status: number
  /** Ends the client, which would ask a dead server again and again. */
  readonly signal?: AbortSignal
}

const MAX_SECONDS = 60
const SCRIPT = fileURLToPath(new URL('../../../test/bench/load.lua', import.meta.url))

/** A text of ASCII as Lua spells it, which is how JSON does. */
const quoted = (text: string): string => JSON.stringify(text)

function luaTable(requests: readonly Request[]): string {
  const rows = requests.map(({ path, method = 'GET', headers = {}, body }) => {
    const fields = Object.entries(headers).map(([name, value]) => `[${quoted(name)}]=${quoted(value)}`)
    return `{${quoted(method)},${quoted(path)},{${fields.join()}},${body === undefined ? 'nil' : quoted(body)}}`
  })
  return `return {${rows.join(',\n')}}`
}

/**
 * Puts a load on a server of loopback with wrk, as the figures were measured that the bars come from, and resolves when
 * all responses came. The client matters: where it is slower than the server it asks, the server rests between requests,
 * and where it is much faster it sleeps, and to wake it costs the server up to 4 µs a request, the slower server more
 * often. Rejects for a response of another status, and after a minute.
 */
export async function load({ port, requests, count, connections, status, signal }: Load): Promise<void> {
  const { path, env } = wrkBinary()
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-load-'))
  try {
    const file = join(directory, 'requests.lua')
    writeFileSync(file, luaTable(requests))
    const args = [
      '-t1',
      `-c${connections}`,
      `-d${MAX_SECONDS}s`,
      '--timeout',
      '30s',
      '-s',
      SCRIPT,
      `http://127.0.0.1:${port}`,
    ]
    await new Promise<void>((resolve, reject) => {
      const all = [...args, '--', file, String(count), String(status)]
      const client = execFile(path, all, { env: { ...process.env, ...env }, signal }, (error, out) => {
        process.off('exit', kill)
        const last = out.trim().split('\n').at(-1) ?? ''
        if (last === 'done') resolve()
        else if (error) reject(new Error(last || error.message))
        else reject(new Error(`did not get responses to ${count} requests in ${MAX_SECONDS} s`))
      })
      const kill = (): void => {
        client.kill('SIGKILL')
        rmSync(directory, { recursive: true, force: true })
      }
      process.once('exit', kill)
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
