// Starts a Redis as a bench does, says its pid and folder, and goes on until a signal comes.
import { createClient } from 'redis'
import { startRedis } from '../harness/services.ts'

await import('./exit-on-signals.ts')
const { url, pid } = await startRedis([])
const client = createClient({ url })
await client.connect()
const { dir } = await client.configGet('dir')
client.destroy()
process.send?.({ pid, directory: dir })
