import { aliasReport, dueAliases, reportText } from '@gatewright/legacy-alias-router'
import { appServices } from '../services.ts'
import { operations } from '../operations.ts'
import { aliasTable } from '../product/aliases.ts'
import { tableLines, type Command } from './command.ts'

/** Commands about the host itself. */
export const hostCommands: readonly Command[] = [
  {
    name: 'aliases report',
    takes: [],
    summary: 'Report who still uses which legacy name',
    async run({ backend, clock }) {
      const report = await aliasReport(backend.aliasUsage, aliasTable, clock.now())
      return { data: report, lines: [reportText(report)] }
    },
  },
  {
    name: 'aliases due',
    takes: [],
    summary: 'List legacy names past their sunset that still work',
    async run({ clock }) {
      const due = dueAliases(aliasTable, clock.now())
      const rows = due.map(({ alias, sunset }) => [alias.id, new Date(sunset).toISOString()])
      const lines =
        rows.length === 0 ? ['None is past its date.'] : tableLines([['ALIAS', 'SUNSET'], ...rows])
      return { data: due, lines }
    },
  },
  {
    name: 'migrate',
    takes: [],
    summary: 'Bring the tables to their newest version',
    // Opening the stores has done it.
    run: async () => ({ data: { migrated: true }, lines: ['The tables are up to date.'] }),
  },
  {
    name: 'operations',
    takes: [],
    summary: 'Print every operation with its credential, scopes and limits',
    async run({ container }) {
      const services = appServices(container, () => {})
      const table = operations(services, { serviceName: services.serviceName, url: '/', aliases: aliasTable })
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
