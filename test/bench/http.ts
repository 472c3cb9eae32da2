import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { Pool } from 'undici'
import { startChild } from '../harness/child.ts'
import type { Sample } from './arithmetic.ts'
import { alternate, type Ours, type Peer, type Plan, type Result, type Side } from './harness.ts'

/** One request of the client. */
export interface Request {
  readonly path: string
  readonly method?: 'GET' | 'POST'
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A side that is a server in a process of its own. */
export interface ServerSide extends Side {
  /** Its compiled module, which calls `serve`: `new URL('./servers/koa.child.js', import.meta.url)`. */
  readonly module: URL
  readonly args?: readonly string[]
  readonly request: (index: number) => Request
  /** The status every answer must have, so that nobody is fast by refusing. Default 200. */
  readonly status?: number
}

/** A comparison of servers by their own CPU per request. */
export interface ServerComparison extends Plan {
  readonly ours: ServerSide & Ours
  readonly peers: readonly (ServerSide & Peer)[]
  /** Requests per sample. */
  readonly requests: number
  /** Keep-alive connections of the one client, each with one request at a time. Default 50. */
  readonly connections?: number
}

interface Running {
  readonly child: ChildProcess
  readonly pool: Pool
  /** What it asked to be sent with every request. */
  readonly own: Record<string, string>
}

/** Asks a child what CPU it has used so far, in microseconds. */
async function cpuOf(child: ChildProcess, collect: boolean): Promise<number> {
  child.send({ collect })
  const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage]
  return user + system
}

async function start(side: ServerSide, connections: number): Promise<Running> {
  const child = startChild(side.module, side.args, ['--expose-gc'])
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${side.name} ended with ${String(code)} before it listened`)
  })
  const [{ port, headers: own }] = (await Promise.race([once(child, 'message'), ended])) as [
    { port: number; headers: Record<string, string> },
  ]
  // The same promise rejects again when the child is stopped; by then nobody waits for it.
  ended.catch(() => {})
  return { child, pool: new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 }), own }
}

async function sample(
  { child, pool, own }: Running,
  side: ServerSide,
  requests: number,
  at: number,
): Promise<Sample> {
  const { request, status = 200 } = side
  let next = 0
  const client = async (): Promise<void> => {
    while (next < requests) {
      const { path, method = 'GET', headers = {}, body = null } = request(next++)
      const answer = await pool.request({ path, method, headers: { ...own, ...headers }, body })
      await answer.body.dump()
      if (answer.statusCode !== status) throw new Error(`${side.name} answered ${answer.statusCode}`)
    }
  }
  const cpuBefore = await cpuOf(child, true)
  const started = performance.now()
  await Promise.all(Array.from({ length: at }, client))
  const wall = performance.now() - started
  const cpu = (await cpuOf(child, false)) - cpuBefore
  return { cpuMicros: cpu / requests, wallMicros: (wall * 1000) / requests }
}

/**
 * Compares servers: each runs in a process of its own for the whole comparison, one client in this process
 * asks them in turn, and the figure is the server's own CPU per request. Reports as `compare` does.
 */
export async function compareServers(title: string, comparison: ServerComparison): Promise<Result> {
  const { ours, peers, requests, connections = 50 } = comparison
  const running = new Map<ServerSide, Running>()
  try {
    for (const side of [ours, ...peers]) running.set(side, await start(side, connections))
    return await alternate<ServerSide>(title, {
      ...comparison,
      operations: requests,
      sample: side => sample(running.get(side) as Running, side, requests, connections),
    })
  } finally {
    for (const { child, pool } of running.values()) {
      await pool.destroy()
      child.kill('SIGKILL')
    }
  }
}
