// A host process that kills itself at one statement of its requests and chores. It takes orders from its parent, and replies to each with
// the statements counted since the last one.
import { inspect } from 'node:util'
import { Fault } from '@gatewright/kernel'
import { manualClock } from '@gatewright/kernel/testing'
import { readConfig, startHost, type Providers } from '@gatewright/reference-host'
import {
  at,
  counting,
  obey,
  type Message,
  type Moment,
  type Order,
} from '../../../harness/databases/statement-kills.ts'

/** An order of the parent. */
export interface HostOrder extends Order {
  /** Run this chore of the host now. */
  readonly chore?: string
}

/** A module that makes providers, which call `at` around their effects. */
const makers = process.env['PROVIDERS_MODULE']
const providers =
  makers === undefined
    ? undefined
    : (
        (await import(makers)) as { providersOf(at: (moment: Moment, text: string) => void): Providers }
      ).providersOf(at)

const say = (said: Message): boolean => process.send?.(said) ?? false
const clock = manualClock(Number(process.env['NOW']))
const config = readConfig(process.env)
if (!config.ok) throw new Error(config.problems.join('; '))
const host = await startHost(config.value, {
  observe: ({ failure }) => failure && console.error(failure),
  report: error => console.error(error),
  clock,
  // Tests run them. A round beside one that is killed could do its work, or hold its lease.
  repeatChores: false,
  ...(providers ? { providers } : {}),
})
process.on('message', (order: HostOrder) => {
  const statements = obey(order)
  clock.set(order.now)
  const chore = host.chores.find(({ name }) => name === order.chore)
  if (!chore) return say({ statements })
  counting(() => chore.run(new AbortController().signal)).then(
    () => say({ statements }),
    (error: unknown) => say({ statements, failed: inspect(error), broken: error instanceof Fault }),
  )
})
process.on('disconnect', () => process.exit())
say({ url: host.url })
