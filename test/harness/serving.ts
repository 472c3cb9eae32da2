import type { ChildProcess } from 'node:child_process'

/** Resolves once a server, just started as a process of its own, responds at the address. Throws with its output if it ends first. */
export async function serving(url: string, child: ChildProcess): Promise<void> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += String(chunk)))
  for (let attempt = 0; attempt < 400 && child.exitCode === null; attempt++) {
    if (await fetch(url).catch(() => undefined)) return
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`${child.spawnfile} serves nothing at ${url} (exit ${child.exitCode}): ${output}`)
}
