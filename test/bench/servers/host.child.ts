// The reference host on its embedded stores, ready for every line. With the argument `log`, it logs its decisions to a pipe that a
// child reads.
import { startBenchHost } from '../bench-host.ts'
import { extent } from '../extent.ts'
import { prepare, proofs, RATE_LIMITS } from '../host-lines.ts'
import { listening } from '../serve.ts'

/** Of the pay-ins between two starts, each user makes at most 100: so many may be open. */
const USERS = extent(20, 2)
const running = await startBenchHost({ RATE_LIMITS }, USERS, process.argv.includes('log'))
await prepare(running)
listening(Number(new URL(running.host.url).port), running.users.map(proofs))
