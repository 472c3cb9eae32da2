import { spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { plainNode } from '../../harness/node.ts'

/** What a project of Next has before it installs ours. */
export const NEXT_PACKAGES: readonly string[] = [
  'next@16.4.6',
  'react@19.3.1',
  'react-dom@19.3.1',
  'typescript',
  '@types/react@19.3.0',
  '@types/node',
]

/** Writes a file of a project, and the folders above it. */
export function written(project: string, file: string, text: string): void {
  mkdirSync(dirname(join(project, file)), { recursive: true })
  writeFileSync(join(project, file), text)
}

/** Builds a project of Next from its files and starts it. The build looks at types too, as it does for the team. */
export function startNext(
  project: string,
  files: Readonly<Record<string, string>>,
  port: number,
): ChildProcess {
  // As `create-next-app` makes it; Next adds the rest.
  written(project, 'tsconfig.json', '{ "compilerOptions": { "strict": true } }')
  for (const [file, text] of Object.entries(files)) written(project, file, text)
  const env = { PATH: process.env['PATH'], NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' } as const
  const next = join('node_modules', 'next', 'dist', 'bin', 'next')
  const built = spawnSync(process.execPath, [next, 'build'], { cwd: project, env, encoding: 'utf8' })
  if (built.status !== 0)
    throw new Error(`next build ended with ${built.status}: ${built.stdout}${built.stderr}`)
  return plainNode([next, 'start', '-p', String(port), '-H', '127.0.0.1'], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
