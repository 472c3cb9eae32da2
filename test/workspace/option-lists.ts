import { readFileSync } from 'node:fs'

/** Where the options of a function are declared: by the name that its errors begin with, the file and its type. */
const OPTION_TYPES: Readonly<Record<string, readonly [file: string, type: string]>> = {
  createIssuer: ['session-issuer/src/options.ts', 'IssuerOptions'],
  createGuard: ['scope-guard/src/options.ts', 'GuardOptions'],
  'createGuard limits[1]': ['scope-guard/src/rate-limits/options.ts', 'LimitOptions'],
  'createGuard failedCredentials': ['scope-guard/src/rate-limits/failure-options.ts', 'FailureOptions'],
  'createGuard revocation (feed)': ['scope-guard/src/revocation/revocation.ts', 'RevocationOptions'],
  createRateLimit: ['scope-guard/src/rate-limits/options.ts', 'LimitOptions'],
  createFailureLimit: ['scope-guard/src/rate-limits/failure-options.ts', 'FailureOptions'],
  remoteKeys: ['scope-guard/src/token/keys.ts', 'RemoteKeysOptions'],
  discoverKeys: ['scope-guard/src/token/keys.ts', 'RemoteKeysOptions'],
  memorySpends: ['scope-guard/src/storage/options.ts', 'MemoryOptions'],
  memoryApprovals: ['scope-guard/src/storage/options.ts', 'MemoryOptions'],
  createVerifier: ['signature-verifier/src/options.ts', 'VerifierOptions'],
  'createVerifier recoveries': ['signature-verifier/src/queue-options.ts', 'QueueLimits'],
  'createVerifier challenges': ['signature-verifier/src/challenge.ts', 'ChallengeOptions'],
  'createVerifier contractWallets': [
    'signature-verifier/src/signatures/contract-wallet.ts',
    'ContractWalletOptions',
  ],
  memoryNonces: ['signature-verifier/src/storage/memory.ts', 'MemoryNoncesOptions'],
  createIdempotency: ['idempotency-store/src/options.ts', 'IdempotencyBaseOptions'],
  createTransactionalIdempotency: ['idempotency-store/src/options.ts', 'IdempotencyBaseOptions'],
  memoryIdempotency: ['idempotency-store/src/storage/memory.ts', 'MemoryIdempotencyOptions'],
  createLostRuns: ['idempotency-store/src/lost-runs.ts', 'LostRunsOptions'],
  migrate: ['kernel/src/clients/migrate.ts', 'MigrateOptions'],
  fromPgPool: ['kernel/src/clients/postgres/pool.ts', 'PgPoolOptions'],
  fromPostgresJs: ['kernel/src/clients/postgres/pool.ts', 'PgPoolOptions'],
  fromTransaction: ['kernel/src/clients/postgres/pool.ts', 'PgPoolOptions'],
  postgresStore: ['gatewright/src/stores/postgres.ts', 'PostgresStoreOptions'],
  createUsageLog: ['legacy-alias-router/src/usage-log.ts', 'UsageLogOptions'],
  memoryAliasUsage: ['legacy-alias-router/src/storage/memory.ts', 'MemoryAliasUsageOptions'],
  gate: ['http/src/options.ts', 'OpenGateOptions'],
  'gate with a guard': ['http/src/gate-types.ts', 'GateOptions'],
  gatewright: ['gatewright/src/options.ts', 'GatewrightOptions'],
  'gatewright write': ['gatewright/src/operations.ts', 'WriteOperation'],
  createClient: ['client/src/options.ts', 'ClientOptions'],
}

/** The lists of options in each README, in the order of its marks. */
const LISTS: Readonly<Record<string, readonly string[]>> = {
  'packages/client/README.md': ['createClient'],
  'packages/gatewright/README.md': ['gatewright write', 'gatewright'],
  'packages/http/README.md': ['gate', 'gate with a guard'],
  'packages/idempotency-store/README.md': ['createIdempotency', 'createLostRuns'],
  'packages/legacy-alias-router/README.md': ['createUsageLog'],
  'packages/scope-guard/README.md': [
    'createGuard',
    'createGuard limits[1]',
    'createGuard failedCredentials',
    'remoteKeys',
  ],
  'packages/session-issuer/README.md': ['createIssuer'],
  'packages/signature-verifier/README.md': [
    'createVerifier',
    'createVerifier recoveries',
    'createVerifier contractWallets',
  ],
}

/** An option that may be absent, with the text of its docstring. */
export interface OptionRow {
  readonly name: string
  readonly text: string
}

const MEMBER = /\/\*\*((?:(?!\*\/)[^])*)\*\/\s*readonly (\w+)\?:/g

/** The optional options of a function, in the order of their interface. */
export function optionRows(where: string): OptionRow[] {
  const [file, type] = OPTION_TYPES[where] ?? []
  if (file === undefined) throw new Error(`OPTION_TYPES must name the interface of ${where}`)
  const source = readFileSync(`packages/${file}`, 'utf8')
  const declaration = `^(?:export )?(?:interface ${type}\\b[^]*?\\{\\n([^]*?)^\\}|type ${type} =([^]*?)\\n\\n)`
  const [, members, union] = new RegExp(declaration, 'm').exec(source) ?? []
  const body = members ?? union
  if (body === undefined) throw new Error(`packages/${file} must declare ${type}`)
  return [...body.matchAll(MEMBER)].map(([, comment = '', name = '']) => ({
    name,
    text: comment.replaceAll(/\s*\n\s*\* ?|\s+/g, ' ').trim(),
  }))
}

/** A README with its lists of options made from the docstrings. */
function readmeOf(path: string, lists: readonly string[]): string {
  let next = 0
  const text = readFileSync(path, 'utf8').replaceAll(/<!-- options -->[^]*?<!-- end of options -->/g, () => {
    const entries = optionRows(lists[next++] ?? '').map(({ name, text }) => `- \`${name}\`: ${text}`)
    return `<!-- options -->\n${entries.join('\n')}\n<!-- end of options -->`
  })
  if (next !== lists.length) throw new Error(`${path} must have the marks of ${lists.join(', ')}`)
  return text
}

/** Every README with a list of options, by its path. */
export const readmes: Readonly<Record<string, () => string>> = Object.fromEntries(
  Object.entries(LISTS).map(([path, lists]) => [path, () => readmeOf(path, lists)]),
)
