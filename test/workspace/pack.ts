import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Packs a built package into a directory, as `npm publish` would. Returns the tarball's path. */
export function packTo(directory: string, name: string): string {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: join('packages', name), encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack of ${name} ended with ${status}: ${stderr}`)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  return join(directory, filename)
}
