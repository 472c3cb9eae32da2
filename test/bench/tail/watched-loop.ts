import type { HostProcess } from '../../harness/host.ts'

/** How long the event loop of a host was held, in ms. */
export interface LoopDelays {
  readonly loopP99: number
  readonly loopMost: number
  /** The most CPU that the process used between two turns of the loop: what is held longer waits for the disk, or for a CPU. */
  readonly loopMostCpu: number
}

/** Watches the event loop of a host process. */
export const watchedLoop = {
  /** What comes before the script of the host. */
  preload: ['--import', new URL('./loop-delays.js', import.meta.url).pathname],
  /** Reads the delays since the last read. */
  async read(host: HostProcess): Promise<LoopDelays> {
    const start = host.output().length
    process.kill(host.pid, 'SIGUSR2')
    for (;;) {
      const found = /^loop-delays (.+)\n/m.exec(host.output().slice(start))
      if (found) return JSON.parse(found[1] as string) as LoopDelays
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  },
}
