import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  devDependencies: Readonly<Record<string, string>>
}

/** TypeORM accepts older Redis clients only. A project of all pages has both, as no team has. */
const OVERRIDES = { typeorm: { ioredis: devDependencies['ioredis'], redis: devDependencies['redis'] } }

/** A package in the version that this repository tests with; undefined if it tests with none. */
export function pinned(name: string): string | undefined {
  const version = devDependencies[name]
  return version && `${name}@${version}`
}

/** Makes an empty project and installs packages and tarballs into it, as a team would. Throws what npm says if that fails. */
export function installInto(project: string, packages: readonly string[]): void {
  mkdirSync(project)
  const manifest = { type: 'module', private: true, overrides: OVERRIDES }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest))
  const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--prefer-offline']
  const { status, stderr } = spawnSync('npm', ['install', ...quiet, ...packages], {
    cwd: project,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`npm install in ${project} ended with ${status}: ${stderr}`)
}
