import { readFileSync } from 'node:fs'
import { filesBelow } from '../files.ts'

/** A table of a DDL text: its name, its marks, and whether a comment stands above it. */
export interface MarkedTable {
  readonly name: string
  readonly marks: readonly string[]
  readonly explained: boolean
}

/** Reads the tables of a DDL text. */
export function tablesOf(ddl: string): MarkedTable[] {
  const found = ddl.matchAll(/(^--.*\n)?^create table \{prefix\}(\w+) \((?:.*|\n[^]*?^)\)([^)]*?);$/gm)
  return [...found].map(([, comment = '', name = '', end = '']) => ({
    name,
    marks: [...end.matchAll(/\{((?:lookup )?by \w+|reference)\}/g)].map(([, mark = '']) => mark),
    explained: comment !== '' && !/^-- (version|postgres only|sqlite only|both)/.test(comment),
  }))
}

/** Every text of the packages that creates tables. */
export const ddls: readonly string[] = filesBelow('packages', '.ts')
  .filter(path => /^packages\/[^/]+\/src\//.test(path))
  .map(path => readFileSync(path, 'utf8'))
  .filter(text => /^create table \{prefix\}/m.test(text))

/** The tables that are divided, with the column by which they are. */
export function dividedTables(kinds: RegExp = /^(?:lookup )?by (\w+)$/): ReadonlyMap<string, string> {
  const columns = new Map<string, string>([['gw_lock_rows', 'account_id']])
  for (const { name, marks } of ddls.flatMap(tablesOf)) {
    const [, column] = kinds.exec(marks[0] ?? '') ?? []
    if (column !== undefined) columns.set(`gw_${name}`, column)
  }
  return columns
}
