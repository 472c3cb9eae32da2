import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { ManualClock } from '@gatewright/kernel/testing'
import { request, type TestHost } from '../../../harness/host.ts'
import { plainNode } from '../../../harness/node.ts'
import type { Moment, Order, Said } from './killable-host.child.ts'

const CHILD = fileURLToPath(new URL('killable-host.child.js', import.meta.url))

/** When a host kills itself: at the `at`-th statement. */
export interface Kill {
  readonly moment: Moment
  readonly at: number
}

/** A host process that can be told to kill itself at a statement. */
interface MortalProcess {
  readonly url: string
  /** Rejects when the process dies of it. */
  order(order: Order): Promise<readonly string[]>
  readonly ended: Promise<unknown>
  kill(): void
}

async function startMortal(env: Readonly<Record<string, string>>, now: number): Promise<MortalProcess> {
  const child = plainNode([CHILD], {
    env: { PATH: process.env['PATH'], ...env, NOW: String(now) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const said = async (): Promise<Said> => {
    const dead = ended.then(([code, signal]) => {
      throw new Error(`the host died: ${code ?? signal}`)
    })
    const [message] = (await Promise.race([once(child, 'message'), dead])) as [Said]
    return message
  }
  const first = (await said()) as { url: string }
  return {
    url: first.url,
    ended,
    kill: () => child.kill('SIGKILL'),
    async order(order) {
      child.send(order)
      const answer = (await said()) as Extract<Said, { statements: unknown }>
      if (answer.failed) throw new Error(answer.failed)
      return answer.statements
    },
  }
}

/** One host after the other on the same stores: when one has died the next one is started. */
export interface MortalHost {
  /** Sends to the host that lives now, at the time that the clock shows. */
  send: TestHost['send']
  chore(name: string): Promise<void>
  /**
   * Does something while the host is told to die at a statement. `died`: the host is gone, and nothing has taken its
   * place. `statements`: what it ran, when it lived.
   */
  killing(
    kill: Kill,
    act: () => Promise<unknown>,
  ): Promise<{ readonly died: boolean; readonly statements: readonly string[] }>
  restart(): Promise<void>
  /** Ends the host that lives now. */
  kill(): Promise<void>
}

/** Starts the first host. */
export async function startKillableHost(
  env: Readonly<Record<string, string>>,
  clock: ManualClock,
): Promise<MortalHost> {
  let host = await startMortal(env, clock.now())
  let kill: Kill | undefined
  const order = (more: Partial<Order> = {}): Promise<readonly string[]> =>
    host.order({ now: clock.now(), kill, ...more })
  return {
    async send(path, options) {
      // While it waits for its death the order stands: another one would begin to count anew.
      if (!kill) await order()
      return request(host.url, path, options)
    },
    async chore(name) {
      await order({ chore: name })
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
      host = await startMortal(env, clock.now())
    },
    async kill() {
      host.kill()
      await host.ended
    },
  }
}
