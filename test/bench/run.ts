// Runs test/bench/*.bench.ts one after another, each in a process of its own, with a real Redis and Postgres
// at hand. Arguments: names of benches (`signature-verifier`); none means all. Exit 1 when a bar is missed. With
// BENCH_ONCE=1, each does one round of little work, and no figure is compared. `compare` compares the results with those that are
// kept; `ab FOLDER` compares the host with that of another checkout.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { benchArguments, benchModule, benchNames } from './bench-process.ts'
import { atExit } from '../harness/at-exit.ts'
import { installTools } from '../harness/tools.ts'
import { postgresService, redisService } from '../harness/services.ts'

await import('./exit-on-signals.ts')
const given = process.argv.slice(2)
if (given[0] === 'compare') await import('./compare.ts')
else if (given[0] === 'ab') await import('./ab.ts')
else await runBenches(given)

async function runBenches(names: readonly string[]): Promise<void> {
  const benches = benchNames()
  const unknown = names.filter(name => !benches.includes(name))
  if (unknown.length > 0) throw new Error(`no bench ${unknown.join(', ')}; there are ${benches.join(', ')}`)

  installTools()
  const [postgres, redis] = await Promise.all([postgresService(), redisService()])
  const env = { ...process.env, TEST_POSTGRES_URL: postgres.url, TEST_REDIS_URL: redis.url }
  try {
    for (const name of names.length > 0 ? names : benches) {
      console.log(`# ${name}`)
      const child = spawn(process.execPath, benchArguments(benchModule(name)), { stdio: 'inherit', env })
      const forget = atExit(() => child.kill('SIGTERM'))
      const [code] = await once(child, 'exit')
      forget()
      if (code !== 0) process.exitCode = 1
    }
  } finally {
    await Promise.all([postgres.stop(), redis.stop()])
  }
}
