import { rows, type SqlQueries } from '@gatewright/kernel/sql'
import { toInteger, toText } from '@gatewright/kernel/internal/sql'

/** What SQLite keeps beside the columns of each row of a table and of each entry of an index, in bytes, rounded up. */
const ROW_OVERHEAD = 16

/**
 * How many bytes an SQLite database stores for a caller: the columns of all rows of all tables, once for the table and once for
 * each index that holds them. Pages are not counted, so that one row more shows. Nor are events that wait to be published, which they do for
 * about a second.
 */
export async function storedBytes(db: SqlQueries): Promise<number> {
  const tables = await rows(
    db,
    "select name from sqlite_master where type = 'table' and name like 'gw!_%' escape '!' and name <> 'gw_waiting_events'",
  )
  let total = 0
  for (const table of tables.map(row => toText(row['name']))) {
    const columns = await names(db, `select name from pragma_table_info('${table}')`)
    const indexes = await names(db, `select name from pragma_index_list('${table}')`)
    const indexed = await Promise.all(
      indexes.map(async index =>
        (await names(db, `select name from pragma_index_info('${index}')`)).filter(Boolean),
      ),
    )
    const perRow = [columns, ...indexed].map(sizeOf).join(' + ')
    const [row] = await rows(db, `select coalesce(sum(${perRow}), 0) as n from ${table}`)
    total += toInteger(row?.['n'])
  }
  return total
}

async function names(db: SqlQueries, text: string): Promise<string[]> {
  return (await rows(db, text)).map(row => toText(row['name']))
}

const sizeOf = (columns: readonly string[]): string =>
  [`${ROW_OVERHEAD}`, ...columns.map(name => `coalesce(length(cast(${name} as blob)), 1)`)].join(' + ')
