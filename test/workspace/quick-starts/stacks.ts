import { spawn, type ChildProcess } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainNode } from '../../harness/node.ts'
import { bundle } from '../runtimes/bundle.ts'
import { BINARIES, capnp } from '../runtimes/start.ts'
import { NEXT_PACKAGES, startNext, written } from './next.ts'
import { codeOf, onNode, placed, type Place } from './pages.ts'

/** A server or runtime, what its page says, and how the page's code is started in a project that has the packages. */
export interface Stack {
  readonly page: string
  /** Where the page's code reads and writes. */
  readonly read: string | undefined
  readonly write: string
  /** Packages that the team has before it reads the page, beside those that the code imports. */
  readonly has?: readonly string[]
  /** The page's code for this place, where it is compiled to `script` before the start. */
  compiled?(place: Place): string
  start(project: string, script: string, place: Place): ChildProcess | Promise<ChildProcess>
}

const page = (name: string): string => `docs/quick-start/${name}.md`
const piped = { stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }

/** A page whose code is a whole server for Node. */
const node = (name: string, rest: (place: Place) => string = () => ''): Stack => ({
  page: page(name),
  read: '/payments',
  write: '/payments',
  compiled: place => placed(codeOf(page(name)), place) + rest(place),
  start(project, script) {
    cpSync(script, join(project, 'server.js'))
    const env = { PATH: process.env['PATH'] }
    return plainNode(['server.js'], { cwd: project, env, ...piped })
  },
})

/** The page for servers with `fetch`, with the way to the client's address that its table has for one of them. */
function fetchPage(server: string, place: Place): string {
  const text = readFileSync(page('fetch'), 'utf8')
  const [, peer] = text.match(new RegExp(`^\\| ${server} \\|.*\\| \`(.*)\` \\|$`, 'm')) ?? []
  if (!peer) throw new Error(`the table of ${page('fetch')} has no row of ${server}`)
  return placed(codeOf(page('fetch')), place).replace(/^ {2}peer: .*$/m, `  peer: ${peer},`)
}

/** A runtime that is not Node. It reads TypeScript itself, or gets a bundle of it. */
const runtime = (start: Stack['start']): Stack => ({
  page: page('fetch'),
  read: '/payments',
  write: '/payments',
  start,
})

const README = 'README.md'

export const STACKS: Readonly<Record<string, Stack>> = {
  'README, Express': {
    ...node('express'),
    page: README,
    read: undefined,
    write: '/payments',
    compiled: ({ issuer, port }) =>
      codeOf(README)
        .replace('https://YOUR-TENANT.auth0.com/', issuer)
        .replace('listen(3000', `listen(${port}`),
  },
  Express: node('express'),
  Fastify: node('fastify'),
  Koa: node('koa'),
  'node:http': node('node-http'),
  Hono: node('fetch', place => onNode('app.fetch', place)),
  NestJS: { ...node('nestjs'), has: ['@nestjs/platform-express', 'express'] },
  'Next.js': next(),
  'Next.js, Edge runtime': next("export const runtime = 'edge'\n"),
  Bun: runtime((project, _script, place) => {
    // Bun serves what a module exports as default, and reads port and host name there.
    const at = `export default { port: ${place.port}, hostname: '127.0.0.1', `
    written(project, 'server.ts', fetchPage('Bun', place).replace('export default { ', at))
    return spawn(BINARIES.bun, ['run', 'server.ts'], { cwd: project, env: {}, ...piped })
  }),
  Deno: runtime((project, _script, place) => {
    written(project, 'server.ts', fetchPage('Deno', place))
    const allowed = ['--allow-net=127.0.0.1', '--no-prompt']
    const args = ['serve', ...allowed, '--host', '127.0.0.1', '--port', String(place.port), 'server.ts']
    return spawn(BINARIES.deno, args, { cwd: project, env: {}, ...piped })
  }),
  'Cloudflare Workers': runtime(async (project, _script, place) => {
    const { text } = await bundle('workerd', fetchPage('Cloudflare Workers', place), project)
    written(project, 'workerd.js', text)
    written(project, 'workerd.capnp', capnp(place.port))
    return spawn(BINARIES.workerd, ['serve', 'workerd.capnp'], { cwd: project, env: {}, ...piped })
  }),
}

/** Next's own build and start, of the page's code after the line that chooses a runtime. */
function next(runtime = ''): Stack {
  return {
    page: page('nextjs'),
    read: '/api/payments',
    write: '/api/payments',
    has: NEXT_PACKAGES,
    start(project, _script, place) {
      const code = runtime + placed(codeOf(page('nextjs')), place)
      return startNext(project, { 'app/api/payments/route.ts': code }, place.port)
    },
  }
}
