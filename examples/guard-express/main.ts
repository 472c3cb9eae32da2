// Runs the server against a provider of your own: ISSUER, AUDIENCE and JWKS_URL from the environment.
import { memorySpends } from '@gatewright/scope-guard/memory'
import { createServer } from './server.ts'

const { ISSUER, AUDIENCE, JWKS_URL, PORT = '3000' } = process.env
if (!ISSUER || !AUDIENCE || !JWKS_URL) {
  console.error('Set ISSUER, AUDIENCE and JWKS_URL: see examples/guard-express/README.md')
  process.exit(1)
}

const app = createServer({
  issuer: ISSUER,
  audience: AUDIENCE,
  jwksUrl: new URL(JWKS_URL),
  policies: { 'my-client-id': { dailyWithdrawalCapCents: 10_000 } },
  spend: memorySpends(),
})
app.listen(Number(PORT), () => process.stdout.write(`listening on ${PORT}\n`))
