import { emitWarning, sha256 } from '@gatewright/kernel/internal/platform'

/** The server whose processes are looked for. */
interface Server {
  readonly issuer: string
  readonly audience: string
}

/** What is used of Node. Other runtimes have none of it, or part of it. */
interface NodeProcess {
  readonly pid: number
  readonly env: Readonly<Record<string, string | undefined>>
  kill(pid: number, signal: 0): void
  getBuiltinModule?<Name extends keyof Builtins>(name: Name): Builtins[Name]
}
interface Builtins {
  readonly 'node:cluster': typeof import('node:cluster')['default']
  readonly 'node:fs': typeof import('node:fs')
  readonly 'node:os': typeof import('node:os')
}

/** Variables by which platforms say that they start several processes of a server, or a new one for each call. */
const PLATFORMS: Readonly<Record<string, string>> = {
  NODE_APP_INSTANCE: 'a process of PM2',
  AWS_LAMBDA_FUNCTION_NAME: 'a function of AWS Lambda',
  VERCEL: 'a function of Vercel',
  NETLIFY: 'a function of Netlify',
  K_SERVICE: 'an instance of Cloud Run',
  FUNCTIONS_WORKER_RUNTIME: 'a function of Azure',
  KUBERNETES_SERVICE_HOST: 'a pod of Kubernetes',
}

const warned = new Set<string>()

/**
 * Warns, once per process, that other processes of the same server have memories of their own, so that each pays a repeat again and
 * counts caps from zero: in a worker of `node:cluster`, on a platform that starts several, and beside another process on this machine with the same issuer
 * and audience. Tests run side by side, so their runners are not taken for a server. The warning has the code
 * `GATEWRIGHT_MEMORY_STORAGE`.
 */
export function warnOfOtherProcesses(server: Server): void {
  const { process, Deno } = globalThis as { readonly process?: NodeProcess; readonly Deno?: unknown }
  // Deno would ask for a permission.
  if (Deno !== undefined || typeof process?.getBuiltinModule !== 'function') return
  let others: string | undefined
  try {
    others = otherProcesses(process, server)
  } catch {
    // What cannot be looked up, as without a temporary folder, is not known.
  }
  if (others === undefined || warned.has(others)) return
  warned.add(others)
  emitWarning(
    `memoryStore() is in ${others}: processes do not share it, so each runs a repeat again and counts caps from zero. Choose redisStore, postgresStore or sqliteStore, or say memoryStore({ perProcess: true })`,
    'GATEWRIGHT_MEMORY_STORAGE',
  )
}

function otherProcesses(process: NodeProcess, server: Server): string | undefined {
  const { env, getBuiltinModule = () => undefined as never } = process
  if (getBuiltinModule('node:cluster').isWorker) return 'a worker of node:cluster'
  const isTest = env['NODE_ENV'] === 'test'
  if (isTest || ['NODE_TEST_CONTEXT', 'JEST_WORKER_ID', 'VITEST'].some(name => env[name])) return undefined
  const variable = Object.keys(PLATFORMS).find(name => env[name] !== undefined)
  if (variable !== undefined) return `${PLATFORMS[variable]} (${variable})`
  const name = sha256(JSON.stringify([server.issuer, server.audience]))
  const path = `${getBuiltinModule('node:os').tmpdir()}/gatewright-${name}.pid`
  const other = claim(process, getBuiltinModule('node:fs'), path)
  return other === undefined
    ? undefined
    : `several processes with this issuer and audience (the other is ${other})`
}

/** Writes the id of this process to a file, unless a process that runs has done so: then returns its id. */
function claim(process: NodeProcess, fs: Builtins['node:fs'], path: string): number | undefined {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      // Only a new file: anybody may have put a link into the temporary folder.
      fs.writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
      return undefined
    } catch {
      const pid = Number(fs.readFileSync(path, 'latin1').slice(0, 20))
      if (pid === process.pid) return undefined
      if (Number.isSafeInteger(pid) && pid > 0 && isRunning(process, pid)) return pid
      fs.unlinkSync(path)
    }
  }
  return undefined
}

function isRunning(process: NodeProcess, pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { readonly code?: string }).code === 'EPERM'
  }
}
