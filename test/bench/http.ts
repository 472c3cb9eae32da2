import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startChild } from '../harness/child.ts'
import type { Sample } from './arithmetic.ts'
import { alternate, type Ours, type Peer, type Plan, type Result, type Side } from './harness.ts'
import { load, type Request } from './load.ts'

/** A side that is a server in a process of its own. */
export interface ServerSide extends Side {
  /** Its compiled module, which calls `serve`: `new URL('./servers/koa.child.js', import.meta.url)`. */
  readonly module: URL
  readonly args?: readonly string[]
  readonly request: (index: number) => Request
  /** After how many requests they repeat. Default: never within a sample. */
  readonly period?: number
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
  readonly port: number
  /** What it asked to be sent with every request. */
  readonly own: Record<string, string>
  /** Aborted when the process ends, with an error that names it. */
  readonly ended: AbortSignal
}

/** Asks a child what CPU it has used so far, in microseconds. */
async function cpuOf({ child, ended }: Running): Promise<number> {
  const told = once(child, 'message', { signal: ended })
  // A channel that is closed already would be an event that nobody listens to; `ended` tells of it.
  child.send({}, () => {})
  const [{ user, system }] = (await told) as [NodeJS.CpuUsage]
  return user + system
}

/** Starts a side; its process is in `children` before it is waited for. */
async function start(side: ServerSide, children: ChildProcess[]): Promise<Running> {
  const child = startChild(side.module, side.args)
  children.push(child)
  const end = new AbortController()
  child.once('exit', code => end.abort(new Error(`${side.name} ended with ${String(code)}`)))
  const [{ port, headers: own }] = (await once(child, 'message', { signal: end.signal }).catch(error => {
    const { message } = (end.signal.reason ?? error) as Error
    throw new Error(`${message} before it listened`)
  })) as [{ port: number; headers: Record<string, string> }]
  return { child, port, own, ended: end.signal }
}

/** Ends a process as `listening` has it: by closing its channel, so that it can clean up; by force after 2 s. */
async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const force = setTimeout(() => child.kill('SIGKILL'), 2_000)
  const gone = once(child, 'exit')
  if (child.connected) child.disconnect()
  await gone
  clearTimeout(force)
}

async function sample(
  server: Running,
  { name, request, period, status = 200 }: ServerSide,
  { requests: count, connections = 50 }: ServerComparison,
): Promise<Sample> {
  const { port, own, ended } = server
  // Those that are under way when the last is answered are new ones too.
  const distinct = Math.min(count + connections, period ?? Infinity)
  const requests = Array.from({ length: distinct }, (_, index) => {
    const { headers, ...asked } = request(index)
    return { ...asked, headers: { ...own, ...headers } }
  })
  try {
    const cpuBefore = await cpuOf(server)
    const started = performance.now()
    await load({ port, requests, count, connections, status, signal: ended })
    const wall = performance.now() - started
    const cpu = (await cpuOf(server)) - cpuBefore
    return { cpuMicros: cpu / count, wallMicros: (wall * 1000) / count }
  } catch (error) {
    throw ended.aborted ? ended.reason : new Error(`${name} ${(error as Error).message}`)
  }
}

/**
 * How many rounds the same processes serve. The same server differs by some percent from one start to the next,
 * by what its compiler saw first, so that a figure of one start would be luck.
 */
const ROUNDS_PER_START = 3

/**
 * Compares servers, each in a process of its own; the control too. One client asks them in turn, and the figure is
 * the server's own CPU per request. They start anew every few rounds, then serve one sample that is thrown away.
 * Elapsed time includes the start of the client, some 20 ms. Reports as `compare` does.
 */
export async function compareServers(title: string, comparison: ServerComparison): Promise<Result> {
  const { ours, peers, requests, rounds = 12, warmups = 1 } = comparison
  const sides = [ours, ours, ...peers]
  let running: readonly Running[] = []
  const children: ChildProcess[] = []
  const stop = (): Promise<unknown> => Promise.all(children.splice(0).map(stopChild))
  const one = (index: number): Promise<Sample> =>
    sample(running[index] as Running, sides[index] as ServerSide, comparison)
  try {
    return await alternate<ServerSide>(title, {
      ...comparison,
      ...{ rounds, warmups: 0, operations: requests },
      async before(round) {
        if (round % ROUNDS_PER_START !== 0) return
        await stop()
        running = await Promise.all(sides.map(side => start(side, children)))
        for (let again = 0; again < warmups; again++) for (const index of sides.keys()) await one(index)
      },
      sample: (_, index) => one(index),
    })
  } finally {
    await stop()
  }
}
