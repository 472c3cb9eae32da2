import { mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OpsHost, OpsHosts } from '../hosts.ts'
import { fillDisk, mountSmallDisk } from '../postgres.ts'
import type { Fault, Stage } from '../stage.ts'

const DISK_MEBIBYTES = 128

const only = ({ hosts: [host] }: OpsHosts): OpsHost => host as OpsHost

const FAULTS = ['kill -9', 'SIGTERM', 'freeze 15 s', 'disk full 15 s'] as const

/** One host with its embedded SQLite, on a small disk. */
export const embeddedStage: Stage = {
  name: 'host on sqlite',
  faults: FAULTS,
  async open(folder) {
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const { unmount } = mountSmallDisk(disk, DISK_MEBIBYTES)
    const acts: Readonly<Record<(typeof FAULTS)[number], Fault['act']>> = {
      'kill -9': async hosts => {
        await only(hosts).stop('SIGKILL')
        await only(hosts).start()
      },
      SIGTERM: async hosts => {
        await only(hosts).stop('SIGTERM')
        await only(hosts).start()
      },
      'freeze 15 s': async hosts => {
        process.kill(only(hosts).pid, 'SIGSTOP')
        await sleep(15_000)
        process.kill(only(hosts).pid, 'SIGCONT')
      },
      'disk full 15 s': async () => {
        const free = fillDisk(disk)
        await sleep(15_000)
        free()
      },
    }
    return {
      hostCount: 1,
      faults: FAULTS.map(
        (name): Fault => ({
          name,
          act: acts[name],
          // After a full disk a host stays not ready for 30 s.
          ...(name === 'disk full 15 s' ? { wrongReadiness: true } : {}),
        }),
      ),
      emptyDatabase: async () => ({ DATA_DIR: mkdtempSync(join(disk, 'data-')) }),
      settled: async () => {},
      stop: async () => unmount(),
    }
  },
}
