import { spawnSync } from 'node:child_process'

/** Packs a built package into a directory, as it is published. Returns the tarball's path. */
export function packTo(directory: string, name: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/pack.js', directory, name], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`packages/pack.js of ${name} ended with ${status}: ${stderr}`)
  return stdout.trim()
}
