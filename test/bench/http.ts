import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { startChild } from '../harness/child.ts'
import { orderOfRound, type Sample } from './arithmetic.ts'
import { extent } from './extent.ts'
import { resultOf, type Ours, type Peer, type Plan, type Result, type Side } from './harness.ts'
import { load, type Request } from './load.ts'
import { printAndSave } from './report.ts'

/** A side that is a server in a process of its own. */
export interface ServerSide extends Side {
  /** Its compiled module, which calls `serve`: `new URL('./servers/koa.child.js', import.meta.url)`. */
  readonly module: URL
  readonly args?: readonly string[]
  /** Whether its standard error is a pipe, which the bench reads and does not show. */
  readonly logs?: boolean
  readonly request: (index: number) => Request
  /** After how many requests they repeat. Default: never within a sample. */
  readonly period?: number
  /** The status every response must have, so that nobody is fast by refusing. Default 200. */
  readonly status?: number
  /** Which of the header fields that the server asked for its requests bring. Default: all. */
  readonly own?: readonly string[]
  /** Sides of one name share a process, whatever line they are of; a control shares with controls. Default: none is shared. */
  readonly process?: string
  /** Samples that are thrown away after a start. Default: what the plan says. */
  readonly warmups?: number
}

/** Servers that are compared by one kind of request. */
export interface ServerLine {
  readonly title: string
  readonly ours: ServerSide & Ours
  readonly peers: readonly (ServerSide & Peer)[]
  /** Requests per sample. */
  readonly requests: number
}

/** How servers are compared. */
export interface ServerPlan extends Plan {
  /** Keep-alive connections of the one client, each with one request at a time. Default 50. */
  readonly connections?: number
  /**
   * How many rounds the same processes serve. Default 3. The same server differs by some percent from one start to the next,
   * by what its compiler saw first, so that a figure of one start would be luck.
   */
  readonly roundsPerStart?: number
}

/** A comparison of servers by their own CPU per request. */
export interface ServerComparison extends ServerPlan, Omit<ServerLine, 'title'> {}

interface ServerProcess {
  readonly child: ChildProcess
  readonly port: number
  /** What it asked to be sent with requests: the first with the first, and so on in turn. */
  readonly own: readonly Readonly<Record<string, string>>[]
  /** Aborted when the process ends, with an error that names it. */
  readonly ended: AbortSignal
}

/** Asks a child what CPU it has used so far, in microseconds. */
async function cpuOf({ child, ended }: ServerProcess): Promise<number> {
  const usageMessage = once(child, 'message', { signal: ended })
  // A channel that is closed already would be an event that nobody listens to; `ended` reports it.
  child.send({}, () => {})
  const [{ user, system }] = (await usageMessage) as [NodeJS.CpuUsage]
  return user + system
}

/** Starts a side; its process is in `children` before it is waited for. */
async function start(side: ServerSide, children: ChildProcess[]): Promise<ServerProcess> {
  const child = startChild(side.module, side.args, [], side.logs ? 'pipe' : 'inherit')
  child.stderr?.resume()
  children.push(child)
  const end = new AbortController()
  child.once('exit', code => end.abort(new Error(`${side.name} ended with ${String(code)}`)))
  const [{ port, headers: own }] = (await once(child, 'message', { signal: end.signal }).catch(error => {
    const { message } = (end.signal.reason ?? error) as Error
    throw new Error(`${message} before it listened`)
  })) as [{ port: number; headers: ServerProcess['own'] }]
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
  server: ServerProcess,
  { name, request, period, status = 200, own }: ServerSide,
  { requests: count, connections }: { readonly requests: number; readonly connections: number },
): Promise<Sample> {
  const { port, ended } = server
  const added = server.own.map(fields =>
    Object.fromEntries(Object.entries(fields).filter(([field]) => own?.includes(field) ?? true)),
  )
  // Those that are under way when the last response comes are new ones too.
  const distinct = Math.min(count + connections, period ?? Infinity)
  const requests = Array.from({ length: distinct }, (_, index) => {
    const { headers, ...asked } = request(index)
    return { ...asked, headers: { ...added[index % added.length], ...headers } }
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

/** Every process of the lines: that of line 2, side 0 is `running[2][0]`. The processes are in `children` at once. */
async function startAll(
  sides: readonly (readonly ServerSide[])[],
  children: ChildProcess[],
): Promise<readonly (readonly ServerProcess[])[]> {
  const shared = new Map<string, Promise<ServerProcess>>()
  const running = (side: ServerSide, index: number): Promise<ServerProcess> => {
    if (side.process === undefined) return start(side, children)
    const name = `${side.process} ${index === 1 ? 'control' : ''}`
    const found = shared.get(name) ?? start(side, children)
    shared.set(name, found)
    return found
  }
  return Promise.all(sides.map(line => Promise.all(line.map(running))))
}

/**
 * Compares servers by several kinds of requests, each server in a process of its own; the control too. One client asks them
 * in turn, line by line in every round, and the figure is the server's own CPU per request. They start again every few
 * rounds, then serve samples that are thrown away. Elapsed time includes the start of the client, some 20 ms. Reports each
 * line as `compare` does.
 */
export async function compareServerLines(
  given: readonly ServerLine[],
  { connections = 50, roundsPerStart = 3, report = printAndSave, ...plan }: ServerPlan = {},
): Promise<readonly Result[]> {
  const lines = given.map(line => ({ ...line, requests: extent(line.requests, 40) }))
  const rounds = extent(plan.rounds ?? 12, 1)
  const sides = lines.map(({ ours, peers }): ServerSide[] => [ours, ours, ...peers])
  const measured: Sample[][][] = lines.map(() => [])
  let running: readonly (readonly ServerProcess[])[] = []
  const children: ChildProcess[] = []
  const stop = (): Promise<unknown> => Promise.all(children.splice(0).map(stopChild))
  const one = (line: number, index: number): Promise<Sample> => {
    const { requests } = lines[line] as ServerLine
    const side = sides[line]?.[index] as ServerSide
    return sample(running[line]?.[index] as ServerProcess, side, { requests, connections })
  }
  const warm = async (): Promise<void> => {
    for (const [line, of] of sides.entries()) {
      for (const [index, side] of of.entries()) {
        const warmups = extent(side.warmups ?? plan.warmups ?? 1, 0)
        for (let again = 0; again < warmups; again++) await one(line, index)
      }
    }
  }
  try {
    for (let round = 0; round < rounds; round++) {
      if (round % roundsPerStart === 0) {
        await stop()
        running = await startAll(sides, children)
        await warm()
      }
      for (const [line, of] of sides.entries()) {
        const samples: Sample[] = []
        for (const index of orderOfRound(round, of.length)) samples[index] = await one(line, index)
        measured[line]?.push(samples)
      }
    }
  } finally {
    await stop()
  }
  return lines.map(({ title, ours, peers, requests }, line) => {
    const result = resultOf(title, { ours, peers, operations: requests }, measured[line] as Sample[][])
    report(result)
    return result
  })
}

/** Compares servers by one kind of request. */
export async function compareServers(
  title: string,
  { ours, peers, requests, ...plan }: ServerComparison,
): Promise<Result> {
  const [result] = await compareServerLines([{ title, ours, peers, requests }], plan)
  return result as Result
}
