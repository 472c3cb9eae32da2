import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ManualClock } from '@gatewright/kernel/testing'
import { bundled } from '../../../harness/bundle.ts'
import { request, type TestHost } from '../../../harness/host.ts'
import { Leaks, watchForLeaks } from '../../../harness/leaks.ts'
import { plainNode } from '../../../harness/node.ts'
import type { Moment, Order, Message } from './killable-host.child.ts'

const CHILD = fileURLToPath(new URL('killable-host.child.js', import.meta.url))

/** When a host kills itself: at the `at`-th statement. */
export interface Kill {
  readonly moment: Moment
  readonly at: number
}

/** A chore of the host process threw; `broken`: a fault, after which the host repeats it in the next round. */
class FailedChore extends Error {
  readonly broken: boolean

  constructor(text: string, broken: boolean) {
    super(text)
    this.broken = broken
  }
}

/** A host process that kills itself on request at a statement. */
interface KillableProcess {
  readonly url: string
  /** Rejects when the process is killed by the order. */
  order(order: Order): Promise<readonly string[]>
  readonly ended: Promise<unknown>
  kill(): void
}

async function startProcess(
  script: string,
  env: Readonly<Record<string, string>>,
  now: number,
): Promise<KillableProcess> {
  const child = plainNode([script], {
    env: { PATH: process.env['PATH'], ...env, NOW: String(now) },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const leaks = new Leaks()
  const print = (chunk: Buffer): void => {
    leaks.said(chunk.toString())
    process.stderr.write(chunk)
  }
  child.stdout?.on('data', print)
  child.stderr?.on('data', print)
  // `close`, not `exit`: everything that it printed has arrived then.
  const ended = once(child, 'close').then(result => {
    leaks.check()
    return result
  })
  const said = async (): Promise<Message> => {
    const dead = ended.then(([code, signal]) => {
      throw new Error(`the host died: ${code ?? signal}`)
    })
    const [message] = (await Promise.race([once(child, 'message'), dead])) as [Message]
    return message
  }
  const first = (await said()) as { url: string }
  watchForLeaks(first.url, leaks)
  return {
    url: first.url,
    ended,
    kill: () => child.kill('SIGKILL'),
    async order(order) {
      child.send(order)
      const response = (await said()) as Extract<Message, { statements: unknown }>
      if (response.failed) throw new FailedChore(response.failed, response.broken ?? false)
      return response.statements
    },
  }
}

/** A sequence of hosts on the same stores: after one was killed the next is started. */
export interface KillableHost {
  /** Sends to the running host, at the time that the clock shows. */
  send: TestHost['send']
  /** Runs a chore now. A round that ends by a fault is repeated, as the host's own timer would repeat it. */
  chore(name: string): Promise<void>
  /**
   * Runs something while the host is to be killed at a statement. `died`: the host was killed and none has
   * been started since. `statements`: what it ran if it was not killed.
   */
  killing(
    kill: Kill,
    act: () => Promise<unknown>,
  ): Promise<{ readonly died: boolean; readonly statements: readonly string[] }>
  restart(): Promise<void>
  /** Kills the running host. */
  kill(): Promise<void>
}

/** Starts the first host. `providers`: a compiled module that makes its providers. */
export async function startKillableHost(
  settings: Readonly<Record<string, string>>,
  clock: ManualClock,
  providers?: string,
): Promise<KillableHost> {
  const [script = CHILD, module] = await bundled([CHILD, ...(providers === undefined ? [] : [providers])])
  const env = module === undefined ? settings : { ...settings, PROVIDERS_MODULE: pathToFileURL(module).href }
  let host = await startProcess(script, env, clock.now())
  let kill: Kill | undefined
  const order = (more: Partial<Order> = {}): Promise<readonly string[]> =>
    host.order({ now: clock.now(), kill, ...more })
  return {
    async send(path, options) {
      // While it waits to be killed the order stays in force: another order would restart the count.
      if (!kill) await order()
      return request(host.url, path, options)
    },
    async chore(name) {
      for (let rounds = 1; ; rounds += 1) {
        try {
          await order({ chore: name })
          return
        } catch (error) {
          if (!(error instanceof FailedChore) || !error.broken || rounds === 10) throw error
          process.stderr.write(`round ${rounds} of ${name} is repeated: ${error.message}\n`)
        }
      }
    },
    async killing(wanted, act) {
      kill = wanted
      try {
        await order()
        const failure = await act().then(
          () => undefined,
          (error: unknown) => ({ error }),
        )
        kill = undefined
        if (!failure) return { died: false, statements: await order() }
        const alive = delay(5000, failure, { ref: false })
        if ((await Promise.race([host.ended, alive])) === failure) throw failure.error
        return { died: true, statements: [] }
      } finally {
        kill = undefined
      }
    },
    async restart() {
      host = await startProcess(script, env, clock.now())
    },
    async kill() {
      host.kill()
      await host.ended
    },
  }
}
