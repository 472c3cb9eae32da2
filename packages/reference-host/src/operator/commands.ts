import type { HostServices } from '@gatewright/host'
import type { Command } from '@gatewright/host/cli'
import { dueAliases, reportText } from '@gatewright/legacy-alias-router'
import { aliasTable } from '../product/aliases.ts'
import { reportAliases } from './aliases.ts'

/** Commands on legacy names. */
export const commands: readonly Command<Pick<HostServices, 'backend' | 'clock'>>[] = [
  {
    name: 'aliases report',
    takes: [],
    summary: 'Print which clients still use which legacy name',
    example: '--json',
    async run({ backend, clock }) {
      const report = await reportAliases(backend.aliasUsage, clock.now())
      return { data: report, lines: reportText(report).trimEnd().split('\n') }
    },
  },
  {
    name: 'aliases due',
    takes: [],
    summary: 'List legacy names that still work after their sunset date',
    example: '--json',
    async run({ clock }) {
      const due = dueAliases(aliasTable, clock.now())
      const data = due.map(({ alias, sunset }) => ({ id: alias.id, sunset: new Date(sunset).toISOString() }))
      const lines = data.map(({ id, sunset }) => `${id} was due to end on ${sunset.slice(0, 10)}`)
      return { data, lines: lines.length === 0 ? ['No legacy name is past its sunset date.'] : lines }
    },
  },
]
