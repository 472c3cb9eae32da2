import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../../harness/services.ts'
import { serving } from '../../harness/serving.ts'
import type { Addresses } from './app.ts'
import { bundle, type Runtime } from './bundle.ts'

const TOOLS = resolve('test/tools/node_modules')
/** The runtimes' programs, as npm ships them. */
export const BINARIES: Readonly<Record<Runtime, string>> = {
  workerd: `${TOOLS}/@cloudflare/workerd-linux-64/bin/workerd`,
  deno: `${TOOLS}/@deno/linux-x64-glibc/deno`,
  bun: `${TOOLS}/@oven/bun-linux-x64/bin/bun`,
}

/** How each runtime serves the application. */
const PROGRAMS: Readonly<Record<Runtime, (port: number) => string>> = {
  workerd: () => `import { waitUntil } from 'cloudflare:workers'
    const app = createApp(addresses, waitUntil)
    export default { fetch: request => app(request) }`,
  deno: port => `const app = createApp(addresses)
    Deno.serve({ port: ${port}, hostname: '127.0.0.1' }, request => app(request))`,
  bun: port => `const app = createApp(addresses)
    Bun.serve({ port: ${port}, hostname: '127.0.0.1', fetch: request => app(request) })`,
}

/** The command that runs a bundle. */
const COMMANDS: Readonly<Record<Runtime, (file: string, port: number) => readonly string[]>> = {
  workerd(file, port) {
    const config = join(dirname(file), 'workerd.capnp')
    writeFileSync(config, capnp(port))
    return [BINARIES.workerd, 'serve', config]
  },
  deno: file => [BINARIES.deno, 'run', '--allow-net=127.0.0.1', '--no-prompt', file],
  bun: file => [BINARIES.bun, 'run', file],
}

/** The configuration of workerd.js beside it: a worker without any compatibility flag, which may connect to this machine only. */
export const capnp = (port: number): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "app.js", esModule = embed "workerd.js")],
      compatibilityDate = "2026-11-01",
      globalOutbound = "machine"
    )),
    (name = "machine", network = (allow = ["local"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`

/** Bundles the application for a runtime and serves it there until the test ends. Resolves to its address, once it responds. */
export function startOn(
  t: Test,
  runtime: Runtime,
  addresses: Addresses,
): Promise<{ url: string; bytes: number }> {
  return startProgram(
    t,
    runtime,
    port =>
      `import { createApp } from './app.js'\nconst addresses = ${JSON.stringify(addresses)}\n${PROGRAMS[runtime](port)}`,
    'build/runtimes',
  )
}

/** Bundles a program into a directory and serves it on a runtime until the test ends. Resolves to its address, once it responds. */
export async function startProgram(
  t: Test,
  runtime: Runtime,
  program: (port: number) => string,
  directory: string,
): Promise<{ url: string; bytes: number }> {
  const port = await freePort()
  const made = await bundle(runtime, program(port))
  mkdirSync(directory, { recursive: true })
  const file = join(directory, `${runtime}.js`)
  writeFileSync(file, made.text)
  const [binary = '', ...given] = COMMANDS[runtime](file, port)
  const child = spawn(binary, given, { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  await serving(`${url}/none`, child)
  return { url, bytes: made.bytes }
}
