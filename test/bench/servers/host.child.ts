// The reference host on its embedded stores, ready for every line.
import { startBenchHost } from '../bench-host.ts'
import { prepare, proofs, RATE_LIMITS } from '../host-lines.ts'
import { listening } from '../serve.ts'

const running = await startBenchHost({ RATE_LIMITS })
await prepare(running)
listening(Number(new URL(running.host.url).port), proofs(running.user))
