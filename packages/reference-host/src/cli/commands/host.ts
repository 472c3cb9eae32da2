import { appServices } from '../../composition/app-services.ts'
import { operations } from '../../composition/operations.ts'
import { aliasTable } from '../../product/aliases.ts'
import { tableLines, type Command } from '../command.ts'

/** Commands on the host itself. */
export const hostCommands: readonly Command[] = [
  {
    name: 'migrate',
    takes: [],
    summary: 'Migrate the tables to their newest version',
    // Opening the stores has migrated them already.
    run: async () => ({ data: { migrated: true }, lines: ['The tables are up to date.'] }),
  },
  {
    name: 'operations',
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    async run({ container }) {
      const services = appServices(
        container,
        () => {},
        () => false,
      )
      const { serviceName, directUserKey } = services
      const table = operations(services, { serviceName, url: '/', aliases: aliasTable, directUserKey })
      const data = table.map(({ id, method, paths, surface, credential, scopes = [], ...rest }) => ({
        ...{ id, method, paths, surface, credential, scopes, idempotent: 'write' in rest },
      }))
      const rows = data.map(row => [
        ...[row.id, row.method, row.paths[0], row.credential, row.scopes.join(' ') || '-'],
        row.idempotent ? 'yes' : '-',
      ])
      return {
        data,
        lines: tableLines([['OPERATION', 'METHOD', 'PATH', 'CREDENTIAL', 'SCOPES', 'IDEMPOTENT'], ...rows]),
      }
    },
  },
]
