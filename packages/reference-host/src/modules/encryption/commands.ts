import { CommandError, type Command } from '@gatewright/host/cli'
import { type RewrappedColumn, rewrapColumn } from './rewrap.ts'
import type { HostServices } from '@gatewright/host'
import { sealedColumns } from '../../product/sealed-columns.ts'

/** Commands on `DATA_KEYS`, the keys of personal data. */
export const commands: readonly Command<Pick<HostServices, 'backend' | 'sealer' | 'progress'>>[] = [
  {
    name: 'data-keys rewrap',
    takes: [],
    summary:
      'Encrypt all personal data again, under the first key of DATA_KEYS. Safe while hosts run, and to repeat',
    example: '',
    async run({ backend, sealer, progress }) {
      const data: RewrappedColumn[] = []
      for (const column of Object.values(sealedColumns)) {
        const note = (read: number): void => progress(`${column.purpose}: ${read} rows read`)
        data.push(await rewrapColumn(backend.sql, sealer, column, note))
      }
      const problems = data.flatMap(problemsOf)
      if (problems.length > 0) throw new CommandError(problems.join('\n'))
      const columns = ['COLUMN', 'ENCRYPTED AGAIN', 'ALREADY CURRENT'].map(
        head => ({ head, kind: 'text' }) as const,
      )
      const rows = data.map(({ column, resealed, current }) => [column, resealed, current])
      return { data, table: { columns, rows } }
    },
  },
]

function problemsOf({ column, resealed, unreadable }: RewrappedColumn): string[] {
  return unreadable.map(({ reason, count, accounts }) => {
    const named = `${accounts.join(', ')}${count > accounts.length ? ', ...' : ''}`
    return `${column}: ${count} rows left as they are (${resealed} resealed): ${reason}. Accounts: ${named}`
  })
}
