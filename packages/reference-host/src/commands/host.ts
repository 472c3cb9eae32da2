import type { Command } from '@gatewright/host/cli'
import { operationTable } from '@gatewright/host'
import type { Services } from '../services/services.ts'

/** Commands on the host itself. */
export const hostCommands: readonly Command<Services>[] = [
  {
    name: 'migrate',
    takes: [],
    summary: 'Migrate the tables to their newest version',
    example: '',
    // Opening the stores has migrated them already.
    run: async () => ({ data: { migrated: true }, lines: ['The tables are up to date.'] }),
  },
  {
    name: 'operations',
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    example: '',
    async run(services) {
      const table = operationTable(services)
      const data = table.map(({ id, method, paths, surface, credential, scopes = [], ...rest }) => ({
        id,
        method,
        paths,
        surface,
        credential,
        scopes,
        idempotent: 'write' in rest,
      }))
      const rows = data.map(row => [
        row.id,
        row.method,
        row.paths[0],
        row.credential,
        row.scopes.join(' ') || '-',
        row.idempotent ? 'yes' : '-',
      ])
      return {
        data,
        table: [['OPERATION', 'METHOD', 'PATH', 'CREDENTIAL', 'SCOPES', 'IDEMPOTENT'], ...rows],
      }
    },
  },
]
