import { backupEmbedded } from './backup-embedded.ts'
import { CommandError, type StartCommand } from '@gatewright/host/cli'
import { readConfig } from '../config/config.ts'

/** Copies the embedded database, also while a host runs on it. */
export const backupCommand: StartCommand = {
  name: 'backup',
  takes: ['FILE'],
  summary: 'Copy the embedded database to a new file, also while the host runs',
  example: '/backups/host-2026-11-27.sqlite',
  async start({ env, args: { positional } }) {
    const config = readConfig(env)
    if (!config.ok) throw new CommandError(config.problems.join('\n'))
    if (config.value.databaseUrl !== undefined)
      throw new CommandError(
        'DATABASE_URL names a Postgres: back it up with pg_basebackup and archived WAL, see docs/backup-and-restore.md',
      )
    const [file = ''] = positional
    const { bytes, takenAt } = await backupEmbedded(config.value.dataDir, file).catch((error: unknown) => {
      throw new CommandError((error as Error).message)
    })
    const at = new Date(takenAt).toISOString()
    return {
      data: { file, bytes, takenAt: at },
      lines: [
        `Copied ${bytes} bytes to ${file}. Keep the secrets of the host elsewhere: without them the copy cannot be used.`,
        `After you have put it in place of host.sqlite: npx gatewright restored --since ${at}`,
      ],
    }
  },
}
