import * as registrations from '../../composition/registrations.ts'
import { rewrapColumn, type RewrappedColumn } from '../../records/rewrap.ts'
import { sealedColumns } from '../../records/sealed-columns.ts'
import { UsageError, type Command } from '../command.ts'

/** Commands on `DATA_KEYS`, the keys that encrypt personal data. */
export const dataKeyCommands: readonly Command[] = [
  {
    name: 'data-keys rewrap',
    takes: [],
    summary: 'Encrypt all personal data under the first key of DATA_KEYS. Safe beside hosts, and to repeat',
    example: '',
    async run({ backend, container, progress }) {
      const sealer = container.get(registrations.SEALER)
      const data: RewrappedColumn[] = []
      for (const column of Object.values(sealedColumns)) {
        const note = (read: number): void => progress(`${column.purpose}: ${read} rows read`)
        data.push(await rewrapColumn(backend.sql, sealer, column, note))
      }
      const problems = data.flatMap(problemsOf)
      if (problems.length > 0) throw new UsageError(problems.join('\n'))
      const rows = data.map(({ column, resealed, current }) => [column, `${resealed}`, `${current}`])
      return { data, table: [['COLUMN', 'RESEALED', 'ALREADY CURRENT'], ...rows] }
    },
  },
]

function problemsOf({ column, resealed, unreadable }: RewrappedColumn): string[] {
  return unreadable.map(({ reason, count, accounts }) => {
    const named = `${accounts.join(', ')}${count > accounts.length ? ', ...' : ''}`
    return `${column}: ${count} rows left as they are (${resealed} resealed): ${reason}. Accounts: ${named}`
  })
}
