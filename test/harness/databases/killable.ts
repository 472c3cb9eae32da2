import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { ManualClock } from '@gatewright/kernel/testing'
import { request, type TestHost } from '../host.ts'
import { Leaks, watchForLeaks } from '../leaks.ts'
import { plainNode } from '../node.ts'
import type { Kill, Message, Order } from './statement-kills.ts'

/** What was ordered threw in the process. `broken`: a fault, after which it is repeated. */
export class FailedOrder extends Error {
  readonly broken: boolean

  constructor(text: string, broken: boolean) {
    super(text)
    this.broken = broken
  }
}

/** A server process that kills itself on request at a statement. */
interface KillableProcess {
  readonly url: string
  /** Rejects when the process is killed by the order. */
  order(order: object): Promise<readonly string[]>
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
      if (response.failed) throw new FailedOrder(response.failed, response.broken ?? false)
      return response.statements
    },
  }
}

/** A sequence of server processes on the same stores: after one was killed the next is started. */
export interface Killable {
  /** Sends to the running process, at the time that the clock shows. */
  send: TestHost['send']
  /** Gives an order to the running process, with members of its own. Returns the statements counted since the order before. */
  order(more?: object): Promise<readonly string[]>
  /**
   * Runs something while the process is to be killed at a statement. `died`: it was killed and none has been started since.
   * `statements`: what it ran if it was not killed.
   */
  killing(
    kill: Kill,
    act: () => Promise<unknown>,
  ): Promise<{ readonly died: boolean; readonly statements: readonly string[] }>
  restart(): Promise<void>
  /** Kills the running process. */
  kill(): Promise<void>
}

/** Starts the first process. The script imports `statement-kills.ts`, and sends its address when it listens. */
export async function startKillable(
  script: string,
  env: Readonly<Record<string, string>>,
  clock: ManualClock,
): Promise<Killable> {
  let running = await startProcess(script, env, clock.now())
  let kill: Kill | undefined
  const order = (more: object = {}): Promise<readonly string[]> =>
    running.order({ now: clock.now(), kill, ...more } satisfies Order)
  return {
    async send(path, options) {
      // While it waits to be killed the order stays in force: another order would restart the count.
      if (!kill) await order()
      return request(running.url, path, options)
    },
    order,
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
        if ((await Promise.race([running.ended, alive])) === failure) throw failure.error
        return { died: true, statements: [] }
      } finally {
        kill = undefined
      }
    },
    async restart() {
      running = await startProcess(script, env, clock.now())
    },
    async kill() {
      running.kill()
      await running.ended
    },
  }
}
