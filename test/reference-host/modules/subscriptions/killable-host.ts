import { fileURLToPath, pathToFileURL } from 'node:url'
import type { ManualClock } from '@gatewright/kernel/testing'
import { bundled } from '../../../harness/bundle.ts'
import { FailedOrder, startKillable, type Killable } from '../../../harness/databases/killable.ts'
import type { HostOrder } from './killable-host.child.ts'

export type { Kill } from '../../../harness/databases/statement-kills.ts'

const CHILD = fileURLToPath(new URL('killable-host.child.js', import.meta.url))

/** A sequence of hosts on the same stores: after one was killed the next is started. */
export interface KillableHost extends Omit<Killable, 'order'> {
  /** Runs a chore now. A round that ends by a fault is repeated, as the host's own timer would repeat it. */
  chore(name: string): Promise<void>
}

/** Starts the first host. `providers`: a compiled module that makes its providers. */
export async function startKillableHost(
  settings: Readonly<Record<string, string>>,
  clock: ManualClock,
  providers?: string,
): Promise<KillableHost> {
  const [script = CHILD, module] = await bundled([CHILD, ...(providers === undefined ? [] : [providers])])
  const env = module === undefined ? settings : { ...settings, PROVIDERS_MODULE: pathToFileURL(module).href }
  const { order, ...host } = await startKillable(script, env, clock)
  return {
    async chore(name) {
      for (let rounds = 1; ; rounds += 1) {
        try {
          await order({ chore: name } satisfies Partial<HostOrder>)
          return
        } catch (error) {
          if (!(error instanceof FailedOrder) || !error.broken || rounds === 10) throw error
          process.stderr.write(`round ${rounds} of ${name} is repeated: ${error.message}\n`)
        }
      }
    },
    ...host,
  }
}
